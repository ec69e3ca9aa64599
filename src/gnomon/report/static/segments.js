// The segments of a test set: those of a feature, of a system, with a word; sorted, a few at a time.
const CARDS = 10, BATCH = 4;
const ORDERS = [["number", "as in the test set"], ["worst", "lowest score first"], ["best", "highest score first"], ["apart", "systems furthest apart first"]];
const bitOf = (row, i) => (parseInt(row.substr((i >> 3) * 2, 2), 16) >> (i & 7)) & 1;
async function columnOf(t, m, k) {
  const set = page.sets[t];
  if (k === null) return null;
  return (await load(`score-${t}-${m}-${Math.floor(k / set.scored)}`))[k % set.scored];
}
async function segmentsPage({box, rest, query, head, alive}) {
  head("Segments");
  const t = page.sets[Number(rest[0])] ? Number(rest[0]) : 0, set = page.sets[t];
  if (!set) { box.append(el("p", {class: "empty"}, "This study has no test set.")); return; }
  const number = (name, below) => query.has(name) && Number(query.get(name)) < below ? Number(query.get(name)) : null;
  const state = {m: number("m", set.metrics.length) ?? (set.metrics.length ? 0 : null), s: number("s", set.systems.length), f: layerOf(set, query),
    o: ORDERS.some(([v]) => v === query.get("o")) ? query.get("o") : "number", q: query.get("q") || "", w: query.get("w") || "", p: number("p", 1e9) || 0};
  const pickSet = setChoice(t, (n) => { location.hash = `#/segments/${n}`; });
  if (set.missing) { box.append(toolbar(pickSet), el("p", {class: "notices"}, data(set.missing)), el("p", {}, "The numbers are here: ", el("a", {href: `#/table/${tables.length - 1}`}, "scores of segments"))); return; }
  const total = el("output", {class: "count"}), list = el("div", {class: "exhibits"}), pager = el("nav", {class: "pager", "aria-label": "Pages of segments"}), legend = el("div");
  let turn = 0, found = [];
  const change = (name) => (value) => { state[name] = value; state.p = 0; renew(); };
  const find = search("Text, all words of it", change("q"));
  find.box.value = state.q || state.w;
  find.box.addEventListener("input", () => { state.w = ""; });
  if (state.w) state.q = "";
  box.append(toolbar(pickSet, layerChoice(set, state.f, change("f")), set.metrics.length ? choice("Score", set.metrics.map((name, n) => [n, name]), state.m, change("m")).node : null,
    choice("System", [[null, "all, on average"], ...set.systems.map((name, n) => [n, name])], state.s, change("s")).node,
    set.metrics.length ? choice("Order", ORDERS, state.o, change("o")).node : null, find.node, total), legend, list, el("div", {class: "after"}, pager));
  await renew();

  function keep() {
    const words = Object.entries(state).filter(([name, v]) => v !== null && v !== "" && !(name === "p" && !v) && !(name === "o" && v === "number"));
    const address = `#/segments/${t}?${new URLSearchParams(words)}`;
    try { history.replaceState(null, "", address); } catch { /* some browsers forbid it for files; the page works without */ }
  }
  async function renew() {
    const now = turn += 1;
    const going = () => now === turn && alive();
    keep();
    let rows = Array.from({length: set.segments}, (_, i) => i);
    rows = await withFeature(rows);
    rows = await inOrder(rows);
    if (!going()) return;
    if (state.q || state.w) rows = await withText(rows, going);
    if (!going()) return;
    found = rows;
    await draw();
  }
  async function withFeature(rows) {
    if (state.f === null || set.layers[state.f].kind !== "spans") return rows;
    const [reference, ...systems] = await load(`where-${t}-${state.f}`);
    return rows.filter((i) => bitOf(reference, i) && (state.s === null || bitOf(systems[state.s], i)));
  }
  async function inOrder(rows) {
    if (state.o === "number" || state.m === null) return rows;
    const means = (await load(`mean-${t}`))[state.m], values = state.o === "apart" ? means[1] : await columnOf(t, state.m, state.s) || means[0];
    const down = state.o === "apart" || (state.o === "best") === (lower(set.metrics[state.m]) === "higher");
    return rows.sort((a, b) => compare(values[a], values[b], down) || a - b);
  }
  // Texts are looked through part by part; only the numbers of fitting segments are kept.
  async function withText(rows, going) {
    const wanted = state.w ? null : state.q.toLowerCase().split(/\s+/).filter(Boolean), fits = new Set();
    const whole = state.w ? new RegExp(`(?<![\\p{L}\\p{N}])${state.w.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}(?![\\p{L}\\p{N}])`, "u") : null;
    const test = whole ? (text) => whole.test(text) : (text) => { const low = text.toLowerCase(); return wanted.every((w) => low.includes(w)); };
    for (let b = 0; b < set.blocks; b += 1) {
      if (!going()) return [];
      if (b % BATCH === 0 && set.blocks > BATCH) { tell(`Looking through the texts: part ${b + 1} of ${set.blocks}, ${count(fits.size)} segments found`); await pause(); }
      (await load(`text-${t}-${b}`)).forEach((content, i) => {
        const s = segmentOf(content), sides = state.s === null ? s.texts : [s.source, ...s.references, s.outputs[state.s]].map(s.text).filter(Boolean);
        if (sides.some(([text]) => test(text))) fits.add(b * set.block + i);
      });
    }
    tell("");
    return rows.filter((i) => fits.has(i));
  }
  async function draw() {
    const last = Math.max(0, Math.ceil(found.length / CARDS) - 1);
    state.p = Math.min(state.p, last);
    const now = found.slice(state.p * CARDS, (state.p + 1) * CARDS), mine = turn;
    const cards = await Promise.all(now.map(async (i) => card(i + 1, await readSegment(t, i + 1))));
    if (mine !== turn || !alive()) return;
    total.textContent = found.length ? `${count(state.p * CARDS + 1)}\u2013${count(state.p * CARDS + now.length)} of ${count(found.length)} segments` + (found.length < set.segments ? `, ${count(set.segments)} in all` : "") : "no segment fits";
    legend.replaceChildren(markLegend(set, state.f));
    list.replaceChildren(...cards);
    keep();
    const go = (label, to, off) => button(label, () => { state.p = to; draw().then(() => { list.tabIndex = -1; list.focus({preventScroll: true}); list.scrollIntoView({block: "start"}); }); }, {disabled: off});
    pager.hidden = last === 0;
    pager.replaceChildren(go("First", 0, state.p === 0), go("Previous", state.p - 1, state.p === 0), el("span", {}, `Page ${count(state.p + 1)} of ${count(last + 1)}`), go("Next", state.p + 1, state.p === last), go("Last", last, state.p === last));
  }
  function card(n, s) {
    const id = "segment-" + n, extra = new URLSearchParams(Object.entries({f: state.f, s: state.s}).filter(([, v]) => v !== null)).toString();
    const sides = sidesOf(set, s, state.f);
    for (const [k, said] of outputsOf(s)) sides.push(outputBox(s, k, said));
    return el("article", {class: "exhibit", "aria-labelledby": id}, el("header", {}, el("h2", {id}, el("a", {href: `#/segment/${t}/${n}${extra ? "?" + extra : ""}`}, `Segment ${count(n)}`)), el("p", {class: "tags"}, ...tagsOf(s))), ...sides);
  }
  // The chosen system, or the two that the score holds for worst and best.
  function outputsOf(s) {
    if (state.s !== null) return [[state.s, ""]];
    if (state.m === null) return set.systems.length ? [[0, ""]] : [];
    const sorted = s.scores[state.m].map((v, k) => [v, k]).filter(([v]) => isNumber(v)).sort((a, b) => compare(a[0], b[0], lower(set.metrics[state.m]) === "higher"));
    return sorted.length < 2 ? sorted.map(([, k]) => [k, ""]) : [[sorted[0][1], "best: "], [sorted[sorted.length - 1][1], "worst: "]];
  }
  function outputBox(s, k, said) {
    const values = set.metrics.map((metric, m) => el("div", {}, data(metric, "dt"), el("dd", {}, format(s.scores[m][k], {kind: "number", digits: digitsFor([s.scores[m][k]])}))));
    const entry = s.text(s.outputs[k]);
    return el("div", {class: "side candidate"}, el("h3", {}, said, el("a", {href: `#/system/${t}/${k}`}, data(set.systems[k]))), entry ? markedText(set, entry, state.f) : el("p", {}, el("em", {}, "(missing)")), el("dl", {}, ...values));
  }
}
