"""What the analyses around MuLER say, on rows whose truth is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.noise import is_mostly_undecided

from gnomon import stats
from gnomon.core.findings import Finding
from gnomon.core.records import table
from gnomon.muler.correlations import (
    CorrelationRow,
    correlate_verdict,
    correlation_table,
)
from gnomon.muler.discrepancy import discrepancy_verdict
from gnomon.muler.figures import MulerRow
from gnomon.muler.validate.beside_random import (
    RandomWordsRow,
    random_verdict,
    tell_apart,
)


def correlated(values: dict[str, float], n: int = 16, segments: int = 200) -> Finding:
    rows = [
        CorrelationRow(
            test_set="made up",
            metric="bleu",
            variant="ratio",
            feature=feature,
            against="bleu",
            r=r,
            p_corrected=None,
            decided=None,
            n=n,
            segments=segments,
        )
        for feature, r in values.items()
    ]
    return Finding("muler correlate", "MuLER", (correlation_table(rows),), {})


def test_features_that_go_along_with_the_score_are_named_with_their_intervals() -> None:
    found = list(correlate_verdict(correlated({"pos:NOUN": 0.9, "pos:VERB": 0.1})))
    assert [one.level for one in found] == ["finding", "undecided"]
    assert "nouns (r = .90 [.69, .97], corrected p < .001, 16 systems)" in str(found[0])
    assert found[0].rows == {"correlations": (0,)}


@pytest.mark.parametrize("draws", [60, pytest.param(2000, marks=pytest.mark.verify)])
def test_correlations_of_noise_are_undecided_as_often_as_alpha_says(draws: int) -> None:
    found = 0
    for seed in range(draws):
        draw = np.random.default_rng(seed)
        values = {
            f"pos:{name}": stats.pearson(*draw.normal(size=(2, 12)))
            for name in ("NOUN", "VERB", "ADJ", "ADV")
        }
        verdict = correlate_verdict(correlated(values, n=12))
        found += all(one.level == "undecided" for one in verdict)
    assert is_mostly_undecided(found, draws)


def specific(
    muler: dict[str, float], random: dict[str, np.ndarray], segments: int = 100
) -> Finding:
    """Features of two systems beside random words as frequent."""
    nothing = dict.fromkeys(
        ("reference_share", "groups", "random_reference_share", "random_output_share")
    )
    rows = [
        {
            **nothing,
            "apart": False,
            "system": name[0],
            "metric": "bleu",
            "masks": "tokens",
            "feature": name[1:],
            "segments": segments,
            "muler": own,
            "draws": len(random[name]),
            "mean": float(random[name].mean()),
            "variance": float(random[name].var(ddof=1)),
            "below": float((random[name] < own).mean()),
            "deviation": own - float(random[name].mean()),
            "intervals": {"deviation": (own - 1.0, own)},
        }
        for name, own in muler.items()
    ]
    records = tell_apart([RandomWordsRow(**row) for row in rows])
    made = table("random", "Random words", RandomWordsRow, records)
    return Finding("muler validate", "MuLER", (made,), {})


FEATURES = [f"{system}pos:{number}" for system in "AB" for number in range(15)]


def test_features_that_stand_out_of_random_words_are_said_to_after_100_draws() -> None:
    draw = np.random.default_rng(1)
    random = {name: draw.gamma(3, 0.04, 100) for name in FEATURES}
    own = dict.fromkeys(FEATURES, 0.12) | {"Apos:1": 0.6}
    said, rest = random_verdict(specific(own, random))
    assert said.level == "finding"
    assert "pos:1 (A: .6" in str(said)
    assert rest.level == "undecided"


def test_so_few_draws_that_nothing_could_stand_out_are_said_to_be_too_few() -> None:
    random = {"Apos:1": np.linspace(0, 0.1, 30)}
    (said,) = random_verdict(specific({"Apos:1": 0.9}, random))
    assert said.level == "caution"
    assert str(said) == (
        "Caution: 30 draws of random words cannot tell a feature from them;"
        " --draws 100 or more can."
    )


@pytest.mark.parametrize("draws", [60, pytest.param(1000, marks=pytest.mark.verify)])
@pytest.mark.parametrize("shape", [1, 3, 30])
def test_random_words_do_not_stand_out_of_random_words(shape: int, draws: int) -> None:
    found = 0
    for seed in range(draws):
        draw = np.random.default_rng(seed)
        every = draw.gamma(shape, 0.12 / shape, (len(FEATURES), 101)).clip(0, 1)
        random = dict(zip(FEATURES, every[:, 1:], strict=True))
        own = dict(zip(FEATURES, every[:, 0].tolist(), strict=True))
        verdict = list(random_verdict(specific(own, random)))
        found += all(one.level == "undecided" for one in verdict)
    assert is_mostly_undecided(found, draws)


def uneven(miss: float, add: float, segments: int = 200) -> Finding:
    figures: dict[str, Any] = dict.fromkeys(MulerRow.__annotations__)
    figures |= {"system": "A", "metric": "none", "feature": "pos:NOUN", "segments": segments}
    figures |= {"miss": miss, "hit": 0.1, "add": add, "surplus": add - miss}
    if segments >= 30:
        figures["decided"] = abs(add - miss) > 0.1
    made = table("muler", "Discrepancy", MulerRow, [MulerRow(**figures)])
    return Finding("muler", "MuLER", (made,), {}, facts={"segments": str(segments)})


def test_too_few_and_too_many_are_said_where_they_do_not_balance() -> None:
    (found,) = discrepancy_verdict(uneven(0.3, 0.1))
    assert found.level == "finding"
    assert str(found).startswith("A has too few nouns (.3")
    (found,) = discrepancy_verdict(uneven(0.1, 0.3))
    assert str(found).startswith("A has too many nouns")
    (found,) = discrepancy_verdict(uneven(0.31, 0.3))
    assert str(found) == (
        "For 1 kind of words the data cannot tell whether there are too few or too many."
    )
    (found,) = discrepancy_verdict(uneven(0.0, 0.0))
    assert str(found) == (
        "For 1 kind of words outputs have as many as the references in every segment."
    )
    (found,) = discrepancy_verdict(uneven(0.5, 0.0, segments=12))
    assert found.level == "caution"
