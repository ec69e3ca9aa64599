// Each part of each finding into its place.
page.findings.forEach((content, f) => {
  const finding = {...content, tables: content.tables.map(open)};
  const place = (name) => document.getElementById(`f${f}-${name}`);
  if (finding.exhibits.length) exhibits(place("segments"), finding);
  finding.panels.forEach((panel, p) => {
    const box = place("p" + p);
    drawPanel(box, panel, {name: `gnomon-${f + 1}-${p + 1}`, pick: finding.lead || null});
  });
  // a table without rows has no section
  finding.tables.forEach((table, t) => { if (place("t" + t)) grid(place("t" + t), {...table, file: `gnomon-${f + 1}-${t + 1}`}, {folded: true}); });
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
later(() => { document.documentElement.dataset.ready = "yes"; });
