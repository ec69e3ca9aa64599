// Tables: their columns, rows and cells. What is in memory has one part.
const inMemory = {parts: 1, whole: () => true, need: async () => {}, async all() { return this; }, rowsOf: undefined};
function open(table) {
  const columns = new Map();
  for (const c of table.columns) {
    columns.set(c.name, {...c, at: c.levels ? (i) => c.levels[c.codes[i]] : (i) => c.cells[i]});
  }
  return {...table, ...inMemory, columns};
}
// A table made here, of a list of rows.
const plainColumn = (c) => ({kind: "text", digits: 2, better: null, help: "", ends: null, ...c});
function made(name, title, columns, rows) {
  const full = columns.map(plainColumn);
  return {name, title, section: "", file: `gnomon-${name}`, size: rows.length, ...inMemory, names: full.map((c) => c.name),
    columns: new Map(full.map((c) => [c.name, {...c, at: (i) => rows[i][c.name] ?? null}]))};
}
// Some rows of a table, as a table.
const some = (t, rows, extra) => ({...t, ...inMemory, size: rows.length, ...extra, columns: new Map([...t.columns].map(([name, c]) => [name, {...c, at: (i) => c.at(rows[i])}]))});
// The same table with one more column of words, which says of each row what is made of it.
const withColumn = (t, name, title, at) => ({...t, columns: new Map([...t.columns, [name, plainColumn({name, title, at})]])});
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
function download(name, type, ...pieces) {
  const url = URL.createObjectURL(new Blob(pieces, {type: type + ";charset=utf-8"}));
  const link = el("a", {href: url, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
function plain(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const risky = /^ *[=+\-@\uff1d\uff0b\uff0d\uff20\t\r]/.test(value) && !/^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value);
  return (risky ? "'" : "") + value;
}
const escapeTsv = (text) => text.replace(/[\\\u0000-\u001f\u007f-\u009f]/g, (c) => ({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}[c] || "\\x" + c.charCodeAt(0).toString(16).padStart(2, "0")));
const escapeCsv = (text) => /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
