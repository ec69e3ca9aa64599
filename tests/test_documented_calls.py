"""What the documentation and the help show can be typed: commands, options, functions, keywords."""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import io
import re
import shlex
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import gnomon as gn
from gnomon.cli.entry import parser
from gnomon.core import registry as methods

_ROOT = Path(__file__).resolve().parents[1]
_PAGES = sorted(
    page
    for page in (
        _ROOT / "README.md",
        *(_ROOT / "docs").rglob("*.md"),
        *(_ROOT / "papers").rglob("*.md"),
        *(_ROOT / "benchmarks").glob("*.md"),
    )
    if "_build" not in page.parts
)
_whole = functools.cache(parser)
_OF_EXAMPLES = ("gnomon lengths", "gnomon repetitions")  # commands of packages


def commands(text: str) -> Iterator[str]:
    """Calls of the command line in a text, without comments, pipes and redirections."""
    for found in re.finditer(
        r"^ *(?:\$ )?(gnomon [a-z].*)$", text.replace("\\\n", " "), re.MULTILINE
    ):
        line = re.sub(r"<\([^)]*\)", "file.txt", re.split(r" +# | \| | > ", found[1])[0])
        with contextlib.suppress(ValueError):  # a quotation that goes on in the next line
            shlex.split(line)
            if "..." not in line and not line.startswith(_OF_EXAMPLES):
                yield line


def refusal(line: str) -> str:
    """What the command line says against a call; empty where it takes it."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            _whole().parse_args(shlex.split(line)[1:])
    except SystemExit as end:
        return f"{line}: {said.getvalue().strip()}" if end.code else ""
    return ""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where recipes may be written: options that write one do so when they are read."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.stem)
def test_commands_of_a_page_are_understood(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # --write-recipe writes where it is read
    blocks = re.findall(
        r"^```.*?\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    refused = [refusal(line) for block in blocks for line in commands(block)]
    assert [one for one in refused if one] == []


@pytest.mark.parametrize("name", methods.names())
def test_examples_of_help_are_understood(name: str) -> None:
    refused = [refusal(line) for line in commands(methods.find(name).examples)]
    assert [one for one in refused if one] == []


def calls(text: str) -> Iterator[tuple[str, list[str]]]:
    """Functions of gnomon that blocks of Python call, with the keywords given to them."""
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        try:
            tree = ast.parse(textwrap.dedent(block))
        except SyntaxError:
            continue  # a sketch with dots
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                if re.fullmatch(r"(gn|gnomon)(\.\w+)+", name):
                    yield name, [one.arg for one in node.keywords if one.arg]


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.stem)
def test_functions_and_keywords_of_a_page_are_there(page: Path) -> None:
    wrong = []
    for name, keywords in calls(page.read_text(encoding="utf-8")):
        found: object = gn
        for part in name.split(".")[1:]:
            found = getattr(found, part, None)
        if not callable(found):
            wrong.append(f"there is no {name}")
            continue
        known = inspect.signature(found).parameters
        if not any(one.kind is one.VAR_KEYWORD for one in known.values()):
            wrong += [f"{name} takes no {one}" for one in keywords if one not in known]
    assert wrong == []


def test_ratios_of_the_readme_stand_in_the_tables_of_the_benchmarks() -> None:
    ratio = re.compile(r"\b(\d[\d.]*x)\b")
    tables = "".join(path.read_text("utf-8") for path in (_ROOT / "benchmarks").glob("*.md"))
    said = ratio.findall((_ROOT / "README.md").read_text("utf-8"))
    assert said
    assert [one for one in said if f"| {one} |" not in tables] == []
