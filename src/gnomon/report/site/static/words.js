// Which words were hard, and which words a metric rests on; words lead to the segments with them.
async function wordsPage({box, rest, head, alive}) {
  head("Words");
  const own = tablesOf("words").filter((t) => t.size);
  if (!own.length) { box.append(el("p", {class: "empty"}, "This study asked neither which words are hard (difficulty.words) nor which a metric rests on (bmx.explain).")); return; }
  const there = page.sets.map((s, n) => [n, s.name]), t = page.sets[Number(rest[0])] ? Number(rest[0]) : 0, set = page.sets[t];
  if (there.length > 1) box.append(toolbar(choice("Test set", there, t, (n) => { location.hash = `#/words/${n}`; }).node));
  const shownHere = new Set();
  const add = async (name, title, options = {}) => {
    const whole = table(name);
    if (!whole) return;
    await whole.of(t);
    const rows = rowsOfSet(whole, t);
    if (!alive() || !rows.length) return;
    shownHere.add(name);
    box.append(tableSection(some(whole, rows), {title, hide: ["testset"], given: {testset: set.name}, per: 25, ...options}));
  };
  await add("difficulty_words", "Hardest words", {sort: {key: "difficulty", down: true}});
  await distribution();
  await add("difficulty_words_systems", "Who gets the hardest tenth of the words");
  await add("difficulty_words_segments", "Segments by difficulty", {sort: {key: "difficulty", down: true}, plain: ["document"]});
  await add("importance_words", "Words by what they add to a score", {sort: {key: "mean_importance", down: false}, find: "Word"});
  if (alive()) box.append(alsoHere(own.filter((o) => !shownHere.has(o.name))));
  async function distribution() {
    const whole = table("difficulty_words_distribution");
    if (!whole) return;
    await whole.of(t);
    const rows = rowsOfSet(whole, t), place = el("div");
    if (!alive() || !rows.length) return;
    box.append(section("How hard the words are", place));
    const where = whole.columns.has("metric") ? [["metric", whole.columns.get("metric").at(rows[0])]] : [];
    drawInto(place, lines, {tables: [some(whole, rows)]}, {views: [{title: "Share of words by difficulty", where, table: 0, x: "low", y: "share", series: "pool", panels: null, low: null, high: null, identity: false, ink: null}]});
  }
}
