"""Paraphrases that half of the systems ask for, and what they bring on the other half."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from gnomon.core.errors import DataError
from gnomon.core.human import HumanScores
from gnomon.core.testset import Paraphrase, TestSet
from gnomon.methods.paraphrase import Constraint, from_outputs, half_splits


def _set(*outputs: str, reference: str = "r") -> TestSet:
    return TestSet.from_lists({f"s{k}": [text] for k, text in enumerate(outputs)}, [reference])


def _judged(systems: int = 8, segments: int = 6) -> TestSet:
    rng = np.random.default_rng(1)
    references = [" ".join(rng.choice(list("abcdefgh"), 8)) for _ in range(segments)]
    outputs = {}
    for k in range(systems):
        rows = [list(text.split()) for text in references]
        for row in rows:
            for place in rng.choice(8, k, replace=False):
                row[place] = "z"
        outputs[f"s{k}"] = [" ".join(row) for row in rows]
    values = np.arange(systems, 0, -1, dtype=np.float64).reshape(-1, 1)
    return TestSet(
        name="t",
        references={"A": references},
        systems=outputs,
        human=(HumanScores("da", "system", tuple(outputs), values),),
    )


def test_halves_are_disjoint_and_the_better_half_gives_the_constraints() -> None:
    seen: list[tuple[list[str], int]] = []

    def generator(giving: TestSet, asked: Sequence[Constraint]) -> list[Paraphrase]:
        seen.append((list(giving.systems), len(asked)))
        return []

    found = half_splits(_judged(), model=generator, splits=5)
    assert len(seen) == 5
    assert all(len(names) == 2 for names, _ in seen)
    for row, (names, count) in zip(found.table("splits").rows, seen, strict=True):
        assert row["giving"] == ", ".join(names)
        assert (row["judged"], row["constraints"], row["gain"]) == (4, count, 0.0)
    assert found.rows[0]["gain"] == 0.0
    assert "oracle" in found.notices[0]


def test_the_same_seed_makes_the_same_splits() -> None:
    ts = _judged()
    assert half_splits(ts, splits=3, seed=4) == half_splits(ts, splits=3, seed=4)


def test_outputs_that_hold_a_constraint_are_its_paraphrases() -> None:
    ts = _set("a b x", "a b c y", "q", reference="a c y")
    made = from_outputs(ts, [Constraint(1, ("a", "b"), "a b"), Constraint(1, ("no",), "no")])
    assert [(p.segment, p.text, p.method) for p in made] == [(1, "a b c y", "constrained")]


def test_too_few_judged_systems_are_refused() -> None:
    with pytest.raises(DataError, match="6 or more"):
        half_splits(_judged(systems=5))
