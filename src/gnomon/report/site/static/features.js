// What a metric charges each feature for, system by system; a cell leads to its segments.
const AT_ONCE = 30;
const FIGURES = ["muler", "base", "gain", "spread", "oracle", "anti_oracle", "hit", "miss", "add", "neither", "segments"];
function featureHref(t, feature, metric, k) {
  const set = page.sets[t], f = set.layers.findIndex(([kind, name]) => kind === "feature" && name === feature), m = set.metrics.indexOf(metric);
  return set.missing || f < 0 ? null : `#/segments/${t}?f=${f}${k < 0 ? "" : "&s=" + k}${m < 0 ? "" : "&m=" + m}&o=worst`;
}
// Steps of a study with the same method and metric but other options give rows of the same cells;
// what their options differ in tells them apart. Null where no two rows are of one cell.
const MOST_SAID = 80;
async function stepsOf(t, rows, cell, leave = []) {
  const tasks = table("tasks"), task = t.columns.get("task"), known = new Map();
  if (!task || !tasks || !tasks.columns.has("options")) return null;
  const by = cell.filter((name) => t.columns.has(name)).map((name) => t.columns.get(name).at), firsts = new Map();
  if (rows.every((i) => { const key = JSON.stringify(by.map((at) => at(i))); if (!firsts.has(key)) firsts.set(key, task.at(i)); return firsts.get(key) === task.at(i); })) return null;
  await tasks.all();
  for (let i = 0; i < tasks.size; i += 1) known.set(tasks.columns.get("key").at(i), optionsOf(tasks.columns.get("options").at(i), leave));
  const of = (other) => { const at = other.columns.has("task") ? other.columns.get("task").at : null; return (i) => at && known.has(at(i)) ? known.get(at(i)) : ""; };
  const said = unique(rows.map(of(t)));
  const labels = said.map((v) => differences(v, said)), alike = unique(labels).length < labels.length;
  const options = said.map((v, n) => [v, alike ? `${n + 1}: ${labels[n]}` : labels[n]]);
  return said.length < 2 ? null : {of, options, said: (v) => options.find(([one]) => one === v)[1]};
}
// Options by name, those within others too, in order, so that equal ones are written alike.
function optionsOf(text, leave) {
  const within = (v, name) => v && typeof v === "object" && !Array.isArray(v) ? Object.entries(v).flatMap(([key, value]) => within(value, name ? `${name}.${key}` : key)) : [[name, v]];
  const given = within(JSON.parse(text || "{}"), "").filter(([name]) => !leave.includes(name));
  return JSON.stringify(given.sort(([a], [b]) => compare(a, b, false)));
}
function differences(one, among) {
  const read = (text) => new Map(text ? JSON.parse(text) : []), own = read(one), all = among.map(read);
  const plainly = (v) => v === undefined ? "not given" : typeof v === "string" ? v : JSON.stringify(v);
  const names = unique(all.flatMap((o) => [...o.keys()])).filter((name) => unique(all.map((o) => JSON.stringify(o.get(name)))).length > 1);
  const text = names.map((name) => `${name}: ${plainly(own.get(name))}`).join("; ");
  return !text ? "no options" : text.length > MOST_SAID ? text.slice(0, MOST_SAID) + "\u2026" : text;
}
// A panel of the kind that shared charts draw into: a heading of their own, and a box.
function panelOf(draw, finding, panel) {
  const box = el("div"), node = el("div", {class: "drawn"}, el("h3", {}, data(panel.views[0].title)), box);
  return {node, draw: () => draw(box, finding, panel)};
}
function drawInto(place, draw, finding, panel) {
  const made = panelOf(draw, finding, panel);
  place.replaceChildren(made.node);
  made.draw();
}
async function featuresPage({box, rest, query, head, alive}) {
  head("Features");
  const muler = table("muler");
  if (!muler) { box.append(el("p", {class: "empty"}, "This study did not ask what features cost (muler.score)."), alsoHere(tablesOf("features").filter((t) => t.size))); return; }
  const there = page.sets.map((s, n) => [n, s.name]).filter(([n]) => muler.mayHold(n));
  const state = {t: there.some(([n]) => n === Number(rest[0])) ? Number(rest[0]) : there[0][0], figure: "muler", from: 0};
  const chart = el("div"), controls = el("div"), shares = el("details", {class: "fold"}), sharesBox = el("div");
  const numbers = FIGURES.filter((name) => muler.columns.has(name));
  shares.append(el("summary", {}, "In how many segments outputs miss, hit or add the feature"), sharesBox);
  shares.addEventListener("toggle", () => drawShares());
  box.append(section("What each feature costs", controls, chart, shares), alsoHere(tablesOf("features").filter((t) => t.size)));
  const own = () => rowsOfSet(muler, state.t, {metric: state.metric}, state.metric);
  const values = (name, rows) => muler.columns.has(name) ? unique(rows.map(muler.columns.get(name).at)) : [];
  // The parts of one metric alone are read, where parts are of one.
  async function reset() {
    let metrics = muler.metricsOf(state.t);
    if (metrics.includes(null)) { await muler.of(state.t); metrics = values("metric", rowsOfSet(muler, state.t)); }
    if (!metrics.includes(state.metric)) state.metric = metrics[0];
    await muler.of(state.t, state.metric);
    if (!alive()) return;
    const rows = own(), systems = values("system", rows);
    const steps = await stepsOf(muler, rows, ["system", "feature", "variant", "slice"]);
    if (!alive()) return;
    if (!steps || !steps.options.some(([v]) => v === state.step)) state.step = steps ? steps.options[0][0] : null;
    state.said = steps ? steps.said(state.step) : "";
    state.ofStep = steps ? steps.of(muler) : null;
    for (const name of ["variant", "slice"]) { const all = values(name, rows); if (!all.includes(state[name])) state[name] = name === "slice" && all.includes(null) ? null : all[0]; }
    state.from = 0;
    const pick = (label, name) => { const all = values(name, rows); return all.length < 2 ? null : choice(label, all.map((v) => [v, v === null ? "all segments" : v]), state[name], (v) => { state[name] = v; draw(); }).node; };
    const windows = Array.from({length: Math.ceil(systems.length / AT_ONCE)}, (_, n) => [n * AT_ONCE, `${n * AT_ONCE + 1} to ${Math.min(systems.length, (n + 1) * AT_ONCE)}`]);
    controls.replaceChildren(toolbar(there.length < 2 ? null : choice("Test set", there, state.t, (n) => { state.t = n; reset(); }).node,
      metrics.length < 2 ? null : choice("Metric", metrics.map((m) => [m, m]), state.metric, (m) => { state.metric = m; reset(); }).node, pick("Variant", "variant"), pick("Slice", "slice"),
      steps ? choice("Options", steps.options, state.step, (v) => { state.step = v; state.said = steps.said(v); draw(); }).node : null,
      choice("Figure", numbers.map((name) => [name, muler.columns.get(name).title]), state.figure, (v) => { state.figure = v; draw(); }).node,
      windows.length < 2 ? null : choice("Systems", windows, 0, (v) => { state.from = v; draw(); }).node));
    draw();
  }
  function chosen() {
    const rows = own().filter((i) => (state.ofStep === null || state.ofStep(i) === state.step) && ["variant", "slice"].every((name) => !muler.columns.has(name) || muler.columns.get(name).at(i) === state[name]));
    const names = new Set(values("system", rows).slice(state.from, state.from + AT_ONCE));
    return some(muler, rows.filter((i) => names.has(muler.columns.get("system").at(i))));
  }
  function finding() {
    return {tables: [chosen()], lead: (feature, system) => { const href = featureHref(state.t, feature, state.metric, systemOf(state.t, system)); if (href) location.hash = href; else tell("The texts behind the numbers are not in this report."); }};
  }
  function draw() {
    const share = state.figure === "muler", column = muler.columns.get(state.figure);
    const leads = page.sets[state.t].layers.some(([kind]) => kind === "feature");
    drawInto(chart, heatMap, finding(), {views: [{title: `${column.title} under ${state.metric}${state.said ? ", " + state.said : ""}`, where: [], table: 0, rows: "feature", columns: "system", value: state.figure,
      beside: muler.columns.has("segments") && state.figure !== "segments" ? "segments" : null, low: share ? 0 : null, high: share ? 1 : null, marks: share && muler.columns.has("outside") ? "outside" : null, faint: null, under: null, exhibits: leads}]});
    drawShares();
  }
  function drawShares() {
    const parts = ["miss", "hit", "add"];
    if (shares.open && parts.every((name) => muler.columns.has(name))) drawInto(sharesBox, stackedBars, finding(), {views: [{title: "Shares of segments", where: [], table: 0, category: "feature", series: "system", parts}]});
  }
  await reset();
}
