// How good the systems are: all metrics side by side, for one test set at a time.
const digitsFor = (values) => { const top = Math.max(0, ...values.filter(isNumber).map(Math.abs)); return top < 2 ? 4 : top < 10 ? 3 : 2; };
function setChoice(t, go, label = "Test set") {
  return page.sets.length < 2 ? null : choice(label, page.sets.map((s, n) => [n, s.name]), t, go).node;
}
const lower = (metric) => page.lower.includes(metric) ? "lower" : "higher";
async function scoreTable(t) {
  const set = page.sets[t], scores = await table("scores").of(t), metrics = [], rows = new Map(set.systems.map((name) => [name, {system: name}]));
  const at = (name) => scores.columns.get(name).at;
  for (const i of rowsOfSet(scores, t)) {
    const metric = at("metric")(i);
    if (!metrics.includes(metric)) metrics.push(metric);
    if (!rows.has(at("system")(i))) rows.set(at("system")(i), {system: at("system")(i)});
    rows.get(at("system")(i))["m" + metrics.indexOf(metric)] = at("score")(i);
  }
  const list = [...rows.values()], columns = [{name: "testset", title: "Test set"}, {name: "system", title: "System"}];
  for (const [n, {table: name, value, by}] of page.standings.entries()) columns.push(...await standing(name, value, by, t, rows, n));
  metrics.forEach((metric, m) => columns.push({name: "m" + m, as: metric, title: metric, kind: "number", digits: digitsFor(list.map((r) => r["m" + m])), better: lower(metric)}));
  for (const row of list) row.testset = set.name;
  return {metrics, whole: made("systems", `Systems of ${set.name}`, columns, list)};
}
// What another table says of how good systems are: a column for each kind.
async function standing(name, value, by, t, rows, n) {
  const whole = table(name), kinds = [];
  if (!whole) return [];
  await whole.of(t);
  const {title, help, better, digits} = whole.columns.get(value), kind = whole.columns.get(by).at, own = rowsOfSet(whole, t);
  for (const i of own) {
    if (!kinds.includes(kind(i))) kinds.push(kind(i));
    const row = rows.get(whole.columns.get("system").at(i));
    if (row) row[`p${n}-${kinds.indexOf(kind(i))}`] = whole.columns.get(value).at(i);
  }
  return kinds.map((said, k) => {
    const full = said === null ? title : `${title} (${said})`;
    return {name: `p${n}-${k}`, as: full, title: full, kind: "number", digits, better: better || "higher", help};
  });
}
// A colour for each value, by where it lies among those of its column.
function shading(t) {
  const spans = new Map([...t.columns.values()].map((c) => { const values = Array.from({length: t.size}, (_, i) => c.at(i)).filter(isNumber); return [c.name, [Math.min(...values), Math.max(...values)]]; }));
  return (c, value) => { const [low, high] = spans.get(c.name); return c.kind !== "number" || !isNumber(value) || !(high > low) ? "" : "h" + Math.round(6 * (value - low) / (high - low)); };
}
async function systemsPage({box, rest, head, alive}) {
  const t = Number(rest[0] || 0) < page.sets.length ? Number(rest[0] || 0) : 0, set = page.sets[t];
  head("Systems");
  const notices = page.notices.length ? el("ul", {class: "notices"}, ...page.notices.map((n) => data(n, "li"))) : "";
  box.append(notices, el("dl", {class: "facts"}, ...page.facts.filter(([, v]) => v).map(([name, v]) => el("div", {}, data(name, "dt"), data(v, "dd")))));
  if (table("scores")) {
    const {metrics, whole} = await scoreTable(t);
    if (!alive()) return;
    const people = [...whole.columns.keys()].find((name) => /^p\d+-/.test(name)), first = people || (metrics.length ? "m0" : null);
    box.append(tableSection(whole, {title: `Systems of ${set.name}`, controls: [setChoice(t, (n) => { location.hash = `#/systems/${n}`; })].filter(Boolean), hide: ["testset"], given: {testset: set.name},
      sort: first ? {key: first, down: lower(metrics[0]) === "higher" || Boolean(people)} : {}, shade: shading(whole)}));
  } else box.append(el("p", {class: "empty"}, "This study scored no systems; its other pages show what it did."));
  const own = tablesOf("systems");
  if (own.length) box.append(section("Tables", ...own.map((s) => folded(s, s.title, s.size))));
}
// One system: its scores, its features, its segments.
async function systemPage({box, rest, head, alive}) {
  const t = Number(rest[0]), set = page.sets[t], name = set && set.systems[Number(rest[1])], k = Number(rest[1]);
  if (name === undefined) throw new Error("there is no such system");
  head(name);
  const crumbs = [link(`#/systems/${t}`, "Systems of "), data(set.name)];
  box.append(el("p", {class: "note"}, ...crumbs));
  if (table("scores")) {
    const {metrics, whole} = await scoreTable(t), values = (m) => set.systems.map((_, i) => whole.columns.get("m" + m).at(i));
    const own = set.systems.indexOf(name), rows = metrics.map((metric, m) => {
      const mine = values(m)[own], better = values(m).filter((v) => isNumber(v) && (lower(metric) === "lower" ? v < mine : v > mine)).length;
      return {metric, score: mine, rank: isNumber(mine) ? better + 1 : null, of: values(m).filter(isNumber).length};
    });
    box.append(tableSection(made("scores-of-system", `Scores of ${name}`, [{name: "metric", title: "Metric"}, {name: "score", title: "Score", kind: "number", digits: digitsFor(rows.map((r) => r.score))}, {name: "rank", title: "Rank", kind: "count"}, {name: "of", title: "of", kind: "count"}], rows), {title: "Scores"}));
  }
  if (!set.missing && set.metrics.length) box.append(section("Segments", el("ul", {class: "links"}, ...set.metrics.map((metric, m) => el("li", {}, el("a", {href: `#/segments/${t}?s=${k}&m=${m}&o=worst`}, "worst first, by ", data(metric)))))));
  // What the methods say of it, but for what they say of single segments.
  for (const other of tables.filter((o) => o.columns.has("system") && !o.columns.has("segment") && page.sections.some((own) => own.id === o.section) && o.mayHold(t))) {
    await other.of(t);
    if (!alive()) return;
    const rows = rowsOfSet(other, t, {system: name});
    if (rows.length) box.append(tableSection(some(other, rows, {file: `${other.file}-of-system`}), {hide: ["testset", "system"], given: {testset: set.name, system: name}, per: 25}));
  }
}
