// Texts with marks in layers: spans, or words with values on a scale.
function layerChoice(set, layer, go) {
  if (!set.layers.length) return null;
  return choice("Mark", [[null, "nothing"], ...set.layers.map((l, n) => [n, l.title])], layer, go).node;
}
const layerOf = (set, query) => { const n = Number(query.get("f")); return query.has("f") && set.layers[n] ? n : null; };
// A scale that is symmetric about zero has two ends and a neutral middle, as in heat maps.
const scaleOf = (layer) => layer.kind === "spans" ? null : layer.low < 0 && layer.low === -layer.high ? {better: "both", steps: 9} : {better: "lower", steps: 8};
function shadeOf(layer, value) {
  const scale = scaleOf(layer);
  return !scale || !isNumber(value) ? null : "h" + Math.round((scale.steps - 1) * Math.min(1, Math.max(0, (value - layer.low) / (layer.high - layer.low || 1))));
}
const signed = (text) => text.replace("-", "\u2212");
const markLabel = (layer, value) => layer.kind === "spans" ? layer.title : `${layer.title}: ${isNumber(value) ? signed(value.toPrecision(3)) : "undefined"}`;
// An entry is a text and its marks by layer: [layer, [start, end, ...], [value, ...]].
function markedText(set, entry, number, tag = "p", language = languages(set)[1]) {
  const [text, marks = []] = entry, own = number === null ? null : marks.find((m) => m[0] === number), layer = set.layers[number];
  const scale = number === null ? null : scaleOf(layer), body = el(tag, {class: "text", ...language, "data-better": scale ? scale.better : null});
  const [, ends = [], values = []] = own || [];
  const spans = Array.from({length: ends.length / 2}, (_, n) => [ends[2 * n], ends[2 * n + 1], markLabel(layer, values[n]), shadeOf(layer, values[n])]);
  marked(body, text, spans);
  return body;
}
function markLegend(set, number) {
  if (number === null) return "";
  const layer = set.layers[number], scale = scaleOf(layer), ends = layer.ends.map((text) => text ? ` (${text})` : "");
  if (!scale) return el("p", {class: "legend"}, el("mark", {}, "marked"), data(layer.title));
  return el("p", {class: "legend", "data-better": scale.better}, data(layer.title), el("span", {}, signed(layer.low.toPrecision(3)) + ends[0]),
    el("span", {class: "swatches", "aria-hidden": "true"}, ...Array.from({length: scale.steps}, (_, i) => el("i", {class: "h" + i}))), el("span", {}, layer.high.toPrecision(3) + ends[1]));
}
// A segment as the parts hold it.
function segmentOf([document, domain, texts, source, references, outputs, scores]) {
  return {document, domain, texts, source, references, outputs, scores, text: (n) => n === null || n === undefined ? null : texts[n]};
}
async function readSegment(t, number) {
  const set = page.sets[t], part = await load(`text-${t}-${Math.floor((number - 1) / set.block)}`);
  return segmentOf(part[(number - 1) % set.block]);
}
const tagsOf = (s) => [["Document", s.document], ["Domain", s.domain]].filter(([, v]) => v).map(([name, v]) => el("span", {}, name + " ", data(v)));
const side = (name, body, css) => el("div", {class: `side ${css}`}, el("h3", {}, data(name)), body);
function sidesOf(set, s, layer) {
  const found = s.source === null ? [] : [side("Source", markedText(set, s.text(s.source), null, "p", languages(set)[0]), "source")];
  s.references.forEach((n, r) => { if (n !== null) found.push(side(`Reference ${set.references[r]}`, markedText(set, s.text(n), layer), "reference")); });
  return found;
}

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

// One segment: all systems side by side, with marks and scores.
async function segmentPage({box, rest, query, head, alive}) {
  const t = Number(rest[0]), n = Number(rest[1]), set = page.sets[t];
  if (!set || !(n >= 1 && n <= set.segments)) throw new Error("there is no such segment");
  if (set.missing) throw new Error(set.missing);
  head(`Segment ${count(n)} of ${set.name}`);
  const s = await readSegment(t, n);
  if (!alive()) return;
  const state = {f: layerOf(set, query), s: query.has("s") ? Number(query.get("s")) : null};
  const address = (to) => { const rest = new URLSearchParams(Object.entries(state).filter(([, v]) => v !== null)).toString(); return `#/segment/${t}/${to}${rest ? "?" + rest : ""}`; };
  const ways = el("nav", {class: "pager", "aria-label": "Segments"}), texts = el("div"), outputs = el("div", {class: "texts"});
  const mark = layerChoice(set, state.f, (v) => { state.f = v; try { history.replaceState(null, "", address(n)); } catch { /* the page works without */ } draw(); });
  box.append(ways, el("p", {class: "tags"}, ...tagsOf(s)), section("Source and references", toolbar(mark), texts), section("Outputs of the systems", outputs));
  draw();

  function draw() {
    ways.replaceChildren(n > 1 ? el("a", {href: address(n - 1), rel: "prev"}, "Previous segment") : "", n < set.segments ? el("a", {href: address(n + 1), rel: "next"}, "Next segment") : "",
      el("a", {href: `#/segments/${t}${state.f === null ? "" : "?f=" + state.f}`}, "All segments"));
    texts.replaceChildren(markLegend(set, state.f), ...sidesOf(set, s, state.f));
    const columns = [{name: "system", title: "System"}, {name: "output", title: "Output"}, ...set.metrics.map((metric, m) => ({name: "m" + m, title: metric, kind: "number", better: lower(metric), digits: digitsFor(s.scores[m])}))];
    const rows = set.systems.map((system, k) => ({k, system, output: (s.text(s.outputs[k]) || [null])[0], ...Object.fromEntries(set.metrics.map((_, m) => ["m" + m, s.scores[m][k]]))}));
    const whole = made(`segment-${n}`, `Outputs of segment ${n}`, columns, rows);
    const shades = shading(whole), holder = el("div");
    grid(holder, whole, {given: {testset: set.name}, shade: shades, plain: ["system", "output"], find: "System or text", sort: set.metrics.length ? {key: "m0", down: lower(set.metrics[0]) === "higher"} : {},
      chosen: (i) => i === state.s, cells: {output: (i) => { const entry = s.text(s.outputs[i]); return entry ? markedText(set, entry, state.f, "div") : el("em", {}, "(missing)"); }}});
    outputs.replaceChildren(holder);
  }
}
