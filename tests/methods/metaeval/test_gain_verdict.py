"""What is said of gains in agreement, on rows whose truth is known: sizes, few systems, noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.agreement.pairs import gained as drawn_gain
from tests.agreement.pairs import means
from tests.noise import is_mostly_undecided

from gnomon import stats
from gnomon.agreement.gains import MetricGainRow, decided_gains
from gnomon.core.findings import Finding
from gnomon.core.records import table
from gnomon.metaeval.gain_verdict import gains_verdict

if TYPE_CHECKING:
    from gnomon.agreement.gains import AgreementGainRow
    from gnomon.messages import Message

_HEAD = {
    "test_set": "made up",
    "grouping": "none",
    "subset": "all",
    "diversity": None,
    "repaired": 0,
    "broken": 0,
    "human": None,
    "p_adjusted": None,
    "decided": None,
}
_OF_SYSTEMS = {
    **_HEAD,
    "level": "system",
    "statistic": "pearson",
    "unit": "systems",
    "test": "Williams's test",
    "interval": "segments",
    "drawn": 200,
    "base": 0.8,
}


def said(rows: list[MetricGainRow]) -> list[Message]:
    decided = decided_gains(rows, (), 0.05)
    tables = (table("gains", "Gains", MetricGainRow, decided, confidence=0.95),)
    return list(gains_verdict(Finding("metaeval", "Gains", tables, {})))


def with_paraphrases(
    gain: float,
    low: float,
    high: float,
    p: float,
    *,
    p_segments: float | None = 0.001,
    systems: int = 12,
    segments: int = 200,
    by_segment: tuple[float, float, float] | None = None,
    by_segment_p: float = 0.001,
) -> list[Message]:
    """What is said of these gains of 2 and of 1 paraphrases; that of 1 is always clear."""
    of = {
        "metric": "bleu+human 2",
        "against": "bleu",
        "method": "human",
        "alternative": "greater",
        "covered": segments,
        "without": 0,
        "outputs": 0.0,
    }
    shared = {**_OF_SYSTEMS, **of, "n": systems, "p_segments": p_segments}
    clear, ends = {"gain": (0.09, 0.11)}, {"gain": (low, high)}
    rows = [
        MetricGainRow(**shared, paraphrases=1, value=0.9, gain=0.1, p=1e-9, intervals=clear),
        MetricGainRow(**shared, paraphrases=2, value=0.8 + gain, gain=gain, p=p, intervals=ends),
    ]
    if by_segment:
        own = MetricGainRow(
            **{**_HEAD, **of, "grouping": "item", "alternative": "two-sided"},
            paraphrases=2,
            level="segment",
            statistic="darr",
            base=0.2,
            value=0.2 + by_segment[0],
            gain=by_segment[0],
            p=by_segment_p,
            p_segments=None,
            n=900,
            unit="pairs",
            test="jackknife over documents",
            interval="documents",
            drawn=20,
            intervals={"gain": by_segment[1:]},
        )
        rows.append(own)
    return said(rows)


def over_baseline(
    gain: float, low: float, high: float, *, p: float = 0.01, williams_p: float = 0.01,
    systems: int = 10,
) -> list[Message]:  # fmt: skip
    """What is said of one metric against the baseline."""
    of = {**_OF_SYSTEMS, "metric": "difficulty(bleu)", "against": "bleu", "human": "da"}
    none = dict.fromkeys(("method", "paraphrases", "covered", "without", "outputs"))
    row = MetricGainRow(
        **of,
        **none,
        alternative="two-sided",
        value=0.8 + gain,
        gain=gain,
        p=williams_p,
        p_segments=p,
        n=systems,
        intervals={"gain": (low, high)},
    )
    return said([row])


def test_a_gain_of_paraphrases_is_said_with_its_interval() -> None:
    (found,) = with_paraphrases(0.05, 0.02, 0.08, 0.001)
    assert found.level == "finding"
    assert str(found) == (
        "At system level BLEU with 2 paraphrases of each reference (human) agrees better with"
        " people than BLEU, by .050 [.020, .080] (Pearson, 12 systems, p = .002)."
    )
    assert found.rows == {"gains": (1,)}


def test_a_gain_over_the_baseline_names_the_kind_of_human_scores() -> None:
    (better,) = over_baseline(0.05, 0.02, 0.08)
    assert str(better) == (
        "At system level difficulty-weighted BLEU agrees better with people (da) than BLEU, by"
        " .050 [.020, .080] (Pearson, 10 systems, p = .010)."
    )
    (worse,) = over_baseline(-0.05, -0.08, -0.02)
    assert worse.level == "finding"
    assert "agrees worse with people (da) than BLEU, by .050 [.020, .080]" in str(worse)


def test_a_loss_is_said_as_such() -> None:
    (found,) = with_paraphrases(-0.05, -0.08, -0.02, 0.999)
    assert found.level == "finding"
    assert "agrees worse with people than BLEU, by .050 [.020, .080]" in str(found)


def test_a_gain_that_only_the_interval_or_only_one_test_sees_is_undecided() -> None:
    assert [one.level for one in with_paraphrases(0.05, 0.02, 0.08, 0.2)] == ["undecided"]
    assert [one.level for one in with_paraphrases(0.05, -0.02, 0.12, 0.001)] == ["undecided"]
    (found,) = with_paraphrases(0.05, 0.02, 0.08, 0.001, p_segments=0.2)
    assert found.level == "undecided"


def test_few_systems_are_no_finding_and_few_segments_a_caution() -> None:
    assert with_paraphrases(0.05, 0.02, 0.08, 0.001, systems=4) == []
    (few,) = with_paraphrases(0.05, 0.02, 0.08, 0.001, segments=20)
    assert few.level == "caution"


def test_segments_are_said_beside_systems() -> None:
    found = with_paraphrases(0.01, -0.02, 0.04, 0.2, by_segment=(0.05, 0.03, 0.07))
    assert [one.level for one in found] == ["undecided", "finding"]
    assert str(found[1]).endswith(
        "by .050 [.030, .070] (DaRR, 900 pairs in 20 documents, p = .001)."
    )


def undecided(seeds: range) -> int:
    """Of draws in which two metrics, without and with paraphrases, are equally good."""
    found = 0
    for seed in seeds:
        draw = np.random.default_rng(seed)
        people = draw.normal(size=12)
        before, after = people + 0.5 * draw.normal(size=(2, 12))
        r = [stats.pearson(people, one) for one in (after, before)]
        p = stats.williams(people, after, before, alternative="greater").p
        gain = r[0] - r[1]
        told = with_paraphrases(gain, gain - 1e-3, gain + 1e-3, p, p_segments=None)
        found += all(one.level == "undecided" for one in told)
    return found


@pytest.mark.parametrize("draws", [100, pytest.param(2000, marks=pytest.mark.verify)])
def test_noise_is_decided_no_more_often_than_alpha(draws: int) -> None:
    # by Williams's test alone: intervals here hide nothing
    assert is_mostly_undecided(undecided(range(draws)), draws)


def compared(seed: int, systems: int, segments: int) -> AgreementGainRow:
    """The gain of a metric that is no nearer to people than the baseline but by chance.

    Both scores are what the systems are worth and noise of one kind.
    """
    draw = np.random.default_rng(seed)
    worth = np.linspace(0, 1, systems)
    human = worth + draw.normal(0, 0.2, systems)
    shared = draw.normal(0, 1, segments) + draw.normal(0, 1, (systems, segments))
    scores = worth[:, None] + shared + draw.normal(0, 1, (2, systems, segments))
    return drawn_gain(human, [means(scores[0], "base"), means(scores[1], "weighted")], seed)


@pytest.mark.parametrize("draws", [20, pytest.param(1000, marks=pytest.mark.verify)])
@pytest.mark.parametrize(
    ("systems", "segments"), [(12, 60), pytest.param(6, 200, marks=pytest.mark.verify)]
)
def test_gains_that_say_nothing_are_undecided_as_often_as_alpha_says(
    systems: int, segments: int, draws: int
) -> None:
    found = 0
    for seed in range(draws):
        row = compared(seed, systems, segments)
        ends = row.ends("gain")
        told = over_baseline(row.gain, *ends, p=row.p_segments, williams_p=row.p, systems=systems)
        found += all(one.level == "undecided" for one in told)
    assert is_mostly_undecided(found, draws)
