// Where numbers are from, and the list of all tables.
async function provenancePage({box, head}) {
  head("Provenance");
  const own = tablesOf("provenance");
  box.append(el("p", {class: "note"}, "Signatures, to reproduce each number."), el("dl", {class: "facts"}, el("div", {}, el("dt", {}, "report made by"), el("dd", {}, `gnomon ${page.gnomon}`)), ...page.facts.filter(([, v]) => v).map(([name, v]) => el("div", {}, data(name, "dt"), data(v, "dd")))));
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

// Which page is shown: the address after # says it, so that links, bookmarks and "back" work.
const view = document.getElementById("view"), title = document.getElementById("title");
const PAGES = {systems: systemsPage, overview: overviewPage, method: methodPage, segments: segmentsPage, segment: segmentPage, system: systemPage,
  provenance: provenancePage, tables: tablesPage, table: tablePage};
const OF = {system: "systems", segment: "segments", table: "tables"};
let visit = 0;
const current = () => {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [name, ...rest] = path.split("/");
  return {name: Object.hasOwn(PAGES, name) ? name : "systems", rest, query: new URLSearchParams(query || "")};
};
async function show(first) {
  const {name, rest, query} = current(), now = visit += 1;
  redraws.length = 0;
  tell("");
  for (const anchor of document.querySelectorAll("nav.contents a")) {
    if (anchor.dataset.page === (name === "method" ? `method/${rest[0]}` : OF[name] || name)) {
      anchor.setAttribute("aria-current", "page");
      // not at first: the Tab key would go on from there
      if (!first) anchor.scrollIntoView({block: "nearest", inline: "nearest", behavior: "instant"});
    } else anchor.removeAttribute("aria-current");
  }
  const box = el("div");
  const head = (text) => { if (now !== visit) return; title.replaceChildren(data(text)); document.title = `${shown(text)} \u2013 ${shown(page.title)}`; };
  view.replaceChildren(box);
  try { await PAGES[name]({box, rest, query, head, alive: () => now === visit}); } catch (error) {
    if (now === visit) tell(`This page cannot be shown: ${error.message}`);
    document.documentElement.dataset.fault = String(error.stack || error);
  }
  if (now !== visit) return;
  if (!first) { scrollTo({top: 0, behavior: "instant"}); title.focus({preventScroll: true}); }
  document.documentElement.dataset.ready = String(now);
}
addEventListener("hashchange", () => { if (!location.hash || location.hash.startsWith("#/")) show(false); });
document.querySelector("[data-skip]").addEventListener("click", (event) => { event.preventDefault(); title.focus(); title.scrollIntoView({block: "start"}); });
show(true);
