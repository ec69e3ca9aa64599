// The segments behind the numbers, a few at a time; what recurs in them is stored once, by number.
const MANY_OUTPUTS = 8, FIRST_OUTPUTS = 6;
const textOf = ([side, text, marks, names, ...values]) => ({role: page.sides[side][0], name: page.sides[side][1], text,
  marks: page.marks[marks], values: page.names[names].map((name, i) => [name, values[i]])});
function exhibits(box, finding) {
  const all = finding.exhibits.map((e) => ({...e, texts: e.texts.map(textOf)}));
  const state = {group: null, kind: null, system: null, text: "", shown: FIRST_CARDS};
  const list = el("div", {class: "exhibits"});
  const total = el("output", {class: "count"});
  const note = el("p", {class: "empty", hidden: true});
  const change = (name) => (value) => { state[name] = value; state.shown = FIRST_CARDS; draw(); };
  const tally = (name) => grouped(unique(all.map((e) => e[name]))).map((v) => [v, `${[v, gloss(v)].filter(Boolean).join(" ")} (${all.filter((e) => e[name] === v).length})`]);
  const systems = unique(all.flatMap((e) => e.texts.filter((t) => t.role === "candidate").map((t) => t.name)));
  const group = choice("Shown for", [[null, "all"], ...tally("group")], null, change("group"));
  const kind = choice("List", [[null, "all"], ...tally("kind")], null, change("kind"));
  const system = choice("System", [[null, "all"], ...systems.map((s) => [s, s])], null, change("system"));
  const find = search("Text", change("text"));
  const more = button("Show more segments", () => { state.shown += MORE_CARDS; draw(); });
  box.append(toolbar(group.node, unique(all.map((e) => e.kind)).length > 1 ? kind.node : null, system.node, find.node, total), note, list, more);
  // A mark of a chart: what its names are of, as far as segments are listed for it.
  finding.lead = (names, {metric}) => {
    const of = (values) => values.find((v) => names.includes(shown(v))) ?? null, groups = unique(all.map((e) => e.group));
    const own = of(groups), list = own === null ? of(unique(all.map((e) => e.kind))) : null, head = of(systems), name = own ?? groups.find((v) => v === metric) ?? null;
    Object.assign(state, {group: name, system: head, kind: list, text: "", shown: FIRST_CARDS});
    group.set(name); system.set(head); kind.set(list); find.box.value = "";
    draw(own === null && list === null && head === null ? `No segments are listed for ${names[0]}; all are shown.` : "");
    const heading = box.parentElement.querySelector("h3");
    heading.tabIndex = -1;
    heading.focus({preventScroll: true});
    heading.scrollIntoView({block: "start"});
  };
  const has = (e, text) => !text || e.texts.some((t) => strings[t.text].toLowerCase().includes(text))
    || [e.document, e.domain, e.caption, "#" + e.segment].some((v) => v && String(v).toLowerCase().includes(text));
  function draw(message = "") {
    const wide = all.filter((e) => (state.group === null || e.group === state.group) && (state.kind === null || e.kind === state.kind) && has(e, state.text));
    const own = wide.filter((e) => state.system === null || e.systems.includes(state.system));
    // a segment may be in several lists
    const seen = new Set(), key = (e) => `${e.group}\n${e.segment}\n${e.systems}`;
    const found = (own.length || !wide.length ? own : wide).filter((e) => !seen.has(key(e)) && seen.add(key(e)));
    if (!own.length && wide.length) message = message || `No segment is listed for ${shown(state.system)} here; those of the other systems are shown.`;
    note.textContent = message;
    note.hidden = !message;
    const now = found.slice(0, state.shown);
    total.textContent = found.length ? `${count(now.length)} of ${count(found.length)} segments` : "no segment fits";
    list.replaceChildren(...now.map(card));
    more.hidden = now.length === found.length;
  }
  function card(e) {
    const place = [["Document", e.document], ["Domain", e.domain]].filter(([, v]) => v);
    const head = el("header", {}, el("h4", {}, `Segment ${count(e.segment)}`), el("p", {class: "tags"}, data([e.group, gloss(e.group)].filter(Boolean).join(" "), "span", {class: "tag"}), data(e.kind, "span", {class: "tag soft"}),
      ...place.map(([name, v]) => el("span", {}, name + " ", data(v)))));
    const rank = (t) => t.name === state.system ? -2 : e.systems.includes(t.name) ? -1 : 0;
    const order = (t) => rank(t) === -1 ? e.systems.indexOf(t.name) : 0;
    const candidates = e.texts.filter((t) => t.role === "candidate").sort((a, b) => rank(a) - rank(b) || order(a) - order(b));
    const sides = e.texts.filter((t) => t.role !== "candidate");
    const few = candidates.length > MANY_OUTPUTS ? FIRST_OUTPUTS : candidates.length;
    const boxes = (list) => list.map((t) => textBox(t, t.name === state.system));
    const row = el("div", {class: "sides"}, ...boxes(candidates.slice(0, few)));
    const more = few === candidates.length ? null : button(`Show all ${count(candidates.length)} outputs`, () => {
      row.append(...boxes(candidates.slice(few)));
      more.remove();
      row.children[few].tabIndex = -1;
      row.children[few].focus();
    }, {class: "quiet"});
    return el("article", {class: "exhibit"}, head, e.caption ? data(e.caption, "p", {class: "caption", dir: "ltr"}) : null,
      ...sides.map((t) => textBox(t, false)), scroller(`Segment ${count(e.segment)}, ${shown(e.group)}, ${shown(e.kind)}: outputs side by side`, row), more);
  }
  function textBox(t, chosen) {
    const title = t.role === "candidate" ? t.name : t.role === "source" ? t.name ? `Source, ${t.name}` : "Source" : t.name ? `Reference ${t.name}` : "Reference";
    const body = el("p", {class: "text", ...languages(finding)[t.role === "source" ? 0 : 1], "data-better": t.marks.some((m) => m.length > 3) ? "both" : null});
    const spans = [...t.marks].sort((a, b) => a[0] - b[0]).map(([start, end, label, step, flagged]) => [start, end, strings[label], step === undefined ? null : `h${step}${flagged ? " wrong" : ""}`]);
    const length = marked(body, strings[t.text], spans);
    const values = t.values.map(([name, value]) => {
      if (typeof value === "string") {
        const words = el("dd", {dir: "auto"}), length = marked(words, value, []);
        return el("div", {class: "words"}, data(name, "dt"), words, unfolder(words, length));
      }
      const column = finding.tables.map((k) => k.columns.get(name)).find(Boolean) || {title: name, kind: "number", digits: 2};
      return el("div", {}, data(column.title, "dt"), el("dd", {}, format(value, column)));
    });
    return el("div", {class: `side ${t.role}${chosen ? " chosen" : ""}`}, data(title, "h5"), body, unfolder(body, length), values.length ? el("dl", {}, ...values) : null);
  }
  draw();
}
