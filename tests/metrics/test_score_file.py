"""``scores('FILE')``: what other tools said, as a metric."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

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
    SpecError,
    UnknownNameError,
    UsageError,
)
from gnomon.data.formats import write_segment_scores
from gnomon.metrics import parse

if TYPE_CHECKING:
    from pathlib import Path

    from gnomon.core.testset import TestSet

SCORES = {"a": [1.0, 2.0, 4.5], "b": [0.25, -1.0, 3.0]}


@pytest.fixture
def testset() -> TestSet:
    texts = {name: [f"{name} {i}" for i in range(3)] for name in SCORES}
    return gn.TestSet.from_lists(
        texts, ["r 0", "r 1", "r 2"], sources=["s 0", "s 1", "s 2"], language_pair="de-en"
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    lines = [f"{s}\t{n}\t{v}" for s, row in SCORES.items() for n, v in enumerate(row, start=1)]
    return write(tmp_path / "f.tsv", "system\tsegment\tscore", *lines)


def write(path: Path, *lines: str) -> Path:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def spec(path: Path, rest: str = "") -> str:
    return f"scores({str(path)!r}{rest})"


def test_segment_scores_are_the_files_and_system_scores_their_means(testset, file) -> None:
    scores = gn.score(testset, spec(file))
    np.testing.assert_array_equal(scores.segments, list(SCORES.values()))
    np.testing.assert_allclose(scores.system, [2.5, 0.75], rtol=1e-15)
    assert scores.higher_is_better


def test_systems_and_segments_are_found_by_name_and_number(testset, file) -> None:
    backwards = file.read_text(encoding="utf-8").splitlines()
    write(file, backwards[0], *backwards[:0:-1])
    bound = parse(spec(file)).bind(testset)
    part = testset.batch().select(systems=[1], segments=[2, 0])
    assert bound.segments(part).tolist() == [[3.0, 0.25]]
    assert bound.segments(testset.select(systems=["b"]).batch()).tolist() == [SCORES["b"]]


@pytest.mark.parametrize("name", ["x.tsv", "x.csv", "x.jsonl", "bleu-ref.seg.score"])
def test_every_format_that_gnomon_writes_reads_as_the_same_metric(testset, tmp_path, name) -> None:
    wanted = gn.score(testset, "chrf")
    write_segment_scores(tmp_path / name, [wanted], testset)
    found = gn.score(testset, spec(tmp_path / name))
    np.testing.assert_array_equal(found.segments, wanted.segments)


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("x.tsv", ("system\tmetric\tscore", "a\tm\t1.5", "b\tm\t0.25")),
        ("x.wmt", ("m de-en set a 1.5", "m de-en set b 0.25")),
        ("m-ref.sys.score", ("a\t1.5", "b\t0.25")),
    ],
)
def test_scores_of_systems_alone_are_taken_as_they_are(testset, tmp_path, name, lines) -> None:
    found = gn.score(testset, spec(write(tmp_path / name, *lines)))
    assert found.system.tolist() == [1.5, 0.25]
    assert np.isnan(found.segments).all()
    assert found.statistics is None
    assert notes(found.notices) == ()


def test_scores_of_systems_say_nothing_of_slices(testset, tmp_path) -> None:
    path = write(tmp_path / "f.tsv", "system\tscore", "a\t1", "b\t2")
    bound = parse(spec(path)).bind(testset)
    with pytest.raises(UsageError, match="say nothing of 2 of 3 segments"):
        bound.system(testset.batch().select(segments=[0, 2]))
    assert bound.system(testset.batch().select(systems=[1])).tolist() == [2.0]


def test_the_files_own_system_scores_win_over_means(testset, tmp_path) -> None:
    rows = [{"system": s, "score": 10 * k} for k, s in enumerate(SCORES)]
    rows += [{"system": s, "segment": n, "score": 1} for s in SCORES for n in (1, 2, 3)]
    path = write(tmp_path / "f.jsonl", *map(json.dumps, rows))
    found = gn.score(testset, spec(path))
    assert found.system.tolist() == [0.0, 10.0]
    assert (found.segments == 1).all()


def test_resampling_uses_sums_of_the_files_scores(testset, file) -> None:
    bound = parse(spec(file)).bind(testset)
    assert "statistics" in bound.can
    drawn = bound.statistics(testset.batch())[:, [0, 0, 2]].sum(axis=1)
    np.testing.assert_allclose(bound.aggregate(drawn), [6.5 / 3, 3.5 / 3])


def test_another_column_and_another_direction_can_be_named(testset, tmp_path) -> None:
    lines = [f"{s}\t{n}\t7\t{n}" for s in SCORES for n in (1, 2, 3)]
    path = write(tmp_path / "f.tsv", "system\tseg\tscore\tter", *lines)
    scores = gn.score(testset, spec(path, ", column='ter', lower_is_better=True"))
    assert scores.segments.tolist() == [[1, 2, 3]] * 2
    assert not scores.higher_is_better
    with pytest.raises(FormatError, match=r"f\.tsv:2: unknown column or key 'tar'; did you mean"):
        gn.score(testset, spec(path, ", column='tar'"))


def test_one_of_several_metrics_is_named(testset, tmp_path) -> None:
    wanted = [gn.score(testset, name) for name in ("bleu", "chrf")]
    write_segment_scores(tmp_path / "f.tsv", wanted, testset)
    found = gn.score(testset, spec(tmp_path / "f.tsv", ", metric='chrf'"))
    np.testing.assert_array_equal(found.segments, wanted[1].segments)
    with pytest.raises(UsageError, match=r"several metrics: bleu, chrf; name one.*metric='bleu'"):
        gn.score(testset, spec(tmp_path / "f.tsv"))
    with pytest.raises(UnknownNameError, match="did you mean 'chrf'"):
        gn.score(testset, spec(tmp_path / "f.tsv", ", metric='chr'"))


def test_the_signature_names_the_file_and_hashes_its_content(testset, file, tmp_path) -> None:
    first = str(gn.score(testset, spec(file)).signature)
    (tmp_path / "other").mkdir()
    same = tmp_path / "other" / "f.tsv"
    same.write_bytes(file.read_bytes())
    assert str(gn.score(testset, spec(same)).signature) == first
    assert first.startswith("scores('f.tsv')|file:")
    same.write_text(file.read_text(encoding="utf-8").replace("4.5", "4.25"), encoding="utf-8")
    assert str(gn.score(testset, spec(same)).signature) != first
    assert parse(first).spec == "scores('f.tsv')"


@pytest.mark.parametrize("rest", ["", ", column='score'"])
def test_metaeval_signs_score_files_alike(testset, file, rest) -> None:
    (told,) = metaeval.metric_scores([file], [testset])["f"]
    assert told is not None
    assert str(told.signature) == str(gn.score(testset, spec(file, rest)).signature)


def test_metaeval_reads_another_column_too(testset, tmp_path) -> None:
    path = write(tmp_path / "f.tsv", "system\tcomet", "a\t1", "b\t2")
    (told,) = metaeval.metric_scores([f"{path}:comet"], [testset])["f"]
    assert told is not None
    assert told.system.tolist() == [1.0, 2.0]
    assert told.signature.spec == "scores('f.tsv', column='comet')"


def test_missing_scores_are_undefined_and_said(testset, tmp_path) -> None:
    lines = [f"{s}\t{'None' if n == 2 and s == 'a' else n}" for s in SCORES for n in (1, 2, 3)]
    scores = gn.score(testset, spec(write(tmp_path / "M-r.seg.score", *lines)))
    assert np.isnan(scores.segments).tolist() == [[False, True, False], [False] * 3]
    assert scores.system.tolist() == [2.0, 2.0]
    assert "1 of 6 scores of segments are missing in the file" in notes(scores.notices)[0]
    assert "of 3 segments, a has 2; means over unlike" in notes(scores.notices)[0]


def test_some_whole_systems_among_segments_are_refused(testset, tmp_path) -> None:
    rows = [{"system": "a", "score": 10}]
    rows += [{"system": s, "segment": n, "score": 1} for s in SCORES for n in (1, 2, 3)]
    path = write(tmp_path / "f.jsonl", *map(json.dumps, rows))
    with pytest.raises(DataError, match="scores some systems as a whole, and not b; give all"):
        gn.score(testset, spec(path))


def test_scores_whose_sum_is_infinite_are_refused(testset, tmp_path) -> None:
    lines = [f"{s}\t{n}\t1.7e308" for s in SCORES for n in (1, 2, 3)]
    with pytest.raises(DataError, match=r"f\.tsv: the scores of 'a' are so large"):
        gn.score(testset, spec(write(tmp_path / "f.tsv", "system\tsegment\tscore", *lines)))


@pytest.mark.parametrize(
    ("lines", "error", "problem"),
    [
        (["a\t1\t1", "b\t1\t1"], DataError, "lacks 2 of the 3 segments of system 'a', the first"),
        (["a\t1\t1", "a\t2\t1", "a\t3\t1"], DataError, r"scores no system 'b' of test set"),
        (["aa\t1\t1", "b\t1\t1"], DataError, r"scores no system 'a'.*did you mean 'aa'"),
        (["a\t1\t1", "a\t1\t2"], FormatError, r"f\.tsv:3: a second score of a, segment 1"),
        (["a\t4\t1"], FormatError, r"f\.tsv:2: a score of segment 4; there are 3 segments"),
        (["a\t0\t1"], FormatError, r"f\.tsv:2: segment is '0'"),
        (["a\t1\tgood"], FormatError, r"f\.tsv:2: score is 'good'; a number is expected"),
        (["a\t1\tinf"], FormatError, r"f\.tsv:2: score is 'inf'"),
        (["a\t1"], FormatError, r"f\.tsv:2: 2 tab-separated fields; the header has 3"),
        ([], FormatError, "holds no scores"),
    ],
)
def test_holes_duplicates_and_nonsense_are_refused(testset, tmp_path, lines, error, problem):
    path = write(tmp_path / "f.tsv", "system\tsegment\tscore", *lines)
    with pytest.raises(error, match=problem):
        gn.score(testset, spec(path))


def test_blocks_of_another_length_and_other_language_pairs_are_refused(testset, tmp_path) -> None:
    blocks = write(tmp_path / "M-r.seg.score", "a 1", "a 2", "b 1", "b 2", "b 3")
    with pytest.raises(FormatError, match="system 'a' has 2 scores; 3 are expected"):
        gn.score(testset, spec(blocks))
    wmt = write(tmp_path / "m.wmt", "M fi-en set a 1", "M fi-en set b 2")
    with pytest.raises(UnknownNameError, match=r"unknown language pair of .*'de-en'"):
        gn.score(testset, spec(wmt))


def test_further_systems_in_the_file_are_left_alone_and_named(testset, file) -> None:
    one = gn.score(testset.select(systems=["b"]), spec(file))
    assert one.segments.tolist() == [SCORES["b"]]
    assert notes(one.notices) == ("scores('f.tsv') also scores a, not in the test set",)


@pytest.mark.parametrize("side", ["candidates", "references", "sources"])
def test_changed_texts_cannot_be_scored(testset, file, side) -> None:
    bound = parse(spec(file)).bind(testset)
    batch = testset.batch()
    texts = list(batch.texts)
    number = {
        "candidates": int(batch.candidates[0, 0]),
        "references": int(batch.references.indices[0]),
        "sources": int(batch.sources[0]),
    }[side]
    texts[number] += " changed"
    with pytest.raises(UsageError, match="cannot score changed texts; scores from a file are"):
        bound.segments(replace(batch, texts=tuple(texts)))
    assert bound.segments(replace(batch, texts=(*batch.texts, "unused"))).shape == (2, 3)


def test_texts_in_other_places_are_changed_texts(testset, file) -> None:
    bound = parse(spec(file)).bind(testset)
    batch = testset.batch()
    swapped = replace(batch, candidates=batch.candidates[:, [1, 0, 2]])
    with pytest.raises(UsageError, match="cannot score changed texts"):
        bound.segments(swapped)
    renamed = replace(batch, systems=("a", "c"))
    with pytest.raises(UsageError, match="cannot score the texts of a system 'c'"):
        bound.segments(renamed)
    beyond = replace(batch, segments=batch.segments + 1)
    with pytest.raises(UsageError, match="no scores of segment 4"):
        bound.segments(beyond)


@pytest.mark.parametrize("given", ["scores", "scores('')", "scores('-')", "scores(bleu)"])
def test_without_a_files_name_there_is_no_metric(given) -> None:
    with pytest.raises(SpecError, match="scores takes the name of a score file first"):
        parse(given)


def test_a_missing_file_is_an_error(testset, tmp_path) -> None:
    with pytest.raises(MissingFileError, match="there is no file"):
        gn.score(testset, spec(tmp_path / "none.tsv"))


def test_score_compare_and_metaeval_take_files_as_metrics(
    testset, file, tmp_path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "set"
    testset.write(folder)
    (folder / "human").mkdir(exist_ok=True)
    write(folder / "human" / "da.sys.tsv", "system\tz", "a\t1", "b\t2")
    given = ["-t", str(folder), "-m", spec(file), "-f", "json", "-q"]
    for command in (["score"], ["compare"], ["metaeval", "--levels", "system"]):
        assert main([*command, *given]) == 0
        rows = json.loads(capsys.readouterr().out)["rows"]
        assert any(row["metric"] == spec(file) for row in rows)
