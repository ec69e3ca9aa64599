// References, people, provenance, and the list of all tables.
async function referencesPage({box, head}) {
  head("References");
  const own = tablesOf("references").filter((t) => t.size);
  if (!own.length) box.append(el("p", {class: "empty"}, "The texts of the test sets are not in this report."));
  own.sort((a, b) => (b.name === "references") - (a.name === "references"));
  box.append(...own.map((t) => tableSection(t, {per: 25})));
}
async function agreementPage({box, rest, head, alive}) {
  head("Agreement with people");
  const whole = table("agreement"), own = tablesOf("agreement").filter((t) => t.size);
  if (!whole) { box.append(el("p", {class: "empty"}, "This study did not ask whether people agree (metaeval), or nobody judged its test sets."), alsoHere(own)); return; }
  await whole.all();
  const beside = [table("agreement_systems"), table("agreement_top_k")].filter(Boolean);
  for (const t of beside) await t.all();
  const rows = rowsWhere(whole, whole.columns.has("subset") ? {subset: "all"} : {}), at = (name) => whole.columns.get(name).at;
  const steps = await stepsOf(whole, rows, ["testset", "measure", "metric", "human"], ["human"]);
  const kind = new Map([[whole, at("human")]]);
  for (const t of beside) kind.set(t, await kindOfRows(t));
  if (!alive()) return;
  const names = unique(rows.map(at("testset"))), measures = unique(rows.map(at("measure"))), kinds = unique(rows.map(at("human"))).filter((v) => v !== null);
  const state = {set: names.includes((page.sets[Number(rest[0])] || {}).name) ? page.sets[Number(rest[0])].name : names[0], measure: measures[0], kind: null, step: steps ? steps.options[0][0] : null};
  const fits = (t) => (i) => (state.kind === null || kind.get(t)(i) === state.kind) && (!steps || steps.of(t)(i) === state.step);
  // Rows of several kinds of human scores stay apart: what they are shown by says their kind, too.
  const apart = (t, chosen, name) => {
    const of = kind.get(t), several = unique(chosen.map(of)).length > 1, title = t.columns.get(name).title;
    return some(withColumn(t, "shown", title, (i) => several && of(i) !== null ? `${t.columns.get(name).at(i)} (${of(i)})` : t.columns.get(name).at(i)), chosen);
  };
  const view = (more) => ({table: 0, rows: "metric", columns: "shown", value: "value", beside: null, where: [], low: null, high: null, marks: null, faint: whole.columns.has("few") ? "few" : null, under: "n", exhibits: false, ...more});
  const redraw = [];
  const again = () => redraw.forEach((draw) => draw());
  if (kinds.length > 1 || steps) {
    box.append(toolbar(kinds.length > 1 ? choice("Human scores", [[null, "all kinds, side by side"], ...kinds.map((k) => [k, k])], null, (k) => { state.kind = k; again(); }).node : null,
      steps ? choice("Options", steps.options, state.step, (v) => { state.step = v; again(); }).node : null));
  }
  if (names.length > 1) {
    const place = el("div"), draw = () => drawInto(place, heatMap, {tables: [apart(whole, rows.filter(fits(whole)).filter((i) => at("measure")(i) === state.measure), "testset")]}, {views: [view({title: `${state.measure}: all test sets`})]});
    box.append(section("One measure over all test sets", toolbar(choice("Measure", measures.map((m) => [m, m]), state.measure, (m) => { state.measure = m; draw(); }).node), place));
    redraw.push(draw);
  }
  const place = el("div"), dots = el("div"), curves = el("div");
  const pick = names.length > 1 ? toolbar(choice("Test set", names.map((n) => [n, n]), state.set, (n) => { state.set = n; draw(); }).node) : "";
  box.append(section(names.length > 1 ? "One test set" : `Metrics and people on ${state.set}`, pick, place, dots, curves), alsoHere(own));
  const plot = {label: null, series: null, panels: null, where: [], identity: false, low: null, high: null, ink: null, table: 0};
  function part(name, box2, drawer, more) {
    const t = table(name), found = t ? rowsWhere(t, {testset: state.set}).filter(fits(t)) : [];
    if (!found.length) { box2.replaceChildren(); return; }
    const held = apart(t, found, "metric");
    drawInto(box2, drawer, {tables: [held]}, {views: [{...plot, ...more, where: (more.where || []).filter((name2) => held.columns.has(name2)).map((name2) => [name2, held.columns.get(name2).at(0)])}]});
  }
  function draw() {
    drawInto(place, heatMap, {tables: [apart(whole, rows.filter(fits(whole)).filter((i) => at("testset")(i) === state.set), "measure")]}, {views: [view({title: "All measures"})]});
    part("agreement_systems", dots, scatter, {title: "Systems by metric and by people", x: "score", y: "human", label: "system", panels: "shown"});
    part("agreement_top_k", curves, lines, {title: "Agreement over the K best systems alone", x: "k", y: "value", series: "shown", where: ["statistic"]});
  }
  redraw.push(draw);
  again();
  async function kindOfRows(t) {
    const found = new Map(), set = t.columns.get("testset").at;
    for (const name of unique(rowsWhere(t, {}).map(set))) found.set(name, await kindsOf(t, rowsWhere(t, {testset: name}), setOf(name)));
    return (i) => found.get(set(i))(i);
  }
}
async function provenancePage({box, head}) {
  head("Provenance");
  const order = ["signatures", "notices", "versions", "steps", "testsets", "tasks"], own = tablesOf("provenance").filter((t) => t.size);
  box.append(el("p", {class: "note"}, "With its signature each number can be made again."), el("dl", {class: "facts"}, el("div", {}, el("dt", {}, "report made by"), el("dd", {}, `gnomon ${page.gnomon}`)), ...page.facts.filter(([, v]) => v).map(([name, v]) => el("div", {}, data(name, "dt"), data(v, "dd")))));
  own.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
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
