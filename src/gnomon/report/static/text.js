// Text from data becomes text nodes, never markup; the page's elements are made of these.
const page = JSON.parse(document.getElementById("data").textContent);
const strings = page.strings;
const FIRST_CARDS = 6, MORE_CARDS = 20, LONG_TEXT = 600;

const CONTROL = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\ud800-\udfff]/u;
const NAMES = new Map([[0x061c, "ALM"], [0x200b, "ZWSP"], [0x200e, "LRM"], [0x200f, "RLM"], [0x2028, "LS"],
  [0x2029, "PS"], [0x202a, "LRE"], [0x202b, "RLE"], [0x202c, "PDF"], [0x202d, "LRO"], [0x202e, "RLO"],
  [0x2060, "WJ"], [0x2066, "LRI"], [0x2067, "RLI"], [0x2068, "FSI"], [0x2069, "PDI"], [0xfeff, "BOM"],
  [0x09, "TAB"], [0x0a, "LF"], [0x0d, "CR"], [0x1b, "ESC"]]);
const hex = (c) => "U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
const nameOf = (c) => NAMES.get(c.codePointAt(0)) || hex(c);
// Metrics go by short names; where one points, their specs are shown.
const short = (text) => page.long && Object.hasOwn(page.long, String(text)) ? page.long[String(text)] : null;
const shown = (text) => Array.from(short(text) ?? String(text), (c) => CONTROL.test(c) ? "\u27e8" + nameOf(c) + "\u27e9" : c).join("");

function put(node, characters) {
  let run = "";
  const flush = () => { if (run) node.append(run); run = ""; };
  for (const c of characters) {
    if (!CONTROL.test(c)) { run += c; continue; }
    flush();
    node.append(el("span", {class: "ctl", title: hex(c)}, nameOf(c)));
  }
  flush();
  return node;
}

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((c) => c !== null && c !== undefined));
  return node;
}
const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const data = (text, tag = "bdi", attributes = {}) => put(el(tag, {dir: "auto", title: short(text) === null ? null : String(text), ...attributes}), short(text) ?? String(text));
// What a feature's name stands for, in a word or two; names are users' own.
const gloss = (name) => page.glosses && Object.hasOwn(page.glosses, String(name)) ? page.glosses[String(name)] : "";
// How texts of source and target are to be read, as far as the language pair is known.
const RIGHT_TO_LEFT = /^(ar|arc|ckb|dv|fa|he|ks|ps|sd|ug|ur|yi|[a-z]+-arab)\b/i;
function languages({pair}) {
  const named = (pair || "").replaceAll("_", " ").split("-").map((lang) => lang.replace(" ", "-") || null);
  return (named.length > 1 ? named : [null, ...named]).map((lang) => ({lang, dir: RIGHT_TO_LEFT.test(lang) ? "rtl" : "auto"}));
}
const unique = (values) => [...new Set(values)];
const count = (n) => n.toLocaleString("en");
let ids = 0;

function field(label, box, css) {
  box.id = "control-" + (ids += 1);
  return el("div", {class: css}, el("label", {for: box.id}, shown(label)), box);
}

function choice(label, options, value, change) {
  const box = el("select", {onchange: () => change(options[box.selectedIndex][0])},
    ...options.map(([, text]) => el("option", {}, shown(text))));
  const set = (wanted) => { box.selectedIndex = Math.max(0, options.findIndex(([v]) => v === wanted)); };
  set(value);
  return {node: field(label, box, "field"), set, box};
}

function search(label, change) {
  let timer = 0;
  const box = el("input", {type: "search", spellcheck: "false", autocomplete: "off",
    oninput: () => { clearTimeout(timer); timer = setTimeout(() => change(box.value.toLowerCase()), 100); }});
  return {node: field(label, box, "field grow"), box};
}

const button = (text, click, attributes) => el("button", {type: "button", onclick: click, ...attributes}, text);
const toolbar = (...children) => el("div", {class: "toolbar"}, ...children);
const scroller = (label, ...children) => el("div", {class: "scroll", role: "region", tabindex: "0", "aria-label": shown(label)}, ...children);

// A text with spans: [start, end, why, class], in order, by code points. Returns its length.
function marked(body, text, spans) {
  const letters = Array.from(text);
  let at = 0;
  for (const [start, end, why, css] of spans) {
    if (start < at || end <= start) continue;
    put(body, letters.slice(at, start));
    body.append(put(el("mark", {title: shown(why), class: css}), letters.slice(start, end)));
    at = Math.min(end, letters.length);
  }
  put(body, letters.slice(at));
  if (!letters.length) body.append(el("em", {}, "(empty)"));
  return letters.length;
}
// A long text shows its first lines, and the rest on request.
function unfolder(body, length) {
  if (length <= LONG_TEXT) return null;
  const whole = `Show all ${count(length)} characters`;
  body.classList.add("folded");
  const switcher = button(whole, () => {
    const folded = body.classList.toggle("folded");
    switcher.textContent = folded ? whole : "Show less";
    switcher.setAttribute("aria-expanded", String(!folded));
  }, {class: "quiet", "aria-expanded": "false"});
  return switcher;
}

// Where the screen is narrow the list of contents is folded, so that nothing has to be scrolled sideways.
const narrow = matchMedia("(max-width: 640px)"), listing = document.querySelector("nav.contents details");
if (listing) {
  const fold = () => { listing.open = !narrow.matches; };
  narrow.addEventListener("change", fold);
  listing.addEventListener("click", (event) => { if (event.target.closest("a")) fold(); });
  fold();
}
