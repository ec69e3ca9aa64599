// Small panels with two axes: named points (scatter plots) and curves with bands (lines).
const HUES = 8, SHAPES = 5, MOST_CURVES = 10, CROWD = 40, LABEL = 10, REACH = 4.5;
const said = (value) => value === null || value === undefined || value === "" ? "-" : shown(value);
const hue = (n) => "m" + n % HUES;

// The shape changes with each series, so that colour alone tells nothing.
function mark(n, x, y, size, attributes, ...children) {
  const r = size, d = size * 1.25;
  const path = [`M${x - r},${y}a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0`,
    `M${x - r},${y - r}h${2 * r}v${2 * r}h${-2 * r}z`,
    `M${x},${y - d}L${x + d},${y + r}L${x - d},${y + r}z`,
    `M${x},${y - d * 1.1}L${x + d * 1.1},${y}L${x},${y + d * 1.1}L${x - d * 1.1},${y}z`,
    `M${x},${y + d}L${x + d},${y - r}L${x - d},${y - r}z`][n % SHAPES];
  return svg("path", {d: path, ...attributes}, ...children);
}
const swatch = (n, dashed, colour) => svg("svg", {class: "key", width: dashed ? 24 : 12, height: 12, "aria-hidden": "true"},
  ...(dashed ? [svg("line", {class: `curve ${colour}`, x1: 0, x2: 24, y1: 6, y2: 6})] : []), mark(n, dashed ? 12 : 6, 6, 4, {class: `point ${colour}`}));

// Pearson's r as gnomon.stats.pearson defines it; null below three points or where a side is constant.
function pearson(pairs) {
  const sides = [0, 1].map((s) => pairs.map((p) => p[s]));
  if (pairs.length < 3) return null;
  const units = sides.map((values) => {
    const top = Math.max(...values.map(Math.abs));
    if (Math.max(...values) - Math.min(...values) <= 1e-13 * top) return null;
    const mean = values.reduce((a, b) => a + b / values.length, 0);
    const centred = values.map((v) => v - mean), far = Math.max(...centred.map(Math.abs));
    const length = Math.hypot(...centred.map((v) => v / far));
    return centred.map((v) => v / far / length);
  });
  if (units.includes(null)) return null;
  return Math.min(1, Math.max(-1, units[0].reduce((sum, v, i) => sum + v * units[1][i], 0)));
}
function correlation(pairs, missing) {
  const r = pearson(pairs);
  const text = r === null ? "r undefined" : `r = ${format(r, {kind: "number", digits: 2})}`;
  return `${text}, n = ${pairs.length}` + (missing ? ` (${missing} undefined)` : "");
}

function reach(values, column) {
  let low = Math.min(...values), high = Math.max(...values);
  if (!(high > low)) { const by = Math.abs(low) * 0.05 || 0.5; low -= by; high += by; }
  const by = (high - low) * 0.06;
  const floor = column.kind === "count" && low >= 0 ? 0 : -Infinity;
  return {low: Math.max(floor, low - by), high: high + by};
}
const joined = (a, b) => ({low: Math.min(a.low, b.low), high: Math.max(a.high, b.high)});

// An empty panel: title, caption, axes with ticks and titles; and where a value lies in it.
function frame({width, title, caption, label, x, y, identity}) {
  const height = Math.round(Math.min(300, Math.max(190, width * 0.72)));
  const top = (title ? 18 : 2) + (caption ? 16 : 0) + 6, bottom = height - 36, right = width - 8;
  const rows = ticksOf(y.low, y.high, (bottom - top) / 28);
  const left = 20 + Math.max(...rows.map(([, text]) => measure(text, 11)), 8);
  const px = (v) => left + (v - x.low) / (x.high - x.low) * (right - left);
  const py = (v) => bottom - (v - y.low) / (y.high - y.low) * (bottom - top);
  const root = svg("svg", {class: "chart plot", width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": label});
  if (title) root.append(svg("text", {class: "title", x: 0, y: 13}, shorten(title, 13, width - 6), svg("title", {}, title)));
  if (caption) root.append(svg("text", {class: "stat tick", x: 0, y: title ? 30 : 12}, shorten(caption, 11, width - 4)));
  for (const [v, text] of ticksOf(x.low, x.high, (right - left) / 62)) root.append(
    svg("line", {class: v === 0 ? "zero" : "gridline", x1: px(v), x2: px(v), y1: top, y2: bottom}), svg("text", {class: "tick", x: px(v), y: bottom + 14, "text-anchor": "middle"}, text));
  for (const [v, text] of rows) root.append(
    svg("line", {class: v === 0 ? "zero" : "gridline", x1: left, x2: right, y1: py(v), y2: py(v)}), svg("text", {class: "tick", x: left - 4, y: py(v) + 3.8, "text-anchor": "end"}, text));
  root.append(svg("path", {class: "axis", d: `M${left},${top}V${bottom}H${right}`}),
    svg("text", {class: "axis-title", x: (left + right) / 2, y: height - 5, "text-anchor": "middle"}, shorten(x.title, 11, right - left)),
    svg("text", {class: "axis-title", transform: `translate(11 ${(top + bottom) / 2}) rotate(-90)`, "text-anchor": "middle"}, shorten(y.title, 11, bottom - top)));
  const low = Math.max(x.low, y.low), high = Math.min(x.high, y.high);
  if (identity && high > low) root.append(svg("line", {class: "guide", x1: px(low), y1: py(low), x2: px(high), y2: py(high)}, svg("title", {}, "y = x")));
  return {root, px, py, box: {left, right, top, bottom}};
}

// Names beside points where there is room: lonely points first, nothing over anything.
function nameplates(points, box) {
  const taken = points.map((p) => [p.px - REACH, p.py - REACH, p.px + REACH, p.py + REACH]);
  const free = (a) => a[0] >= box.left + 1 && a[2] <= box.right + 6 && a[1] >= box.top - 2 && a[3] <= box.bottom
    && taken.every((b) => a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] || b[3] <= a[1]);
  const crowd = (p) => Math.min(Infinity, ...points.filter((q) => q !== p).map((q) => Math.hypot(q.px - p.px, q.py - p.py)));
  const nodes = [];
  for (const p of points.filter((q) => q.label).sort((a, b) => crowd(b) - crowd(a))) {
    const text = shorten(shown(p.label), LABEL, 104), wide = measure(text, LABEL), gap = REACH + 2;
    const spots = [[p.px + gap, p.py + 3.5], [p.px - gap - wide, p.py + 3.5], [p.px - wide / 2, p.py - gap - 1], [p.px - wide / 2, p.py + gap + 8]];
    const spot = spots.find(([u, v]) => free([u, v - LABEL + 1, u + wide, v + 2]));
    if (!spot) continue;
    taken.push([spot[0], spot[1] - LABEL + 1, spot[0] + wide, spot[1] + 2]);
    nodes.push(svg("text", {class: "plate", x: spot[0], y: spot[1], "aria-hidden": "true"}, text));
  }
  return nodes;
}

// What scatter plots and curves share: choices, panels on one scale or on their own, a walk over points.
function plots(box, finding, panel, kindOfPlot) {
  const view = panel.views[0], table = finding.tables[view.table], curves = kindOfPlot === "lines";
  const x = table.columns.get(view.x), y = table.columns.get(view.y);
  const at = (name) => name ? table.columns.get(name).at : () => "";
  const seriesAt = at(view.series), placeAt = at(view.panels), labelAt = at(view.label);
  const every = filterRows(table, []);
  const series = unique(every.map(seriesAt)), places = grouped(unique(every.map(placeAt)));
  const state = {kind: null, text: "", own: !curves};
  const where = whereControls(table, panel, () => offer());
  const kinds = unique(places.map(kindOf));
  state.kind = kinds.length > 1 && places.length > MANY ? kinds[0] : null;
  const kind = kindControl(places, state.kind, (v) => { state.kind = v; draw(); });
  let offered = there(), picked = first();
  const several = places.length > 1;
  const area = el("div", {class: "charts many"}), legend = el("div"), choose = el("div", {}, picker()), detail = el("p", {class: "detail", "aria-live": "polite"});
  box.append(toolbar(...where.nodes, kind.node, several ? search("Filter", (v) => { state.text = v; draw(); }).node : null,
    several ? choice("Scale", [[true, "each panel its own"], [false, "the same for all"]], state.own, (v) => { state.own = v; draw(); }).node : null,
    choose, saveButton(area, curves ? "lines" : "scatter")), legend, area, detail);
  onResize(area, () => draw());
  draw();

  // Other choices may bring other series: then they are offered, and the first of them shown.
  function there() {
    const rows = new Set(filterRows(table, where.state).map(seriesAt));
    return series.filter((s) => rows.has(s));
  }
  function first() { return curves ? offered.slice(0, MOST_CURVES) : offered; }
  function offer() {
    const now = there();
    if (now.length !== offered.length || now.some((s, n) => s !== offered[n])) {
      offered = now;
      picked = first();
      choose.replaceChildren(picker());
    }
    draw();
  }
  function nth(s) { return offered.indexOf(s); }
  function colour(s) { return view.ink !== null && view.ink !== undefined && s === view.ink ? "mink" : hue(nth(s)); }
  function picker() {
    if (offered.length < 2) return "";
    const tally = el("span", {}, `${picked.length} of ${offered.length}`);
    const boxes = offered.map((s) => el("label", {class: "check"}, el("input", {type: "checkbox", checked: picked.includes(s), onchange: (event) => {
      picked = offered.filter((t) => t === s ? event.target.checked : picked.includes(t));
      tally.textContent = `${picked.length} of ${offered.length}`;
      draw();
    }}), data(said(s))));
    return el("details", {class: "picker"}, el("summary", {}, data(table.columns.get(view.series).title), ": ", tally), el("div", {class: "checks"}, ...boxes));
  }
  function draw() {
    retitle(box, panel, where.state);
    const rows = filterRows(table, where.state).filter((i) => picked.includes(seriesAt(i)));
    const defined = rows.filter((i) => isNumber(x.at(i)) && isNumber(y.at(i)));
    const present = new Set(rows.map(placeAt));
    const names = places.filter((p) => present.has(p) && (state.kind === null || kindOf(p) === state.kind) && said(p).toLowerCase().includes(state.text));
    const parts = names.map((name) => ({name, rows: defined.filter((i) => placeAt(i) === name), all: rows.filter((i) => placeAt(i) === name)}));
    const filled = parts.filter((part) => part.rows.length);
    const spans = filled.length && !state.own ? limitsOf(filled.flatMap((part) => part.rows)) : null;
    const across = Math.max(1, Math.min(several ? 4 : 1, Math.floor((area.clientWidth + 20) / (several ? 290 : 560))));
    const width = Math.min(several ? 460 : 680, Math.floor((area.clientWidth - (across - 1) * 20) / across));
    area.replaceChildren(...(filled.length ? filled.map((part) => one(part, spans || limitsOf(part.rows), width)) : [el("p", {class: "empty"}, "No rows for this choice.")]));
    const empty = parts.length - filled.length;
    legend.replaceChildren(keys(filled), ...(empty && filled.length ? [el("p", {class: "legend"}, `${empty} without a defined pair left out.`)] : []));
    detail.textContent = `Point at a ${curves ? "curve's point" : "point"}, or walk with Tab and the arrow keys, for its numbers.`;
  }
  function limitsOf(rows) {
    const ends = [view.low, view.high].filter(Boolean).flatMap((name) => rows.map(table.columns.get(name).at)).filter(isNumber);
    const sides = {x: reach(rows.map(x.at), x), y: reach([...rows.map(y.at), ...ends], y)};
    if (!view.identity) return sides;
    const both = joined(sides.x, sides.y);
    return {x: both, y: both};
  }
  function keys(parts) {
    const shownSeries = offered.filter((s) => picked.includes(s) && parts.some((part) => part.rows.some((i) => seriesAt(i) === s)));
    if (!view.series || shownSeries.length < 2 && !curves) return el("span");
    const entry = (s) => {
      const rows = parts.flatMap((part) => part.rows).filter((i) => seriesAt(i) === s);
      const extra = curves || parts.length > 1 || shownSeries.length < 2 ? "" : ` (${correlation(rows.map((i) => [x.at(i), y.at(i)]), 0)})`;
      return el("span", {}, swatch(nth(s), curves, colour(s)), " ", data(said(s)), extra);
    };
    return el("p", {class: "legend"}, el("span", {}, data(table.columns.get(view.series).title)), ...shownSeries.map(entry),
      view.identity ? el("span", {}, svg("svg", {class: "key", width: 24, height: 12, "aria-hidden": "true"}, svg("line", {class: "guide", x1: 0, x2: 24, y1: 6, y2: 6})), " y = x") : null);
  }
  function one(part, limits, width) {
    const name = view.panels ? said(part.name) : "";
    const caption = curves ? "" : correlation(part.rows.map((i) => [x.at(i), y.at(i)]), part.all.length - part.rows.length);
    const label = `${name ? name + ": " : ""}${shown(y.title)} over ${shown(x.title)}${caption ? "; " + caption : ""}; the same numbers are in the table ${shown(table.title)}.`;
    const made = frame({width, title: name, caption, label, identity: view.identity,
      x: {...limits.x, title: shown(x.title)}, y: {...limits.y, title: shown(y.title)}});
    const points = part.rows.map((i) => ({i, n: nth(seriesAt(i)), px: made.px(x.at(i)), py: made.py(y.at(i)), label: view.label ? labelAt(i) : ""}));
    if (curves) made.root.append(...bands(points, made), ...strokes(part, made));
    const crowded = points.length > CROWD * unique(points.map((p) => p.n)).length;
    const dots = points.map((p) => mark(p.n, p.px, p.py, curves ? crowded ? 1.1 : 2.8 : 3.6, {class: `point ${colour(seriesAt(p.i))}${crowded && curves ? " fine" : ""}`, tabindex: "-1", role: "img", "aria-label": describe(p.i)}, svg("title", {}, describe(p.i))));
    made.root.append(...dots, ...(curves ? [] : nameplates(points, made.box)));
    walk(made.root, points, dots);
    return made.root;
  }
  function bands(points, made) {
    if (!view.low || !view.high) return [];
    const end = (p, name) => { const v = table.columns.get(name).at(p.i); return `${p.px},${made.py(isNumber(v) ? v : y.at(p.i))}`; };
    return unique(points.map((p) => p.n)).map((n) => points.filter((p) => p.n === n).sort((a, b) => a.px - b.px)).filter((g) => g.length > 1)
      .map((g) => svg("path", {class: `band ${colour(seriesAt(g[0].i))}`, d: `M${[...g.map((p) => end(p, view.high)), ...[...g].reverse().map((p) => end(p, view.low))].join("L")}z`}));
  }
  // An undefined value breaks the curve.
  function strokes(part, made) {
    const known = part.all.filter((i) => isNumber(x.at(i))).sort((a, b) => x.at(a) - x.at(b));
    return unique(known.map(seriesAt)).map((s) => {
      let pen = "M";
      const steps = known.filter((i) => seriesAt(i) === s).map((i) => {
        if (!isNumber(y.at(i))) { pen = "M"; return ""; }
        const step = `${pen}${made.px(x.at(i))},${made.py(y.at(i))}`;
        pen = "L";
        return step;
      });
      return svg("path", {class: `curve ${colour(s)}`, d: steps.join("")});
    });
  }
  function describe(i) {
    const ends = view.low && view.high ? ` (${format(table.columns.get(view.low).at(i), y)} to ${format(table.columns.get(view.high).at(i), y)})` : "";
    const who = unique([view.label ? labelAt(i) : "", view.series ? seriesAt(i) : "", view.panels ? placeAt(i) : ""].filter((v) => v !== "" && v !== null).map(said));
    return `${who.join(" \u00b7 ")}${who.length ? ": " : ""}${shown(x.title)} ${format(x.at(i), x)}, ${shown(y.title)} ${format(y.at(i), y)}${ends}`;
  }
  // One stop of the Tab key per panel; left and right along x, up and down to the next series.
  function walk(root, points, dots) {
    if (!dots.length) return;
    const order = points.map((_, k) => k).sort((a, b) => (curves ? points[a].n - points[b].n : 0) || points[a].px - points[b].px);
    dots[order[0]].setAttribute("tabindex", "0");
    const place = (event) => dots.indexOf(event.target.closest(".point"));
    const tell = (event) => {
      const k = place(event);
      if (k < 0) return;
      detail.textContent = describe(points[k].i);
      const same = curves ? null : points[k].label;
      for (const dot of area.querySelectorAll(".point.same")) dot.classList.remove("same");
      if (same) for (const other of area.querySelectorAll(".point")) if (other.dataset.name === String(same)) other.classList.add("same");
    };
    dots.forEach((dot, k) => { dot.dataset.name = String(points[k].label ?? ""); });
    root.addEventListener("mouseover", tell);
    root.addEventListener("focusin", tell);
    root.addEventListener("keydown", (event) => {
      const k = place(event), now = order.indexOf(k);
      if (k < 0) return;
      const beside = (step) => {
        const others = unique(order.map((o) => points[o].n)), row = others[(others.indexOf(points[k].n) + step + others.length) % others.length];
        return order.filter((o) => points[o].n === row).sort((a, b) => Math.abs(points[a].px - points[k].px) - Math.abs(points[b].px - points[k].px))[0];
      };
      const to = {ArrowRight: () => order[now + 1], ArrowLeft: () => order[now - 1], Home: () => order[0], End: () => order[order.length - 1],
        ArrowDown: () => beside(1), ArrowUp: () => beside(-1)}[event.key];
      if (!to) return;
      event.preventDefault();
      const next = dots[to()];
      if (!next) return;
      dots[k].setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
    });
  }
}
const scatter = (box, finding, panel) => plots(box, finding, panel, "scatter");
const lines = (box, finding, panel) => plots(box, finding, panel, "lines");
