// The page of a method: what is drawn of a test set, then the rows themselves; these at once where
// they are few and nothing is drawn.
const chartsOf = (own, t) => own.drawn.includes(t) ? load(`chart-${tables.indexOf(own)}-${t}`) : [];
const titledBox = (css) => { const box = el("div"); return [el("div", {class: css}, el("h3"), box), box]; };
async function methodPage({box, rest, head, alive}) {
  const own = page.sections.find((one) => encodeURIComponent(one.id) === rest[0]);
  if (!own) throw new Error("there is no such page");
  head(own.title);
  const all = tablesOf(own.id), there = page.sets.map((s, n) => [n, s.name]).filter(([n]) => all.some((t) => t.mayHold(n)));
  box.append(el("p", {class: "note"}, el("code", {}, shown(own.id)), ...(own.note ? [": ", data(own.note)] : [])));
  if (!there.length) return;
  const state = {t: there.some(([n]) => n === Number(rest[1])) ? Number(rest[1]) : there[0][0]}, place = el("div");
  box.append(toolbar(there.length < 2 ? null : choice("Test set", there, state.t, (v) => { state.t = v; draw(); }).node), place);
  await draw();

  async function draw() {
    redraws.length = 0;
    place.replaceChildren();
    for (const t of all.filter((one) => one.mayHold(state.t))) await tablePart(t);
  }
  async function tablePart(t) {
    const body = el("div"), part = section(t.title, t.note ? data(t.note, "p", {class: "note"}) : "", body), set = page.sets[state.t], size = t.sizeOf(state.t);
    if (t.title === own.title) part.firstChild.classList.add("hidden");
    place.append(part);
    const panels = await chartsOf(t, state.t);
    if (!alive()) return;
    for (const panel of panels) {
      const [drawn, inner] = titledBox("drawn");
      body.append(drawn);
      drawPanel(inner, panel, {name: `${t.file}-${state.t + 1}`, pick: panel.leads ? lead : null});
    }
    const options = {hide: ["testset"], given: {testset: set.name}, per: 25}, chosen = async () => { await t.of(state.t); return some(t, rowsOfSet(t, state.t)); };
    if (panels.length || size > SMALL) part.append(folded(t, "Table", size, options, chosen)); else grid(body, await chosen(), options);
  }
  function lead([name, system], {metric}) {
    const href = layerHref(state.t, name, metric, page.sets[state.t].systems.findIndex((one) => shown(one) === system));
    if (href) location.hash = href; else tell("The texts behind the numbers are not in this report.");
  }
}
