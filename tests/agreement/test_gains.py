"""What a metric adds to the agreement of another is what separate code for each method gave."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.agreement.generated import generated

import gnomon
from gnomon.core.testset import Paraphrase, TestSet
from gnomon.methods.paraphrase import gain

if TYPE_CHECKING:
    from gnomon.core.findings import Finding

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


# figures of difficulty score when it computed agreement itself


def weighed(found: Finding, **where: object) -> dict[object, tuple[object, ...]]:
    names = ("base", "value", "gain_low", "gain_high", "p_segments")
    return {
        row["statistic"]: tuple(row[name] for name in names)
        for row in found.table("gains").rows
        if all(row[name] == cell for name, cell in where.items())
    }


def test_gains_and_agreement_are_those_of_difficulty_score() -> None:
    testset, _ = generated()
    found = gnomon.difficulty(
        testset,
        ["rouge1", "bleu"],
        resamples=200,
        human="da",
        top="4",
        other_metrics=["chrf", "ter"],
    )
    rouge = weighed(found, subset="all", metric="difficulty(rouge(type='rouge1'))")
    assert rouge["pearson"] == same(
        (
            *(0.9606676037578326, 0.9396843967777325),
            *(-0.03428580704767527, -0.007198709383814282, 0.013184461403657144),
        )
    )
    assert rouge["spearman"] == same((1.0, 1.0, 0.0, 0.0, 1.0))
    top = weighed(found, subset="top 4", metric="difficulty(bleu)")
    assert top["pearson"] == same(
        (
            *(0.9314696166180438, 0.9004696288605551),
            *(-0.041205060431347834, -0.012146551284995545, 0.013184461403657144),
        )
    )
    williams = [row["p"] for row in found.table("gains").rows if row["p"] is not None]
    assert williams == pytest.approx(
        [0.18371665533318257, 0.9744607997993247, 0.04086056892623106, 0.5582306874079817]
    )
    agreement = {
        row["metric"]: row["value"]
        for row in found.table("agreement").rows
        if (row["subset"], row["statistic"]) == ("all", "pearson")
    }
    assert agreement == pytest.approx(
        {
            "chrf": 0.9415905660846197,
            "ter": 0.9738880294882802,
            "rouge(type='rouge1')": 0.9606676037578326,
            "difficulty(rouge(type='rouge1'))": 0.9396843967777325,
            "bleu, mean of segments": 0.9008588351982407,
            "bleu": 0.9339170733268832,
            "difficulty(bleu)": 0.8770516522951767,
        }
    )


def test_gains_and_curves_on_wmt18_are_those_of_difficulty_score(shared: Path) -> None:
    testset = TestSet.read(shared / "data/wmt18/de-en").select(segments=range(300))
    found = gnomon.difficulty(testset, "rouge1", resamples=200, other_metrics=["chrf"])
    assert weighed(found, subset="all") == {
        "pearson": same(
            (
                *(0.9897670363103691, 0.975465845967486),
                *(-0.02673786267857249, -0.008182641382871598, 0.010556689658172358),
            )
        ),
        "spearman": same(
            (
                *(0.961764705882353, 0.9852941176470588),
                *(-0.018101330341411957, 0.047513095047294285, 0.5483874172543723),
            )
        ),
        "kendall_b": same(
            (
                *(0.8666666666666667, 0.9333333333333333),
                *(-0.033333333333333326, 0.09999999999999998, 0.6972757240447376),
            )
        ),
    }
    top = weighed(found, subset="top 4")
    ends = (-0.284462950287204, 0.10393572990045248)
    assert top["pearson"][2:4] == same(ends)
    last = {
        (row["metric"], row["statistic"]): row["value"]
        for row in found.table("curves").rows
        if row["k"] == 16
    }
    weighted = "difficulty(rouge(type='rouge1')), d from all 16 systems"
    assert last["chrf", "kendall_b"] == same(0.85)
    assert last[weighted, "spearman"] == same(0.9852941176470588)
    points = found.table("points").rows
    (point,) = [row for row in points if (row["metric"], row["system"]) == ("chrf", "RWTH.5636")]
    assert (point["score"], point["human_score"]) == same((72.27728683355642, 0.413))


def test_metaeval_and_difficulty_score_say_the_same() -> None:
    testset, _ = generated()
    found = gnomon.difficulty(testset, "rouge1", resamples=0, human="da", other_metrics=["chrf"])
    judged = gnomon.metaeval(
        testset,
        ["chrf", "rouge1", "difficulty(rouge1)"],
        human="da",
        levels=["system"],
        statistics=["pearson", "spearman", "kendall_b"],
        resamples=0,
    )
    names = {
        "rouge1": "rouge(type='rouge1')",
        "difficulty(rouge1)": "difficulty(rouge(type='rouge1'))",
    }
    expected = [
        {**row, "metric": names.get(row["metric"], row["metric"])}
        for row in judged.rows
        if row["subset"] == "all"
    ]
    rows = [dict(row) for row in found.table("agreement").rows if row["subset"] == "all"]
    assert rows == expected
