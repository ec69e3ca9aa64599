"""Texts for readers hold none of the words and turns that need a key."""

from __future__ import annotations

import argparse
import ast
import re
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gnomon.cli.entry import parser
from gnomon.core import registry as methods
from gnomon.core.records import columns_of
from gnomon.messages import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.cli.parser import Parser

ROOT = Path(__file__).resolve().parents[1]

#: what no reader should meet, and what stands in its place
BANNED = {
    r"\bcharg(?:e|es|ed|ing)\b": "cost",
    r"\btold\b(?! apart)": "said, given, distinguished",
    r"\bheld\b(?![\s-](?:out|back))": "kept, stored, tested",
    r"\blooked at\b": "read, judged, examined",
    r"of nobody in particular": "name whom",
    r"\bUndecided: ": "the sentence itself",
    r"\bunearned\b": "lost",
    r"\bRight (?:here|there) only": "this system only, the other only",
    r"\b(?:is|are|on) (?:level )?on top\b": "has the highest",
    r"as if in another language": "looks like a different language",
    r"most of all (?:lower|higher)": "the largest difference",
    r"can be made again": "reproduce",
    r"found elsewhere|What else was found": "other test sets, more results",
    r"cannot be read and are left out": "left out, because",
    r"[Ss]ays? next to nothing": "too wide to be useful",
    r"(?:does|do) not tell \S+ from": "cannot be separated by",
    r"knows? nothing of quality": "length alone, random scores",
    r"may agree as well\b": "not clearly worse",
    r"if that stays, a decision": "at this rate, about",
    r"\basked for up to\b": "called up to",
    r"\btells? nothing\b": "too uncertain to report",
    # inverted sentences
    r"(?:^|[.:;] )(?:Said|Shown|Given|Kept|Named|Counted|Printed|Refused|Written|Listed|Taken|Read"
    r"|Compared|Measured|Left out|Drawn|Judged|Marked|Asked|Told|Meant|Needed),? (?:too,? |also )?"
    r"(?:is|are|was|were) ": "subject, verb, object",
}
#: the house that the code was once described as
HOUSE = r"\b(?:[Rr]ooms? (?:stand|use|of a lower|on)|(?:lower|upper|first) floors?|the house)\b"


@cache
def texts() -> dict[str, str]:
    """What readers meet, by where it stands."""
    found = {f"gnomon{name}": text for name, text in _help(parser(), "")}
    for name in methods.names():
        method = methods.find(name)
        words = [
            method.purpose,
            method.title,
        ]
        for row in method.rows.values():
            words += [part for one in columns_of(row, 0.95) for part in (one.title, one.help)]
        found[f"method {name}"] = "\n".join(filter(None, words))
    found["messages"] = "\n".join(kind.template for kind in catalogue().values())
    pages = resources.files("gnomon.report")
    for folder in ("templates", "static"):
        for file in filter(Path.is_file, (pages / folder).iterdir()):
            found[file.name] = re.sub(
                r"^ *//.*$|/\*.*?\*/", "", file.read_text("utf-8"), flags=re.MULTILINE
            )
    for path in [
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("papers/**/*.md"),
        *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")),
    ]:
        if "_build" not in path.parts:
            # code and quoted names are themselves
            plain = re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text("utf-8"), flags=re.DOTALL)
            found[str(path.relative_to(ROOT))] = plain
    return found


#: lists of words
_NO_PROSE = {"linguistics/scorers/sentences.py"}


@cache
def sentences() -> dict[str, str]:
    """Text in gnomon's own code that is no docstring: sentences, notices, errors, titles."""
    found: dict[str, str] = {}
    source = ROOT / "src" / "gnomon"
    for path in sorted(source.rglob("*.py")):
        name = path.relative_to(source).as_posix()
        if name not in _NO_PROSE:
            parts = _prose(ast.parse(path.read_text("utf-8")))
            found |= {f"{name}:{line}": text for line, text in parts}
    return found


def _prose(tree: ast.AST) -> Iterator[tuple[int, str]]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node) is not None:
            skipped.add(node.body[0].value)  # type: ignore[attr-defined]  # it has a docstring
        if isinstance(node, ast.JoinedStr):
            skipped |= {part for part in ast.walk(node) if part is not node}
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.JoinedStr):
            parts = (getattr(part, "value", "") for part in node.values)
            text = "".join(part if isinstance(part, str) else "{}" for part in parts)
        else:
            text = node.value if isinstance(node, ast.Constant) else ""  # type: ignore[assignment]
        if isinstance(text, str) and " " in text:
            yield node.lineno, text  # type: ignore[attr-defined]  # expressions have lines


def _help(of: Parser, name: str) -> Iterator[tuple[str, str]]:
    yield name, of.format_help(full=True)
    for action in of._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command, inner in action.choices.items():
                yield from _help(inner, f"{name} {command}")


def test_no_text_for_readers_holds_a_banned_phrase() -> None:
    found = [
        f"{where}: ...{' '.join(text[max(0, at.start() - 40) : at.end() + 40].split())}... say:"
        f" {instead}"
        for where, text in (texts() | sentences()).items()
        for pattern, instead in BANNED.items()
        for at in re.finditer(pattern, text, re.MULTILINE)
    ]
    assert found == []


def test_no_page_describes_the_code_as_a_house() -> None:
    found = [where for where, text in texts().items() if re.search(HOUSE, text)]
    assert found == []


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"\bheld\b(?![\s-](?:out|back))", "what is held in a store"),
        (r"\btold\b(?! apart)", "no system can be told from another"),
        (r"\b(?:is|are|on) (?:level )?on top\b", "A is on top"),
    ],
)
def test_the_patterns_find_what_they_are_for(pattern: str, text: str) -> None:
    assert pattern in BANNED
    assert re.search(pattern, text)


def test_held_out_data_may_be_named() -> None:
    (held,) = (pattern for pattern in BANNED if "held" in pattern)
    assert not re.search(held, "measured on held-out data, held out by language")
