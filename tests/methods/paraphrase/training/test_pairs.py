from pathlib import Path

import pytest

from gnomon.core.errors import FormatError, LengthMismatchError
from gnomon.paraphrase.codes import NO_CODE, write_codes
from gnomon.paraphrase.training import SentencePair, read_pairs, select


def _file(folder: Path, text: str, name: str = "pairs.tsv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_codes_may_come_in_a_file_of_their_own(tmp_path: Path) -> None:
    pairs = _file(tmp_path, "a\tb\nc\td\n")
    codes = _file(tmp_path, "1\n0\n", "codes.txt")
    assert [pair.code for pair in read_pairs([pairs], codes=codes)] == [1, 0]


def test_a_pair_may_have_no_code(tmp_path: Path) -> None:
    pairs = _file(tmp_path, "a\tb\nc\td\n")
    write_codes(tmp_path / "x.codes.txt", [2, NO_CODE])
    found = read_pairs([pairs], codes=tmp_path / "x.codes.txt")
    assert found == [SentencePair("a", "b", 2), SentencePair("c", "d", -1)]
    kept, dropped = select(found)
    assert kept == found[:1]
    assert dropped["no code"] == 1


def test_separators_inside_a_text_do_not_end_its_line(tmp_path: Path) -> None:
    path = _file(tmp_path, "a\u2028b\tc\x85d\n")
    assert read_pairs([path]) == [SentencePair("a\u2028b", "c\x85d")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\tb\nc\n", "pairs.tsv:2: 1 columns"),
        ("a\tb\nc\td\t1\n", "pairs.tsv:2: 3 columns"),
        ("a\tb\tc\td\n", "pairs.tsv:1: 4 columns"),
        ("a\tb\n\tc\n", "pairs.tsv:2: the source is empty"),
        ("a\tb\nc\t  \n", "pairs.tsv:2: the target is empty"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        read_pairs([_file(tmp_path, text)])


def test_there_are_as_many_codes_as_pairs(tmp_path: Path) -> None:
    pairs = _file(tmp_path, "a\tb\nc\td\n")
    codes = _file(tmp_path, "1\n", "codes.txt")
    with pytest.raises(LengthMismatchError, match="1 codes and there are 2 pairs"):
        read_pairs([pairs], codes=codes)
