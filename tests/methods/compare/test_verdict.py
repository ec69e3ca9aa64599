"""What a comparison says, on sets whose truth is known: differences, artefacts, noise."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.noise import is_mostly_undecided

import gnomon
from gnomon.core.scores import Scores
from gnomon.core.signature import Signature
from gnomon.core.testset import TestSet

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from gnomon.core.findings import Finding

BARE = {"resamples": 199, "examples": 0, "ngrams": 0}


def compared(
    *segments: NDArray[np.float64], names: tuple[str, ...] = (), **options: object
) -> Finding:
    """Systems of these scores, the first one the baseline; a list of arrays is a metric each."""
    systems = names or tuple("ABCDEFG"[: len(segments[0])])
    texts = [f"text {row}" for row in range(segments[0].shape[1])]
    outputs = {name: [f"{one} of {name}" for one in texts] for name in systems}
    testset = TestSet.from_lists(outputs, texts)
    metrics = [
        Scores(f"m{number}", systems, one.mean(axis=1), one, True, Signature(f"m{number}"))
        for number, one in enumerate(segments)
    ]
    return gnomon.compare(testset, metrics, **{**BARE, **options})


def noise(seed: int, systems: int = 2, segments: int = 60) -> NDArray[np.float64]:
    draw = np.random.default_rng(seed)
    return draw.normal(50, 10, segments) + draw.normal(0, 5, (systems, segments))


def test_a_real_difference_is_said_with_its_size_interval_segments_and_p() -> None:
    scores = noise(1)
    scores[1] += 5
    (found,) = compared(scores).verdict
    assert found.level == "finding"
    shape = r"B is better than A by \d+\.\d m0 \[\d+\.\d, \d+\.\d\] \(60 segments, p <= \.01\)\."
    assert re.fullmatch(shape, str(found))
    assert found.rows == {"systems": (1,)}
    scores[1] -= 10
    (found,) = compared(scores).verdict
    assert found.level == "finding"
    assert str(found).startswith("B is worse than A by ")
    assert "-" not in str(found)


def test_nobody_is_ahead_where_scores_are_equal_over_unlike_segments() -> None:
    first = np.tile([1.0, 0.0], 20)
    (found,) = compared(np.stack([first, 1 - first])).verdict
    told = "B and A cannot be told apart under m0: they differ by 0.00 m0 [-"
    assert str(found).startswith(told)
    (found,) = compared(np.stack([first, 1 - first, 1 - first])).verdict
    assert "A (0.500) cannot be told apart from B (the same) and C (the same)" in str(found)


def test_of_error_rates_the_lower_one_is_better() -> None:
    scores = noise(1)
    scores[1] -= 5
    texts = [f"text {row}" for row in range(60)]
    testset = TestSet.from_lists(
        {name: [f"{one} of {name}" for one in texts] for name in "AB"}, texts
    )
    rates = Scores("rate", ("A", "B"), scores.mean(axis=1), scores, False, Signature("rate"))
    (found,) = gnomon.compare(testset, rates, **BARE).verdict
    assert found.level == "finding"
    assert re.match(r"B is better than A by \d+\.\d rate \[\d+\.\d, \d+\.\d\]", str(found))


def undecided(draws: int, systems: int, *, segments: int = 60, **options: object) -> int:
    """How many of some draws of systems that do not differ are called undecided."""
    sets = (noise(seed, systems, segments) for seed in range(draws))
    verdicts = (compared(one, **options).verdict for one in sets)
    return sum(all(one.level == "undecided" for one in verdict) for verdict in verdicts)


_DRAWS = [20, pytest.param(1000, marks=pytest.mark.verify)]


@pytest.mark.parametrize("draws", _DRAWS)
@pytest.mark.parametrize("systems", [2, 4])
@pytest.mark.parametrize("test", ["bootstrap", pytest.param("ar", marks=pytest.mark.verify)])
def test_noise_is_undecided_as_often_as_alpha_says(test: str, systems: int, draws: int) -> None:
    options = {"test": test, "resamples": 499, "baseline": "A"}
    assert is_mostly_undecided(undecided(draws, systems, **options), draws)


@pytest.mark.parametrize("draws", [pytest.param(1000, marks=pytest.mark.verify)])
def test_no_best_system_is_named_among_equal_ones_more_often_than_alpha_says(draws: int) -> None:
    options = {"resamples": 999}
    assert is_mostly_undecided(undecided(draws, 5, **options), draws)


@pytest.mark.verify
@pytest.mark.parametrize("segments", [30, 60, 120])
def test_noise_is_undecided_on_sets_of_few_segments_too(segments: int) -> None:
    assert is_mostly_undecided(undecided(1000, 2, segments=segments, resamples=999), 1000)


def test_what_is_undecided_says_how_many_more_segments_a_decision_takes() -> None:
    scores = noise(3)
    scores[1] += 0.8 - (scores[1] - scores[0]).mean()
    (found,) = compared(scores).verdict
    assert found.level == "undecided"
    told = "B and A cannot be told apart under m0: B is ahead of A by 0.8 m0 [-"
    assert str(found).startswith(told)
    row = compared(scores).rows[1]
    half = (row["high"] - row["low"]) / 2
    more = int(
        re.search(r"about ([\d,]+) more segments would be needed", str(found))[1].replace(",", "")
    )
    assert more == pytest.approx(60 * ((half / row["difference"]) ** 2 - 1), rel=0.1)


def test_too_few_segments_are_a_caution_and_no_finding() -> None:
    scores = noise(1, segments=20)
    scores[1] += 20
    found = compared(scores)
    assert found.rows[1]["verdict"] == "better"
    (said,) = found.verdict
    assert said.level == "caution"
    assert "20 segments are too few" in str(said)


def test_a_slice_of_too_few_segments_is_a_caution_and_no_finding() -> None:
    scores = noise(1, segments=80)
    scores[1] += 8
    systems, texts = ("A", "B"), ["text"] * 80
    plain = TestSet.from_lists(dict.fromkeys(systems, texts), texts)
    testset = gnomon.core.testset.replace(plain, domains=tuple(["news"] * 60 + ["chat"] * 20))
    metric = Scores("m0", systems, scores.mean(axis=1), scores, True, Signature("m0"))
    found = gnomon.compare(testset, metric, by="domain", **{**BARE, "resamples": 999})
    levels = {one.level: str(one) for one in found.verdict}
    assert set(levels) == {"finding", "caution"}
    findings = " ".join(str(one) for one in found.verdict if one.level != "caution")
    assert "news by" in findings
    assert "chat" not in findings
    assert "chat" in levels["caution"]


def test_equal_outputs_are_said_to_score_the_same() -> None:
    scores = noise(1)
    (found,) = compared(np.stack([scores[0], scores[0]])).verdict
    assert str(found) == "B and A score the same under m0 in each of 60 segments."


def test_metrics_that_disagree_are_a_caution() -> None:
    up, down = noise(1), noise(2)
    up[1] += 6
    down[1] -= 6
    found = compared(up, down).verdict
    assert [one.level for one in found] == ["finding", "finding", "caution"]
    assert str(found[2]) == (
        "Caution: the metrics disagree: B is better under m0 and worse under m1."
    )
    assert found[2].rows == {"systems": (1, 3)}


def test_without_resamples_nothing_is_decided() -> None:
    scores = noise(1)
    scores[1] += 20
    (found,) = compared(scores, resamples=0).verdict
    assert found.level == "undecided"
    assert "not tested" in str(found)


def test_of_many_systems_a_few_are_named_and_the_others_counted() -> None:
    scores = noise(1, systems=7)
    scores[1:] += 8
    (found,) = compared(scores, baseline="A").verdict
    assert found.level == "finding"
    assert str(found).startswith("6 systems are better than A under m0 (60 segments, each")
    assert str(found).endswith(" and 3 more.")
    assert sorted(found.rows["systems"]) == [1, 2, 3, 4, 5, 6]
    (best,) = compared(scores).verdict
    assert " share the first place of 7 systems under m0: " in str(best)
    assert sorted(best.rows["systems"]) == [0, 1, 2, 3, 4, 5, 6]


def test_the_smallest_p_that_the_draws_can_show_is_said_as_a_bound() -> None:
    scores = noise(1)
    scores[1] += 9
    for options, told in (
        ({}, "p <= .01)"),  # 2/200
        ({"resamples": 999}, "p <= .002)"),
        ({"test": "ar", "resamples": 999}, "p <= .001)"),
        ({"test": "sacrebleu"}, "p <= .005)"),
    ):
        (found,) = compared(scores, **options).verdict
        assert told in str(found), options
        assert "= .000" not in str(found)
    scores = noise(1, 3)
    scores[1:] -= 9
    (best,) = compared(scores).verdict
    assert str(best).endswith("p <= .005 (60 segments; 95 % intervals over all 3 pairs).")


@pytest.mark.parametrize("alpha", [0.05, 0.01])
@pytest.mark.parametrize("options", [{}, {"test": "ar"}, {"test": "sacrebleu"}])
def test_verdict_interval_and_p_say_one_thing(options: dict[str, object], alpha: float) -> None:
    for seed in range(40):
        scores = noise(seed)
        scores[1] += 1.4
        how = {"resamples": 499, "confidence": 1 - alpha}
        row = compared(scores, **how, **options).rows[1]
        assert (row["verdict"] != "undecided") == row["decided"] == (row["p"] <= alpha)
        if options:
            assert (row["low"], row["high"]) == (None, None)
        else:
            assert row["decided"] == (row["low"] > 0 or row["high"] < 0)


def test_what_a_later_step_decides_has_its_near_end_at_0() -> None:
    for seed in range(40):
        scores = noise(seed, systems=4)
        scores -= np.array([[0.0], [2.6], [7.0], [9.0]])
        found = compared(scores, resamples=499)
        for row in found.rows[1:]:
            if row["decided"] and row["high"] == 0:
                said = str(found.verdict[0])
                assert f"Next is {row['system']}, behind by " in said
                assert " (above 0, up to " in said
                return
    pytest.fail("no draw has such a row")


def test_a_system_that_another_than_the_leader_beats_shares_no_first_place() -> None:
    """B is close behind A on other segments; C is always a little worse than B."""
    draw = np.random.default_rng(0)
    second = draw.normal(50, 10, 200)
    scores = np.stack([draw.normal(50, 10, 200), second, second - 1 + draw.normal(0, 0.5, 200)])
    scores[0] += second.mean() + 0.2 - scores[0].mean()
    found = compared(scores, resamples=499)
    row = next(row for row in found.rows if row["system"] == "C")
    assert (row["decided"], row["beaten_by"]) == (False, "B")
    assert str(found.verdict[0]).startswith("A and B share the first place of 3 systems under m0: ")
    assert "; B is better than C (" in str(found.verdict[0])


@pytest.mark.parametrize("metrics", [1, 2, 3, 7])
@pytest.mark.parametrize("systems", [2, 3, 6])
def test_a_verdict_has_one_to_six_statements_that_point_to_rows(metrics: int, systems: int) -> None:
    found = compared(*(noise(seed, systems) for seed in range(metrics)))
    assert 1 <= len(found.verdict) <= 6
    for one in found.verdict:
        for table, rows in one.rows.items():
            assert all(0 <= row < len(found.table(table).rows) for row in rows)


def test_names_stand_in_statements_as_users_gave_them() -> None:
    scores = noise(1)
    scores[1] += 8
    (found,) = compared(scores, names=("<b>", "\x1b[31mB\u202e")).verdict
    assert str(found).startswith("\x1b[31mB\u202e is better than <b> by")


def test_systems_without_segments_in_common_are_said_to_have_none(tmp_path: Path) -> None:
    names = ("aa", "bb", "cc", "dd")
    scored = {name: range(20, 40) for name in names} | {"aa": range(20)}
    lines = [
        f"{name}\t{n + 1}\t{n % 5 if n in scored[name] else ''}"
        for name in names
        for n in range(40)
    ]
    (tmp_path / "own.tsv").write_text("\n".join(["system\tsegment\tscore", *lines]) + "\n")
    texts = [f"text number {n}" for n in range(40)]
    ts = TestSet.from_lists(dict.fromkeys(names, texts), texts)
    metric = f"scores({str(tmp_path / 'own.tsv')!r})"
    found = gnomon.compare(ts, [metric], baseline="aa", resamples=99)
    assert "have no segments in common" in " ".join(map(str, found.verdict))


def test_a_favoured_system_beside_damaged_copies_of_its_own_is_compared_with_others() -> None:
    own = [f"the text number {n} of a book about birds and {n * 7} trees" for n in range(80)]
    other = [f"this is the book of birds, number {n}, with trees ({n * 7})" for n in range(80)]
    references = [a if n % 5 < 2 else b for n, (a, b) in enumerate(zip(own, other, strict=True))]
    spaced = [f"{text} , or so ." for text in own]
    poor = [text.replace("book", "books").replace("the", "a") for text in other]
    systems = {"own": own, "poor": poor, "spaced": spaced, "twice": spaced[:-1] + own[-1:]}
    found = gnomon.compare(TestSet.from_lists(systems, references), "chrf", resamples=99)
    favoured = [str(one) for one in found.verdict if one.code == "data.favoured"]
    assert not any("of spaced" in said or "of twice" in said for said in favoured)


def test_the_best_is_the_one_that_leads_on_the_segments_that_all_have() -> None:
    scores = noise(3, systems=3, segments=200)
    scores[1] += 5
    scores[:, :100] += 20
    scores[0, 100:] = np.nan  # A has the easy half alone, so that its own mean is the highest
    texts = [f"Text {row}" for row in range(200)]
    testset = TestSet.from_lists({n: [f"{one} of {n}" for one in texts] for n in "ABC"}, texts)
    given = Scores("m0", tuple("ABC"), np.nanmean(scores, axis=1), scores, True, Signature("m0"))
    said = str(gnomon.compare(testset, given, **BARE).verdict[0])
    assert said.startswith("B is the best of 3 systems under m0")


def test_who_is_better_than_the_leader_on_their_segments_does_not_share_its_place() -> None:
    scores = noise(4, systems=3, segments=200)
    scores[0, :100] += 2
    scores[1, 100:] += 20
    scores[2] -= 10
    scores[2, 100:] = np.nan  # A leads on the segments of all three, B on those of A and B
    texts = [f"Text {row}" for row in range(200)]
    testset = TestSet.from_lists({n: [f"{one} of {n}" for one in texts] for n in "ABC"}, texts)
    given = Scores("m0", tuple("ABC"), np.nanmean(scores, axis=1), scores, True, Signature("m0"))
    found = gnomon.compare(testset, given, **BARE)
    assert found.rows[0]["system"] == "A"
    said = [str(one) for one in found.verdict]
    assert said[0].startswith("B is better than A by ")
    assert not any("share the first place" in one or "behind by -" in one for one in said)


@pytest.mark.parametrize("test", ["bootstrap", "ar", "sacrebleu"])
def test_no_test_decides_by_few_segments_that_differ(test: str) -> None:
    scores = np.zeros((2, 100))
    scores[1, :4] = [50, 40, 60, 30]
    found = compared(scores, test=test, resamples=500)
    row = found.rows[1]
    assert (row["p"], row["decided"], row["caveat"]) == (None, False, "different")
    assert "cannot be told apart" in str(found.verdict[0])
