// One metric over all test sets: systems by test sets, with means over the test sets that a system is in.
// One score alone is no mean: beside means over several test sets it would say something else.
const mean = (values) => values.length > 1 ? values.reduce((a, b) => a + b, 0) / values.length : null;
// What a metric gave each system on each test set, and the places that this means there.
function standings(scores, metric) {
  const at = (name) => scores.columns.get(name).at, rows = new Map(), there = new Set(), sign = lower(metric) === "lower" ? -1 : 1;
  for (const i of rowsWhere(scores, {metric})) {
    const t = setOf(at("testset")(i)), system = at("system")(i), score = at("score")(i);
    if (t < 0 || !isNumber(score)) continue;
    if (!rows.has(system)) rows.set(system, {system, scores: new Map(), ranks: new Map()});
    rows.get(system).scores.set(t, score);
    there.add(t);
  }
  for (const t of there) {
    const all = [...rows.values()].filter((r) => r.scores.has(t)), sorted = all.map((r) => sign * r.scores.get(t)).sort((a, b) => b - a), first = new Map();
    sorted.forEach((v, n) => { if (!first.has(v)) first.set(v, n + 1); });
    for (const r of all) r.ranks.set(t, first.get(sign * r.scores.get(t)));
  }
  return {list: [...rows.values()], sets: page.sets.map((_, t) => t).filter((t) => there.has(t))};
}
function standingsTable(metric, figure, {list, sets}) {
  const several = list.filter((r) => r.scores.size > 1).length, meant = several > 0, ranks = figure === "rank", better = lower(metric);
  const rows = list.map((r) => {
    const row = {system: r.system, sets: r.scores.size, score: mean([...r.scores.values()]), rank: mean([...r.ranks.values()])};
    for (const t of sets) row["t" + t] = (ranks ? r.ranks : r.scores).get(t) ?? null;
    return row;
  });
  const score = {name: "score", as: "mean_score", title: "Mean score", kind: "number", digits: digitsFor(rows.map((r) => r.score)), better, help: "over the test sets in which the system has a score; of systems with several of them"};
  const rank = {name: "rank", as: "mean_rank", title: "Mean rank", kind: "number", digits: 2, better: "lower", help: "over the same test sets; 1 is best"};
  const number = {name: "sets", as: "testsets", title: "Test sets", kind: "count", help: `in which the system has a score, of ${sets.length}`};
  const columns = [{name: "system", title: "System"}, ...(meant ? [...(ranks ? [rank, score] : [score, rank]), number] : [])];
  for (const t of sets) columns.push({name: "t" + t, as: page.sets[t].name, title: page.sets[t].name, kind: "number", digits: ranks ? 0 : digitsFor(rows.map((r) => r["t" + t])), better: ranks ? "lower" : better});
  return {meant, mostly: 2 * several > list.length, table: made("standings", `${ranks ? "Ranks" : "Scores"} by ${metric}`, columns, rows)};
}
async function overviewPage({box, rest, query, head, alive}) {
  head("All test sets");
  const scores = table("scores");
  if (!scores) { box.append(el("p", {class: "empty"}, "This study scored no systems; its other pages show what it did.")); return; }
  await scores.all();
  if (!alive()) return;
  const metrics = unique(rowsWhere(scores, {}).map(scores.columns.get("metric").at)), n = Number(rest[0]);
  const state = {metric: metrics[n] === undefined ? metrics[0] : metrics[n], figure: query.get("v") === "rank" ? "rank" : "score"}, place = el("div", {class: "standings"});
  const keep = () => { try { history.replaceState(null, "", `#/overview/${metrics.indexOf(state.metric)}${state.figure === "rank" ? "?v=rank" : ""}`); } catch { /* the page works without */ } draw(); };
  box.append(toolbar(choice("Metric", metrics.map((m) => [m, m]), state.metric, (m) => { state.metric = m; keep(); }).node,
    choice("Figure", [["score", "scores"], ["rank", "ranks"]], state.figure, (v) => { state.figure = v; keep(); }).node), place);
  draw();
  function draw() {
    const found = standings(scores, state.metric), {meant, mostly, table: whole} = standingsTable(state.metric, state.figure, found);
    const without = page.sets.filter((_, t) => !found.sets.includes(t)).map((s) => s.name), part = found.list.some((r) => r.scores.size < found.sets.length);
    const notes = [lower(state.metric) === "lower" ? "An error rate: lower is better." : null,
      part && meant ? "Systems are not all in the same test sets (- where one has no score, and for means over fewer than two): compare means of systems with the same test sets alone." : null,
      part && !meant ? "No system is in more than one test set, so that there are no means." : null,
      without.length ? `Without scores by this metric: ${without.join("; ")}.` : null].filter(Boolean);
    const heads = Object.fromEntries(found.sets.map((t) => ["t" + t, el("a", {class: "lead", href: `#/systems/${t}`}, "Systems", el("span", {class: "hidden"}, ` of ${shown(page.sets[t].name)}`))]));
    const links = Object.fromEntries(found.sets.map((t) => ["t" + t, (i) => { const k = systemOf(t, whole.columns.get("system").at(i)); return k < 0 ? null : `#/system/${t}/${k}`; }]));
    const sort = mostly ? state.figure : found.sets.length ? "t" + found.sets[0] : null;
    place.replaceChildren(...notes.map((text) => el("p", {class: "note"}, shown(text))),
      tableSection(whole, {links, heads, plain: ["system"], per: 100, shade: shading(whole), sort: sort === null ? {} : {key: sort, down: state.figure === "score" && lower(state.metric) === "higher"}}));
  }
}
