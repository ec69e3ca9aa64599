"""What a metric adds to the agreement of another is what separate code for each method gave."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.agreement.generated import generated

import gnomon
from gnomon.paraphrase import gain
from gnomon.testset import Paraphrase, TestSet

if TYPE_CHECKING:
    from gnomon.findings import Finding

# figures of paraphrase gain when it computed agreement itself


def gained(found: Finding, table: str = "gain") -> list[tuple[object, ...]]:
    names = ("base", "value", "gain_low", "gain_high", "p")
    return [tuple(row.get(name) for name in names) for row in found.table(table).rows]


def same(expected: float | tuple[float, ...]) -> object:
    return pytest.approx(expected, rel=1e-9)


def test_gains_over_segments_drawn_are_those_of_paraphrase_gain() -> None:
    testset, made = generated()
    found = gain(testset, made, ["bleu", "ter"], n=[2], methods=["two"], resamples=200)
    assert gained(found) == [
        same(
            (
                *(0.9339170733268832, 0.9404800857423549),
                *(-0.000724015419486254, 0.012291013626334977, 0.05017950107290604),
            )
        ),
        same(
            (
                *(0.9738880294882802, 0.9692851642593578),
                *(-0.009697752571397468, -0.0007365348066721398, 0.939253053803805),
            )
        ),
    ]


def test_gains_over_systems_drawn_are_those_of_paraphrase_gain() -> None:
    testset, made = generated()
    found = gain(testset, made, "bleu", n=[2], resamples=200, over="systems")
    assert gained(found) == [
        same(
            (
                *(0.9339170733268832, 0.9388797316922447),
                *(-0.0028180147827810333, 0.007168616301260092, 0.08102890952764509),
            )
        ),
        same(
            (
                *(0.9339170733268832, 0.9404800857423549),
                *(4.246642054994143e-05, 0.011720066882624504, 0.05017950107290604),
            )
        ),
    ]


def test_gains_of_segments_and_decisions_are_those_of_paraphrase_gain() -> None:
    testset, made = generated()
    found = gain(testset, made, "chrf", n=[2], methods=["one"], resamples=200, unit="segment")
    assert gained(found, "segments") == [
        same(
            (
                *(0.40740740740740744, 0.33333333333333326),
                *(-0.22959536110161483, 0.06447297957042505, 0.42583847709868516),
            )
        ),
        same(
            (
                *(0.40333568200597114, 0.4058946962147082),
                *(-0.008213452526342964, 0.015910981325830714, 0.6413637002847596),
            )
        ),
        (*map(same, (0.27814213511941727, 0.2783764372973951)), None, None, None),
    ]
    changes = ("comparison", "right", "repaired", "broken", "wrong")
    rows = found.table("decisions").rows
    assert [tuple(row[name] for name in changes) for row in rows] == [
        ("systems", 15, 0, 0, 0),
        ("darr", 35, 1, 3, 15),
        ("pairs", 508, 11, 16, 232),
    ]
    assert (rows[1]["repaired_high"], rows[2]["broken_low"]) == same(
        (0.05601851851851862, 0.011642079150158031)
    )


def test_gains_on_wmt19_are_those_of_paraphrase_gain(shared: Path) -> None:
    testset = TestSet.read(shared / "data/wmt19/kk-en").select(segments=range(200))
    outputs = next(iter(testset.systems.values()))
    made = [Paraphrase(i, text, "other") for i, text in enumerate(outputs, start=1)]
    kinds = ["da-z", "darr"]
    found = gain(testset, made, n=[1], human=kinds, resamples=200, adequacy="none")
    expected = (
        *(0.9453669074942479, 0.5049130461553704),
        *(-0.47513017645721545, -0.4045691921146836, 0.9900844221421284),
    )
    assert gained(found) == [same(expected)]
    expected = (
        *(0.32073544433095, 0.1940755873340143),
        *(-0.2026244564785183, -0.048023921165352375, 0.010891571125750454),
    )
    assert gained(found, "segments") == [same(expected)]
    shares = ("repaired_share", "repaired_low", "repaired_high", "broken_low", "broken_high")
    assert [found.table("decisions").rows[1][name] for name in shares] == pytest.approx(
        [
            *(0.11133810010214505, 0.09117424551735764, 0.1286373563204568),
            *(0.15004974707953056, 0.20144349509378548),
        ]
    )


def test_metaeval_and_paraphrase_gain_say_the_same() -> None:
    testset, made = generated()
    found = gain(testset, made, "bleu", n=[4], methods=["one"], resamples=200)
    wide = testset.with_paraphrases(made, methods=["one"])
    judged = gnomon.metaeval(
        testset, "bleu", wide, human="da", baseline="bleu", resamples=200, statistics=["pearson"]
    )
    (row,) = found.rows
    (same_row,) = [
        one
        for one in judged.rows
        if (one["level"], one["metric"]) == ("system", "bleu+paraphrases")
    ]
    assert (same_row["value"], same_row["p"], same_row["n"]) == (row["value"], row["p"], row["n"])
    for name in ("test", "alternative", "human", "test_set", "unit"):
        assert same_row[name] == row[name]
    decisions = {
        one["comparison"]: {
            name: cell for name, cell in one.items() if name not in ("method", "paraphrases", "arm")
        }
        for one in found.table("decisions").rows
    }
    for one in judged.table("decisions").rows:
        assert decisions[one["comparison"]] == {**one, "metric": "bleu"}
