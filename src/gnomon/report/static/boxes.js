// Box plots below each other: a row per category, on one scale.
function boxes(box, finding, panel) {
  const view = panel.views[0], table = finding.tables[view.table];
  const columns = view.values.map((name) => table.columns.get(name)), category = table.columns.get(view.category);
  const beside = view.beside ? table.columns.get(view.beside) : null;
  const where = whereControls(table, panel, () => draw());
  const area = el("div", {class: "charts"}), detail = el("p", {class: "detail", "aria-live": "polite"});
  box.append(toolbar(...where.nodes, saveButton(area, "boxes")), area, detail);
  onResize(area, () => draw());
  draw();

  function describe(i) {
    const numbers = columns.map((c) => `${shown(c.title)} ${format(c.at(i), c)}`).join(", ");
    return `${said(category.at(i))}: ${numbers}${beside ? `, ${shown(beside.title)} ${format(beside.at(i), beside)}` : ""}`;
  }
  function draw() {
    retitle(box, panel, where.state);
    const rows = filterRows(table, where.state).filter((i) => columns.every((c) => isNumber(c.at(i))));
    detail.textContent = "Box: the middle half, its line the median; whiskers: the last values within one and a half boxes. Point at a box for its numbers.";
    area.replaceChildren(rows.length ? one(rows) : el("p", {class: "empty"}, "No rows for this choice."));
  }
  function one(rows) {
    const width = Math.min(820, area.clientWidth), tall = 24, top = 22, bottom = top + rows.length * tall;
    const notes = rows.map((i) => beside ? `${shown(beside.title)} ${format(beside.at(i), beside)}` : "");
    const right = width - 10 - Math.max(0, ...notes.map((note) => measure(note, 11) + 6));
    const left = Math.min(Math.max(40, ...rows.map((i) => measure(said(category.at(i)), 12))) + 10, width * 0.42);
    const span = reach(rows.flatMap((i) => columns.map((c) => c.at(i))), columns[2]);
    const x = (v) => left + (v - span.low) / (span.high - span.low) * (right - left);
    const label = `${shown(category.title)}: ${rows.length} box plots; the same numbers are in the table ${shown(table.title)}.`;
    const root = svg("svg", {class: "chart", width, height: bottom + 6, viewBox: `0 0 ${width} ${bottom + 6}`, role: "group", "aria-label": label});
    for (const [v, text] of ticksOf(span.low, span.high, (right - left) / 70)) root.append(
      svg("line", {class: v === 0 ? "zero" : "gridline", x1: x(v), x2: x(v), y1: top - 4, y2: bottom}), svg("text", {class: "tick", x: x(v), y: top - 9, "text-anchor": "middle"}, text));
    rows.forEach((i, n) => {
      const [low, first, median, third, high] = columns.map((c) => x(c.at(i))), y = top + n * tall + tall / 2;
      const name = said(category.at(i));
      root.append(svg("text", {class: "label", x: left - 6, y: y + 4, "text-anchor": "end", "font-size": 12}, shorten(name, 12, left - 8), svg("title", {}, name)),
        svg("g", {role: "img", tabindex: "0", "aria-label": describe(i), onmouseover: () => { detail.textContent = describe(i); }, onfocus: () => { detail.textContent = describe(i); }},
          svg("title", {}, describe(i)),
          svg("path", {class: "whisker", d: `M${low},${y}H${first}M${third},${y}H${high}M${low},${y - 4}v8M${high},${y - 4}v8`}),
          svg("rect", {class: "box", x: first, y: y - 7, width: Math.max(1, third - first), height: 14}),
          svg("line", {class: "median", x1: median, x2: median, y1: y - 7, y2: y + 7})),
        svg("text", {class: "tick", x: width - 4, y: y + 4, "text-anchor": "end"}, notes[n]));
    });
    return root;
  }
}
