// A table of any size: some rows at a time, searched, sorted, filtered, downloaded; a real table.
const PER_PAGE = [25, 50, 100, 500], FEW = 80, PIECE = 4000, BRIEF = 5;
// tables of so many rows are read at once, without words
const SMALL = 20_000;
// Keys that join tables are for queries: downloads have them.
const UNSEEN = ["task"];
// Where a cell leads, by the column that it is in; the pages of a study know.
const LINKS = {};
// Names of columns are data: they never reach what an object inherits.
const own = (object, name) => object && Object.hasOwn(object, name) ? object[name] : undefined;
const link = (href, node) => href ? el("a", {href}, node) : node;

function sortButton(label, state, key, redraw, numeric) {
  const active = state.key === key;
  const arrow = active ? (state.down ? "\u25be" : "\u25b4") : "\u2195";
  return el("button", {type: "button", class: "sort", "data-active": active, onclick: () => {
    if (!active) { state.key = key; state.down = numeric; } else if (state.down === numeric) state.down = !numeric; else state.key = null;
    redraw();
  }}, label, el("span", {class: "arrow", "aria-hidden": "true"}, arrow));
}
const ariaSort = (state, key) => state.key === key ? (state.down ? "descending" : "ascending") : "none";

// Drawing anew takes the focus away: give it back to the control in the same place.
function keepingFocus(box, draw) {
  const controls = () => [...box.querySelectorAll("button.sort")];
  const place = controls().indexOf(document.activeElement);
  draw();
  if (place >= 0 && controls()[place]) controls()[place].focus();
}

function grid(box, t, options = {}) {
  const known = t.whole() && t.size <= SMALL, every = [...t.columns.values()].filter((c) => !isEnd(t, c) && ![...UNSEEN, ...(options.hide || []), ...(options.unseen || [])].includes(c.name));
  // a column without any value is absent
  const holds = (c) => { for (let i = 0; i < t.size; i += 1) if (![null, undefined, ""].includes(c.at(i))) return true; return false; };
  const blank = new Set(known && t.size ? every.filter((c, n) => n && !own(options.cells, c.name) && !holds(c)) : []);
  const columns = every.filter((c) => !blank.has(c)), alike = el("p", {class: "note"});
  const words = columns.filter((c) => inWords(c));
  const state = {text: "", page: 0, per: options.per || 50, sort: {key: null, down: false, ...options.sort}, rows: null, turn: 0};
  let was = narrow.matches;
  if (state.sort.key !== null && !t.columns.has(state.sort.key)) state.sort.key = null;
  const picks = new Map();
  const choices = el("div", {class: "choices"}), total = el("output", {class: "count"}), body = el("div"), pager = el("nav", {class: "pager", "aria-label": `Pages of ${shown(t.title)}`});
  const find = search(options.find || "Search", (v) => { state.text = v; renew(); });
  const per = choice("Rows", PER_PAGE.map((n) => [n, n]), state.per, (n) => { state.per = n; state.page = 0; draw(); });
  const saver = (kind, mime, join, escape) => button(`Download ${kind.toUpperCase()}`, () => save(kind, mime, join, escape), {class: "quiet", "aria-label": `Download ${kind.toUpperCase()}: ${shown(t.title)}`});
  const helps = every.filter((c) => c.help && !blank.has(c));
  const tools = toolbar(...(options.controls || []), choices, find.node, t.size > PER_PAGE[0] ? per.node : null, total), folded = options.folded && t.size > BRIEF + 1;
  const unfold = button(`Show all ${count(t.size)} rows`, () => { state.per = options.per || 50; unfold.remove(); tools.hidden = false; draw(); }, {class: "quiet", "aria-label": `Show all ${count(t.size)} rows: ${shown(t.title)}`});
  if (folded) { state.per = BRIEF; tools.hidden = true; }
  box.append(tools, alike, body,
    el("div", {class: "after"}, folded ? unfold : "", pager, saver("tsv", "text/tab-separated-values", "\t", escapeTsv), saver("csv", "text/csv", ",", escapeCsv)),
    helps.length ? el("details", {class: "helps"}, el("summary", {}, "What the columns mean"), el("dl", {}, ...helps.flatMap((c) => [data(c.title, "dt"), data(c.help, "dd")]))) : "",
    blank.size ? el("p", {class: "note"}, `Without any value: ${[...blank].map((c) => shown(c.title)).join(", ")}.`) : "");
  if (t.whole()) offer(); else if (t.parts === 1 || t.size <= SMALL) t.all().then(offer);
  else if (words.length) choices.append(button("Filter by column", () => t.all().then(offer), {class: "quiet"}));
  renew();

  function offer() {
    if (state.offered) return;
    state.offered = true;
    choices.replaceChildren();
    for (const c of words) {
      const values = new Set();
      for (let i = 0; i < t.size && values.size <= FEW; i += 1) values.add(c.at(i));
      if (values.size < 2 || (options.plain || []).includes(c.name)) continue;
      const pick = (key, title, values2, at, none) => choice(title, [[undefined, "all"], ...values2.map((v) => [v, v === true ? "yes" : v === false ? "no" : v === "" || v === null ? none : v])], undefined,
        (v) => { if (v === undefined) picks.delete(key); else picks.set(key, [at, v]); renew(); }).node;
      const kinds = unique([...values].map(kindOf));
      if (kinds.length > 1 && kinds.length < values.size) choices.append(pick(c.name + ":kind", `${c.title}: kind`, kinds, (i) => kindOf(c.at(i)), "other"));
      if (values.size <= FEW) choices.append(pick(c.name, c.title, [...values], c.at, "(none)"));
    }
  }
  function asked() { return state.text || picks.size || state.sort.key !== null; }
  // Rows are only looked through when something is asked; a table as it stands needs the parts in sight alone.
  async function renew() {
    const turn = state.turn += 1;
    state.page = 0;
    state.rows = null;
    if (asked()) {
      await t.all();
      offer();
      if (turn !== state.turn) return;
      state.rows = rows();
    }
    await draw();
  }
  function rows() {
    const kept = [], chosen = [...picks.values()];
    for (let i = 0; i < t.size; i += 1) {
      if (chosen.every(([at, v]) => at(i) === v) && (!state.text || words.some((c) => shown(c.at(i) ?? "").toLowerCase().includes(state.text)))) kept.push(i);
    }
    const {key, down} = state.sort;
    if (key === null) return kept;
    const at = t.columns.get(key).at;
    return kept.sort((a, b) => compare(at(a), at(b), down) || a - b);
  }
  function sizeNow() { return state.rows ? state.rows.length : t.size; }
  function rowAt(n) { return state.rows ? state.rows[n] : n; }
  async function draw() {
    const turn = state.turn, low = state.page * state.per, high = Math.min(sizeNow(), low + state.per);
    if (!state.rows) await t.need(low, high);
    if (turn !== state.turn) return;
    keepingFocus(body, () => render(low, high));
    turns();
  }
  // On a narrow screen words that are alike in all rows stand above the table, and what answers comes first.
  function inSight() {
    const fixed = !narrow.matches || !known || t.size < 2 ? [] : columns.filter((c) => inWords(c) && !own(options.cells, c.name) && distinct(t, [...Array(t.size).keys()], c.name).length === 1);
    const same = columns.some((c) => inWords(c) && !fixed.includes(c)) ? fixed : fixed.slice(1);
    alike.hidden = !same.length;
    alike.replaceChildren(...same.flatMap((c, n) => [n ? " \u00b7 " : "", data(c.title), ": ", data(format(c.at(0), c))]));
    const rest = columns.filter((c) => !same.includes(c)), answers = t.answers || [];
    const rank = (c, n) => n === 0 ? 0 : c.kind === "text" && answers.length ? 1 : answers.includes(c.name) ? 2 + answers.indexOf(c.name) : 2 + answers.length;
    if (!narrow.matches) return rest;
    const start = rest.findIndex((c) => c.kind === "text"), named = start > 0 ? [rest[start], ...rest.filter((_, n) => n !== start)] : rest;
    return named.map((c, n) => [rank(c, n), c]).sort((a, b) => a[0] - b[0]).map(([, c]) => c);
  }
  redraws.push(() => { if (was !== narrow.matches) { was = narrow.matches; draw(); } });
  function render(low, high) {
    const columns = inSight();
    total.textContent = (high ? `${count(low + 1)}\u2013${count(high)} of ` : "") + `${count(sizeNow())} rows` + (sizeNow() < t.size ? `, ${count(t.size)} in all` : "");
    const head = el("tr", {}, ...columns.map((c) => el("th", {scope: "col", class: inWords(c) ? null : "number", title: c.help ? shown(c.help) : null, "aria-sort": ariaSort(state.sort, c.name)},
      sortButton(data(c.title), state.sort, c.name, renew, !inWords(c)), own(options.heads, c.name) || "")));
    const lines = [];
    for (let n = low; n < high; n += 1) lines.push(line(rowAt(n), columns));
    body.replaceChildren(scroller(`Table: ${t.title}`, el("table", {class: "data"}, el("caption", {class: "hidden"}, shown(t.title)), el("thead", {}, head), el("tbody", {}, ...lines))));
    const frame = body.firstChild, beyond = narrow.matches ? [...frame.querySelectorAll("thead th")].filter((th) => th.offsetLeft + th.offsetWidth > frame.clientWidth + 1).length : 0;
    if (beyond) body.append(el("p", {class: "note"}, `${beyond} more column${beyond > 1 ? "s" : ""} to the right.`));
  }
  function line(i, columns) {
    const at = (name) => t.columns.has(name) ? t.columns.get(name).at(i) : options.given ? options.given[name] : undefined;
    return el("tr", {class: options.chosen && options.chosen(i) ? "chosen" : null}, ...columns.map((c, n) => {
      const value = c.at(i), tag = n === 0 ? "th" : "td", cell = own(options.cells, c.name);
      const css = (inWords(c) ? "" : "number") + (outside(value, c) ? " flagged" : "") + (options.shade ? " " + options.shade(c, value) : "");
      const attributes = {class: css.trim() || null, scope: n === 0 ? "row" : null, "data-better": options.shade ? c.better || "none" : null};
      if (cell) return el(tag, {...attributes, class: "free"}, cell(i, value));
      const leads = own(options.links, c.name), href = value === null ? null : leads ? leads(i) : own(LINKS, c.name) ? LINKS[c.name](at) : null;
      const text = typeof value === "string" ? data(value) : format(value, c), ends = withEnds(t, c, i).slice(format(value, c).length);
      return el(tag, attributes, link(href, text), gloss(value) || ends ? el("small", {class: ends ? "ends" : null}, ends || ` ${gloss(value)}`) : "");
    }));
  }
  function turns() {
    const last = Math.max(0, Math.ceil(sizeNow() / state.per) - 1);
    const go = (label, to, off) => button(label, () => { state.page = to; draw().then(() => { const again = [...pager.querySelectorAll("button")].find((b) => b.textContent === label); (again && !again.disabled ? again : body.querySelector(".scroll")).focus(); }); }, {disabled: off});
    pager.hidden = last === 0 || tools.hidden;
    pager.replaceChildren(go("First", 0, state.page === 0), go("Previous", state.page - 1, state.page === 0),
      el("span", {}, `Page ${count(state.page + 1)} of ${count(last + 1)}`), go("Next", state.page + 1, state.page === last), go("Last", last, state.page === last));
  }
  // Every row and column that was asked for, unrounded; written piece by piece.
  async function save(kind, mime, join, escape) {
    await t.all();
    offer();
    const every = [...t.columns.values()].filter((c) => !(options.hide || []).includes(c.name)), line = (cells) => cells.map((v) => escape(plain(v))).join(join) + "\n";
    const pieces = [line(every.map((c) => c.as || c.name))];
    for (let from = 0; from < sizeNow(); from += PIECE) {
      let text = "";
      for (let n = from; n < Math.min(from + PIECE, sizeNow()); n += 1) { const i = rowAt(n); text += line(every.map((c) => c.at(i))); }
      pieces.push(text);
      if (sizeNow() > 10 * PIECE) { tell(`Writing ${count(from)} of ${count(sizeNow())} rows`); await pause(); }
    }
    tell("");
    download(`${t.file}.${kind}`, mime, ...pieces);
  }
  return {renew};
}
const stateLine = document.getElementById("state");
function tell(text) { if (stateLine) { stateLine.textContent = text; stateLine.hidden = !text; } }
const pause = () => new Promise((done) => setTimeout(done));
// A section of a page with a table; long ones open on request.
function section(title, ...children) {
  const id = "section-" + (ids += 1);
  return el("section", {class: "panel", "aria-labelledby": id}, el("h2", {id}, data(title)), ...children);
}
function tableSection(t, options = {}) {
  const box = el("div"), id = "section-" + (ids += 1);
  const heading = el("h2", {id}, data(options.title || t.title));
  grid(box, t, options);
  return el("section", {class: "panel tables", "aria-labelledby": id}, heading, box);
}
// A table that is read when it is opened: what it shows of it is made by then.
function folded(t, title, size, options, read) {
  const box = el("div"), fold = el("details", {class: "fold"}, el("summary", {}, data(title), ` (${count(size)} rows)`), box);
  fold.addEventListener("toggle", async () => { if (fold.open && !box.firstChild && !box.dataset.read) { box.dataset.read = "yes"; grid(box, read ? await read() : t, options); } });
  return fold;
}
