// Where numbers are from, and the list of all tables.
async function provenancePage({box, head}) {
  head("Provenance");
  const own = tablesOf("provenance");
  box.append(el("p", {class: "note"}, "With its signature each number can be made again."), el("dl", {class: "facts"}, el("div", {}, el("dt", {}, "report made by"), el("dd", {}, `gnomon ${page.gnomon}`)), ...page.facts.filter(([, v]) => v).map(([name, v]) => el("div", {}, data(name, "dt"), data(v, "dd")))));
  const wrapped = (name) => ({[name]: (i, value) => value === null ? "-" : data(value)});
  box.append(...own.map((t) => tableSection(t, {per: 25, plain: ["signature", "notice", "key", "options", "path", "finished"],
    cells: {signature: (i, value) => el("code", {}, shown(value ?? "")), ...wrapped("notice"), ...wrapped("options"), ...wrapped("texts"), ...wrapped("path")}})));
}
async function tablesPage({box, head}) {
  head("All tables");
  const rows = tables.map((t) => ({table: t.name, title: t.title, rows: t.size, columns: t.names.join(", ")}));
  box.append(el("p", {class: "note"}, "The tables of the store, under the names that queries know, and some that the report makes of them."),
    tableSection(made("tables", "All tables", [{name: "table", title: "Table"}, {name: "title", title: "What"}, {name: "rows", title: "Rows", kind: "count"}, {name: "columns", title: "Columns"}], rows),
      {title: "Tables of the study", per: 100, plain: ["table", "title", "columns"], cells: {table: (i, value) => el("a", {href: `#/table/${i}`}, data(value)), columns: (i, value) => data(value)}}));
}
async function tablePage({box, rest, head}) {
  const t = tables[Number(rest[0])];
  if (!t) throw new Error("there is no such table");
  head(t.title);
  box.append(el("p", {class: "note"}, el("a", {href: "#/tables"}, "All tables"), " \u203a ", el("code", {}, shown(t.name))), tableSection(t));
}
