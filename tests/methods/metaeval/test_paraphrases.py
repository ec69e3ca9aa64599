"""What paraphrases bring to the agreement with people, by method, metric and number."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.told import notes

import gnomon
from gnomon import stats
from gnomon.cli import main
from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.core.human import HumanScores, Ranking
from gnomon.core.testset import Paraphrase, TestSet

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gnomon.core.findings import Finding

_OUTPUTS = {
    "a": ["the cat sat", "a dog ran off", "it rains now"],
    "b": ["the cat is sitting", "a hound ran away", "rain falls"],
    "c": ["cat the", "dog off", "it now"],
    "d": ["cats", "off ran", "now"],
}
_REFERENCES = ["the cat sat", "a dog ran off", "it rains now"]
_MADE = [
    Paraphrase(1, "the cat is sitting", "good"),
    Paraphrase(2, "a hound ran away", "good"),
    Paraphrase(2, "the hound fled", "good"),
    Paraphrase(3, "rain falls", "good"),
    Paraphrase(1, "cats", "bad"),
]


def _judged(values: tuple[float, ...] = (1.0, 2.0, 0.5, 0.0)) -> TestSet:
    plain = TestSet.from_lists(_OUTPUTS, _REFERENCES, language_pair="de-en")
    system = HumanScores("da", "system", tuple(_OUTPUTS), np.array(values)[:, None])
    rng = np.random.default_rng(0)
    segment = HumanScores("da", "segment", tuple(_OUTPUTS), rng.normal(size=(4, 3)))
    ranking = Ranking("darr", ((0, "b", "a"), (1, "b", "c"), (2, "a", "d")))
    return TestSet(
        name="set",
        references=plain.references,
        systems=plain.systems,
        language_pair="de-en",
        human=(system, segment),
        rankings=(ranking,),
    )


_SYSTEM = {"levels": ["system"], "statistics": ["pearson"], "human": "da"}


def gains(found: Finding, **where: object) -> list[Mapping[str, Any]]:
    rows = found.table("gains").rows
    return [row for row in rows if all(row[name] == cell for name, cell in where.items())]


def test_gains_are_differences_of_correlations_with_williams_test() -> None:
    ts = _judged()
    found = gnomon.metaeval(ts, "chrf", _MADE, n=[1], methods=["good"], **_SYSTEM)
    (row,) = gains(found)
    wide = ts.with_paraphrases(_MADE, n=1, methods=["good"])
    before, after = (np.asarray(gnomon.score(t, "chrf").system) for t in (ts, wide))
    human = np.array([1.0, 2.0, 0.5, 0.0])
    assert (row["metric"], row["against"]) == ("chrf+good 1", "chrf")
    assert (row["method"], row["paraphrases"]) == ("good", 1)
    assert row["base"] == pytest.approx(float(stats.pearson(human, before)))
    assert row["value"] == pytest.approx(float(stats.pearson(human, after)))
    assert row["gain"] == pytest.approx(row["value"] - row["base"])
    assert row["p"] == pytest.approx(stats.williams(human, after, before).p)
    assert row["gain_low"] <= row["gain_high"]


def test_decisions_that_people_make_otherwise_are_repaired() -> None:
    options = {"n": [1], "methods": ["good"], "human": "da", "resamples": 0}
    found = gnomon.metaeval(_judged(), "chrf", _MADE, **options)
    row = next(r for r in found.table("decisions").rows if r["comparison"] == "systems")
    # b is better than a for people; chrF says so only once b's words are among the references
    assert (row["pairs"], row["repaired"] or row["wrong"]) == (6, 1)
    assert sum(float(str(row[f"{k}_share"])) for k in ("right", "repaired", "broken", "wrong")) == 1
    (gain,) = gains(found, statistic="pearson", level="system")
    assert (gain["repaired"], gain["broken"]) == (row["repaired"], row["broken"])


def test_rankings_that_references_decide_otherwise_are_counted_one_by_one() -> None:
    ts = _judged()
    found = gnomon.metaeval(ts, "chrf", _MADE, n=[1], methods=["good"], resamples=200)
    rows = {str(r["comparison"]): r for r in found.table("decisions").rows}
    assert set(rows) == {"systems", "darr", "pairs"}
    wide = ts.with_paraphrases(_MADE, n=1, methods=["good"])
    before, after = (
        {(s, i): one.segments[k, i] for k, s in enumerate(one.systems) for i in range(3)}
        for one in (gnomon.score(t, "chrf") for t in (ts, wide))
    )
    people = ts.human_scores("da", "segment")
    scored = [
        (i, a, b)
        for i in range(3)
        for j, a in enumerate(_OUTPUTS)
        for k, b in enumerate(_OUTPUTS)
        if people[j, i] > people[k, i]
    ]
    for name, pairs in (("darr", ts.rankings[0].rows), ("pairs", scored)):
        change = [(before[a, i] > before[b, i], after[a, i] > after[b, i]) for i, a, b in pairs]
        row = rows[name]
        assert row["pairs"] == len(change)
        assert row["repaired"] == change.count((False, True))
        assert row["broken"] == change.count((True, False))
        assert row["repaired_low"] <= row["repaired_share"] <= row["repaired_high"]
    assert rows["systems"]["repaired_low"] is None


def test_paraphrases_that_say_the_same_gain_nothing() -> None:
    made = [Paraphrase(i + 1, text, "same") for i, text in enumerate(_REFERENCES)]
    (row,) = gains(gnomon.metaeval(_judged(), "chrf", made, n=[1], **_SYSTEM))
    assert (row["gain"], row["gain_low"], row["gain_high"]) == pytest.approx((0.0, 0.0, 0.0))


def test_segments_are_judged_by_rankings_and_by_scores() -> None:
    ts = _judged()
    options = {"n": [1], "methods": ["good"], "levels": ["segment"], "resamples": 0}
    found = gnomon.metaeval(ts, "chrf", _MADE, **options)
    (darr,) = gains(found, statistic="darr")
    scores = gnomon.score(ts, "chrf").segments
    expected = stats.darr_pairs(*scores[[[1, 1, 0], [0, 2, 3]], [0, 1, 2]])
    assert (darr["base"], darr["n"]) == (pytest.approx(expected), 3)
    wide = ts.with_paraphrases(_MADE, n=1, methods=["good"])
    expected = stats.pearson(
        ts.human_scores("da", "segment"), gnomon.score(wide, "chrf").segments, grouping="none"
    )
    (pearson,) = gains(found, statistic="pearson", grouping="none")
    assert pearson["value"] == pytest.approx(float(expected))


def test_a_number_above_what_there_is_is_the_largest_that_there_is() -> None:
    found = gnomon.metaeval(_judged(), "chrf", _MADE, n=[1, 5, 20], resamples=0, **_SYSTEM)
    by_metric = {row["metric"]: row for row in gains(found)}
    assert list(by_metric) == ["chrf+good 1", "chrf+good 2", "chrf+bad 1"]
    said = (
        "no segment has more than {}: metrics are judged with up to {}, in place of 5 and 20 (--n)"
    )
    assert notes(found.notices)[:2] == (
        f"good: {said.format('2 paraphrases', 2)}",
        f"bad: {said.format('1 paraphrase', 1)}",
    )
    assert by_metric["chrf+good 1"]["diversity"] is None
    assert by_metric["chrf+good 2"]["diversity"] == pytest.approx(1 - 2 * 1 / 7)
    assert (by_metric["chrf+bad 1"]["covered"], by_metric["chrf+bad 1"]["without"]) == (1, 2)


def test_several_test_sets_give_mean_least_and_greatest_gain() -> None:
    sets = [_judged(), replace(_judged((2.0, 1.0, 0.5, 0.0)), name="other")]
    options = {"n": [1], "methods": ["good"], "resamples": 0, **_SYSTEM}
    found = gnomon.metaeval(sets, "chrf", [_MADE, _MADE], **options)
    each = [row["gain"] for row in gains(found)]
    (row,) = found.table("averages").rows
    assert (row["gain"], row["gain_min"], row["gain_max"], row["test_sets"]) == pytest.approx(
        (np.mean(each), min(each), max(each), 2)
    )
    assert (row["metric"], row["against"]) == ("chrf+good 1", "chrf")


def test_what_cannot_be_studied_is_refused() -> None:
    blank = [Paraphrase(1, " ", "x")]
    with pytest.raises(DataError, match="no paraphrase"):
        gnomon.metaeval(_judged(), "chrf", blank)
    with pytest.raises(UnknownNameError, match="method of paraphrases"):
        gnomon.metaeval(_judged(), "chrf", _MADE, methods=["none"])
    with pytest.raises(UsageError, match="1 or more"):
        gnomon.metaeval(_judged(), "chrf", _MADE, n=[0])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for pair in ("de-en", "lt-en"):
        ts = TestSet.from_lists(_OUTPUTS, _REFERENCES, language_pair=pair)
        ts.write(tmp_path / pair)
        people = "system\tz\na\t1\nb\t2\nc\t.5\nd\t0\n"
        (tmp_path / pair / "human").mkdir(exist_ok=True)
        (tmp_path / pair / "human" / "da-z.sys.tsv").write_text(people, encoding="utf-8")
        rows = [{"segment": p.segment, "text": p.text, "method": p.method} for p in _MADE]
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{pair}.made.jsonl").write_text(lines, encoding="utf-8")
    return tmp_path


def test_the_command_studies_several_test_sets(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sets = [str(folder / pair) for pair in ("de-en", "lt-en")]
    made = str(folder / "{pair}.made.jsonl")
    page = folder / "page.html"
    more = ["--n", "1", "2", "-m", "chrf", "-f", "json", "--html", str(page), "-q"]
    assert main(["metaeval", "-t", *sets, "--paraphrases", made, *more]) == 0
    rows = json.loads(capsys.readouterr().out)["tables"]["gains"]
    assert {row["test_set"] for row in rows} == {"de-en", "lt-en"}
    assert {row["paraphrases"] for row in rows} == {1, 2}
    assert "Gain by number of paraphrases" in page.read_text(encoding="utf-8")


def test_the_command_refuses_one_file_for_two_test_sets(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sets = [str(folder / pair) for pair in ("de-en", "lt-en")]
    made = str(folder / "de-en.made.jsonl")
    assert main(["metaeval", "-t", *sets, "--paraphrases", made]) == 2
    assert "{pair}" in capsys.readouterr().err
    assert main(["metaeval", "-t", sets[0], "--paraphrases", made, "--no-original"]) == 2
    assert "--no-original" in capsys.readouterr().err


@pytest.mark.verify
def test_ranked_outputs_of_wmt19_change_as_sacrebleu_and_a_loop_say(shared: Path) -> None:
    import sacrebleu

    folder = shared / "data/wmt19/kk-en"
    ts = TestSet.read(folder)
    lines = (folder / "human/darr.seg.tsv").read_text(encoding="utf-8").splitlines()
    ranked = [(int(s) - 1, b, w) for s, b, w in (line.split("\t") for line in lines[1:])]
    other = next(name for name in ts.systems if name not in ts.rankings[0].systems)
    extra = [Paraphrase(i, text, "other") for i, text in enumerate(ts.systems[other], start=1)]
    options = {"smooth_method": "exp", "use_effective_order": True}
    (reference,) = ts.references.values()
    sides = []
    for columns in ((reference,), (reference, ts.systems[other])):
        scores = {
            (name, i): sacrebleu.sentence_bleu(
                ts.systems[name][i], [column[i] for column in columns], **options
            ).score
            for name, i in {(name, i) for i, *pair in ranked for name in pair}
        }
        sides.append([scores[b, i] > scores[w, i] for i, b, w in ranked])
    changes = list(zip(*sides, strict=True))
    options = {"levels": ["segment"], "statistics": ["darr"]}
    found = gnomon.metaeval(ts, "bleu", extra, n=[1], human="darr", **options)
    (row,) = [r for r in found.table("decisions").rows if r["comparison"] == "darr"]
    assert row["pairs"] == len(ranked) == 9728
    assert row["repaired"] == changes.count((False, True))
    assert row["broken"] == changes.count((True, False))
    assert row["wrong"] == changes.count((False, False))
    assert row["repaired_low"] < row["repaired_share"] < row["repaired_high"]  # type: ignore[operator]  # numbers
    (segments,) = gains(found)
    share = (row["repaired"] - row["broken"]) / 9728  # type: ignore[operator]  # numbers
    assert segments["gain"] == pytest.approx(2 * share)


def test_five_human_paraphrases_bring_what_was_published(shared: Path) -> None:
    # r .8948 -> .9484, Williams's p .00375: Bawden et al. (2020), published scores
    ts = TestSet.read(shared / "data" / "wmt19" / "de-en").select(segments=range(500))
    files = sorted((shared / "data" / "paraphrases" / "wmt19-de-en-500").glob("ref.human?.txt"))
    made = gnomon.formats.read_paraphrases(files, segments=500)
    (row,) = gains(
        gnomon.metaeval(
            ts, "bleu", made, n=[5], resamples=0, levels=["system"], statistics=["pearson"]
        )
    )
    assert (row["base"], row["value"]) == pytest.approx((0.894816, 0.948432), abs=5e-5)
    assert row["p"] == pytest.approx(0.00375314, abs=5e-5)
    assert (row["repaired"], row["broken"]) == (3, 0)
    # .4625 counts the few empty lines as wordings, which no metric does
    assert row["diversity"] == pytest.approx(0.4622, abs=5e-5)
