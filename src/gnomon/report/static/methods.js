// The page of a method: what it shows of a test set, drawn from its rows, then the rows themselves.
// Steps of a study with the same method and metric but other options give rows that agree in all
// words; what their options differ in tells them apart. Null where no two rows do.
const MOST_SAID = 80, ALL = Symbol("all");
const isKey = (c) => c.kind === "text" && !UNSEEN.includes(c.name);
async function stepsOf(t, rows) {
  const tasks = table("tasks"), task = t.columns.get("task"), known = new Map();
  if (!task || !tasks || !tasks.columns.has("options")) return null;
  await tasks.all();
  for (let i = 0; i < tasks.size; i += 1) known.set(tasks.columns.get("key").at(i), optionsOf(tasks.columns.get("options").at(i), t.names));
  const of = (i) => known.get(task.at(i)) ?? "", said = unique(rows.map(of));
  if (said.length < 2) return null;
  const by = [...t.columns.values()].filter(isKey).map((c) => c.at), firsts = new Map();
  const shared = rows.some((i) => { const key = JSON.stringify(by.map((at) => at(i))); if (!firsts.has(key)) firsts.set(key, of(i)); return firsts.get(key) !== of(i); });
  return shared ? {of, said} : null;
}
function stepChoice(said, state, change) {
  const labels = said.map((v) => differences(v, said)), alike = unique(labels).length < labels.length;
  const options = said.map((v, n) => [v, alike ? `${n + 1}: ${labels[n]}` : labels[n]]);
  if (!said.includes(state.step)) state.step = said[0];
  return {title: () => options.find(([v]) => v === state.step)[1], node: choice("Options", options, state.step, (v) => { state.step = v; change(); }).node};
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
// The columns whose values tell apart what a view draws, and the one that takes in more of it.
const AXES = {HeatMap: ["rows", "columns"], Bars: ["category", "series"], StackedBars: ["category", "series"], Scatter: ["label", "series", "panels"], Lines: ["x", "series", "panels"], Boxes: ["category"]};
const ROOM = {HeatMap: "columns", Bars: "series", StackedBars: "series", Scatter: "panels", Lines: "series", Boxes: "category"};
const axesOf = (panel) => AXES[panel.type].map((axis) => panel.views[0][axis]).filter(Boolean);
// Further columns of words without which rows of other kinds would fall into one place.
function apartBy(t, rows, panel) {
  const keys = [...axesOf(panel), ...panel.views[0].where.map(([name]) => name)], others = [...t.columns.values()].filter((c) => isKey(c) && !keys.includes(c.name));
  const collide = (names) => {
    const at = [...keys, ...names].map((name) => t.columns.get(name).at), firsts = new Map(), differ = new Set();
    let found = false;
    for (const i of rows) {
      const key = JSON.stringify(at.map((one) => one(i)));
      if (!firsts.has(key)) { firsts.set(key, i); continue; }
      found = true;
      for (const c of others) if (c.at(i) !== c.at(firsts.get(key))) differ.add(c.name);
    }
    return found ? differ : null;
  };
  const differ = collide([]);
  if (!differ) return [];
  for (const name of differ) if (!collide([name])) return [name];
  return !differ.size || collide([...differ]) ? [] : [...differ];
}
// A panel from some rows of a table: its heading, what tells kinds of rows apart, and the drawing.
function drawPanel(place, t, rows, panel, {title = null, lead = () => {}} = {}) {
  const names = panel.views[0].where.map(([name]) => name), key = (at) => JSON.stringify(names.map(at));
  const there = new Set(rows.map((i) => key((name) => t.columns.get(name).at(i))));
  const views = panel.views.filter((view) => { const where = new Map(view.where); return there.has(key((name) => where.get(name))); }).map((view) => ({...view, title: title ? title(view) : view.title}));
  if (!views.length) return;
  const own = {...panel, views}, by = apartBy(t, rows, own), label = (i) => by.map((name) => format(t.columns.get(name).at(i), t.columns.get(name))).join(", ");
  const heading = el("h3", {class: views[0].title === t.title ? "hidden" : null}, data(views[0].title)), controls = el("div"), node = el("div", {class: "drawn"}), state = {kind: ALL};
  place.append(node);
  const draw = (wide, kept, shown2) => {
    const box = el("div");
    node.replaceChildren(heading, controls, box);
    DRAWERS[panel.type](box, {tables: [some(wide, kept)], lead: (name, _, i) => lead(name, kept[i])}, shown2);
  };
  if (!by.length) { draw(t, rows, own); return; }
  const axis = ROOM[panel.type], before = views[0][axis], title2 = t.columns.get(before || by[0]).title;
  const one = () => {
    const kept = rows.filter((i) => state.kind === ALL || label(i) === state.kind);
    const joined = (i) => !before ? label(i) : state.kind === ALL ? `${t.columns.get(before).at(i)} (${label(i)})` : t.columns.get(before).at(i);
    draw(withColumn(t, "shown", title2, joined), kept, {...own, views: views.map((view) => ({...view, [axis]: "shown"}))});
  };
  controls.append(toolbar(choice(by.map((name) => t.columns.get(name).title).join(", "), [[ALL, "all, side by side"], ...unique(rows.map(label)).map((v) => [v, v])], ALL, (v) => { state.kind = v; one(); }).node));
  one();
}
// A heat map over all test sets: what stood in its columns becomes a choice.
function overSets(t, panel) {
  const [view] = panel.views, sets = t.columns.get("testset").at, all = Array.from({length: t.size}, (_, i) => i), places = new Map();
  const fixed = view.where.filter(([name]) => {
    const at = t.columns.get(name).at;
    places.clear();
    for (const i of all) { if (!places.has(sets(i))) places.set(sets(i), new Set()); places.get(sets(i)).add(at(i)); }
    return unique(all.map(at)).length === 1 || [...places.values()].some((values) => values.size > 1);
  });
  return {...panel, views: unique(all.map(t.columns.get(view.columns).at)).map((v) => ({...view, columns: "testset", where: [...fixed, [view.columns, v]], low: view.low, exhibits: view.exhibits}))};
}
async function methodPage({box, rest, head, alive}) {
  const own = page.sections.find((one) => encodeURIComponent(one.id) === rest[0]);
  if (!own) throw new Error("there is no such page");
  head(own.title);
  const all = tablesOf(own.id), there = page.sets.map((s, n) => [n, s.name]).filter(([n]) => all.some((t) => t.mayHold(n)));
  box.append(el("p", {class: "note"}, el("code", {}, shown(own.id)), ...(own.note ? [": ", data(own.note)] : [])));
  if (!there.length) return;
  const drawn = all.filter((t) => t.panels.length), maps = drawn.some((t) => t.panels.some((panel) => panel.type === "HeatMap"));
  const state = {t: there.some(([n]) => n === Number(rest[1])) ? Number(rest[1]) : there[0][0], metric: undefined, step: null};
  const controls = el("div"), place = el("div");
  box.append(controls, place);
  // Metrics one at a time, unless a view sets them side by side: the parts of one alone are read.
  const beside = drawn.some((t) => t.panels.some((panel) => axesOf(panel).includes("metric")));
  const metricsOf = () => beside || state.t === ALL || drawn.some((t) => !t.columns.has("metric")) ? [] : unique(drawn.filter((t) => t.mayHold(state.t)).flatMap((t) => t.metricsOf(state.t)));
  const rowsNow = (t) => state.t === ALL ? rowsWhere(t, {}) : rowsOfSet(t, state.t, state.metric === undefined ? {} : {metric: state.metric}, state.metric);
  const read = (t) => state.t === ALL ? t.all() : t.of(state.t, state.metric);
  let turn = 0;
  await reset();

  async function reset() {
    const now = turn += 1, metrics = metricsOf(), several = metrics.length > 1 && !metrics.includes(null), steps = new Map();
    state.metric = !several ? undefined : metrics.includes(state.metric) ? state.metric : metrics[0];
    const own = all.filter((t) => state.t === ALL ? drawn.includes(t) : t.mayHold(state.t));
    for (const t of own.filter((one) => drawn.includes(one))) {
      await read(t);
      const found = await stepsOf(t, rowsNow(t));
      if (found) steps.set(t, found);
    }
    if (now !== turn || !alive()) return;
    const step = steps.size ? stepChoice(unique([...steps.values()].flatMap((one) => one.said)), state, () => draw()) : null;
    const sets = [...there, ...(there.length > 1 && maps ? [[ALL, "all, side by side"]] : [])];
    controls.replaceChildren(toolbar(sets.length < 2 ? null : choice("Test set", sets, state.t, (v) => { state.t = v; reset(); }).node,
      several ? choice("Metric", metrics.map((m) => [m, m]), state.metric, (m) => { state.metric = m; reset(); }).node : null, step ? step.node : null));
    await draw();

    async function draw() {
      redraws.length = 0;
      place.replaceChildren();
      for (const t of own) await tablePart(t, steps.has(t) ? {...steps.get(t), title: step.title()} : null);
    }
  }
  // A table: what is drawn of it, then its rows; these at once where they are few and nothing is drawn.
  async function tablePart(t, step) {
    const body = el("div"), part = section(t.title, t.note ? data(t.note, "p", {class: "note"}) : "", body);
    if (t.title === own.title) part.firstChild.classList.add("hidden");
    place.append(part);
    if (drawn.includes(t)) drawAll(t, body, step);
    if (state.t === ALL) return;
    const set = page.sets[state.t], options = {hide: ["testset"], unseen: metricsOf().length < 2 || state.metric !== undefined ? ["metric"] : [], given: {testset: set.name}, per: 25}, size = t.sizeOf(state.t, state.metric);
    const chosen = async () => { await read(t); return some(t, rowsNow(t)); };
    if (drawn.includes(t) || size > SMALL) part.append(folded(t, "Table", size, options, chosen)); else grid(body, await chosen(), options);
  }
  function drawAll(t, body, step) {
    const rows = rowsNow(t).filter((i) => !step || step.of(i) === state.step), more = step ? `, ${step.title}` : "", overall = state.t === ALL;
    const leads = (overall ? page.sets : [page.sets[state.t]]).some((set) => set.layers.some((layer) => layer.kind === "spans"));
    const lead = (name, i) => {
      const at = (column) => t.columns.has(column) ? t.columns.get(column).at(i) : undefined, n = setOf(at("testset")), href = layerHref(n, name, at("metric"), systemOf(n, at("system")));
      if (href) location.hash = href; else tell("The texts behind the numbers are not in this report.");
    };
    for (const panel of t.panels) {
      const given = {...panel, views: panel.views.map((view) => ({...view, exhibits: view.exhibits && leads}))}, [view] = given.views;
      if (!overall) drawPanel(body, t, rows, given, {lead, title: (one) => one.title + more});
      else if (panel.type === "HeatMap" && view.columns !== "testset") drawPanel(body, t, rows, overSets(t, given), {lead, title: () => `${t.columns.get(view.value).title}: all test sets${more}`});
    }
  }
}
