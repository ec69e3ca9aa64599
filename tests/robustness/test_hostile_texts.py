"""A hundred hostile texts as names of systems, features and documents, and as segments.

The law: in no output do they become markup. A terminal gets no control or direction characters,
tables keep their rows and columns, JSON and the data of pages give the texts back, and Markdown,
LaTeX and HTML hold the elements that they hold with plain names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from tests.robustness.examples import run

from gnomon.cli import entry as _main
from gnomon.cli import main

HTML = (
    "<script>window.broken=1</script>", "</script><script>x()</script>", "<img src=x onerror=x()>",
    "\"'><svg onload=x()>", "<!-- <script> ]]>", "--><b>", "]]><b>", "</title><b>", "</style><b>",
    "</textarea><b>", "<iframe srcdoc='<b>'>", "<a href='javascript:x()'>y</a>", "<base href=//x>",
    "<meta http-equiv=refresh content=0>", "<link rel=stylesheet href=//x>", "<style>*{}</style>",
    "<math><mi xlink:href=x>", "<noscript><p title='</noscript><b>'>", "<template><b></template>",
    "<body onload=x()>", "<form action=//x><input>", "<object data=x>", "<b", "<", "&lt;b&gt;",
    "&amp;lt;", "&#60;b&#62;", "&notanentity;", "<\0script>", "<script\u2028>", "\ufeff<b>",
    "<?php x ?>",
)  # fmt: skip
SCRIPT = (
    "';x();'", '";x();"', "`${x()}`", "\\';x();//", "\\", "\u2028x()\u2029", "*/x()/*", "//",
    "{{ 7 * 7 }}", "{% raw %}", "${7*7}", "#{7*7}", "<%= 7*7 %>", "__proto__", "constructor",
    "toString", "hasOwnProperty", "</ScRiPt >", "javascript:x()", "data:text/html,<b>", "null",
    "NaN",
)  # fmt: skip
STYLE = ("*{display:none}", "url(//x)", "expression(x())", "@import '//x'", "}b{", "/*")
TERMINAL = (
    "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x9b2J", "\x1b[2J\x1b[H", "a\rb", "a\bb", "a\x7fb",
    "\x1b]8;;http://x.test\x1b\\y\x1b]8;;\x1b\\", "[bold]x[/bold]", "[/]", "[link=//x]y[/link]",
    ":smile:", "[red", "\x1bc", "a\x00b",
)  # fmt: skip
DIRECTION = (
    "\u202eevil\u202c",
    "\u2066x",
    "\u2069",
    "\u200fmark",
    "\u061cx",
    "a\u202a",
    "x\u2067y",
)
TABLES = (
    "=1+1", "+1", "-1+x", "@SUM(A1)", "=HYPERLINK(1)", "=cmd|'/c calc'!A1", "\t=1", "a\tb", "a\nb",
    'a"b', '"', "'", "a,b", "a;b", "a|b", "\uff1d1", "\r=1",
)  # fmt: skip
MARKDOWN = ("**b**", "`c`", "[x](//y)", "![x](//y)", "# h", "---", "~~s~~", "<//x>", "$x$")
LATEX = (
    r"\input{/etc/passwd}",
    r"\write18{x}",
    "100%",
    "$x$",
    "#1",
    "x_y^z",
    "~",
    r"\\",
    "^^5c",
    "--",
)
TEXTS = tuple(
    dict.fromkeys((*HTML, *SCRIPT, *STYLE, *TERMINAL, *DIRECTION, *TABLES, *MARKDOWN, *LATEX))
)
ACTS = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2028\u2029\u2066-\u2069]"
)
FORMATS = ("text", "tsv", "json", "latex", "markdown")


class Page(HTMLParser):
    """The elements and attributes of a page, and its data."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: set[tuple[str, ...]] = set()
        self.scripts = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add((tag, *sorted(name for name, _ in attrs)))
        self.scripts += tag == "script"


def outputs(folder: Path, texts: tuple[str, ...]) -> dict[str, str]:
    """What two commands print in every format, and their pages."""
    folder.mkdir()
    # an option's value cannot begin with a dash
    systems = [f"x{text}" if text.startswith("-") else text for text in texts]
    rows = [{"ref": text, "doc": text, **dict.fromkeys(systems, text)} for text in texts]
    # names of features hold no line ends, and each of them is another one
    plain = [re.sub(r"[\n\r\t\x00:]", " ", text) for text in texts]
    names = [f"{text} {number}".strip() for number, text in enumerate(plain)]
    spans = [
        {"text": text, "spans": [{"start": 0, "end": 1, "label": name}]}
        for text, name in zip(texts, names, strict=True)
    ]
    for name, records in (("few", rows[::12]), ("all", rows), ("labels", spans)):
        lines = "".join(f"{json.dumps(record)}\n" for record in records)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    references = ("--reference-columns", "ref", "-m", "rouge1")
    columns = (*references, "--document-column", "doc")
    features = ("--features", "*:*", "--labels", folder / "labels.jsonl", "--no-cache")
    few, every = ("--table", folder / "few.jsonl"), ("--table", folder / "all.jsonl")
    commands: dict[str, tuple[object, ...]] = {
        "score": ("score", *few, *references, "--system-columns", *systems),
        "muler": ("muler", *every, *columns, *features, "--resamples", "0",
                  "--system-columns", *systems[:2]),
    }  # fmt: skip
    found = {}
    for name, command in commands.items():
        page = folder / f"{name}.html"
        for form in FORMATS:
            out = folder / f"{name} {form}"
            run(*command, "-f", form, "-o", out, *(("--html", page) if form == "json" else ()))
            found[f"{name} {form}"] = out.read_text(encoding="utf-8")
        found[f"{name} html"] = page.read_text(encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], dict[str, str]]:
    """The outputs with hostile texts, and those with plain ones."""
    folder = tmp_path_factory.mktemp("shown")
    plain = tuple(f"name {number}" for number in range(len(TEXTS)))
    return outputs(folder / "hostile", TEXTS), outputs(folder / "plain", plain)


def _rows(text: str) -> list[int]:
    return [line.count("\t") for line in text.split("\n")]


def _records(text: str) -> int:
    return len(json.loads(text)["rows"])


def _markdown(text: str) -> set[str]:
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens = [token for block in parser.parse(text) for token in (block, *(block.children or ()))]
    return {token.type for token in tokens} - {"text_special"}


def _latex(text: str) -> set[str]:
    """Commands, and what acts unescaped."""
    escapes = r"\\(text\w+|char34|allowbreak|[{}$&#%_ ])"
    return set(re.findall(r"\\[a-zA-Z]+|[$%#^~]", re.sub(escapes, "", text)))


def _page(text: str) -> set[tuple[str, ...]]:
    page = Page(text)
    return page.elements | {("scripts", str(page.scripts))}


PARTS: dict[str, Callable[[str], object]] = {
    "tsv": _rows, "json": _records, "markdown": _markdown, "latex": _latex, "html": _page,
}  # fmt: skip


@pytest.mark.parametrize("command", ["score", "muler"])
@pytest.mark.parametrize("form", PARTS)
def test_hostile_texts_add_no_part_to_an_output(
    shown: tuple[dict[str, str], dict[str, str]], command: str, form: str
) -> None:
    hostile, plain = (one[f"{command} {form}"] for one in shown)
    assert PARTS[form](hostile) == PARTS[form](plain)


@pytest.mark.parametrize("command", ["score", "muler"])
def test_no_output_acts_on_a_terminal(
    shown: tuple[dict[str, str], dict[str, str]], command: str
) -> None:
    for form in FORMATS:
        text = shown[0][f"{command} {form}"]
        text = text.replace("\t", "") if form == "tsv" else text
        assert ACTS.findall(text) == [], form
    assert "[bold]x[/bold]" in shown[0]["score text"]
    assert ":smile:" in shown[0]["score text"]


def test_json_and_pages_give_the_texts_back(
    shown: tuple[dict[str, str], dict[str, str]],
) -> None:
    given = {f"x{text}" if text.startswith("-") else text for text in TEXTS}
    assert {row["system"] for row in json.loads(shown[0]["score json"])["rows"]} == given
    for name in ("score html", "muler html"):
        page = shown[0][name]
        held = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
        texts = {text for one in held for text in _strings(json.loads(one))}
        wanted = given if name == "score html" else set(TEXTS[:2])
        assert wanted <= texts, sorted(wanted - texts)[:9]


def _strings(value: object) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {text for one in value.values() for text in _strings(one)}
    if isinstance(value, list):
        return {text for one in value for text in _strings(one)}
    return {value} if isinstance(value, str) else set()


def test_names_of_files_are_shown_and_not_obeyed_in_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = cache(_main.parser)
    monkeypatch.setattr(_main, "parser", lambda *_: whole())
    for number, text in enumerate(TEXTS):
        place = str(tmp_path / f"x{text}".replace("\0", ""))
        given = (("-t", place), ("--table", place), (place, "-i", place))[number % 3]
        assert main(["score", *given]) in (1, 2)
        said = capsys.readouterr().err
        assert ACTS.findall(said) == []
        assert said.count("\n") == 1 + text.count("\n"), said
