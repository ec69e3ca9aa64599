// One segment: all systems side by side, with marks and scores, and what methods show of it.
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
  await ofSegment();

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
  // What methods show of single segments.
  async function ofSegment() {
    for (const own of tables.filter((o) => o.panels && o.mayHold && o.mayHold(t))) {
      const panels = own.panels.filter((panel) => panel.views[0].where.some(([name]) => name === "segment"));
      if (!panels.length) continue;
      await own.of(t);
      const rows = rowsOfSet(own, t, {segment: n});
      if (!alive() || !rows.length) continue;
      const place = el("div");
      box.append(section(own.title, place));
      for (const panel of panels) drawPanel(place, own, rows, panel);
    }
  }
}
