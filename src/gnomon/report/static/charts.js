// Bar charts as SVG.
const pen = document.createElement("canvas").getContext("2d");
function measure(text, size) {
  pen.font = `${size}px system-ui, sans-serif`;
  return pen.measureText(text).width;
}
function shorten(text, size, width) {
  if (measure(text, size) <= width) return text;
  const letters = Array.from(text);
  for (let keep = letters.length - 1; keep > 4; keep -= 1) {
    const tail = Math.ceil(keep / 2);
    const cut = letters.slice(0, keep - tail).join("") + "\u2026" + letters.slice(-tail).join("");
    if (measure(cut, size) <= width) return cut;
  }
  return letters.slice(0, 3).join("") + "\u2026";
}
function ticksOf(low, high, wanted) {
  const raw = (high - low) / wanted || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) ticks.push([k * step, (k * step).toFixed(digits).replace("-", "\u2212")]);
  return ticks;
}

// Rows of horizontal bars. row: {name, note, bars: [[{value, class, title, flag}, ...parts], ...], text}
function chart({width, title, label, rows, low, high, size = 12, thick = 13, noteTitle = "", guide = null}) {
  const named = (row) => [shown(row.name), gloss(row.name)].filter(Boolean).join(" ");
  const edge = 8, top = (title ? 20 : 4) + 18;
  const names = Math.min(Math.max(...rows.map((r) => measure(named(r), size) * (r.strong ? 1.08 : 1)), 20) + 6, width * 0.42);
  const notes = rows.some((r) => r.note) ? Math.max(...rows.map((r) => measure(r.note || "", 11)), measure(noteTitle, 11)) + 10 : 0;
  const texts = Math.max(...rows.flatMap((r) => r.bars.map((b) => measure(b.text, 11)))) + 8;
  const left = names + notes + edge + (low < 0 ? texts : 0), right = width - texts - 2;
  const x = (v) => left + (Math.min(high, Math.max(low, v)) - low) / (high - low || 1) * Math.max(20, right - left);
  const tall = (row) => row.bars.length * (thick + 1) + (rows[0].bars.length > 1 ? 8 : 4);
  const height = top + rows.reduce((sum, r) => sum + tall(r), 0) + 6;
  const root = svg("svg", {class: "chart", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label});
  if (title) root.append(svg("text", {class: "title", x: 0, y: 13}, shorten(title, 13, width - 60)));
  if (noteTitle) root.append(svg("text", {class: "tick", x: names + notes, y: top - 6, "text-anchor": "end"}, noteTitle));
  for (const [value, text] of ticksOf(low, high, Math.max(2, (right - left) / 60))) {
    root.append(svg("line", {class: value === 0 ? "zero" : "gridline", x1: x(value), x2: x(value), y1: top - 2, y2: height - 4}),
      svg("text", {class: "tick", x: x(value), y: top - 6, "text-anchor": "middle"}, text));
  }
  if (guide !== null && guide <= high) root.append(svg("line", {class: "guide", x1: x(guide), x2: x(guide), y1: top - 2, y2: height - 4}));
  let y = top;
  for (const row of rows) {
    const middle = y + row.bars.length * (thick + 1) / 2 + size * 0.34;
    const name = svg("text", {class: row.strong ? "label strong" : "label", x: names, y: middle, "text-anchor": "end", "font-size": size},
      shorten(named(row), size, (names - 4) / (row.strong ? 1.08 : 1)));
    name.append(svg("title", {}, named(row)));
    root.append(name);
    if (row.note) root.append(svg("text", {class: "tick", x: names + notes, y: middle, "text-anchor": "end"}, row.note));
    for (const bar of row.bars) { root.append(...drawBar(bar, x, y, thick, low, high)); y += thick + 1; }
    y += tall(row) - row.bars.length * (thick + 1);
  }
  return root;
}
function drawBar(bar, x, y, thick, low, high) {
  const nodes = [];
  let from = 0, end = x(0), negative = false;
  for (const part of bar.parts) {
    if (!isNumber(part.value)) continue;
    const to = from + part.value;
    const shape = bar.dot ? svg("circle", {class: part.class + (bar.weak ? " weak" : ""), cx: x(to), cy: y + thick / 2, r: 4}) : svg("rect", {class: part.class + (part.flag ? " flagged" : "") + (bar.weak ? " weak" : ""), x: Math.min(x(from), x(to)), y, height: thick,
      width: Math.max(bar.parts.length > 1 ? 0 : 1, Math.abs(x(to) - x(from)) - (bar.parts.length > 1 ? 0.75 : 0))});
    shape.append(svg("title", {}, part.title));
    nodes.push(shape);
    from = to;
    negative = to < 0;
    end = x(to);
  }
  const hollow = bar.hollow && isNumber(bar.hollow.value) ? x(bar.hollow.value) : end;
  if (hollow !== end) {
    const dot = svg("circle", {class: "hollow", cx: hollow, cy: y + thick / 2, r: 4});
    dot.append(svg("title", {}, bar.hollow.title));
    nodes.push(dot);
  }
  if (from > high || from < low) nodes.push(beyond(end, y, thick, negative ? -1 : 1));
  const tips = bar.ends ? bar.ends.map(x) : [end];
  if (bar.ends) nodes.push(whisker(tips, bar.ends.map((end) => end >= low && end <= high), y + thick / 2));
  const gap = bar.dot ? 8 : 4, beside = negative ? Math.min(end, hollow, ...tips) - gap : Math.max(end, hollow, ...tips) + gap;
  nodes.push(svg("text", {class: "value", x: beside, y: y + thick / 2 + 3.8, "text-anchor": negative ? "end" : "start"}, bar.text));
  return nodes;
}
// An interval; an end beyond the scale has no cap.
const whisker = ([a, b], caps, y) => svg("path", {class: "whisker", d: `M${a},${y}H${b}` + [a, b].map((end, n) => caps[n] ? `M${end},${y - 3}v6` : "").join("")});
// A bar that goes on beyond the scale ends in a point.
const beyond = (x, y, thick, way) => svg("path", {class: "clipped", d: `M${x - 5 * way},${y}L${x},${y + thick / 2}L${x - 5 * way},${y + thick}z`}, svg("title", {}, "goes on beyond the scale"));
function oneBar(table, i, column, css, about, {strong = null, dot = false} = {}) {
  const weak = Boolean(strong) && i !== undefined && strong.at(i) !== true;
  const value = i === undefined ? null : column.at(i), flag = outside(value, column), text = format(value, column);
  const title = `${about}: ${shown(column.title)} ${i === undefined ? text : withEnds(table, column, i)}`;
  return {parts: [{value, class: css, flag, title}], weak, dot, ends: endsOf(table, column, i), text: text + (flag ? " !" : "")};
}
// One share far outside [0, 1] must not make all others small: beyond these ends bars are cut.
const CUT = {low: -0.5, high: 1.5};
function limits(values, column, dots = false) {
  const numbers = values.filter(isNumber).map((v) => column.kind === "share" ? Math.min(CUT.high, Math.max(CUT.low, v)) : v);
  const top = Math.max(...numbers), end = Math.min(...numbers), edge = (top - end || Math.abs(top)) / 8;
  // dots that are far from 0 and near each other
  if (dots && end * top > 0 && top - end < Math.max(-end, top) / 2) return {low: end - edge, high: top + edge};
  const high = Math.max(0, top), low = Math.min(0, end);
  return {low, high: high > low ? high : column.kind === "share" ? 1 : low + 1};
}
function key(entries) {
  return el("p", {class: "legend"}, ...entries.map(([css, text]) => el("span", {}, svg("svg", {class: "key", width: 12, height: 12, "aria-hidden": "true"},
    svg("rect", {class: css, width: 12, height: 12})), " ", data(text))));
}
const redraws = [];
function onResize(box, draw) {
  let width = box.clientWidth;
  redraws.push(() => { if (box.clientWidth !== width) { width = box.clientWidth; draw(); } });
}
let waiting = 0;
addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(() => redraws.forEach((draw) => draw()), 120); });
function saveButton(area, name) {
  return button("Save as SVG", () => {
    const frame = area.getBoundingClientRect();
    const root = svg("svg", {xmlns: "http://www.w3.org/2000/svg", width: Math.ceil(frame.width), height: Math.ceil(frame.height)});
    root.append(svg("rect", {width: "100%", height: "100%", fill: getComputedStyle(document.body).backgroundColor}));
    for (const source of area.querySelectorAll("svg.chart")) {
      const copy = source.cloneNode(true), place = source.getBoundingClientRect();
      const from = source.querySelectorAll("*"), to = copy.querySelectorAll("*");
      from.forEach((node, i) => {
        const style = getComputedStyle(node);
        for (const property of ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight"]) to[i].setAttribute(property, style.getPropertyValue(property));
      });
      copy.setAttribute("x", place.left - frame.left);
      copy.setAttribute("y", place.top - frame.top);
      root.append(copy);
    }
    download(name + ".svg", "image/svg+xml", new XMLSerializer().serializeToString(root));
  }, {class: "quiet"});
}

// A few series: one chart per value, features below each other, the picked series side by side.
// Many series: one small chart per feature, systems below each other, one scale for all.
function bars(box, finding, panel) {
  const view = panel.views[0], table = finding.tables[view.table];
  const every = filterRows(table, []);
  const series = distinct(table, every, view.series), categories = grouped(distinct(table, every, view.category));
  const few = view.most !== null && view.most <= 4, fixed = view.where.some(([name]) => name === view.series);
  const state = {kind: null, text: "", value: view.values[0], order: view.ordered ? "value" : "listed", category: null};
  const where = whereControls(table, panel, () => draw());
  const kinds = unique(categories.map(kindOf));
  state.kind = kinds.length > 1 && categories.length > MANY ? kinds[0] : null;
  const kind = kindControl(categories, state.kind, (v) => { state.kind = v; draw(); });
  let picked = series.filter((s) => !view.shown.length || view.shown.includes(s)).slice(0, view.most ?? (view.shown.length ? series.length : AT_ONCE));
  const area = el("div", {class: few ? "charts few" : "charts many"});
  const legend = el("div");
  const controls = few ? fewControls() : manyControls();
  const hint = view.values.some((v) => table.columns.get(v).ends) ? el("p", {class: "detail legend"}, "Thin lines: intervals, where there are any." + (view.strong ? ` Faded bars: not ${shown(table.columns.get(view.strong).title)}.` : "") + ` Point at a ${view.dots ? "dot" : "bar"} for its numbers.`) : null;
  box.append(toolbar(...controls, ...where.nodes, kind.node, find(), saveButton(area, "bars")), legend, area, ...(hint ? [hint] : []));
  onResize(area, () => draw());
  draw();

  function find() { return search("Filter", (v) => { state.text = v; draw(); }).node; }
  function fewControls() {
    if (fixed) return [];
    return Array.from({length: Math.min(view.most, series.length)}, (_, n) => {
      const options = [...(n ? [[null, "none"]] : []), ...series.map((s) => [s, s])];
      return choice(`${table.columns.get(view.series).title} ${n + 1}`, options, picked[n] ?? null, (v) => { picked[n] = v; draw(); }).node;
    });
  }
  function manyControls() {
    const boxes = series.map((s) => el("label", {class: "check"}, el("input", {type: "checkbox", checked: picked.includes(s), onchange: (event) => {
      picked = series.filter((t) => t === s ? event.target.checked : picked.includes(t));
      tally.textContent = `${picked.length} of ${series.length}`;
      draw();
    }}), data(s)));
    const tally = el("span", {}, `${picked.length} of ${series.length}`);
    const order = choice("Order", [["listed", "as listed"], ["value", "by value"]], state.order, (v) => { state.order = v; draw(); });
    const value = view.values.length > 1 ? choice("Show", view.values.map((v) => [v, table.columns.get(v).title]), state.value, (v) => { state.value = v; draw(); }).node : null;
    const heading = el("summary", {}, data(table.columns.get(view.series).title), ": ", tally);
    return [value, order.node, el("details", {class: "picker"}, heading, el("div", {class: "checks"}, ...boxes))];
  }
  function draw() {
    retitle(box, panel, where.state);
    const rows = filterRows(table, where.state);
    const at = cellsOf(table, rows, view.category, view.series);
    const present = new Set(distinct(table, rows, view.category));
    const names = categories.filter((n) => present.has(n) && (state.kind === null || kindOf(n) === state.kind) && shown(n).toLowerCase().includes(state.text));
    const chosen = (fixed ? distinct(table, rows, view.series) : picked).filter((s) => s !== null && s !== undefined);
    const charts = !names.length || !chosen.length ? [el("p", {class: "empty"}, "No rows for this choice.")]
      : few ? drawFew(names, unique(chosen), at) : drawMany(names, chosen, at);
    // what the ends of the scale mean; of the figure that was meant, and that alone
    const {ends} = chosenView(panel, where.state);
    if (ends && state.value === view.values[0]) legend.replaceChildren(el("p", {class: "legend ends"}, el("span", {}, "\u2190 ", data(ends[0])), el("span", {}, data(ends[1]), " \u2192")));
    else legend.replaceChildren(...(few ? [key(unique(chosen).map((s, n) => ["s" + n, s]))] : []), ...signs());
    area.replaceChildren(...charts);
  }
  // What a hollow dot is.
  function signs() {
    if (!view.hollow) return [];
    const mark = svg("svg", {class: "key", width: 12, height: 12, "aria-hidden": "true"}, svg("circle", {class: "hollow", cx: 6, cy: 6, r: 4}));
    return [el("p", {class: "legend"}, el("span", {}, mark, " ", data(table.columns.get(view.hollow).title)))];
  }
  function hollowAt(i, name) {
    if (!view.hollow) return null;
    const column = table.columns.get(view.hollow), value = valueAt(i, column);
    return {value, title: `${shown(name)}: ${shown(column.title)} ${format(value, column)}`};
  }
  function valueAt(i, column) { return i === undefined ? null : column.at(i); }
  function spanOf(names, chosen, at, column) {
    const cells = names.flatMap((name) => chosen.map((s) => at(name, s)));
    const others = view.hollow ? [table.columns.get(view.hollow)] : [];
    return limits(cells.flatMap((i) => [valueAt(i, column), ...(endsOf(table, column, i) || []), ...others.map((other) => valueAt(i, other))]), column, view.dots);
  }
  function drawFew(names, chosen, at) {
    const across = area.clientWidth >= 760 ? view.values.length : 1;
    const width = Math.floor((area.clientWidth - (across - 1) * 24) / across);
    return view.values.map((value, n) => {
      const beside = view.beside && (across === 1 || n === 0) ? view.beside : null;
      const column = table.columns.get(value);
      const rows = names.map((name) => ({name,
        note: beside ? range(table, chosen.map((s) => at(name, s)).filter((i) => i !== undefined), beside) : "",
        bars: chosen.map((s, n) => ({...oneBar(table, at(name, s), column, "s" + n, `${shown(name)}, ${shown(s)}`, {dot: view.dots}), hollow: hollowAt(at(name, s), name)}))}));
      const span = spanOf(names, chosen, at, column);
      const label = `${shown(column.title)}: ${names.length} rows for ${chosen.map(shown).join(" and ")}; the same numbers are in the table ${shown(table.title)}.`;
      return chart({width, title: shown(column.title), label, rows, ...span, guide: column.kind === "share" && span.high > 1 ? 1 : null,
        noteTitle: beside ? shown(table.columns.get(beside).title) : ""});
    });
  }
  function drawMany(names, chosen, at) {
    const column = table.columns.get(state.value);
    const across = Math.max(1, Math.floor((area.clientWidth + 20) / 360)), alone = names.length === 1;
    const width = alone ? Math.min(area.clientWidth, 720) : Math.floor((area.clientWidth - (across - 1) * 20) / across);
    const strong = view.strong ? table.columns.get(view.strong) : null;
    const span = spanOf(names, chosen, at, column), there = (name) => (s) => isNumber(valueAt(at(name, s), column));
    return names.map((name) => {
      const listed = state.order === "value" && view.ordered && chosen.some(there(name)) ? ordered(name).filter(there(name)) : ordered(name);
      const rows = listed.map((s) => ({name: s, strong: strong && strong.at(at(name, s)) === true, bars: [oneBar(table, at(name, s), column, "s0", shown(s), {strong, dot: view.dots})]}));
      const label = `${shown(name)}: ${shown(column.title)}, ${chosen.length} rows; the same numbers are in the table ${shown(table.title)}.`;
      return chart({width, title: shown(name), label, rows, ...span, size: alone ? 12 : 11, thick: alone ? 14 : 10, guide: column.kind === "share" && span.high > 1 ? 1 : null});
    });
    function ordered(name) {
      return state.order === "listed" ? chosen
        : [...chosen].sort((a, b) => compare(valueAt(at(name, a), column), valueAt(at(name, b), column), (view.better || column.better) !== "lower"));
    }
  }
}

function stackedBars(box, finding, panel) {
  const view = panel.views[0], table = finding.tables[view.table];
  const every = filterRows(table, []);
  const series = distinct(table, every, view.series), categories = grouped(distinct(table, every, view.category));
  const kinds = unique(categories.map(kindOf));
  const state = {series: series[0], text: "", kind: kinds.length > 1 && categories.length > MANY ? kinds[0] : null};
  const where = whereControls(table, panel, () => draw());
  const kind = kindControl(categories, state.kind, (v) => { state.kind = v; draw(); });
  const who = choice(table.columns.get(view.series).title, series.map((s) => [s, s]), state.series, (v) => { state.series = v; draw(); });
  const find = search("Filter", (v) => { state.text = v; draw(); });
  const area = el("div", {class: "charts"});
  const columns = view.parts.map((p) => table.columns.get(p));
  box.append(toolbar(who.node, ...where.nodes, kind.node, find.node, saveButton(area, "stacked-bars")),
    key(columns.map((c, n) => ["p" + n, c.title])), area);
  onResize(area, () => draw());
  function draw() {
    retitle(box, panel, where.state);
    const at = cellsOf(table, filterRows(table, where.state), view.category, view.series);
    const names = categories.filter((n) => at(n, state.series) !== undefined && (state.kind === null || kindOf(n) === state.kind) && shown(n).toLowerCase().includes(state.text));
    const rows = names.map((name) => {
      const i = at(name, state.series);
      const parts = columns.map((c, n) => ({value: c.at(i), class: "p" + n, title: `${shown(name)}: ${shown(c.title)} ${format(c.at(i), c)}`}));
      return {name, bars: [{parts, text: columns.map((c) => format(c.at(i), c)).join(" / ")}]};
    });
    const total = (row) => row.bars[0].parts.reduce((sum, p) => sum + (isNumber(p.value) ? p.value : 0), 0);
    const label = `${columns.map((c) => shown(c.title)).join(", ")} for ${shown(state.series)}; the same numbers are in the table ${shown(table.title)}.`;
    area.replaceChildren(rows.length ? chart({width: area.clientWidth, label, rows, ...limits(rows.map(total), columns[0])})
      : el("p", {class: "empty"}, "No rows for this choice."));
  }
  draw();
}
