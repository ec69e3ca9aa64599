"""What paraphrases bring, by method, metric and number."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import gnomon
from gnomon import stats
from gnomon.cli import main
from gnomon.core.errors import DataError, GnomonError, UnknownNameError, UsageError
from gnomon.core.human import HumanScores, Ranking
from gnomon.core.testset import Paraphrase, TestSet
from gnomon.data.formats import parse_tree
from gnomon.methods.paraphrase import gain, paraphrases_used, show
from gnomon.methods.paraphrase.gains._page import changed
from gnomon.report import to_html

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


def test_gains_are_differences_of_correlations_with_williams_test() -> None:
    ts = _judged()
    found = gain(ts, _MADE, ["chrf"], n=[1], methods=["good"])
    (row,) = found.rows
    wide = ts.with_paraphrases(_MADE, n=1, methods=["good"])
    before, after = (np.asarray(gnomon.score(t, "chrf").system) for t in (ts, wide))
    human = np.array([1.0, 2.0, 0.5, 0.0])
    assert row["base"] == pytest.approx(float(stats.pearson(human, before)))
    assert row["value"] == pytest.approx(float(stats.pearson(human, after)))
    assert row["gain"] == pytest.approx(row["value"] - row["base"])  # type: ignore[operator]  # numbers
    assert row["p"] == pytest.approx(stats.williams(human, after, before).p)
    assert (row["base_score"], row["score"]) == pytest.approx((before.mean(), after.mean()))


def test_decisions_that_people_make_otherwise_are_repaired() -> None:
    found = gain(_judged(), _MADE, ["chrf"], n=[1], methods=["good"], resamples=0)
    row = next(r for r in found.table("decisions").rows if r["comparison"] == "systems")
    # b is better than a for people; chrF says so only once b's words are among the references
    assert (row["pairs"], row["repaired"] or row["wrong"]) == (6, 1)
    assert sum(float(str(row[f"{k}_share"])) for k in ("right", "repaired", "broken", "wrong")) == 1


def test_rankings_that_references_decide_otherwise_are_counted_one_by_one() -> None:
    ts = _judged()
    found = gain(ts, _MADE, ["chrf"], n=[1], methods=["good"], resamples=200)
    rows = {str(r["comparison"]): r for r in found.table("decisions").rows}
    assert list(rows) == ["systems", "darr", "pairs"]
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
        assert row["repaired_low"] <= row["repaired_share"] <= row["repaired_high"]  # type: ignore[operator]  # numbers
    assert rows["systems"]["repaired_low"] is None


def test_intervals_hold_the_gain_and_share_their_draws() -> None:
    for over in ("segments", "systems"):
        (row,) = gain(_judged(), _MADE, ["bleu"], n=[1], methods=["good"], over=over).rows
        assert row["gain_low"] <= row["gain_high"]  # type: ignore[operator]  # numbers
    same = [Paraphrase(i + 1, text, "same") for i, text in enumerate(_REFERENCES)]
    (row,) = gain(_judged(), same, ["chrf"], n=[1]).rows
    assert (row["gain"], row["gain_low"], row["gain_high"]) == pytest.approx((0.0, 0.0, 0.0))


def test_segments_are_judged_by_rankings_and_by_scores() -> None:
    found = gain(_judged(), _MADE, ["chrf"], n=[1], methods=["good"])
    rows = {row["statistic"]: row for row in found.table("segments").rows}
    assert set(rows) == {"darr", "pearson", "kendall_b"}
    ts = _judged()
    scores = gnomon.score(ts, "chrf").segments
    expected = stats.darr_pairs(*scores[[[1, 1, 0], [0, 2, 3]], [0, 1, 2]])
    assert (rows["darr"]["base"], rows["darr"]["n"]) == (pytest.approx(expected), 3)
    wide = ts.with_paraphrases(_MADE, n=1, methods=["good"])
    expected = stats.pearson(
        ts.human_scores("da", "segment"), gnomon.score(wide, "chrf").segments, grouping="none"
    )
    assert rows["pearson"]["value"] == pytest.approx(float(expected))


def test_a_number_above_what_there_is_is_the_largest_that_there_is() -> None:
    found = gain(_judged(), _MADE, ["chrf"], n=[1, 5, 20], resamples=0)
    assert [(row["method"], row["paraphrases"]) for row in found] == [
        ("good", 1),
        ("good", 2),
        ("bad", 1),
    ]
    assert found.notices == (
        "good: no segment has more than 2 paraphrase(s)",
        "bad: no segment has more than 1 paraphrase(s)",
    )
    by_arm = {row["arm"]: row for row in found}
    assert by_arm["good 1"]["diversity"] is None
    assert by_arm["good 2"]["wordings"] == pytest.approx(4 / 3)
    assert by_arm["good 2"]["diversity"] == pytest.approx(1 - 2 * 1 / 7)


def test_several_test_sets_give_mean_least_and_greatest_gain() -> None:
    found = gain(
        [(_judged(), _MADE), (_judged((2.0, 1.0, 0.5, 0.0)), _MADE)],
        metrics=["chrf"],
        n=[1],
        methods=["good"],
        resamples=0,
    )
    gains = [float(str(row["gain"])) for row in found]
    (row,) = found.table("averages").rows
    assert (row["gain"], row["gain_min"], row["gain_max"], row["test_sets"]) == pytest.approx(
        (np.mean(gains), min(gains), max(gains), 2)
    )


def test_one_system_has_no_r_over_systems() -> None:
    ts = _judged().select(systems=["a"])
    (row,) = gain(ts, _MADE, ["chrf"], n=[1], methods=["good"]).rows
    assert (row["base"], row["gain"], row["pairs"]) == (None, None, 0)


def test_what_cannot_be_studied_is_refused() -> None:
    with pytest.raises(DataError, match="no paraphrase"):
        gain(_judged(), [])
    with pytest.raises(UnknownNameError):
        gain(_judged(), _MADE, methods=["none"])
    with pytest.raises(UnknownNameError):
        gain(_judged(), _MADE, over="words")
    with pytest.raises(UsageError):
        gain(_judged(), _MADE, n=[0])
    with pytest.raises(UsageError):
        gain(_judged(), _MADE, confidence=1.0)


def test_changed_words_are_marked() -> None:
    text = "the black cat  sat down"
    marks = [text[m.start : m.end] for m in changed(text, "the cat sat on it")]
    assert marks == ["black", "down"]
    assert changed("the cat", "the cat") == ()


def test_wordings_stand_side_by_side_and_by_method() -> None:
    wide = _judged().with_paraphrases(_MADE)
    found = show(wide, most=2, outputs=True)
    assert [(r["segment"], r["method"], r["number"]) for r in found] == [
        (1, "good", 1),
        (1, "bad", 1),
        (2, "good", 1),
        (2, "good", 2),
    ]
    assert [(e.group, e.segment) for e in found.exhibits] == [
        ("all methods", 1),
        ("all methods", 2),
        ("good", 1),
        ("good", 2),
        ("bad", 1),
    ]
    names = [(t.role, t.name) for t in found.exhibits[0].texts]
    assert names[:3] == [("reference", "A"), ("reference", "good.1"), ("reference", "bad.1")]
    assert ("candidate", "d") in names
    assert found.notices
    first = show(wide, most=1, order="change").rows[0]
    assert first["segment"] == 3
    with pytest.raises(DataError):
        show(_judged())
    with pytest.raises(UsageError):
        show(wide, most=0)


def test_hostile_paraphrases_stay_text() -> None:
    hostile = "</script><img src=x onerror=alert(1)>"
    wide = _judged().with_paraphrases([Paraphrase(1, hostile, "<b>evil</b>")])
    page = to_html([show(wide), gain(_judged(), [Paraphrase(1, hostile, "<b>e</b>")])])
    assert hostile not in page
    assert "<b>e" not in page


def test_the_paraphrases_of_a_score_are_told() -> None:
    assert paraphrases_used(_judged()) is None
    wide = _judged().with_paraphrases([*_MADE, Paraphrase(1, "a cat", "own", system="a")])
    found = paraphrases_used(wide)
    assert found is not None
    told = {row["set"]: (row["n"], row["count"], row["segments"]) for row in found}
    assert told == {"good": (2, 4, 3), "bad": (1, 1, 1), "own": (1, 1, 1)}
    assert all(str(row["identity"]) in str(wide.paraphrase_sets) for row in found)


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
    assert main(["paraphrase", "gain", "-t", *sets, "--paraphrases", made, *more]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {row["test_set"] for row in told["rows"]} == {"de-en", "lt-en"}
    assert {row["paraphrases"] for row in told["rows"]} == {1, 2}
    assert "Gain against the number of paraphrases" in page.read_text(encoding="utf-8")


def test_the_command_refuses_one_file_for_two_test_sets(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sets = [str(folder / pair) for pair in ("de-en", "lt-en")]
    made = str(folder / "de-en.made.jsonl")
    assert main(["paraphrase", "gain", "-t", *sets, "--paraphrases", made]) == 2
    assert "{pair}" in capsys.readouterr().err
    assert main(["paraphrase", "gain", "-t", sets[0]]) == 2
    assert "--paraphrases" in capsys.readouterr().err


def test_the_command_shows_wordings_side_by_side(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = str(folder / "de-en.made.jsonl")
    base = ["paraphrase", "show", "-t", str(folder / "de-en")]
    page = folder / "page.html"
    assert main([*base, "--paraphrases", made, "--html", str(page), "-f", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 5
    assert "the hound fled" in page.read_text(encoding="utf-8")
    assert main(base) == 2


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
    found = gain(ts, extra, ["bleu"], n=[1], human=["da-z", "darr"], adequacy="none")
    (row,) = [r for r in found.table("decisions").rows if r["comparison"] == "darr"]
    assert row["pairs"] == len(ranked) == 9728
    assert row["repaired"] == changes.count((False, True))
    assert row["broken"] == changes.count((True, False))
    assert row["wrong"] == changes.count((False, False))
    assert row["repaired_low"] < row["repaired_share"] < row["repaired_high"]  # type: ignore[operator]  # numbers
    (segments,) = found.table("segments").rows
    share = (row["repaired"] - row["broken"]) / 9728  # type: ignore[operator]  # numbers
    assert segments["gain"] == pytest.approx(2 * share)
    judged = gnomon.metaeval(
        ts, "bleu", ts.with_paraphrases(extra), human="darr", baseline="bleu", resamples=1000
    )
    (same,) = judged.table("decisions").rows
    assert {k: same[k] for k in ("comparison", "right", "repaired", "broken", "wrong")} == {
        k: row[k] for k in ("comparison", "right", "repaired", "broken", "wrong")
    }
    assert same["repaired_low"] == row["repaired_low"]


def test_five_human_paraphrases_bring_what_was_published(shared: Path) -> None:
    # r .8948 -> .9484, Williams's p .00375: Bawden et al. (2020), published scores
    ts = TestSet.read(shared / "data" / "wmt19" / "de-en").select(segments=range(500))
    files = sorted((shared / "data" / "paraphrases" / "wmt19-de-en-500").glob("ref.human?.txt"))
    made = gnomon.formats.read_paraphrases(files, segments=500)
    (row,) = gain(ts, made, ["bleu"], n=[5], resamples=0).rows
    assert (row["base"], row["value"]) == pytest.approx((0.894816, 0.948432), abs=5e-5)
    assert row["p"] == pytest.approx(0.00375314, abs=5e-5)
    assert (row["repaired"], row["broken"]) == (3, 0)
    # .4625 counts the few empty lines as wordings, which no metric does
    assert row["diversity"] == pytest.approx(0.4622, abs=5e-5)


def test_trees_are_parallel_to_their_test_set_and_as_many_as_paraphrases() -> None:
    trees = [[parse_tree("(A (B a))"), parse_tree("(A (C b))")]] * 3
    rows = gain(_judged(), _MADE, n=[1, 2], methods=["good"], resamples=0, trees={"good": trees})
    assert [row["syntactic"] is None for row in rows.rows] == [True, False]
    one = [group[:1] for group in trees]
    rows = gain(_judged(), _MADE, n=[1, 2], methods=["good"], resamples=0, trees={"good": one})
    assert rows.rows[1]["syntactic"] is None  # one tree of two paraphrases says nothing of both
    for wrong in (trees[:2], trees + trees[:1]):
        with pytest.raises(DataError, match=r"trees of 'good' are of \d segments, and there are 3"):
            gain(_judged(), _MADE, n=[1], trees={"good": wrong})
    with pytest.raises(DataError, match="trees of 1 test set"):
        gain([(_judged(), _MADE)] * 2, n=[1], trees={"good": trees})


def test_kinds_of_judgement_that_nobody_has_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UnknownNameError, match="da-zz"):
        gain(_judged(), _MADE, n=[1], human=["da", "da-zz"])
    _judged().write(tmp_path / "set")
    (tmp_path / "p.jsonl").write_text('{"segment": 1, "text": "x", "method": "m"}\n', "utf-8")
    base = ["paraphrase", "gain", "-t", str(tmp_path / "set")]
    base += ["--paraphrases", str(tmp_path / "p.jsonl")]
    assert main([*base, "--human", "no/such.da.sys.tsv"]) == 1
    assert "no/such.da.sys.tsv: there is no such file" in capsys.readouterr().err


def test_what_parses_is_of_the_language_of_the_test_set() -> None:
    ts = _judged()
    nameless = TestSet(name="set", references=ts.references, systems=ts.systems)
    with pytest.raises(DataError, match="which language 'set' is in"):
        gain(nameless, _MADE, n=[1], parse=True)
    other = TestSet(name="set", references=ts.references, systems=ts.systems, language_pair="en-xx")
    with pytest.raises(GnomonError, match="xx"):
        gain(other, _MADE, n=[1], parse=True)
