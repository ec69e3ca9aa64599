// The data of the site: parts are loaded when they are looked at, as scripts beside the page or
// as elements of it. A script hands over JSON as a string, so that names stay plain data.
const KEEP = 40;
const kept = new Map(), expected = new Map();
window.gnomonData = (key, text) => { const take = expected.get(key); if (take) take(JSON.parse(text)); };
const parsed = document.readyState === "loading" ? new Promise((done) => addEventListener("DOMContentLoaded", done)) : Promise.resolve();
async function within(key) {
  let node = document.getElementById("part-" + key);
  if (!node) { await parsed; node = document.getElementById("part-" + key); }
  if (!node) throw new Error("the page is cut off: a part of its data is missing");
  return JSON.parse(node.textContent);
}
function beside(key) {
  return new Promise((done, fail) => {
    const script = el("script", {src: `data/${key}.js`, onerror: () => { expected.delete(key); fail(new Error(`data/${key}.js is missing beside the page; keep the folder whole`)); },
      onload: () => script.remove()});
    expected.set(key, (content) => { expected.delete(key); done(content); });
    document.head.append(script);
  });
}
// What was used last is kept; the rest is read again when it is wanted again.
function load(key) {
  const known = kept.get(key) || (page.inside ? within(key) : beside(key));
  kept.delete(key);
  kept.set(key, known);
  known.catch(() => kept.delete(key));
  for (const old of kept.keys()) { if (kept.size <= KEEP) break; kept.delete(old); }
  return known;
}

// A table whose rows come in parts; its columns answer for rows of parts that are loaded.
function lazily(about, sizes, of, read, valueOf) {
  const starts = [0], parts = new Array(sizes.length).fill(null), names = about.columns.map((c) => c.name);
  for (const size of sizes) starts.push(starts[starts.length - 1] + size);
  let last = 0;
  const place = (i) => {
    if (i >= starts[last] && i < starts[last + 1]) return last;
    let low = 0, high = sizes.length - 1;
    while (low < high) { const middle = (low + high + 1) >> 1; if (starts[middle] <= i) low = middle; else high = middle - 1; }
    return (last = low);
  };
  const columns = new Map(about.columns.map((c, n) => [c.name, {...c, at: (i) => { const p = place(i); return valueOf(parts[p], n, i - starts[p], p); }}]));
  const fits = (p, t, metric) => (of[p][0] === t || of[p][0] === null) && (metric === undefined || of[p][1] === metric || of[p][1] === null);
  const one = async (p) => { if (!parts[p]) parts[p] = await read(p); };
  return {...about, file: `gnomon-${about.name}`, size: starts[starts.length - 1], columns, names, parts: sizes.length,
    whole: () => parts.every(Boolean),
    // Rows that may be of a test set (and a metric): those of its parts, once these are loaded.
    async of(t, metric) { for (let p = 0; p < sizes.length; p += 1) if (fits(p, t, metric)) await one(p); return this; },
    *rowsOf(t, metric) { for (let p = 0; p < sizes.length; p += 1) if (fits(p, t, metric)) for (let i = starts[p]; i < starts[p + 1]; i += 1) yield i; },
    sizeOf: (t, metric) => sizes.reduce((sum, size, p) => sum + (fits(p, t, metric) ? size : 0), 0),
    mayHold: (t) => of.some((_, p) => fits(p, t)),
    // null among them: a part holds several
    metricsOf: (t) => unique(of.filter((_, p) => fits(p, t)).map(([, metric]) => metric)),
    async need(low, high) { for (let p = 0; p < sizes.length; p += 1) if (starts[p] < high && starts[p + 1] > low) await one(p); },
    async all() {
      for (let p = 0; p < sizes.length; p += 1) {
        if (parts[p]) continue;
        if (this.size > SMALL) { tell(`Reading ${shown(about.title)}: part ${p + 1} of ${sizes.length}`); if (p % 4 === 0) await pause(); }
        await one(p);
      }
      if (this.size > SMALL) tell("");
      return this;
    }};
}
const cellOf = (part, n, i) => { const c = part[n]; return c.levels ? c.levels[c.codes[i]] : c.cells[i]; };
const stored = page.tables.map((about, t) => lazily(about, about.parts, about.of, (p) => load(`table-${t}-${p}`), cellOf));

// Scores of segments are kept system by system; as a table they are one row each.
const blocksOf = (set) => { const found = []; for (let at = 0; at < set.systems.length; at += set.scored) found.push(Math.min(set.scored, set.systems.length - at)); return found; };
function segmentTable() {
  const own = page.sets.flatMap((set, t) => set.metrics.flatMap((metric, m) => blocksOf(set).map((systems, b) => ({set, t, m, b, metric, systems}))));
  if (!own.length) return [];
  const column = (name, title, kind) => plainColumn({name, title, kind, digits: 4});
  const about = {name: "segments", title: "Scores of segments", section: "systems", drawn: [], note: "",
    columns: [column("testset", "Test set", "text"), column("system", "System", "text"), column("segment", "Segment", "count"), column("metric", "Metric", "text"), column("score", "Score", "number")]};
  return [lazily(about, own.map((o) => o.systems * o.set.segments), own.map((o) => [o.t, o.metric]), (p) => load(`score-${own[p].t}-${own[p].m}-${own[p].b}`), (part, n, i, p) => {
    const {set, metric, b} = own[p], k = Math.floor(i / set.segments), at = i % set.segments;
    return n === 0 ? set.name : n === 1 ? set.systems[b * set.scored + k] : n === 2 ? at + 1 : n === 3 ? metric : part[k][at];
  })];
}
const tables = [...stored, ...segmentTable()];
const table = (name) => tables.find((t) => t.name === name && t.size > 0);
const tablesOf = (section) => tables.filter((t) => t.section === section && t.size > 0);
const setOf = (name) => page.sets.findIndex((s) => s.name === name);
const systemOf = (t, name) => t < 0 ? -1 : page.sets[t].systems.indexOf(name);
// Rows that a table holds under these names; of one test set, where its parts alone are loaded.
function rowsWhere(t, where, set, metric) {
  const found = [], tests = Object.entries(where).filter(([name]) => t.columns.has(name)).map(([name, v]) => [t.columns.get(name).at, v]);
  const look = (i) => { if (tests.every(([at, v]) => at(i) === v)) found.push(i); };
  if (set !== undefined && t.rowsOf) for (const i of t.rowsOf(set, metric)) look(i); else for (let i = 0; i < t.size; i += 1) look(i);
  return found;
}
const rowsOfSet = (t, n, where, metric) => rowsWhere(t, {testset: page.sets[n].name, ...where}, n, metric);
// Where cells lead: a system, a segment, the segments with marks of a layer, those with a word.
const inSet = (at) => { const t = setOf(at("testset")); return [t, systemOf(t, at("system"))]; };
const textsOf = (t) => t >= 0 && !page.sets[t].missing;
function layerHref(t, name, metric, k) {
  if (!textsOf(t)) return null;
  const set = page.sets[t], f = set.layers.findIndex((layer) => layer.kind === "spans" && shown(layer.name) === shown(name)), m = set.metrics.indexOf(metric);
  return f < 0 ? null : `#/segments/${t}?f=${f}${k < 0 ? "" : "&s=" + k}${m < 0 ? "" : "&m=" + m}&o=worst`;
}
LINKS.system = (at) => { const [t, k] = inSet(at); return k < 0 ? null : `#/system/${t}/${k}`; };
LINKS.segment = (at) => { const [t, k] = inSet(at); return textsOf(t) ? `#/segment/${t}/${at("segment")}${k < 0 ? "" : "?s=" + k}` : null; };
LINKS.feature = (at) => { const [t, k] = inSet(at); return layerHref(t, at("feature"), at("metric"), k); };
LINKS.word = (at) => { const [t] = inSet(at); return textsOf(t) ? `#/segments/${t}?w=${encodeURIComponent(at("word"))}` : null; };
