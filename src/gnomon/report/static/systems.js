// How good the systems are: all metrics side by side, for one test set at a time; one of them; all
// test sets.
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
// What was found: of the test set in sight the first sentence of each method, the picture, then the
// rest; of the others on request.
const FIRST_SENTENCES = 2;
function foundSections(t, picture, front) {
  const of = (n) => page.found.filter((one) => one.set === n);
  const name = (id) => (page.sections.find((one) => one.id === id) || {title: "Scores"}).title;
  const titled = (one, n) => one.section === "systems" ? data(name(one.section)) : link(`#/method/${encodeURIComponent(one.section)}/${n}`, name(one.section));
  const sentence = ([level, text], label = null) => el("li", {"data-level": level}, label ? el("span", {class: "of"}, label) : "", data(text, "span", {dir: "ltr"}));
  const sentences = (said, label = null) => said.length ? el("ul", {class: "verdict"}, ...said.map((one, k) => sentence(one, k === 0 ? label : null))) : "";
  const named = (one, n) => of(n).length > 1 || one.section !== "systems" ? titled(one, n) : null;
  const list = (n, from = () => 0) => of(n).map((one, k) => [one, one.said.slice(from(k))]).filter(([, said]) => said.length)
    .map(([one, said]) => el("div", {}, named(one, n) ? el("h3", {}, named(one, n)) : "", sentences(said)));
  const own = front ? [] : of(t), several = own.length > 1, set = page.sets[t], LEADS = narrow.matches ? 2 : 3;
  // so many sentences of a method, or all of few and two cautions
  const until = (one, most) => { const plain = one.said.filter(([level]) => level !== "caution").length; return plain > most ? most : Math.min(plain + 2, one.said.length); };
  const leads = several ? el("ul", {class: "verdict"}, ...own.slice(0, LEADS).flatMap((one) => one.said.slice(0, until(one, 1)).map((text, n) => sentence(text, n ? null : titled(one, t)))))
    : own.length ? sentences(own[0].said.slice(0, until(own[0], FIRST_SENTENCES)), named(own[0], t)) : "";
  const rest = front ? [] : list(t, (k) => !several ? until(own[0], FIRST_SENTENCES) : k < LEADS ? until(own[k], 1) : 0);
  const size = `${shown(set.name)}: ${count(set.systems.length)} system${set.systems.length === 1 ? "" : "s"}, ${count(set.segments)} segment${set.segments === 1 ? "" : "s"}`;
  const others = page.sets.map((_, n) => n).filter((n) => (front || n !== t) && of(n).length)
    .map((n) => el("details", {class: "fold found"}, el("summary", {}, data(page.sets[n].name), el("span", {class: "count"}, data(of(n)[0].said[0][1]))), el("div", {}, ...list(n))));
  if (front) return [section(`${count(page.sets.length)} test sets`, el("div", {class: "answer"}, el("div", {class: "lines"}, ...others), picture))];
  return [...(own.length ? [section(size, el("div", {class: "answer"}, leads, picture))] : []), ...(rest.length ? [section("More results", ...rest)] : []),
    ...(others.length ? [section(own.length ? "Other test sets" : "Results", ...others)] : [])];
}
// What proves it: the first picture of a method that found something, else scores by the first metric;
// of several test sets the one of all.
async function foundPicture(place, t, front) {
  const found = page.found.filter((one) => one.set === t).flatMap(({section}) => tablesOf(section));
  for (const own of front ? [front] : [...found, ...tables.filter((one) => one.name === "scores")]) {
    const [panel] = await chartsOf(own, front ? "all" : t);
    if (!panel) continue;
    const [drawn, inner] = titledBox("drawn");
    place.append(drawn);
    drawPanel(inner, panel, {name: own.file});
    return;
  }
}
async function systemsPage({box, rest, head, alive}) {
  const t = Number(rest[0] || 0) < page.sets.length ? Number(rest[0] || 0) : 0, set = page.sets[t];
  head("Results");
  const picture = el("div", {class: "panel proof"}), own = page.found.filter((one) => one.set === t);
  const front = rest[0] === undefined ? tables.find((one) => one.drawn.includes("all")) : undefined;
  box.append(...foundSections(t, picture, front));
  await foundPicture(picture, t, front);
  if (!alive()) return;
  const notices = page.notices.length ? el("details", {class: "notices", open: !own.length}, el("summary", {}, `${page.notices.length} note${page.notices.length > 1 ? "s" : ""}`), el("ul", {}, ...page.notices.map((n) => data(n, "li", {dir: "ltr"})))) : "";
  box.append(notices, el("dl", {class: "facts"}, ...page.facts.filter(([, v]) => v).map(([name, v]) => el("div", {}, data(name, "dt"), data(v, "dd")))));
  if (table("scores")) {
    const {metrics, whole} = await scoreTable(t);
    if (!alive()) return;
    const people = [...whole.columns.keys()].find((name) => /^p\d+-/.test(name)), first = people || (metrics.length ? "m0" : null);
    box.append(tableSection(whole, {title: `Systems of ${set.name}`, controls: [setChoice(t, (n) => { location.hash = `#/systems/${n}`; })].filter(Boolean), hide: ["testset"], given: {testset: set.name},
      sort: first ? {key: first, down: lower(metrics[0]) === "higher" || Boolean(people)} : {}, shade: shading(whole)}));
  } else box.append(el("p", {class: "empty"}, "This study scored no systems; its other pages show what it did."));
  const more = tablesOf("systems");
  if (more.length) box.append(section("Tables", ...more.map((s) => folded(s, s.title, s.size))));
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
function standingsTable(metric, {list, sets}) {
  const several = list.filter((r) => r.scores.size > 1).length, meant = several > 0, better = lower(metric);
  const rows = list.map((r) => {
    const row = {system: r.system, sets: r.scores.size, score: mean([...r.scores.values()]), rank: mean([...r.ranks.values()])};
    for (const t of sets) row["t" + t] = r.scores.get(t) ?? null;
    return row;
  });
  const score = {name: "score", as: "mean_score", title: "Mean score", kind: "number", digits: digitsFor(rows.map((r) => r.score)), better, help: "over the test sets in which the system has a score; of systems with several of them"};
  const rank = {name: "rank", as: "mean_rank", title: "Mean rank", kind: "number", digits: 2, better: "lower", help: "over the same test sets; 1 is best"};
  const number = {name: "sets", as: "testsets", title: "Test sets", kind: "count", help: `in which the system has a score, of ${sets.length}`};
  const columns = [{name: "system", title: "System"}, ...(meant ? [score, rank, number] : [])];
  for (const t of sets) columns.push({name: "t" + t, as: page.sets[t].name, title: page.sets[t].name, kind: "number", digits: digitsFor(rows.map((r) => r["t" + t])), better});
  return {meant, mostly: 2 * several > list.length, table: made("standings", `Scores by ${metric}`, columns, rows)};
}
async function overviewPage({box, rest, head, alive}) {
  head("All test sets");
  const scores = table("scores");
  if (!scores) { box.append(el("p", {class: "empty"}, "This study scored no systems; its other pages show what it did.")); return; }
  await scores.all();
  if (!alive()) return;
  const metrics = unique(rowsWhere(scores, {}).map(scores.columns.get("metric").at)), n = Number(rest[0]);
  const place = el("div", {class: "standings"}), first = metrics[n] === undefined ? metrics[0] : metrics[n];
  const keep = (m) => { try { history.replaceState(null, "", `#/overview/${metrics.indexOf(m)}`); } catch { /* the page works without */ } draw(m); };
  box.append(toolbar(choice("Metric", metrics.map((m) => [m, m]), first, keep).node), place);
  draw(first);
  function draw(metric) {
    const found = standings(scores, metric), {meant, mostly, table: whole} = standingsTable(metric, found);
    const without = page.sets.filter((_, t) => !found.sets.includes(t)).map((s) => s.name), part = found.list.some((r) => r.scores.size < found.sets.length);
    const notes = [lower(metric) === "lower" ? "An error rate: lower is better." : null,
      part && meant ? "Systems are not all in the same test sets (- where one has no score, and for means over fewer than two): compare means of systems with the same test sets alone." : null,
      part && !meant ? "No system is in more than one test set, so that there are no means." : null,
      without.length ? `Without scores by this metric: ${without.join("; ")}.` : null].filter(Boolean);
    const heads = Object.fromEntries(found.sets.map((t) => ["t" + t, el("a", {class: "lead", href: `#/systems/${t}`}, "Systems", el("span", {class: "hidden"}, ` of ${shown(page.sets[t].name)}`))]));
    const links = Object.fromEntries(found.sets.map((t) => ["t" + t, (i) => { const k = systemOf(t, whole.columns.get("system").at(i)); return k < 0 ? null : `#/system/${t}/${k}`; }]));
    const sort = mostly ? "score" : found.sets.length ? "t" + found.sets[0] : null;
    place.replaceChildren(...notes.map((text) => el("p", {class: "note"}, shown(text))),
      tableSection(whole, {links, heads, plain: ["system"], per: 100, shade: shading(whole), sort: sort === null ? {} : {key: sort, down: lower(metric) === "higher"}}));
  }
}
