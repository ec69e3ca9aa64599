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
    if (anchor.dataset.page === (name === "method" ? `method/${rest[0]}` : OF[name] || name)) { anchor.setAttribute("aria-current", "page"); anchor.scrollIntoView({block: "nearest", inline: "nearest", behavior: "instant"}); } else anchor.removeAttribute("aria-current");
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
