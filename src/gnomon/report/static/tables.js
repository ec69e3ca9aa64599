// The tables of the findings: read, sorted, filtered, downloaded.
function open(table) {
  const columns = new Map();
  for (const c of table.columns) {
    columns.set(c.name, {...c, at: c.levels ? (i) => c.levels[c.codes[i]] : (i) => c.cells[i]});
  }
  return {...table, columns};
}
const kindOf = (name) => String(name).includes(":") ? String(name).split(":", 1)[0] : "";
const inWords = (column) => column.kind === "text" || column.kind === "truth";
const isNumber = (v) => typeof v === "number" && Number.isFinite(v);
function format(value, column) {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return shown(value);
  if (!isNumber(value)) return "-";
  if (column.kind === "count" && Number.isInteger(value)) return count(value);
  if (inWords(column)) return String(value);
  const text = value.toFixed(column.digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "\u2212");
}
// The ends of a column's interval stand behind its value, not in columns of their own.
const isEnd = (table, column) => [...table.columns.values()].some((c) => c.ends && c.ends.includes(column.name));
function endsOf(table, column, i) {
  const ends = i === undefined ? [] : (column.ends || []).map((name) => table.columns.get(name).at(i));
  return ends.length && ends.every(isNumber) ? ends : null;
}
function withEnds(table, column, i) {
  const ends = endsOf(table, column, i), text = format(column.at(i), column);
  return ends ? `${text} [${ends.map((end) => format(end, column)).join(", ")}]` : text;
}
const outside = (value, column) => column.kind === "share" && isNumber(value) && (value < 0 || value > 1);
const filterRows = (table, where) => Array.from({length: table.size}, (_, i) => i)
  .filter((i) => where.every(([name, value]) => table.columns.get(name).at(i) === value));
const distinct = (table, rows, name) => unique(rows.map(table.columns.get(name).at));
function grouped(names) {
  const kinds = unique(names.map(kindOf));
  return kinds.flatMap((kind) => names.filter((name) => kindOf(name) === kind));
}
function compare(a, b, down) {
  const missing = (v) => v === null || v === undefined || v === "";
  if (missing(a) || missing(b)) return missing(a) - missing(b);
  const order = typeof a === "string" || typeof b === "string"
    ? String(a).localeCompare(String(b), "en", {numeric: true}) : a - b;
  return down ? -order : order;
}
function cellsOf(table, rows, across, along) {
  const cells = new Map();
  const a = table.columns.get(across), b = table.columns.get(along);
  for (const i of rows) {
    if (!cells.has(a.at(i))) cells.set(a.at(i), new Map());
    cells.get(a.at(i)).set(b.at(i), i);
  }
  return (x, y) => cells.has(x) ? cells.get(x).get(y) : undefined;
}
function range(table, rows, name) {
  const column = table.columns.get(name);
  const values = rows.map(column.at).filter(isNumber);
  if (!values.length) return "-";
  const low = format(Math.min(...values), column), high = format(Math.max(...values), column);
  return low === high ? low : low + "\u2013" + high;
}

// The heading of a panel is the title of the view that is nearest to what is chosen.
function retitle(box, panel, state) {
  const near = (view) => view.where.filter(([name, value]) => state.some((pair) => pair[0] === name && pair[1] === value)).length;
  const best = panel.views.reduce((a, b) => near(b) > near(a) ? b : a);
  box.parentElement.querySelector("h3").replaceChildren(data(best.title));
}

// One select for each column that the view fixes and that holds more than one value.
function whereControls(table, panel, redraw) {
  const state = panel.views[0].where.map(([name, value]) => [name, value]);
  const nodes = state.map((pair) => {
    const column = table.columns.get(pair[0]);
    const values = distinct(table, filterRows(table, []), pair[0]);
    if (values.length < 2) return null;
    return choice(column.title, values.map((v) => [v, v === "" || v === null ? "all" : v]), pair[1],
      (value) => { pair[1] = value; redraw(); }).node;
  }).filter(Boolean);
  return {state, nodes};
}
function kindControl(names, initial, change) {
  const kinds = unique(names.map(kindOf));
  if (kinds.length < 2) return {value: null, node: null};
  const options = [[null, "all"], ...kinds.map((k) => [k, k || "other"])];
  return {value: initial, node: choice("Kind", options, initial, change).node};
}

function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], {type: type + ";charset=utf-8"}));
  const link = el("a", {href: url, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
function plain(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const risky = /^[=+\-@\uff1d\uff0b\uff0d\uff20\t\r]/.test(value) && !/^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value);
  return (risky ? "'" : "") + value;
}
const escapeTsv = (text) => text.replace(/[\\\u0000-\u001f\u007f-\u009f]/g, (c) => ({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}[c] || "\\x" + c.charCodeAt(0).toString(16).padStart(2, "0")));
const escapeCsv = (text) => /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

function dataTable(box, table) {
  const columns = [...table.columns.values()], every = filterRows(table, []);
  const sort = {key: null, down: false};
  const picks = new Map();
  const state = {text: "", shown: FIRST_ROWS};
  const seen = columns.filter((c) => !isEnd(table, c));
  const words = columns.filter((c) => inWords(c));
  const selects = words.flatMap((c) => {
    const values = unique(every.map(c.at)), kinds = unique(values.map(kindOf));
    const set = (part) => (v) => { if (v === undefined) picks.delete(c.name + part); else picks.set(c.name + part, [c, part, v]); refresh(); };
    const options = (list, other) => [[undefined, "all"], ...list.map((v) => [v, v === true ? "yes" : v === false ? "no" : v === "" || v === null ? other : v])];
    return [kinds.length > 1 ? choice(`${c.title}: kind`, options(kinds, "other"), undefined, set(":kind")).node : null,
      values.length > 1 && values.length <= 80 ? choice(c.title, options(values, "(none)"), undefined, set("")).node : null];
  });
  const find = search("Filter", (v) => { state.text = v; refresh(); });
  const total = el("output", {class: "count"});
  const body = el("div");
  const more = button("Show more rows", () => { state.shown += MORE_ROWS; draw(); });
  const saver = (text, kind, mime, join, escape) => button(text, () => download(`${table.file}.${kind}`, mime,
    [columns.map((c) => c.name), ...rows().map((i) => columns.map((c) => c.at(i)))].map((row) => row.map((v) => escape(plain(v))).join(join)).join("\n") + "\n"), {class: "quiet"});
  box.append(toolbar(...selects, find.node, total), body, el("p", {class: "after"}, more,
    saver("Download TSV", "tsv", "text/tab-separated-values", "\t", escapeTsv), saver("Download CSV", "csv", "text/csv", ",", escapeCsv)));
  function refresh() { state.shown = FIRST_ROWS; draw(); }
  function rows() {
    const kept = every.filter((i) => [...picks.values()].every(([c, part, v]) => (part ? kindOf(c.at(i)) : c.at(i)) === v)
      && (!state.text || words.some((c) => shown(c.at(i) ?? "").toLowerCase().includes(state.text))));
    return sort.key === null ? kept : kept.sort((a, b) => compare(table.columns.get(sort.key).at(a), table.columns.get(sort.key).at(b), sort.down));
  }
  function draw() { keepingFocus(body, render); }
  function render() {
    const found = rows(), now = found.slice(0, state.shown);
    total.textContent = `${count(now.length)} of ${count(found.length)} rows` + (found.length < every.length ? `, ${count(every.length)} in all` : "");
    const head = el("tr", {}, ...seen.map((c) => el("th", {scope: "col", class: inWords(c) ? "" : "number", title: c.help ? shown(c.help) : null, "aria-sort": ariaSort(sort, c.name)},
      sortButton(data(c.title), sort, c.name, refresh, !inWords(c)))));
    const lines = now.map((i) => el("tr", {}, ...seen.map((c, n) => {
      const value = c.at(i), tag = n === 0 ? "th" : "td";
      if (typeof value === "string") return data(value, tag, n === 0 ? {scope: "row"} : {});
      return el(tag, {class: inWords(c) ? "" : "number" + (outside(value, c) ? " flagged" : ""), scope: n === 0 ? "row" : null}, withEnds(table, c, i));
    })));
    body.replaceChildren(scroller(table.title, el("table", {class: "data"}, el("caption", {class: "hidden"}, shown(table.title)), el("thead", {}, head), el("tbody", {}, ...lines))));
    more.hidden = now.length === found.length;
  }
  draw();
}
