"""What a metric adds to the agreement of another is what separate code for each method gave."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.agreement.generated import generated

import gnomon
from gnomon.core.errors import UsageError
from gnomon.core.testset import Paraphrase, TestSet

if TYPE_CHECKING:
    from gnomon.core.findings import Finding

#: what metaeval measures by default here: that of systems, of rankings, and of all scores
_MEASURED = {"statistics": ["pearson", "darr"], "groupings": ["none", "item"], "resamples": 200}

# figures of paraphrases that another code gave before agreement was computed in one place


def gained(found: Finding, **where: object) -> list[tuple[object, ...]]:
    names = ("base", "value", "gain_low", "gain_high", "p")
    return [
        tuple(row[name] for name in names)
        for row in found.table("gains").rows
        if row["grouping"] == ("item" if row["statistic"] == "darr" else "none")
        and all(row[name] == cell for name, cell in where.items())
    ]


def same(expected: float | tuple[float, ...]) -> object:
    return pytest.approx(expected, rel=1e-9)


def test_gains_over_segments_drawn_are_those_known_of_paraphrases() -> None:
    testset, made = generated()
    options = {"n": [2], "methods": ["two"], "human": "da", **_MEASURED}
    found = gnomon.metaeval(testset, ["bleu", "ter"], made, **options)
    assert gained(found, level="system") == [
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


def test_gains_of_segments_and_decisions_are_those_known_of_paraphrases() -> None:
    testset, made = generated()
    options = {"n": [2], "methods": ["one"], "unit": "segment", **_MEASURED}
    found = gnomon.metaeval(testset, "chrf", made, **options)
    assert gained(found, level="segment", human="darr") == [
        same(
            (
                *(0.40740740740740744, 0.33333333333333326),
                *(-0.22959536110161483, 0.06447297957042505, 0.42583847709868516),
            )
        )
    ]
    assert gained(found, level="segment", human="da") == [
        same(
            (
                *(0.40333568200597114, 0.4058946962147082),
                *(-0.008213452526342964, 0.015910981325830714, 0.6413637002847596),
            )
        )
    ]
    changes = ("comparison", "right", "repaired", "broken", "wrong")
    rows = {row["comparison"]: row for row in found.table("decisions").rows}
    assert {tuple(row[name] for name in changes) for row in rows.values()} == {
        ("systems", 15, 0, 0, 0),
        ("darr", 35, 1, 3, 15),
        ("pairs", 508, 11, 16, 232),
    }
    assert (rows["darr"]["repaired_high"], rows["pairs"]["broken_low"]) == same(
        (0.05601851851851862, 0.011642079150158031)
    )
    (gain,) = [row for row in found.table("gains").rows if row["level"] == "system"]
    assert (gain["repaired"], gain["broken"]) == (0, 0)


def test_gains_on_wmt19_are_those_known_of_paraphrases(shared: Path) -> None:
    testset = TestSet.read(shared / "data/wmt19/kk-en").select(segments=range(200))
    outputs = next(iter(testset.systems.values()))
    made = [Paraphrase(i, text, "other") for i, text in enumerate(outputs, start=1)]
    found = gnomon.metaeval(testset, "bleu", made, n=[1], human=["da-z", "darr"], **_MEASURED)
    expected = (
        *(0.9453669074942479, 0.5049130461553704),
        *(-0.47513017645721545, -0.4045691921146836, 0.9900844221421284),
    )
    assert gained(found, level="system") == [same(expected)]
    expected = (
        *(0.32073544433095, 0.1940755873340143),
        *(-0.2026244564785183, -0.048023921165352375, 0.010891571125750454),
    )
    assert gained(found, level="segment") == [same(expected)]
    shares = ("repaired_share", "repaired_low", "repaired_high", "broken_low", "broken_high")
    (row,) = [row for row in found.table("decisions").rows if row["comparison"] == "darr"]
    assert [row[name] for name in shares] == pytest.approx(
        [
            *(0.11133810010214505, 0.09117424551735764, 0.1286373563204568),
            *(0.15004974707953056, 0.20144349509378548),
        ]
    )


# figures of difficulty that another code gave before agreement was computed in one place

_OF_SYSTEMS = {
    "levels": ["system"],
    "statistics": ["pearson", "spearman", "kendall_b"],
    "resamples": 200,
}


def weighed(found: Finding, **where: object) -> dict[object, tuple[object, ...]]:
    names = ("base", "value", "gain_low", "gain_high", "p_segments")
    return {
        row["statistic"]: tuple(row[name] for name in names)
        for row in found.table("gains").rows
        if all(row[name] == cell for name, cell in where.items())
    }


def test_gains_and_agreement_are_those_known_of_difficulty() -> None:
    testset, _ = generated()
    tops = {}
    williams: list[object] = []
    for metric in ("rouge1", "bleu"):
        base = f"difficulty({metric}, weighted=False)"
        found = gnomon.metaeval(
            testset, [base, f"difficulty({metric})"], human="da", top=["4"], baseline=base,
            **_OF_SYSTEMS,
        )  # fmt: skip
        tops[metric] = {subset: weighed(found, subset=subset) for subset in ("all", "top 4")}
        tested = [row["p"] for row in found.table("gains").rows if row["p"] is not None]
        williams += [2 * min(p, 1 - p) for p in tested]
    assert tops["rouge1"]["all"]["pearson"] == same(
        (
            *(0.9606676037578326, 0.9396843967777325),
            *(-0.03428580704767527, -0.007198709383814282, 0.013184461403657144),
        )
    )
    assert tops["rouge1"]["all"]["spearman"] == same((1.0, 1.0, 0.0, 0.0, 1.0))
    assert tops["bleu"]["top 4"]["pearson"] == same(
        (
            *(0.9314696166180438, 0.9004696288605551),
            *(-0.041205060431347834, -0.012146551284995545, 0.013184461403657144),
        )
    )
    assert williams == pytest.approx(
        [0.18371665533318257, 0.9744607997993247, 0.04086056892623106, 0.5582306874079817]
    )


def test_gains_and_curves_on_wmt18_are_those_known_of_difficulty(shared: Path) -> None:
    testset = TestSet.read(shared / "data/wmt18/de-en").select(segments=range(300))
    metrics = ["chrf", "rouge1", "difficulty(rouge1)"]
    found = gnomon.metaeval(testset, metrics, baseline="rouge1", top=["30%"], **_OF_SYSTEMS)
    assert weighed(found, subset="all", metric="difficulty(rouge1)") == {
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
    top = weighed(found, subset="top 30%", metric="difficulty(rouge1)")
    ends = (-0.284462950287204, 0.10393572990045248)
    assert top["pearson"][2:4] == same(ends)
    last = {
        (row["metric"], row["statistic"]): row["value"]
        for row in found.table("top_k").rows
        if row["k"] == 16
    }
    assert last["chrf", "kendall_b"] == same(0.85)
    assert last["difficulty(rouge1)", "spearman"] == same(0.9852941176470588)
    points = found.table("systems").rows
    (point,) = [row for row in points if (row["metric"], row["system"]) == ("chrf", "RWTH.5636")]
    assert (point["score"], point["human_score"]) == same((72.27728683355642, 0.413))


def test_a_metric_without_weights_is_aggregated_as_the_weighted_one(tiny_model: Path) -> None:
    pytest.importorskip("torch", reason="pip install 'gnomon[models]'")
    testset, _ = generated()
    spec = f"bertscore(model='{tiny_model}', layer=2, device='cpu')"
    rows = gnomon.difficulty.score(testset, f"difficulty({spec}, rescale=False)").rows
    plain = gnomon.score(testset, f"difficulty({spec}, rescale=False, weighted=False)")
    scores = dict(zip(plain.systems, plain.system.tolist(), strict=True))
    assert {row["system"]: row["base_score"] for row in rows} == scores
    mean = gnomon.score(testset, spec.replace(")", ", special='exclude')"))
    assert plain.segments == pytest.approx(mean.segments, abs=1e-6)
    assert plain.system != pytest.approx(mean.system, abs=1e-9)
    with pytest.raises(UsageError, match="weighs no words"):
        gnomon.difficulty.score(testset, "difficulty(rouge1, weighted=False)")
