// A form for comparing outputs two at a time, or for scoring single ones; answers stay here until they are saved to a file.
const CHOICES = [["A", "A is better", "a"], ["B", "B is better", "b"], ["tie", "Tie", "t"]];
const SPOT = "gnomon-sheet-" + page.study;
const items = page.items;
const isOutput = ([role]) => role === "candidate";
const scalar = items.length > 0 && items[0].texts.filter(isOutput).length === 1;
const may = (given) => given === "" || (scalar ? /^\d+([.,]\d+)?$/.test(given) && Number(given.replace(",", ".")) <= 100 : CHOICES.some(([name]) => name === given));
const state = {annotator: "", at: 0, saved: true, answers: {}};

// The browser's own storage; a browser may refuse it.
function remember() {
  try {
    localStorage.setItem(SPOT, JSON.stringify(state));
    return true;
  } catch { return false; }
}
function recall() {
  try {
    const kept = JSON.parse(localStorage.getItem(SPOT) || "null");
    if (kept) take(kept);
    if (kept && Number.isInteger(kept.at)) state.at = Math.min(Math.max(0, kept.at), items.length - 1);
    if (kept) state.saved = kept.saved !== false;
    localStorage.setItem(SPOT + "-test", "1");
    localStorage.removeItem(SPOT + "-test");
    return true;
  } catch { return false; }
}
// Answers from storage or a file: only what belongs here, and only what may be answered.
function take(content) {
  const known = new Set(items.map((one) => one.item));
  const given = Array.isArray(content.answers) ? Object.fromEntries(content.answers.map((one) => [one.item, one])) : content.answers || {};
  let taken = 0;
  for (const [name, one] of Object.entries(given)) {
    if (!known.has(name) || !one || !may(one.answer)) continue;
    state.answers[name] = {answer: one.answer, comment: String(one.comment || "")};
    taken += 1;
  }
  if (typeof content.annotator === "string" && content.annotator) state.annotator = content.annotator;
  return taken;
}
const answerOf = (one) => (state.answers[one.item] || {answer: ""}).answer;
const commentOf = (one) => (state.answers[one.item] || {comment: ""}).comment || "";
const answered = () => items.filter((one) => answerOf(one)).length;

// The same cells as gnomon writes: nothing that a spreadsheet would run.
function cell(text) {
  const short = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"};
  const plain = text.replace(/[\\\u0000-\u001f\u007f]/g, (c) => short[c] || "\\x" + c.charCodeAt(0).toString(16).padStart(2, "0"));
  return /^[=+\-@\uff1d\uff0b\uff0d\uff20"']/.test(plain) ? "'" + plain : plain;
}
function asTsv() {
  const rows = [["item", "answer", "comment", "annotator"], ...items.map((one) => [one.item, answerOf(one), commentOf(one), state.annotator])];
  return rows.map((row) => row.map(cell).join("\t")).join("\n") + "\n";
}
function asJson() {
  const lines = items.map((one) => JSON.stringify({item: one.item, answer: answerOf(one), comment: commentOf(one)}));
  return `{"study": ${JSON.stringify(page.study)}, "annotator": ${JSON.stringify(state.annotator)}, "answers": [\n${lines.join(",\n")}\n]}\n`;
}
function save(kind, type, text) {
  const who = state.annotator.normalize("NFKD").replace(/[^A-Za-z0-9]+/g, "-").replace(/^-+|-+$/g, "");
  const name = `answers-${page.study}${who ? "-" + who : ""}.${kind}`;
  const url = URL.createObjectURL(new Blob([text.isWellFormed ? text.toWellFormed() : text], {type: type + ";charset=utf-8"}));
  const link = el("a", {href: url, download: name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
  state.saved = true;
  remember();
  tell(`Saved ${count(answered())} of ${count(items.length)} answers to ${name}, in your folder of downloads.`);
}
async function load(input) {
  const [file] = input.files;
  if (!file) return;
  try {
    const content = JSON.parse(await file.text());
    const taken = content && content.study === page.study ? take(content) : 0;
    if (taken) { state.saved = true; name.value = state.annotator; }
    tell(taken ? `Loaded answers to ${count(taken)} items from ${file.name}.` : `${file.name} holds no answers to this form.`, !taken);
  } catch { tell(`${file.name} cannot be read; choose a JSON file that this form has saved.`, true); }
  input.value = "";
  remember();
  draw();
}

const status = el("p", {class: "status", role: "status"});
function tell(text, warn = false) {
  status.textContent = shown(text);
  status.classList.toggle("warn", warn);
}
const name = el("input", {type: "text", autocomplete: "off", spellcheck: "false", oninput: () => { state.annotator = name.value; changed(); }});
const total = el("output", {class: "count"});
const meter = el("progress", {max: items.length, "aria-label": "items answered"});
const opener = el("input", {type: "file", accept: ".json,application/json", onchange: () => load(opener)});
const box = el("section", {class: "item", tabindex: "-1"});
const places = el("ol", {class: "places"});
let keeps = recall();

function changed() {
  state.saved = false;
  const before = keeps;
  keeps = remember();
  if (!keeps) tell("This browser keeps no answers for a file from disk: save them to a file before you close the page.", true);
  else if (!before) tell("");
  tally();
}
function tally() {
  const done = answered();
  meter.value = done;
  total.textContent = `${count(done)} of ${count(items.length)} answered`;
}
function answer(given) {
  const one = items[state.at];
  state.answers[one.item] = {answer: given, comment: commentOf(one)};
  changed();
  mark();
  const said = CHOICES.find(([name]) => name === given);
  tell(`Item ${state.at + 1}: ${said ? said[1] : given || "open"}`);
}
function choose(choice) {
  answer(answerOf(items[state.at]) === choice ? "" : choice);
}
function score(input) {
  if (may(input.value)) answer(input.value);
  else tell("Write a number from 0 to 100, or nothing.", true);
}
function go(place, focus = true) {
  if (place < 0 || place >= items.length) return;
  state.at = place;
  keeps = remember();
  draw();
  if (focus) box.focus({preventScroll: true});
  box.scrollIntoView({block: "nearest"});
}
function open() {
  const order = items.map((_, i) => (state.at + 1 + i) % items.length);
  const next = order.find((i) => !answerOf(items[i]));
  if (next === undefined) tell("Every item is answered: save your answers to a file.");
  else go(next);
}

function textBox(tag, title, [role, , text, marks], css) {
  const body = el("p", {class: "text", dir: "auto"});
  const letters = Array.from(text);
  let at = 0;
  for (const [start, end] of marks) {
    put(body, letters.slice(at, start));
    body.append(put(el("mark", {}), letters.slice(start, end)));
    at = end;
  }
  put(body, letters.slice(at));
  if (!letters.length) body.append(el("em", {}, "(empty)"));
  return el("div", {class: `side ${role} ${css}`}, data(title, tag), body);
}
const two = new Map();
let radios = [], number = null;
function draw() {
  const one = items[state.at];
  const given = one.texts.filter((text) => !isOutput(text));
  const sides = one.texts.filter(isOutput);
  const title = (text) => text[0] === "source" ? "Source" : given.filter(([role]) => role === "reference").length > 1 ? `Reference ${text[1]}` : "Reference";
  two.clear();
  for (const text of sides) two.set(text[1], textBox("h3", `Output ${text[1]}`.trim(), text, ""));
  number = scalar ? el("input", {type: "text", inputmode: "decimal", autocomplete: "off", oninput: () => score(number), onkeydown: (event) => { if (event.key === "Enter") go(state.at + 1); }}) : null;
  radios = scalar ? [] : CHOICES.map(([value, label, key]) => {
    const input = el("input", {type: "radio", name: "answer", value, onclick: () => choose(value)});
    return [value, input, el("label", {class: "answer"}, input, label, el("kbd", {"aria-hidden": "true"}, key.toUpperCase()))];
  });
  const comment = el("textarea", {rows: "2", dir: "auto", oninput: () => {
    state.answers[one.item] = {answer: answerOf(one), comment: comment.value};
    changed();
  }});
  comment.value = commentOf(one);
  box.setAttribute("aria-label", `Item ${state.at + 1} of ${items.length}`);
  box.replaceChildren(
    el("header", {}, el("h2", {}, `Item ${count(state.at + 1)} of ${count(items.length)}`), ...(one.feature ? [el("p", {class: "tags"}, "judge ", data(one.feature, "span", {class: "tag"}))] : [])),
    ...given.map((text) => textBox("h5", title(text), text, "")),
    el("div", {class: "two"}, ...two.values()),
    scalar ? field("Score, from 0 (not at all) to 100 (perfectly)", number, "field") : el("fieldset", {}, el("legend", {}, one.feature ? "Which output renders these words better?" : "Which output is better?"), ...radios.map(([, , node]) => node)),
    field("Comment (optional)", comment, "field"),
    el("div", {class: "steps"}, button("\u2190 Back", () => go(state.at - 1), {disabled: state.at === 0}), button("Next \u2192", () => go(state.at + 1), {disabled: state.at === items.length - 1}),
      button("Next open item", open)));
  places.replaceChildren(...items.map((_, i) => el("li", {}, button(String(i + 1), () => go(i), {"aria-label": `${i + 1}, of ${items.length} items`, "aria-current": i === state.at ? "step" : null}))));
  mark();
}
function mark() {
  const now = answerOf(items[state.at]);
  if (number && number.value !== now && document.activeElement !== number) number.value = now;
  for (const [value, input] of radios) input.checked = value === now;
  for (const [side, node] of two) node.classList.toggle("chosen", side === now);
  [...places.children].forEach((node, i) => node.firstChild.toggleAttribute("data-answered", Boolean(answerOf(items[i]))));
  tally();
}

// Keys answer and move, but not while one is writing.
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("textarea, input:not([type=radio]), select")) return;
  const key = event.key.toLowerCase();
  const choice = CHOICES.find(([, , letter]) => letter === key);
  if (choice && !scalar) choose(choice[0]);
  else if (key === "n" || (key === "arrowright" && !event.target.matches("input"))) go(state.at + 1);
  else if (key === "p" || (key === "arrowleft" && !event.target.matches("input"))) go(state.at - 1);
  else if (key === "o") open();
  else return;
  event.preventDefault();
});
addEventListener("beforeunload", (event) => { if (!state.saved && !keeps && answered()) event.preventDefault(); });

name.value = state.annotator;
document.getElementById("form").append(
  el("div", {class: "toolbar"}, field("Your name", name, "field"),
    button("Save answers (TSV)", () => save("tsv", "text/tab-separated-values", asTsv())), button("Save to go on elsewhere (JSON)", () => save("json", "application/json", asJson())),
    field("Go on with a saved JSON file", opener, "field load"), meter, total),
  status, box,
  el("details", {}, el("summary", {}, "All items"), places),
  el("p", {class: "keys"}, ...(scalar ? [] : ["A", "B", "T"].flatMap((key) => [el("kbd", {}, key), " "])).concat(scalar ? [] : ["answer (again: take back); "]),
    ...[["N", "P"], ["O"]].flatMap((keys, i) => [...keys.flatMap((key) => [el("kbd", {}, key), " "]), ["next, previous; ", "next open item"][i]])));
if (!items.length) tell("This form holds no items.", true);
else draw();
if (!keeps) tell("This browser keeps no answers for a file from disk: save them to a file before you close the page.", true);
else if (answered() && !state.saved) tell(`Went on with ${count(answered())} answers kept in this browser; they are not yet saved to a file.`);
document.documentElement.dataset.ready = "yes";
