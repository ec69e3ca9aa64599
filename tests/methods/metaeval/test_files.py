"""Score files and files of human scores, in place of metrics and test sets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.told import notes

import gnomon as gn
from gnomon import metaeval
from gnomon.cli import main
from gnomon.core.errors import (
    DataError,
    FormatError,
    MissingFileError,
    UnknownNameError,
    UsageError,
)

NAMES = ("a", "b", "c", "d")


@pytest.fixture
def testset(tmp_path: Path):
    texts = {name: [f"{name} {i}" for i in range(3)] for name in NAMES}
    ts = gn.TestSet.from_lists(texts, ["r 0", "r 1", "r 2"], language_pair="de-en", name="wmt19")
    human = tmp_path / "de-en.da.sys.tsv"
    human.write_text("system\tz\na\t4\nb\t3\nc\t2\nd\t1\n", encoding="utf-8")
    return ts.with_human(human)


def write(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def wmt(name: str, pair: str = "de-en", test: str = "wmt19", values=(4, 3, 1, 2)) -> list[str]:
    return [f"{name}\t{pair}\t{test}\t{s}\t{v}" for s, v in zip(NAMES, values, strict=True)]


def test_wmt_lines_are_told_whatever_the_file_is_called(testset, tmp_path) -> None:
    for file in ("m.tsv", "m.txt", "m.sys.score", "m.wmt"):
        path = write(tmp_path / file, *wmt("BLEU"))
        (found,) = metaeval.metric_scores([path], [testset])["BLEU"]
        assert found.systems == NAMES
        assert found.system.tolist() == [4, 3, 1, 2]
        assert np.isnan(found.segments).all()


def test_segment_scores_alone_give_means_as_system_scores(testset, tmp_path) -> None:
    path = write(
        tmp_path / "m.tsv",
        "system\tsegment\tmetric\tscore",
        "a\t1\tX\t1",
        "a\t3\tX\t2",
        "b\t2\tX\t5",
    )
    (found,) = metaeval.metric_scores([path], [testset])["X"]
    assert found.system.tolist() == [1.5, 5.0]
    expected = [[1, np.nan, 2], [np.nan, 5, np.nan]]
    np.testing.assert_array_equal(found.segments, expected)


def test_system_and_segment_files_of_mt_metrics_eval_are_one_metric(testset, tmp_path) -> None:
    system = write(tmp_path / "COMET-refA.sys.score", *(f"{n}\t{k}" for k, n in enumerate(NAMES)))
    segments = write(tmp_path / "COMET-refA.seg.score", *(f"{n}\t1" for n in NAMES for _ in "123"))
    (found,) = metaeval.metric_scores([system, segments], [testset])["COMET"]
    assert found.system.tolist() == [0, 1, 2, 3]
    assert (found.segments == 1).all()
    assert str(found.signature).startswith("scores('COMET-refA.sys.score')|file:")
    assert "+" in str(found.signature)


def test_a_score_given_twice_is_refused_with_what_to_do(testset, tmp_path) -> None:
    files = [write(tmp_path / f"{k}.tsv", *wmt("BLEU")) for k in (1, 2)]
    with pytest.raises(UsageError, match=r"scores 'a' under 'BLEU' again.*NAME=FILE"):
        metaeval.metric_scores(files, [testset])
    found = metaeval.metric_scores([files[0], f"other={files[1]}"], [testset])
    assert list(found) == ["BLEU", "other"]
    assert list(metaeval.metric_scores({"x": files[0]}, [testset])) == ["x"]
    both = write(tmp_path / "both.tsv", *wmt("BLEU"), *wmt("TER"))
    with pytest.raises(UsageError, match="cannot be called x: it holds several metrics: BLEU, TER"):
        metaeval.metric_scores([f"x={both}"], [testset])
    again = write(tmp_path / "again.tsv", *wmt("BLEU"), *wmt("BLEU"))
    with pytest.raises(FormatError, match="a second score of a"):
        metaeval.metric_scores([again], [testset])


def test_files_of_several_pairs_and_test_sets_serve_those_at_hand(testset, tmp_path) -> None:
    lines = [*wmt("M"), *wmt("M", pair="fi-en"), *wmt("M", test="wmt18", values=(0, 0, 0, 0))]
    path = write(tmp_path / "m.tsv", *lines)
    (found,) = metaeval.metric_scores([path], [testset])["M"]
    assert found.system.tolist() == [4, 3, 1, 2]


def test_a_file_says_its_language_pair_line_by_line_or_in_its_name(testset, tmp_path) -> None:
    other = gn.TestSet.from_lists(
        dict(testset.systems), ["r"] * 3, language_pair="fi-en", name="wmt19"
    )
    table = ("system\tmetric\tscore", "a\tX\t1", "b\tX\t2")
    told = write(tmp_path / "x.fi-en.tsv", *table)
    assert metaeval.metric_scores([told], [testset, other])["X"][0] is None
    folder = write(tmp_path / "metric-scores/de-en/X.tsv", *table)
    assert metaeval.metric_scores([folder], [testset, other])["X"][1] is None
    untold = write(tmp_path / "x.tsv", *table)
    with pytest.raises(UsageError, match="nothing tells which one it belongs to"):
        metaeval.metric_scores([untold], [testset, other])


def test_scores_of_unknown_systems_and_segments_are_refused(testset, tmp_path) -> None:
    strange = write(tmp_path / "s.tsv", "system\tmetric\tscore", "zz\tX\t1")
    with pytest.raises(DataError, match=r"none of its systems is in test set 'wmt19'.*unknown"):
        metaeval.metric_scores([strange], [testset])
    beyond = write(tmp_path / "b.tsv", "system\tsegment\tmetric\tscore", "a\t4\tX\t1")
    with pytest.raises(DataError, match=r"b\.tsv:2: a score of segment 4; there are 3 segments"):
        metaeval.metric_scores([beyond], [testset])


def test_a_file_for_other_language_pairs_is_refused(testset, tmp_path) -> None:
    path = write(tmp_path / "m.tsv", *wmt("M", "fi-en"))
    with pytest.raises(DataError, match=r"no scores for any of the test sets \(de-en\)"):
        metaeval.metric_scores([path], [testset])


def test_error_rates_in_files_are_named_by_the_user(testset, tmp_path) -> None:
    path = write(tmp_path / "ter.tsv", *wmt("TER", values=(1, 2, 3, 4)))
    scores = metaeval.metric_scores([path], [testset], lower_is_better=["TER"])
    found = gn.metaeval([testset], scores, statistics=["pearson"], resamples=0)
    assert found.rows[0]["value"] == pytest.approx(1.0)
    with pytest.raises(UnknownNameError, match="unknown metric of the score files 'TERR'"):
        metaeval.metric_scores([path], [testset], lower_is_better=["TERR"])


def test_human_scores_and_score_files_need_no_texts(tmp_path) -> None:
    human = [
        write(tmp_path / f"{pair}.da.sys.tsv", "system\tz", "a\t4", "b\t3", "c\t2")
        for pair in ("de-en", "fi-en")
    ]
    files = [write(tmp_path / "m.tsv", *wmt("M"), *wmt("M", "fi-en", values=(1, 2, 3, 4)))]
    testsets = metaeval.textless(human, files)
    assert [ts.language_pair for ts in testsets] == ["de-en", "fi-en"]
    found = gn.metaeval(human=human, scores=files, resamples=0)
    assert {row["human"] for row in found} == {"da-z", None}
    values = {row["language_pair"]: row["value"] for row in found if row["statistic"] == "spearman"}
    assert values == {"de-en": pytest.approx(1.0), "fi-en": pytest.approx(-1.0), "average": 0.0}
    assert any("d" in n and "without human system scores" in n for n in notes(found.notices))
    assert {r["metric"] for r in found if r["control"]} == {"control: constant", "control: random"}


@pytest.mark.parametrize("form", ["tsv", "score"])
def test_without_a_test_set_people_may_judge_segments_that_no_file_scores(tmp_path, form) -> None:
    judged = {"a": (5, 3, 4), "b": (3, 4, 2), "c": (1, 2, 3)}
    lines = [f"{name}\t{score}" for name, own in judged.items() for score in own]
    if form == "tsv":
        numbered = [f"{line.split()[0]}\t{n % 3 + 1}\t{line[2:]}" for n, line in enumerate(lines)]
        lines = ["system\tseg\tmqm", *numbered]
    human = write(tmp_path / f"de-en.mqm.seg.{form}", *lines)
    totals = write(tmp_path / "M-refA.sys.score", "a\t30", "b\t28", "c\t29")
    part = write(tmp_path / "P.tsv", "system\tsegment\tscore", "a\t1\t9", "b\t1\t8", "c\t1\t7")
    found = gn.metaeval(human=human, scores=[totals, part], statistics=["pearson"], resamples=0)
    rows = {(r["metric"], r["level"], r["grouping"]): r for r in found}
    means = [np.mean(own) for own in judged.values()]
    expected = np.corrcoef(means, [30, 28, 29])[0, 1]
    assert rows["M", "system", "none"]["value"] == pytest.approx(expected)
    alone = rows["P", "segment", "item"]
    assert (alone["value"], alone["n"]) == (pytest.approx(1), 3)


def test_metrics_cannot_score_what_has_no_texts(tmp_path) -> None:
    human = write(tmp_path / "de-en.da.sys.tsv", "system\tz", "a\t4", "b\t3", "c\t2")
    files = [write(tmp_path / "m.tsv", *wmt("M"))]
    with pytest.raises(DataError, match="'bleu' needs references; 'de-en' has none"):
        gn.metaeval(metaeval.textless([human], files), ["bleu"])
    sourced = gn.metric(lambda candidate, source: candidate == source, name="m", needs=["sources"])
    with pytest.raises(UsageError, match="holds no texts, so that metrics cannot score it"):
        gn.metaeval(metaeval.textless([human], files), [sourced], human=human)


def test_files_are_taken_like_the_sets_and_scores_that_they_hold(testset, tmp_path) -> None:
    esa = write(tmp_path / "more.sys.tsv", "system\tesa", "a\t1", "b\t3", "c\t2", "d\t4")
    file = write(tmp_path / "m.tsv", *wmt("M"))
    held, kinds = metaeval.add_judgements([testset], {"esa": esa})
    made = metaeval.metric_scores({"X": file}, held, lower_is_better=["X"])
    options = {"levels": ["system"], "resamples": 0}
    direct = gn.metaeval(held, {"chrf": "chrf", **made}, human=kinds, **options)
    asked = {"scores": {"X": file}, "lower_is_better": ["X"], "human": [f"esa={esa}"]}
    assert gn.metaeval(testset, "chrf", **asked, **options) == direct
    named = gn.metaeval(testset, "chrf", **{**asked, "scores": f"X={file}"}, **options)
    assert named == direct
    alone = gn.metaeval(testset, **asked, **options)
    assert {row["metric"] for row in alone if not row["control"]} == {"X"}
    with pytest.raises(UnknownNameError, match="kind of human scores 'mqm'"):
        gn.metaeval(testset, "chrf", human=["mqm", esa], **options)


def test_nothing_at_all_is_answered_with_what_to_name() -> None:
    with pytest.raises(UsageError, match="name a test set with human scores"):
        gn.metaeval()


def test_files_of_judgements_find_their_test_set_by_name(testset, tmp_path) -> None:
    other = gn.TestSet.from_lists(
        dict(testset.systems), ["r"] * 3, language_pair="fi-en", name="wmt19"
    )
    lines = ("system\tz", "a\t4", "b\t3", "c\t2")
    file = write(tmp_path / "fi-en.own.sys.tsv", *lines)
    sets, kinds = metaeval.add_judgements([testset, other], [file])
    assert not set(kinds) & set(sets[0].human_kinds("system"))
    assert set(kinds) <= set(sets[1].human_kinds("system"))
    untold = write(tmp_path / "own.sys.tsv", *lines)
    with pytest.raises(UsageError, match="neither its name nor its folder tells"):
        metaeval.add_judgements([testset, other], [untold])
    (renamed,), kinds = metaeval.add_judgements([testset], [f"mine={untold}"])
    assert kinds == ("mine-z",)
    assert "mine-z" in renamed.human_kinds("system")


def test_scores_for_no_judged_pair_are_told(tmp_path) -> None:
    human = write(tmp_path / "de-en.da.sys.tsv", "system\tz", "a\t4", "b\t3")
    files = [write(tmp_path / "m.tsv", *wmt("M", "fi-en"))]
    with pytest.raises(UsageError, match="no score file holds scores of de-en"):
        metaeval.textless([human], files)


def grid(name: str, *gone: tuple[str, int]) -> list[str]:
    """WMT lines of three segments of each system, some left out."""
    return [
        f"{name}\tde-en\twmt19\t{s}\t{n}\t{k + n}"
        for k, s in enumerate(NAMES)
        for n in (1, 2, 3)
        if (s, n) not in gone
    ]


def said(testset, *lines: str, folder: Path, **options: object) -> list[str]:
    """Notices on the scores of a file."""
    scores = metaeval.metric_scores([write(folder / "m.wmt", *lines)], [testset])
    found = gn.metaeval([testset], scores, resamples=0, **options)
    return [
        notice
        for notice in notes(found.notices)
        if "draws" not in notice and "test of" not in notice
    ]


def test_a_system_that_lacks_most_of_its_scores_is_named(testset, tmp_path) -> None:
    notices = said(testset, *grid("M", ("b", 1), ("b", 3)), folder=tmp_path, levels=["system"])
    told = "scores by M: of 3 segments, b has 1; means over unlike segments do not"
    assert any(told in notice for notice in notices)


def test_a_judged_reference_is_no_output_that_lacks_scores(testset, tmp_path) -> None:
    human = tmp_path / "de-en.mqm.sys.tsv"
    human.write_text("system\tz\na\t4\nb\t3\nc\t2\nd\t1\nrefA\t5\n", encoding="utf-8")
    found = gn.metaeval(
        testset.with_human(human), ["chrf"], human=["de-en.mqm-z"], levels=["system"]
    )
    assert {row["missing"] for row in found.rows if row["metric"] == "chrf"} == {0}


def test_an_explicit_missing_score_counts_as_missing(testset, tmp_path) -> None:
    lines = [*grid("M", ("c", 2)), "M\tde-en\twmt19\tc\t2\tNone"]
    assert any("segments, c has 2;" in one for one in said(testset, *lines, folder=tmp_path))


def test_equal_numbers_of_unlike_segments_are_told_from_equal_segments(testset, tmp_path) -> None:
    unlike = [("a", 1), ("b", 2), ("c", 2), ("d", 2)]
    (told,) = (n for n in said(testset, *grid("M", *unlike), folder=tmp_path) if "scores by" in n)
    assert "a has 2, b has 2, c has 2 and d has 2; means over unlike segments" in told
    alike = [(name, 2) for name in NAMES]
    assert not any("scores by" in n for n in said(testset, *grid("M", *alike), folder=tmp_path))


def test_complete_scores_are_not_spoken_of(testset, tmp_path) -> None:
    notices = said(testset, *grid("M"), folder=tmp_path)
    assert not any("segments" in notice or "score by" in notice for notice in notices)


def test_systems_without_scores_and_scores_without_a_system_are_named(testset, tmp_path) -> None:
    lines = [*(x for x in grid("M") if "\td\t" not in x), "M\tde-en\twmt19\tdd\t1\t4"]
    notices = "\n".join(said(testset, *lines, folder=tmp_path))
    assert (
        "systems that people judged, but M did not score, left out of its figures: d\n" in notices
    )
    assert "systems that M scored, but the test set does not have, left out: dd" in notices
    people = tmp_path / "esa.seg.tsv"
    write(people, "system\tseg\tesa", *(f"{s}\t{n}\t{n}" for s in "ab" for n in (1, 2, 3)))
    judged = testset.with_human(people)
    notices = "\n".join(said(judged, *lines, folder=tmp_path, human="esa", levels=["segment"]))
    assert "wmt19 de-en: systems without a score by M: d" in notices


def test_people_who_scored_unlike_segments_are_spoken_of(testset, tmp_path) -> None:
    rows = [f"{s}\t{n}\t{n}" for s in NAMES for n in (1, 2, 3) if (s, n) != ("a", 2)]
    judged = testset.with_human(write(tmp_path / "esa.seg.tsv", "system\tseg\tesa", *rows))
    notices = said(judged, *grid("M", ("b", 1)), folder=tmp_path, human="esa")
    assert any("human scores: of 3 segments, a has 2;" in n for n in notices)
    assert any("M lacks 1 of 11 segment scores that people gave (b 1 of 3)" in n for n in notices)


def test_ranked_pairs_that_a_metric_lacks_are_counted(testset, tmp_path) -> None:
    rows = ("seg\tbetter\tworse", "1\ta\tb", "2\ta\tb", "3\tc\td")
    ranked = testset.with_human(write(tmp_path / "de-en.darr.seg.tsv", *rows))
    notices = said(ranked, *grid("M", ("b", 2)), folder=tmp_path)
    assert any("M lacks a score of 1 of 3 ranked pairs" in notice for notice in notices)


def test_the_table_of_systems_says_on_how_many_segments_a_score_rests(testset, tmp_path) -> None:
    scores = metaeval.metric_scores(
        [write(tmp_path / "m.wmt", *grid("M", ("b", 1))), write(tmp_path / "w.wmt", *wmt("W"))],
        [testset],
    )
    found = gn.metaeval([testset], scores, resamples=0)
    rows = {(row["metric"], row["system"]): row["segments"] for row in found.table("systems").rows}
    assert rows["M", "a"] == 3
    assert rows["M", "b"] == 2
    assert rows["W", "a"] is None


@pytest.mark.parametrize("form", ["text", "json", "tsv", "latex", "markdown", "html"])
def test_every_format_says_which_system_lacks_scores(testset, tmp_path, capsys, form) -> None:
    human = write(tmp_path / "de-en.esa.sys.tsv", "system\tesa", "a\t9", "b\t8", "c\t7", "d\t5")
    file, page = write(tmp_path / "m.wmt", *grid("M", ("b", 1))), tmp_path / "x.html"
    given = ["--human", f"esa={human}", "--scores", str(file), "--resamples", "0", "--levels"]
    more = ["system", "--html", str(page)] if form == "html" else ["system", "-f", form, "-v"]
    assert main(["metaeval", *given, *more]) == 0
    answer = capsys.readouterr()
    text = page.read_text(encoding="utf-8") if form == "html" else answer.out + answer.err
    assert "of 3 segments, b has 2;" in " ".join(text.split())


@pytest.mark.parametrize("level", ["seg", "sys"])
def test_an_empty_score_file_is_an_error_of_ours(testset, tmp_path, level) -> None:
    file = write(tmp_path / f"m-A.{level}.score")
    for given in ([file], {"X": file}):
        with pytest.raises(FormatError, match=rf"m-A\.{level}\.score: holds no scores"):
            metaeval.metric_scores(given, [testset])


def test_a_wmt_line_that_lost_a_field_is_refused_by_its_number(testset, tmp_path) -> None:
    lines = grid("M")
    lines[3] = lines[3].rpartition("\t")[0]
    with pytest.raises(FormatError, match=r"m\.wmt:4: the score of a system, where line 1 has"):
        metaeval.metric_scores([write(tmp_path / "m.wmt", *lines)], [testset])


def test_scores_whose_sum_is_infinite_are_refused(testset, tmp_path) -> None:
    lines = ["system\tsegment\tscore", *(f"a\t{n}\t1.7e308" for n in (1, 2, 3))]
    with pytest.raises(DataError, match=r"m\.tsv: the scores of 'a' are so large that their sum"):
        metaeval.metric_scores([write(tmp_path / "m.tsv", *lines)], [testset])


def test_without_a_test_set_a_number_of_a_segment_far_beyond_the_others_is_refused(
    tmp_path,
) -> None:
    human = write(tmp_path / "de-en.da.sys.tsv", "system\tz", "a\t4", "b\t3")
    lines = ["system\tsegment\tscore", "a\t1\t1", "b\t1000000000000\t1"]
    with pytest.raises(DataError, match="score segment 1000000000000, but 2 segments in all"):
        metaeval.textless([human], [write(tmp_path / "m.tsv", *lines)])


# Folders of score files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A test set as mt-metrics-eval lays it out, with references that people judged."""
    root = tmp_path / "wmt30"
    for pair in ("de-en", "fi-en"):
        write(root / f"sources/{pair}.txt", *(f"s {i}" for i in range(3)))
        for ref in ("refA", "refB"):
            write(root / f"references/{pair}.{ref}.txt", *(f"{ref} text {i}" for i in range(3)))
            write(root / f"system-outputs/{pair}/{ref}.txt", *(f"{ref} text {i}" for i in range(3)))
        for name in NAMES:
            write(root / f"system-outputs/{pair}/{name}.txt", *(f"{name} {i}" for i in range(3)))
        write(root / f"documents/{pair}.docs", "news d1", "news d1", "chat d2")
        judged = [f"{s}\t{9 - k - i % 2}" for k, s in enumerate((*NAMES, "refB")) for i in range(3)]
        write(root / f"human-scores/{pair}.mqm.seg.score", *judged)
        own = root / "metric-scores" / pair
        scored = (*NAMES, "refB")
        for metric, sign in (("COMET-22", 1), ("BLEU", -1)):
            cells = [f"{s}\t{sign * (5 - k - i)}" for k, s in enumerate(scored) for i in range(3)]
            write(own / f"{metric}-refA.seg.score", *cells)
            totals = [f"{s}\t{sign * (5 - k)}" for k, s in enumerate(scored)]
            write(own / f"{metric}-refA.sys.score", *totals)
        write(own / "BLEU-refB.sys.score", *(f"{s}\t{k}" for k, s in enumerate(NAMES)))
        write(own / "BLEU-refA.domain.score", *(f"news\t{s}\t{k}" for k, s in enumerate(NAMES)))
    return root


def test_a_folder_stands_for_its_score_files(folder) -> None:
    ts = gn.TestSet.read(folder, language_pair="de-en")
    found = metaeval.metric_scores([folder / "metric-scores"], [ts])
    assert list(found) == ["BLEU-refA", "BLEU-refB", "COMET-22"]
    (comet,) = found["COMET-22"]
    assert comet.system.tolist() == [5, 4, 3, 2, 1]
    assert comet.segments[0].tolist() == [5, 4, 3]
    with pytest.raises(UsageError, match="is a folder of several metrics"):
        metaeval.metric_scores([f"x={folder / 'metric-scores'}"], [ts])
    (folder / "empty").mkdir()
    with pytest.raises(DataError, match="holds no file of scores"):
        metaeval.metric_scores([folder / "empty"], [ts])


def test_each_test_set_takes_its_language_pair_of_a_folder(folder) -> None:
    sets = [gn.TestSet.read(folder, language_pair=pair) for pair in ("de-en", "fi-en")]
    found = metaeval.metric_scores([folder / "metric-scores"], sets)
    assert all(len(each) == 2 and None not in each for each in found.values())
    (only,) = [metaeval.metric_scores([folder / "metric-scores/fi-en"], [sets[1]])]
    assert list(only) == list(found)
    with pytest.raises(DataError, match="holds no scores for any of the test sets"):
        metaeval.metric_scores([folder / "metric-scores/fi-en"], [sets[0]])


def test_own_scores_are_those_in_the_folder_of_the_test_set(folder, testset) -> None:
    ts = gn.TestSet.read(folder, language_pair="de-en")
    found = gn.metaeval(ts, scores="metric-scores", resamples=0)
    metrics = {row["metric"] for row in found if not row["control"]}
    assert metrics == {"BLEU-refA", "BLEU-refB", "COMET-22"}
    given = gn.metaeval(ts, scores=[str(folder / "metric-scores")], resamples=0, by="domain")
    assert [row for row in given if row["slice"] is None] == list(found)
    with pytest.raises(MissingFileError, match="metric-scores"):
        gn.metaeval(testset, scores="metric-scores")


def test_own_scores_are_judged_from_the_command_line(folder, capsys) -> None:
    options = ["--scores", "metric-scores", "--preset", "wmt24", "-f", "tsv", "-q"]
    options += ["--resamples", "0"]
    assert main(["metaeval", "-t", *(str(folder / p) for p in ("de-en", "fi-en")), *options]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()[1:]]
    assert {row[4] for row in rows if row[0] == "fi-en"} >= {"COMET-22", "BLEU-refA"}
    assert {row[0] for row in rows} == {"de-en", "fi-en", "average"}


def _lay_out(root: Path, ts: gn.TestSet, of: Path) -> None:
    """A test set of one pair in mt-metrics-eval's folders, with chrF, sentence BLEU and TER."""
    pair = ts.language_pair
    write(root / f"sources/{pair}.txt", *ts.sources)
    write(root / f"references/{pair}.refA.txt", *ts.references["A"])
    documents = (f"news doc{number // 10}" for number in range(len(ts.sources)))
    write(root / f"documents/{pair}.docs", *documents)
    for name, texts in ts.systems.items():
        write(root / f"system-outputs/{pair}/{name}.txt", *texts)
    judged = (of / "human/da-z.sys.tsv").read_text(encoding="utf-8").splitlines()[1:]
    write(root / f"human-scores/{pair}.wmt-z.sys.score", *judged)
    for spec, name in (("chrf", "chrF"), ("bleu", "sentBLEU"), ("ter", "TER-2006")):
        scores = gn.score(ts, spec)
        sign = 1 if scores.higher_is_better else -1
        own = root / "metric-scores" / str(pair)
        cells = zip(scores.systems, scores.segments, strict=True)
        lines = (f"{system}\t{sign * one}" for system, row in cells for one in row)
        write(own / f"{name}-refA.seg.score", *lines)
        totals = zip(scores.systems, scores.system, strict=True)
        write(own / f"{name}-refA.sys.score", *(f"{s}\t{sign * one}" for s, one in totals))


def test_own_scores_of_a_real_set_say_what_its_texts_say(shared, tmp_path) -> None:
    sets = []
    for pair in ("kk-en", "lt-en"):
        of = shared / "data/wmt19" / pair
        sets.append(gn.TestSet.read(of).select(segments=range(60)))
        _lay_out(tmp_path / "wmt19", sets[-1], of)
    laid = [gn.TestSet.read(tmp_path / "wmt19", language_pair=one.language_pair) for one in sets]
    few = {"levels": ["system"], "statistics": ["pearson", "kendall_b"], "resamples": 0}
    names = {"chrF": "chrf", "sentBLEU": "bleu", "TER-2006": "ter"}
    told = gn.metaeval(laid, scores="metric-scores", **few)
    computed = gn.metaeval(sets, list(names.values()), **few)
    key = ("language_pair", "statistic", "metric")
    expected = {tuple(row[k] for k in key): row["value"] for row in computed}
    found = {(*(row[k] for k in key[:2]), names[row["metric"]]): row["value"] for row in told}
    assert len(found) == 3 * 2 * 3  # metrics, statistics, two pairs and their average
    assert found == pytest.approx(expected, abs=1e-12)


# References that people judged


def test_a_reference_that_people_judged_is_a_system_and_no_reference(folder) -> None:
    ts = gn.TestSet.read(folder, language_pair="de-en")
    options = {"statistics": ["pearson"], "levels": ["system"], "resamples": 0}
    left_out = gn.metaeval(ts, "chrf", **options)
    assert any(
        "human translations are left out: refA and refB" in n for n in notes(left_out.notices)
    )
    found = gn.metaeval(ts, "chrf", reference_systems=["refB"], **options)
    systems = {row["system"]: row["score"] for row in found.table("systems").rows}
    alone = gn.score(ts.select(references=["refA"]), "chrf")
    expected = dict(zip(alone.systems, alone.system.tolist(), strict=True))
    assert systems == {name: expected[name] for name in (*NAMES, "refB")}
    assert systems["refB"] < 100
    assert found.rows[0]["n"] == left_out.rows[0]["n"] + 1
    with pytest.raises(DataError, match="nobody judged the reference 'refA'"):
        gn.metaeval(ts, "chrf", reference_systems=["refA"], **options)
    with pytest.raises(UnknownNameError, match="unknown reference 'refC'"):
        gn.metaeval(ts, "chrf", reference_systems=["refC"], **options)


def test_people_may_call_a_reference_otherwise(testset, tmp_path) -> None:
    human = write(
        tmp_path / "de-en.mqm.sys.tsv", "system\tmqm", "a\t-1", "b\t-2", "c\t-3", "ref-B\t-.5"
    )
    references = {"A": ("r 0", "r 1", "r 2"), "B": ("q", "q 1", "r")}
    ts = replace(testset, references=references, human=()).with_human(human)
    found = gn.metaeval(
        ts, "chrf", reference_systems=["B"], resamples=0, statistics=["pearson"], levels=["system"]
    )
    assert {row["system"] for row in found.table("systems").rows} == {"a", "b", "c", "ref-B"}


# Segments that people judged, and segments that a metric scored


def test_unlike_segments_of_people_and_metrics_are_told_with_their_numbers(folder) -> None:
    ts = gn.TestSet.read(folder, language_pair="de-en")
    judged = folder / "human-scores/de-en.mqm.seg.score"
    lines = judged.read_text(encoding="utf-8").splitlines()
    holed = [line if i % 3 else f"{line.split()[0]}\tNone" for i, line in enumerate(lines)]
    write(judged, *holed)
    partly = gn.TestSet.read(folder, language_pair="de-en")
    said = "people (mqm) judged 2 of 3 segments, and bleu scored 3, of which people judged 2"
    for levels, told in ((["system"], True), (["segment"], False)):
        found = gn.metaeval(partly, "bleu", levels=levels, resamples=0)
        assert any(said in notice for notice in notes(found.notices)) is told
    whole = gn.metaeval(ts, "bleu", levels=["system"], resamples=0)
    assert not any("people (mqm) judged" in notice for notice in notes(whole.notices))
