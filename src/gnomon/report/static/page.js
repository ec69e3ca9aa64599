// Each part of each finding into its place.
const drawers = {HeatMap: heatMap, Bars: bars, StackedBars: stackedBars, Scatter: scatter, Lines: lines, Boxes: boxes};
page.findings.forEach((content, f) => {
  const finding = {...content, tables: content.tables.map(open)};
  const place = (name) => document.getElementById(`f${f}-${name}`);
  if (finding.exhibits.length) exhibits(place("segments"), finding);
  finding.panels.forEach((panel, p) => drawers[panel.type](place("p" + p), finding, panel));
  finding.tables.forEach((table, t) => dataTable(place("t" + t), {...table, file: `gnomon-${f + 1}-${t + 1}`}));
});
for (const node of document.querySelectorAll("[data-copy]")) {
  node.hidden = false;
  node.addEventListener("click", async () => {
    const code = document.getElementById(node.dataset.copy);
    try { await navigator.clipboard.writeText(code.textContent); node.textContent = "Copied"; } catch {
      getSelection().selectAllChildren(code);
      node.textContent = "Selected";
    }
    setTimeout(() => { node.textContent = "Copy"; }, 1500);
  });
}
let waiting = 0;
addEventListener("resize", () => { clearTimeout(waiting); waiting = setTimeout(() => redraws.forEach((draw) => draw()), 120); });
document.documentElement.dataset.ready = "yes";
