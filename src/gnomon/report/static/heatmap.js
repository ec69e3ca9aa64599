// Heat maps: tables coloured by value, walked by arrow keys, leading to segments.
function sortButton(label, state, key, redraw, numeric) {
  const active = state.key === key;
  const arrow = active ? (state.down ? "\u25be" : "\u25b4") : "\u2195";
  return el("button", {type: "button", class: "sort", "data-active": active, onclick: () => {
    if (!active) { state.key = key; state.down = numeric; } else if (state.down === numeric) state.down = !numeric; else state.key = null;
    redraw();
  }}, label, el("span", {class: "arrow", "aria-hidden": "true"}, arrow));
}
const ariaSort = (state, key) => state.key === key ? (state.down ? "descending" : "ascending") : "none";

// Drawing anew takes the focus away: give it back to the control in the same place.
function keepingFocus(box, draw) {
  const controls = () => [...box.querySelectorAll("button.sort")];
  const place = controls().indexOf(document.activeElement);
  draw();
  if (place >= 0 && controls()[place]) controls()[place].focus();
}

function heatMap(box, finding, panel) {
  const view = panel.views[0], table = finding.tables[view.table];
  const beside = view.beside && table.columns.get(view.beside);
  const faint = view.faint ? table.columns.get(view.faint) : null, under = view.under ? table.columns.get(view.under) : null;
  const few = view.few ? table.columns.get(view.few[0]) : null;
  const isFew = (i) => few !== null && i !== undefined && few.at(i) < view.few[1];
  const fades = (i) => (faint !== null && i !== undefined && faint.at(i) === true) || isFew(i);
  const fewer = few ? `fewer than ${view.few[1]} (${shown(few.title)})` : "";
  // what a cell shows: the figure of the view, or another one of its row
  const figures = [...table.columns.values()].filter((c) => !inWords(c) && !isEnd(table, c) && (c.name === view.value || somewhere(table, c)));
  let column = table.columns.get(view.value), first = 0, windows = 0, size = AT_ONCE;
  const figure = figures.length < 2 ? null : choice("Figure", figures.map((c) => [c, c.title]), column, (c) => { column = c; draw(); }).node;
  const own = () => column.name === view.value;
  // a scale that is symmetric about zero has two ends and a neutral middle
  const better = () => own() && view.low !== null && view.low < 0 && view.low === -view.high ? "both" : column.better || "none";
  const sort = {key: null, down: true};
  let was = narrow.matches;
  const filter = {text: "", kind: null};
  const body = el("div");
  const detail = el("p", {class: "detail"});
  const where = whereControls(table, panel, () => draw());
  const kind = kindControl(distinct(table, filterRows(table, []), view.rows), null, (v) => { filter.kind = v; draw(); });
  const find = search("Filter", (v) => { filter.text = v; draw(); });
  const total = el("output", {class: "count"}), pieces = el("div", {class: "choices"});
  box.append(toolbar(...where.nodes, figure, kind.node, pieces, find.node, total), body, detail);

  function draw() { keepingFocus(body, render); }
  function render() {
    retitle(box, panel, where.state);
    const rows = filterRows(table, where.state);
    const at = cellsOf(table, rows, view.rows, view.columns);
    const heads = inWindow(namedFirst(distinct(table, rows, view.columns)));
    if (!own()) box.parentElement.querySelector("h3").append(": ", data(column.title));
    const all = grouped(distinct(table, rows, view.rows));
    let names = all.filter((n) => (filter.kind === null || kindOf(n) === filter.kind) && shown(n).toLowerCase().includes(filter.text));
    if (sort.key !== null) names = sorted(names, at, rows);
    total.textContent = `${count(names.length)} of ${count(all.length)} rows`;
    const values = rows.filter((i) => !fades(i)).map(column.at).filter(isNumber);
    const scale = {low: (own() ? view.low : null) ?? least(values), high: (own() ? view.high : null) ?? most(values)};
    const grid = el("table", {class: "heat", role: "grid", "data-better": better(), "data-many": heads.length > (narrow.matches ? 2 : 8)});
    grid.style.setProperty("--head", Math.min(14, 1.9 + 0.54 * Math.max(0, ...heads.map((h) => shown(h).length))) + "rem");
    grid.append(el("caption", {class: "hidden"}, shown(view.title)), headRow(heads), bodyRows(names, heads, at, scale));
    body.replaceChildren(names.length ? scroller(`Heat map: ${view.title}`, grid) : el("p", {class: "empty"}, "No rows for this choice."),
      legend(scale, values.length && [...grid.querySelectorAll(".flag")].length > 0, grid.querySelector("td.faint") !== null));
    roving(grid, names, heads, at);
    detail.textContent = "Point at a cell for its numbers" + (view.exhibits ? "; click it, or press Enter, for the segments behind it." : ".");
  }
  // Where few columns fit, those that the verdict names come first.
  function namedFirst(heads) {
    const said = narrow.matches && finding.verdict || "", inName = (c) => c !== undefined && /[\p{L}\p{N}_-]/u.test(c);
    const at = (head) => {
      const name = String(head);
      for (let n = name ? said.indexOf(name) : -1; n >= 0; n = said.indexOf(name, n + 1)) if (!inName(said[n - 1]) && !inName(said[n + name.length])) return n;
      return said.length;
    };
    return said ? [...heads].sort((a, b) => at(a) - at(b)) : heads;
  }
  // Many columns are shown some at a time.
  function inWindow(heads) {
    // beside the names, which take at most 136 pixels
    const most = narrow.matches && body.clientWidth ? Math.max(3, Math.floor((body.clientWidth - 136) / 44)) : AT_ONCE, needed = Math.ceil(heads.length / most);
    if (needed !== windows || most !== size) {
      windows = needed;
      size = most;
      first = 0;
      const some = Array.from({length: needed}, (_, n) => [n * most, `${n * most + 1} to ${Math.min(heads.length, (n + 1) * most)}`]);
      pieces.replaceChildren(...(needed < 2 ? [] : [choice(table.columns.get(view.columns).title, [...some, [null, "all"]], 0, (v) => { first = v; draw(); }).node]));
    }
    return windows < 2 || first === null ? heads : heads.slice(first, first + size);
  }
  function sorted(names, at, rows) {
    const first = sort.key === "beside" ? (n) => Math.max(...rows.filter((i) => table.columns.get(view.rows).at(i) === n).map(beside.at)) : null;
    const value = sort.key === "name" ? (n) => n : first || ((n) => { const i = at(n, sort.key.head); return i === undefined ? null : column.at(i); });
    return [...names].sort((a, b) => compare(value(a), value(b), sort.down));
  }
  function headRow(heads) {
    const row = el("tr", {}, el("th", {scope: "col", class: "name", "aria-sort": ariaSort(sort, "name")},
      sortButton(data(table.columns.get(view.rows).title), sort, "name", draw, false)));
    if (beside) row.append(el("th", {scope: "col", class: "beside", title: shown(beside.help), "aria-sort": ariaSort(sort, "beside")},
      sortButton(data(beside.title), sort, "beside", draw, true)));
    for (const head of heads) {
      const key = sort.key && sort.key.head === head ? sort.key : {head};
      row.append(el("th", {scope: "col", class: "head", "aria-sort": ariaSort(sort, key)},
        el("div", {class: "turn"}, sortButton(data(head ?? "all"), sort, key, draw, column.better === "higher"))));
    }
    return el("thead", {}, row);
  }
  function bodyRows(names, heads, at, scale) {
    const part = el("tbody");
    let kind = null;
    names.forEach((name, r) => {
      const first = sort.key === null && r > 0 && kindOf(name) !== kind;
      kind = kindOf(name);
      const row = el("tr", {class: first ? "first" : null}, data(name ?? "all", "th", {scope: "row", class: "name"}));
      if (gloss(name)) row.firstChild.append(" ", el("small", {}, gloss(name)));
      if (beside) row.append(el("td", {class: "beside"}, range(table, heads.map((h) => at(name, h)).filter((i) => i !== undefined), view.beside)));
      heads.forEach((head, c) => row.append(cell(name, head, at(name, head), scale, r, c)));
      part.append(row);
    });
    return part;
  }
  function cell(name, head, i, scale, r, c) {
    const value = i === undefined ? null : column.at(i);
    const flag = i !== undefined && (own() && view.marks ? table.columns.get(view.marks).at(i) === true : outside(value, column));
    const faded = fades(i) && isNumber(value);
    const step = faded ? "faint" : isNumber(value) ? "h" + Math.round(8 * Math.min(1, Math.max(0, (value - scale.low) / (scale.high - scale.low || 1)))) : "none";
    const text = format(value, column), small = under && i !== undefined ? format(under.at(i), under) : "";
    // who speaks to a cell says what it shows: its name begins with that
    const figures = [text, ...(small === "" ? [] : [small]), ...(text === "-" ? ["undefined"] : [])].join(" ");
    return el("td", {class: step + (flag ? " flag" : "") + (view.exhibits ? " link" : ""), "data-r": r, "data-c": c, tabindex: r + c ? "-1" : "0",
      "aria-label": `${figures}: ${shown(column.title)}${small === "" ? "" : ` and ${shown(under.title)}`}, ${shown(name)}, ${shown(head)}${flag ? ", outside its range" : ""}`
        + (faded ? `, ${isFew(i) ? fewer : shown(faint.title)}` : "")}, text,
      ...(small === "" ? [] : [" ", el("small", {}, small)]));
  }
  function describe(name, head, i) {
    if (i === undefined) return `${shown(name)} \u00b7 ${shown(head)}: no numbers`;
    const parts = [...table.columns.values()].filter((k) => !inWords(k) && !isEnd(table, k)).map((k) => `${shown(k.title)} ${withEnds(table, k, i)}`);
    return `${shown(name)} \u00b7 ${shown(head)}: ${parts.join(" \u00b7 ")}`;
  }
  function roving(grid, names, heads, at) {
    const place = (event) => event.target.closest("td[data-r]");
    const cellAt = (r, c) => grid.querySelector(`td[data-r="${r}"][data-c="${c}"]`);
    const rowAt = (td) => at(names[td.dataset.r], heads[td.dataset.c]);
    const point = (event) => {
      const td = place(event);
      if (!td) return;
      const name = names[td.dataset.r], head = heads[td.dataset.c];
      detail.textContent = td.title = describe(name, head, at(name, head));
    };
    const lead = (td) => { if (view.exhibits && finding.lead) finding.lead(names[td.dataset.r], heads[td.dataset.c], rowAt(td)); };
    grid.addEventListener("mouseover", point);
    grid.addEventListener("focusin", point);
    grid.addEventListener("click", (event) => { const td = place(event); if (td) lead(td); });
    grid.addEventListener("keydown", (event) => {
      const td = place(event);
      if (!td) return;
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); lead(td); return; }
      const r = +td.dataset.r, c = +td.dataset.c, last = heads.length - 1;
      const to = {ArrowDown: [r + 1, c], ArrowUp: [r - 1, c], ArrowRight: [r, c + 1], ArrowLeft: [r, c - 1], Home: [r, 0], End: [r, last]}[event.key];
      const next = to && cellAt(...to);
      if (!to) return;
      event.preventDefault();
      if (next) { td.tabIndex = -1; next.tabIndex = 0; next.focus(); }
    });
  }
  function legend(scale, flagged, faded) {
    const worse = {lower: ["better", "worse"], higher: ["worse", "better"]}[column.better] || ["", ""];
    const end = (value, word) => el("span", {}, format(value, column) + (word ? ` (${word})` : ""));
    const swatches = Array.from({length: 9}, (_, i) => el("i", {class: "h" + i}));
    const meaning = own() && view.marks ? [table.columns.get(view.marks).title, table.columns.get(view.marks).help].filter(Boolean).join(": ") : "outside [0, 1]";
    return el("p", {class: "legend", "data-better": better()}, el("span", {}, data(column.title)),
      ...(Number.isFinite(scale.low) ? [end(scale.low, worse[0]), el("span", {class: "swatches", "aria-hidden": "true"}, ...swatches), end(scale.high, worse[1])] : []),
      flagged ? el("span", {}, el("i", {class: "h0 flag"}), " ", data(meaning)) : null,
      faded ? el("span", {}, el("i", {class: "faint"}), " ", data([faint ? [faint.title, faint.help].filter(Boolean).join(": ") : "", few ? fewer : ""].filter(Boolean).join("; "))) : null,
      under ? el("span", {}, "small: ", data(under.title)) : null, el("span", {}, "- undefined"));
  }
  redraws.push(() => { if (was !== narrow.matches) { was = narrow.matches; draw(); } });
  draw();
}

// Who draws a view, by its kind.
const DRAWERS = {HeatMap: heatMap, Bars: bars, StackedBars: stackedBars, Scatter: scatter, Lines: lines, Boxes: boxes};
