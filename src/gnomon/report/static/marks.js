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
function markedText(set, entry, number, tag = "p") {
  const [text, marks = []] = entry, own = number === null ? null : marks.find((m) => m[0] === number), layer = set.layers[number];
  const scale = number === null ? null : scaleOf(layer), body = el(tag, {class: "text", dir: "auto", "data-better": scale ? scale.better : null});
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
  const found = s.source === null ? [] : [side("Source", markedText(set, s.text(s.source), null), "source")];
  s.references.forEach((n, r) => { if (n !== null) found.push(side(`Reference ${set.references[r]}`, markedText(set, s.text(n), layer), "reference")); });
  return found;
}
