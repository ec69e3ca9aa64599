"""An outline says what a test set holds, and survives JSON."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from gnomon.core.errors import UsageError
from gnomon.core.human import HumanScores
from gnomon.core.outline import Marked, Outline
from gnomon.core.spans import ErrorSpan
from gnomon.core.testset import TestSet
from gnomon.core.validation import problems, refuse
from gnomon.stats.p_values import check_confidence


def _testset() -> TestSet:
    mqm = HumanScores("mqm", "segment", ("a",), np.zeros((1, 2)))
    errors = (ErrorSpan("a", 0, "candidate", 0, 1, "style", "major", kind="mqm"),)
    return TestSet(
        name="t",
        references={"ref": ["x", "y"]},
        systems={"a": ["x", "z"]},
        language_pair="de-en",
        domains=["news", "chat"],
        human=(mqm,),
        errors=errors,
    )


def test_an_outline_says_what_there_is() -> None:
    found = _testset().outline
    assert (found.name, found.segments, found.systems) == ("t", 2, ("a",))
    assert (found.has_references, found.sources, found.target_language) == (True, False, "en")
    assert found.slices == {"document": False, "domain": True}
    assert found.human_kinds("system") == found.human_kinds() == ("mqm",)
    assert found.human_kinds("document") == ()
    assert found.marked == (Marked("mqm", "candidate", extent=True),)


def test_an_outline_survives_json() -> None:
    found = _testset().outline
    assert msgspec.json.decode(msgspec.json.encode(found), type=Outline) == found


def test_an_outline_is_told_once() -> None:
    testset = _testset()
    assert testset.outline is testset.outline


def test_faults_name_their_option_and_the_first_is_refused() -> None:
    found = [*problems("a", check_confidence, 0.5), *problems("b", check_confidence, 2.0)]
    assert [one.option for one in found] == ["b"]
    with pytest.raises(UsageError, match="strictly between"):
        refuse(found)
    refuse([])
