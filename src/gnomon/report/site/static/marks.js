// Texts with marks: spans of a feature, hard words, words that a metric rests on.
const layerName = ([kind, name]) => kind === "feature" ? name : name ? `${kind}: ${name}` : kind;
function layerChoice(set, layer, go) {
  if (!set.layers.length) return null;
  return choice("Mark", [[null, "nothing"], ...set.layers.map((l, n) => [n, layerName(l)])], layer, go).node;
}
const layerOf = (set, query) => { const n = Number(query.get("f")); return query.has("f") && set.layers[n] ? n : null; };
function shade(set, layer, value) {
  const [kind, , low, high] = set.layers[layer];
  if (kind === "feature" || !isNumber(value)) return null;
  const within = (v, steps) => Math.round(steps * Math.min(1, Math.max(0, v)));
  return "h" + (kind === "importance" ? within((value - low) / (high - low || 1), 8) : within((value - low) / (high - low || 1), 7));
}
function markLabel(set, layer, value) {
  const [kind, name] = set.layers[layer];
  return kind === "feature" ? name : `${kind} ${isNumber(value) ? value.toPrecision(3).replace("-", "\u2212") : "undefined"}`;
}
// An entry is a text and its marks by layer: [layer, [start, end, ...], [value, ...]].
function markedText(set, entry, layer, tag = "p") {
  const [text, marks = []] = entry, own = layer === null ? null : marks.find((m) => m[0] === layer);
  const kind = layer === null ? "" : set.layers[layer][0];
  const body = el(tag, {class: "text", dir: "auto", "data-better": kind === "importance" ? "both" : kind === "difficulty" ? "lower" : null});
  if (!text) { body.append(el("em", {}, "(empty)")); return body; }
  if (!own) return put(body, text);
  const letters = Array.from(text), [, ends, values = []] = own;
  let at = 0;
  for (let n = 0; n < ends.length; n += 2) {
    const start = ends[n], end = ends[n + 1], value = values[n / 2];
    if (start < at || end <= start) continue;
    put(body, letters.slice(at, start));
    body.append(put(el("mark", {title: shown(markLabel(set, layer, value)), class: shade(set, layer, value)}), letters.slice(start, end)));
    at = Math.min(end, letters.length);
  }
  return put(body, letters.slice(at));
}
function markLegend(set, layer) {
  if (layer === null) return "";
  const [kind, name, low, high] = set.layers[layer];
  if (kind === "feature") return el("p", {class: "legend"}, el("mark", {}, "marked"), data(name));
  const better = kind === "importance" ? "both" : "lower", steps = kind === "importance" ? 9 : 8;
  const ends = kind === "importance" ? ["makes the output look worse", "better"] : ["easy", "hard"];
  return el("p", {class: "legend", "data-better": better}, data(layerName([kind, name])), el("span", {}, `${Number(low).toPrecision(3).replace("-", "\u2212")} (${ends[0]})`),
    el("span", {class: "swatches", "aria-hidden": "true"}, ...Array.from({length: steps}, (_, i) => el("i", {class: "h" + i}))), el("span", {}, `${Number(high).toPrecision(3)} (${ends[1]})`));
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
  const found = s.source === null ? [] : [side("Source", markedText(set, s.text(s.source), null), "source")];
  s.references.forEach((n, r) => { if (n !== null) found.push(side(`Reference ${set.references[r]}`, markedText(set, s.text(n), layer), "reference")); });
  return found;
}
