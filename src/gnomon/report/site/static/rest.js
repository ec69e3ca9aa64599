// References, people, provenance, and the list of all tables.
function fillWith(name, said) {
  return async ({box, head}) => { head(said); const own = tablesOf(name).filter((t) => t.size); box.append(...own.map((t) => tableSection(t, {per: 25}))); };
}
const featuresPage = fillWith("features", "Features"), wordsPage = fillWith("words", "Words"), segmentsPage = fillWith("none", "Segments"), segmentPage = segmentsPage;
const referencesPage = fillWith("references", "References"), agreementPage = fillWith("agreement", "Agreement with people"), provenancePage = fillWith("provenance", "Provenance");
const featureHref = () => null;
async function tablesPage({box, head}) {
  head("All tables");
  const rows = tables.map((t) => ({table: t.name, title: t.title, rows: t.size, columns: t.names.join(", ")}));
  box.append(tableSection(made("tables", "All tables", [{name: "table", title: "Table"}, {name: "title", title: "What"}, {name: "rows", title: "Rows", kind: "count"}, {name: "columns", title: "Columns"}], rows),
    {per: 100, plain: ["table", "title", "columns"], cells: {table: (i, value) => el("a", {href: `#/table/${i}`}, data(value))}}));
}
async function tablePage({box, rest, head}) {
  const t = tables[Number(rest[0])];
  if (!t) throw new Error("there is no such table");
  head(t.title);
  box.append(el("p", {class: "note"}, el("a", {href: "#/tables"}, "All tables"), " \u203a ", el("code", {}, shown(t.name))), tableSection(t));
}
