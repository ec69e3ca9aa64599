"""Paraphrase files: what is read, what is refused, and how they become references."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import gnomon
from gnomon.core.errors import DataError, FormatError, UnknownNameError, UsageError
from gnomon.core.testset import Paraphrase, TestSet
from gnomon.data.formats import read_paraphrases, write_paraphrases

_TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\n\r\0"), max_size=9)
_PARAPHRASES = st.builds(
    Paraphrase,
    segment=st.integers(1, 9),
    text=_TEXTS,
    method=st.text("abc", min_size=1, max_size=3),
    system=st.none() | st.sampled_from(["x", "y"]),
    score=st.none() | st.floats(-1e9, 1e9),
    seed=st.none() | st.integers(0, 9),
    model=st.none() | st.just("m"),
)


@pytest.fixture
def testset() -> TestSet:
    return TestSet.from_lists({"x": ["a b", "c d", "e f"], "y": ["a", "b", "c"]}, ["p", "q", "r"])


def _write(path: Path, *lines: str) -> Path:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


@given(st.lists(_PARAPHRASES, max_size=4))
def test_what_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, paraphrases: list[Paraphrase]
) -> None:
    assume(any(one.text.strip() for one in paraphrases))
    path = tmp_path_factory.mktemp("p") / "p.jsonl"
    write_paraphrases(path, paraphrases)
    assert read_paraphrases([path]) == tuple(paraphrases)


def test_other_names_of_keys_are_read(tmp_path: Path) -> None:
    path = _write(
        tmp_path / "p.jsonl",
        '{"id": 2, "paraphrase": "a", "method": "m"}',
        '{"id": "1", "paraphrases": ["b", "c"], "method": "m", "score": 0.5}',
        '{"id": "newstest-7", "segment": 3, "text": "d", "method": "m"}',
        '{"id": 3, "paraphrases": [], "method": "m"}',
    )
    found = read_paraphrases([path], segments=3)
    assert [(one.segment, one.text, one.score, one.line) for one in found] == [
        (2, "a", None, 1),
        (1, "b", 0.5, 2),
        (1, "c", 0.5, 2),
        (3, "d", None, 3),
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            '{"id": 0, "paraphrase": "a"}',
            "id is 0; a number from 1 to 3 is expected: segments count",
        ),
        ('{"id": "x7", "paraphrase": "a"}', "id is 'x7'; a whole number is expected"),
        ('{"id": 1.0, "paraphrase": "a"}', "id is 1.0; a whole number is expected"),
        ('{"id": 1, "text": "a", "paraphrase": "b"}', "holds text and paraphrase, and one of them"),
        ('{"id": 1, "paraphrases": "a"}', "paraphrases is 'a'; a list of strings is expected"),
        ('{"id": 1, "paraphrases": null}', "paraphrases is None; a list of strings is expected"),
        ('{"id": 1, "paraphrases": ["a", 2]}', "a list of strings is expected"),
        ('{"id": 1, "sentence": "a"}', "unknown column or key 'text'"),
    ],
)
def test_other_names_of_keys_may_be_damaged(tmp_path: Path, line: str, said: str) -> None:
    path = _write(tmp_path / "p.jsonl", line)
    with pytest.raises(FormatError, match=rf"p\.jsonl:1: .*{said}"):
        read_paraphrases([path], segments=3)


@pytest.mark.parametrize(("name", "lines"), [("p.jsonl", 0), ("ref.p1.txt", 0), ("ref.p1.txt", 3)])
def test_a_file_without_a_paraphrase_is_refused(
    tmp_path: Path, testset: TestSet, name: str, lines: int
) -> None:
    file = _write(tmp_path / name, *[""] * lines)
    with pytest.raises(FormatError, match="holds no paraphrase"):
        read_paraphrases([file])
    with pytest.raises(FormatError, match=r"holds no paraphrase|has 0 lines where 3 are expected"):
        testset.with_paraphrases([file])


def test_numbered_text_files_are_one_method_and_empty_lines_no_paraphrase(
    tmp_path: Path, testset: TestSet
) -> None:
    one = _write(tmp_path / "ref.human1.txt", "p1", "", "r1")
    two = _write(tmp_path / "ref.human2.txt", "p2", "q2", "r2")
    wide = testset.with_paraphrases([one, two])
    assert dict(wide.references) == {
        "A": ("p", "q", "r"),
        "human.1": ("p1", "q2", "r1"),
        "human.2": ("p2", None, "r2"),
    }
    assert list(testset.with_paraphrases([one, two], n=1).references) == ["A", "human.1"]


def test_methods_are_chosen_and_originals_left_out(tmp_path: Path, testset: TestSet) -> None:
    path = tmp_path / "p.jsonl"
    rows = [Paraphrase(i, f"{m}{i}", m) for i in (1, 2, 3) for m in ("beam", "sampled")]
    write_paraphrases(path, rows)
    wide = testset.with_paraphrases([path], methods=["sampled"], original=False)
    assert dict(wide.references) == {"sampled.1": ("sampled1", "sampled2", "sampled3")}


def test_paraphrases_of_one_system_judge_that_system_alone(testset: TestSet) -> None:
    wide = testset.with_paraphrases([Paraphrase(1, "a b", "own", system="x")])
    scores = gnomon.score(wide, "chrf").segments - gnomon.score(testset, "chrf").segments
    assert scores[0, 0] > 0
    assert np.count_nonzero(scores) == 1


def test_more_references_never_lower_the_matches_of_a_candidate(testset: TestSet) -> None:
    wide = testset.with_paraphrases([Paraphrase(2, "c d"), Paraphrase(2, "b")])
    assert (gnomon.score(wide, "chrf").segments >= gnomon.score(testset, "chrf").segments).all()


@pytest.mark.parametrize(
    ("lines", "place", "said"),
    [(["a", "b"], 3, "too short"), (["a", "b", "c", "d"], 4, "too long")],
)
def test_misaligned_text_files_are_refused_where_they_go_wrong(
    tmp_path: Path, testset: TestSet, lines: list[str], place: int, said: str
) -> None:
    path = _write(tmp_path / "ref.p.txt", *lines)
    with pytest.raises(FormatError, match=rf"ref\.p\.txt:{place}: .*{said}"):
        testset.with_paraphrases([path])


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"segment": 4, "text": "a"}', "from 1 to 3"),
        ('{"segment": 0, "text": "a"}', "from 1 to 3"),
        ('{"segment": "1", "text": "a"}', "whole number"),
        ('{"segment": 1}', "text"),
        ('{"segment": 1, "text": "a\\nb"}', "line feed"),
        ('{"segment": 1, "text": "a", "score": "good"}', "number"),
        ('{"segment": 1, "text": "a", "seed": 1.5}', "whole number"),
        ("[]", "one object per line"),
        ('{"segment": 1, "text": "a", "system": "z"}', "unknown system 'z'"),
    ],
)
def test_wrong_objects_are_refused_with_file_and_line(
    tmp_path: Path, testset: TestSet, line: str, said: str
) -> None:
    path = _write(tmp_path / "p.jsonl", '{"segment": 1, "text": "fine"}', line)
    with pytest.raises(FormatError, match=rf"p\.jsonl:2: .*{said}"):
        testset.with_paraphrases([path])


def test_unknown_methods_and_numbers_are_refused(testset: TestSet) -> None:
    with pytest.raises(UnknownNameError, match="beam"):
        testset.with_paraphrases([Paraphrase(1, "a", "beam")], methods=["bean"])
    with pytest.raises(UsageError, match="at least 1"):
        testset.with_paraphrases([Paraphrase(1, "a")], n=0)
    with pytest.raises(UsageError, match="list of texts or paths"):
        testset.with_paraphrases("ref.p.txt")


def test_a_segment_must_keep_a_reference(testset: TestSet) -> None:
    with pytest.raises(DataError, match=r"2 segment\(s\) have no reference, the first is 2"):
        testset.with_paraphrases([Paraphrase(1, "a")], original=False)


def test_paraphrases_are_not_added_twice(testset: TestSet) -> None:
    once = testset.with_paraphrases([Paraphrase(1, "a")])
    with pytest.raises(DataError, match="already"):
        once.with_paraphrases([Paraphrase(1, "a")])


def test_human_paraphrases_reach_the_published_correlation(shared: Path) -> None:
    # oracles/paraphrase/wmt19_deen500_syslevel_pearson_bleu.tsv: .894816 and .948432
    folder = shared / "data/paraphrases/wmt19-de-en-500"
    whole = TestSet.read(shared / "data/wmt19/de-en").select(segments=range(500))
    wide = whole.with_paraphrases([folder / f"ref.human{k}.txt" for k in range(1, 6)])
    people = whole.human_scores("da-z", "system")
    found = [np.corrcoef(people, gnomon.score(t, "bleu").system)[0, 1] for t in (whole, wide)]
    assert found == pytest.approx([0.894816, 0.948432], abs=1e-5)
