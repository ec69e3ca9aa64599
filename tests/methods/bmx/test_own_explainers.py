# ruff: noqa: ARG002, ARG005  # explainers that need little of what they are given
"""Explainers that are objects or functions, and the example of a package that offers some."""

from __future__ import annotations

import math
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest
from tests.told import notes

import gnomon as gn
from gnomon import bmx
from gnomon.core.cache import Cache
from gnomon.core.errors import ScoringError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "plugin-explainer"


@pytest.fixture
def ts() -> gn.TestSet:
    return gn.TestSet.from_lists({"a": ["the old cat", "a dog"]}, ["the cat", "one dog"])


@dataclass(frozen=True)
class Constant:
    """An explainer of the protocol that is no ``Options``: the same for every word."""

    value: float = 2.0
    name: ClassVar[str] = "constant"
    blind: ClassVar[bool] = True

    @property
    def spec(self) -> str:
        return f"constant(value={self.value})"

    @property
    def fields(self) -> Mapping[str, object]:
        return {"value": self.value}

    def bind(self, testset: gn.TestSet, bound: object) -> Constant:
        return self

    def look(
        self,
        bound: object,
        batch: object,
        pairs: Sequence[bmx.TextPair],
    ) -> list[bmx.PairImportances]:
        sides = ([0 if side is None else len(side) for side in pair] for pair in pairs)
        return [bmx.PairImportances(*(np.full(n, self.value) for n in one)) for one in sides]


def test_an_object_is_an_explainer_everywhere(ts: gn.TestSet) -> None:
    own = Constant(3.0)
    assert isinstance(own, bmx.Explainer)
    assert isinstance(own, bmx.DirectExplainer)
    boosted = bmx.Bmx(gn.metrics.parse("chrf"), explainer=own, p=1, w=0.5)
    base = gn.score(ts, "chrf").segments
    np.testing.assert_allclose(gn.score(ts, boosted).segments, 0.5 * base + 1.5)
    assert boosted.spec == "bmx(chrf, explainer='constant(value=3.0)', p=1.0, w=0.5)"
    assert "value:3.0" in str(gn.score(ts, boosted).signature)
    assert boosted == bmx.Bmx(gn.metrics.parse("chrf"), explainer=Constant(3.0), p=1, w=0.5)
    row = gn.bmx(ts, boosted).rows[0]
    assert row["score"] == pytest.approx(float(gn.score(ts, boosted).system[0]))
    found = bmx.explain(ts, "chrf", [own, "erasure"], faithfulness=True)
    curves = found.table("faithfulness").rows
    assert {one["explainer"] for one in curves} == {"constant(value=3.0)", "erasure"}
    assert all(one["random"] is not None for one in curves)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (3, "3 is no explainer: it lacks name, spec, bind; give a spec"),
        (Constant, "is no explainer"),
        (lambda words: words, "gnomon.bmx.explainer"),
    ],
)
def test_what_is_no_explainer_is_refused(ts: gn.TestSet, what: object, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        bmx.explanations(ts, "chrf", what)  # type: ignore[arg-type]  # refused
    with pytest.raises(UsageError):
        bmx.Bmx(gn.metrics.parse("chrf"), explainer=what, p=1, w=1)  # type: ignore[arg-type]


def test_a_function_of_the_words_of_a_side_or_of_both_is_an_explainer(ts: gn.TestSet) -> None:
    letters = bmx.explainer(lambda words: [len(word) for word in words], name="letters")

    def shared(candidate: list[str], other: list[str]) -> tuple[list[float], list[float]]:
        both = set(candidate) & set(other)
        return [float(w in both) for w in candidate], [float(w in both) for w in other]

    found = bmx.explanations(ts, "chrf", letters)
    assert [side.importance.tolist() for side in found.sides] == [[3, 3, 3, 1, 3], [3, 3, 3, 3]]
    found = bmx.explanations(ts, "chrf", bmx.explainer(shared))
    assert [side.importance.tolist() for side in found.sides] == [[1, 0, 1, 0, 1], [1, 1, 0, 1]]
    own = bmx.explainer(lambda candidate, _: np.arange(len(candidate)), name="own", other=False)
    found = bmx.explanations(ts, "chrf", own, sides="candidate")
    assert found.sides[0].importance.tolist() == [0, 1, 2, 0, 1]
    with pytest.raises(UsageError, match="explains no words of the reference side"):
        bmx.explanations(ts, "chrf", own)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda words: [1.0], r"returned \[1.0\] for 3 words"),
        (lambda words: ["x"] * len(words), "one number for each"),
        (lambda words: [math.inf] * len(words), "one number for each"),
        (lambda words: 1 / 0, "failed on the words .*ZeroDivisionError"),
        (lambda candidate, other: [1.0], "must return two lists"),
    ],
)  # fmt: skip
def test_what_a_function_gives_wrongly_is_said(ts: gn.TestSet, function: object, said: str) -> None:
    with pytest.raises(ScoringError, match=said):
        bmx.explanations(ts, "chrf", bmx.explainer(function, name="mine"))  # type: ignore[arg-type]


def test_a_function_of_neither_one_nor_two_arguments_is_refused() -> None:
    for function in (list, lambda a, b, c: [], max):
        with pytest.raises(UsageError, match="it must take one"):
            bmx.explainer(function)


def test_explanations_of_uncertain_functions_are_not_kept(ts: gn.TestSet, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "kept")
    for factor in (1, 2):
        own = bmx.explainer(lambda words, k=factor: [k * len(w) for w in words], name="letters")
        found = bmx.explanations(ts, "chrf", own, cache=cache)
        assert found.sides[0].importance.tolist()[:2] == [3 * factor] * 2
    scales = [1]
    closed = bmx.explainer(lambda words: [scales[0] for _ in words], name="closed")
    said = notes(bmx.explanations(ts, "chrf", closed, cache=cache).notices)
    assert "nothing is kept for later" in said[0]
    scales[0] = 5
    again = bmx.explanations(ts, "chrf", closed, cache=cache)
    assert set(again.sides[0].importance.tolist()) == {5}


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The example, as an installed package."""
    told = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = tmp_path / "site" / "gnomon_rarity-1.0.0.dist-info"
    info.mkdir(parents=True)
    about = f"Metadata-Version: 2.1\nName: {told['name']}\nVersion: {told['version']}\n"
    (info / "METADATA").write_text(about)
    lines = [f"{name} = {home}" for name, home in told["entry-points"]["gnomon.explainers"].items()]
    (info / "entry_points.txt").write_text("\n".join(["[gnomon.explainers]", *lines, ""]))
    monkeypatch.syspath_prepend(str(EXAMPLE / "src"))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.delitem(sys.modules, "gnomon_rarity", raising=False)


@pytest.mark.usefixtures("example")
def test_the_examples_explainers_explain_and_boost_by_their_names(ts: gn.TestSet) -> None:
    assert {"rarity", "alone"} <= set(bmx.explainer_names())
    found = bmx.explanations(ts, "chrf", "rarity(smoothing=0.5)", sides="candidate")
    # of the 4 words of the references (each once) and an unseen one
    seen, unseen = -math.log2(1.5 / 6.5), -math.log2(0.5 / 6.5)
    expected = [seen, unseen, seen, unseen, seen]
    assert found.sides[0].importance.tolist() == pytest.approx(expected)
    assert "explainer:rarity(smoothing=0.5)|words:4" in str(found.signature)
    alone = bmx.explanations(ts, "chrf", "alone", sides="candidate")
    words = ["the UNKWORDZ UNKWORDZ", "UNKWORDZ old UNKWORDZ", "UNKWORDZ UNKWORDZ cat"]
    pairs = gn.TestSet.from_lists({"a": words}, ["the cat"] * 3)
    np.testing.assert_allclose(
        alone.sides[0].importance[:3], gn.score(pairs, "chrf").segments[0], atol=1e-12
    )
    rows = gn.bmx(ts, "bmx(chrf, explainer='alone', p=1, w=0.8)").rows
    assert rows[0]["metric"] == "bmx(chrf, explainer='alone', p=1.0, w=0.8)"
    judged = bmx.explain(ts, "chrf", ["alone", "rarity"], faithfulness=True)
    assert len(judged.table("faithfulness").rows) == 4
