// Charts of specifications: one stop of the Tab key each, arrows from mark to mark, Enter as a click.
const TINTS = {"#0072b2": "--blue", "#d55e00": "--orange", "#009e73": "--green", "#cc79a7": "--pink", "#b38600": "--olive", "#56b4e9": "--sky", "#5b4b9a": "--violet",
  "#7a5c3e": "--red", "#1c1f23": "--ink", "#565d66": "--soft", "#a9b0b8": "--neutral", "#e4e4df": "--grid", "#ffffff": "--paper"};
const FIRST_ROWS = 12, SMALL_BOX = 560, CELL = 28, LETTER = 16;
const tinted = (spec) => {
  const css = getComputedStyle(document.documentElement);
  const coloured = (part, key) => typeof part === "string" ? TINTS[part] ? css.getPropertyValue(TINTS[part]).trim() : part
    : Array.isArray(part) ? key === "domain" ? [...part] : part.map((one) => coloured(one, ""))
      : part && typeof part === "object" ? Object.fromEntries(Object.entries(part).map(([name, one]) => [name, coloured(one, name)])) : part;
  return coloured(spec, "");
};
const quiet = {level() { return quiet; }, error() { return quiet; }, warn() { return quiet; }, info() { return quiet; }, debug() { return quiet; }};
const unpacked = ({size, columns}) => Array.from({length: size}, (_, i) => Object.fromEntries(Object.entries(columns).map(([name, c]) => [name, c.levels ? c.levels[c.codes[i]] : c.cells[i]])));

// What is drawn again where the window has another width, or the page other colours.
const redraws = [];
let waiting = 0;
addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(() => redraws.forEach((draw) => draw(false)), 120); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraws.forEach((draw) => draw(true)));

// One after the other, so that the page answers in between.
let queue = Promise.resolve();
const later = (work) => { queue = queue.then(work).catch((error) => console.error(error)).then(() => new Promise((done) => setTimeout(done))); return queue; };

function figure(box, spec, {name = "chart", pick = null} = {}) {
  const place = el("div", {class: "drawing"}), card = el("p", {class: "card", role: "status"}), tools = el("div", {class: "after"});
  const rows = unpacked(spec.data), names = unique(rows.map((row) => row.name)), long = parts(spec).some((part) => part.encoding?.y?.scale?.domain) && names.length > FIRST_ROWS;
  const save = (kind, file) => button(`Save as ${kind.toUpperCase()}`, async () => download(`${name}.${kind}`, ...await file()), {class: "quiet"});
  const all = button(`Show all ${names.length} rows`, () => { all.remove(); later(draw); }, {class: "quiet"});
  let view = null, width = 0;
  box.replaceChildren(el("figure", {}, place, card, el("figcaption", {class: "hidden"}, shown(spec.description)), tools));
  tools.append(...(long ? [all] : []), save("svg", async () => ["image/svg+xml", await view.toSVG()]),
    save("png", async () => ["image/png", Uint8Array.from(atob((await view.toCanvas(2)).toDataURL().split(",")[1]), (c) => c.charCodeAt(0))]));
  place.addEventListener("focusin", (event) => tell(event.target));
  place.addEventListener("keydown", (event) => step(event));
  redraws.push((anew) => { if (box.isConnected && (anew || box.clientWidth !== width)) later(draw); });
  return later(draw);

  async function draw() {
    if (!box.clientWidth) return;
    width = box.clientWidth;
    const small = width < SMALL_BOX, few = long && all.isConnected ? names.slice(0, FIRST_ROWS) : null;
    const made = tinted({...spec, data: {}}), kept = few ? rows.filter((row) => few.includes(row.name)) : rows;
    const heads = unique(rows.map((row) => row.head)).length, axis = made.encoding?.x?.axis;
    made.data = {values: kept};
    if (few) parts(made).forEach((part) => { part.encoding.y.scale.domain = few; });
    // figures stand in cells that are wide enough
    if (made.layer && width / heads < CELL) made.layer = made.layer.filter(({mark}) => mark.type !== "text");
    if (axis) Object.assign(axis, {labelOverlap: width / heads < LETTER}, small ? {labelLimit: 110} : {});
    if (small && made.hconcat) made.hconcat = made.hconcat.slice(0, 1); // cards say the other figures
    if (made.columns) made.columns = small ? 1 : made.columns;
    const across = made.hconcat ? made.hconcat.length : made.columns || 1;
    let panel = Math.max(80, (width - 130) / across);
    for (let tries = 0; tries < 3; tries += 1) {
      if (view) view.finalize();
      view = await drawn({...made, config: look(panel, small)});
      const over = place.querySelector("svg").width.baseVal.value - width;
      if (over <= 0 && over > -12 || panel <= 60) break;
      panel = Math.max(60, panel - (over + 4) / across);
    }
    card.hidden = true;
    marks().forEach((mark, n) => mark.setAttribute("tabindex", n ? "-1" : "0"));
  }
  async function drawn(made) {
    const parsed = vega.parse(vega.compile(made, {logger: quiet}).spec, null, {ast: true});
    const now = new vega.View(parsed, {expr: vega.expressionInterpreter, renderer: "svg", container: place, hover: false, logger: quiet,
      tooltip: (handler, event, item) => { if (item && item.datum && item.datum.said) show(item.datum, event.clientX, event.clientY); else card.hidden = true; }});
    now.addEventListener("click", (event, item) => { if (pick && item && item.datum && item.datum.said) pick(item.datum); });
    await now.runAsync();
    place.querySelector(".vega-bindings")?.remove();
    return now;
  }
  function look(panel, small) {
    const config = tinted(page.look), most = small ? 100 : 200;
    return {...config, view: {...config.view, continuousWidth: panel, discreteWidth: panel}, legend: {...config.legend, columns: small ? 1 : 4},
      axisY: {...config.axisY, labelLimit: most}, axisQuantitative: {tickCount: Math.max(3, Math.round(panel / 60))}};
  }
  function parts(made) { return made.hconcat || [made.spec || made]; }
  function marks() { return [...place.querySelectorAll("[role=graphics-symbol]")].filter((node) => node.__data__?.datum?.said === node.getAttribute("aria-label")); }
  function tell(mark) { const {left, width: wide, bottom} = mark.getBoundingClientRect(); if (mark.__data__) show(mark.__data__.datum, left + wide / 2, bottom); }
  function show(datum, x, y) {
    const frame = box.getBoundingClientRect();
    card.textContent = datum.said;
    card.hidden = false;
    card.style.left = `${Math.max(0, Math.min(x - frame.left, frame.width - card.offsetWidth))}px`;
    card.style.top = `${y - frame.top + 12}px`;
  }
  // The nearest mark that way; where there is none, the next one in order.
  function step(event) {
    const way = {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1]}[event.key], list = marks(), now = list.indexOf(event.target);
    if (now < 0) return;
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); if (pick) pick(event.target.__data__.datum); return; }
    if (!way && event.key !== "Home" && event.key !== "End") return;
    event.preventDefault();
    const middle = (mark) => { const {left, top, width: wide, height} = mark.getBoundingClientRect(); return [left + wide / 2, top + height / 2]; };
    const [x, y] = middle(event.target), far = (mark) => {
      const [a, b] = middle(mark), along = (a - x) * way[0] + (b - y) * way[1], aside = Math.abs((a - x) * way[1]) + Math.abs((b - y) * way[0]);
      return along > 1 ? along + 4 * aside : Infinity;
    };
    let to = list[event.key === "Home" ? 0 : list.length - 1];
    if (way) {
      const best = list.reduce((a, b) => far(b) < far(a) ? b : a);
      to = far(best) < Infinity ? best : list[now + way[0] + way[1]];
    }
    if (!to) return;
    event.target.setAttribute("tabindex", "-1");
    to.setAttribute("tabindex", "0");
    to.focus();
  }
}
// The charts of a panel, one at a time.
function drawPanel(box, {by, charts}, {name, pick = null}) {
  const place = el("div"), heading = box.parentElement.querySelector("h3, h4");
  const draw = (n) => {
    heading.replaceChildren(data(charts[n].spec.description));
    const names = charts[n].spec.usermeta?.names ?? {}, whole = (text) => Object.hasOwn(names, text) ? names[text] : text;
    const of = ({name: row, head, series, panel}) => [row, head, series, panel].filter(Boolean).map(whole);
    return figure(place, charts[n].spec, {name, pick: pick && ((datum) => pick(of(datum), charts[n]))});
  };
  if (!charts.length) { box.append(el("p", {class: "empty"}, "Nothing to draw: no value is defined.")); return; }
  box.append(...(charts.length > 1 ? [toolbar(choice(by, charts.map(({said}, n) => [n, said]), 0, draw).node)] : []), place);
  draw(0);
}
