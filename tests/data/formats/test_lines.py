from __future__ import annotations

import gzip
import io
import logging
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import DataError, FormatError, MissingFileError, UsageError
from gnomon.data.formats import read_lines, read_plain, write_lines

SEPARATORS = "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"


def file(tmp_path: Path, data: bytes, name: str = "a.txt") -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


class FakeInput:
    def __init__(self, data: bytes) -> None:
        self.buffer = io.BytesIO(data)


def test_lines_end_at_line_feeds_and_nowhere_else(tmp_path: Path) -> None:
    text = f"one{SEPARATORS}one\ntwo\n"
    assert read_lines(file(tmp_path, text.encode())) == [f"one{SEPARATORS}one", "two"]


def test_the_last_line_needs_no_line_end(tmp_path: Path) -> None:
    assert read_lines(file(tmp_path, b"a\nb")) == ["a", "b"]
    assert read_lines(file(tmp_path, b"a\nb\n")) == ["a", "b"]


def test_empty_lines_count(tmp_path: Path) -> None:
    assert read_lines(file(tmp_path, b"\n\na\n\n")) == ["", "", "a", ""]


def test_an_empty_file_has_no_lines(tmp_path: Path) -> None:
    assert read_lines(file(tmp_path, b"")) == []


def test_a_byte_order_mark_is_left_out_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="gnomon.formats")
    assert read_lines(file(tmp_path, b"\xef\xbb\xbfa\n")) == ["a"]
    assert "byte order mark" in caplog.text


def test_windows_line_ends_are_left_out_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="gnomon.formats")
    assert read_lines(file(tmp_path, b"a\r\nb\nc\r\n")) == ["a", "b", "c"]
    assert "2 of 3 lines end in \\r\\n" in caplog.text


def test_a_lone_carriage_return_stays(tmp_path: Path) -> None:
    assert read_lines(file(tmp_path, b"a\rb\nc\r\r\nd\r")) == ["a\rb", "c\r", "d\r"]


def test_control_characters_stay(tmp_path: Path) -> None:
    assert read_lines(file(tmp_path, b"a\x01\x1b[31m\x7f\n")) == ["a\x01\x1b[31m\x7f"]


def test_a_line_of_ten_thousand_words_is_fine(tmp_path: Path) -> None:
    line = "word " * 10_000
    assert read_lines(file(tmp_path, f"{line}\nx\n".encode())) == [line, "x"]


def test_gz_files_are_decompressed(tmp_path: Path) -> None:
    assert read_lines(file(tmp_path, gzip.compress("ä\nb\n".encode()), "a.txt.gz")) == ["ä", "b"]


def test_a_file_that_is_only_called_gz_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="not gzip-compressed"):
        read_lines(file(tmp_path, b"plain\n", "a.txt.gz"))


def test_a_gz_file_that_grows_beyond_all_measure_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = file(tmp_path, gzip.compress(b"0" * 2000), "a.gz")
    monkeypatch.setenv("GNOMON_MAX_INPUT", "1999")
    with pytest.raises(FormatError, match=r"more than 1,999 bytes .*GNOMON_MAX_INPUT=8GB"):
        read_lines(path)
    for size in ("2000", "2KB", "1 GiB", ""):
        monkeypatch.setenv("GNOMON_MAX_INPUT", size)
        assert len(read_lines(path)[0]) == 2000
    monkeypatch.setenv("GNOMON_MAX_INPUT", "much")
    with pytest.raises(UsageError, match="a size such as 500MB or 8GB; got 'much'"):
        read_lines(path)


def test_bytes_that_are_not_utf8_are_named_with_line_and_byte(tmp_path: Path) -> None:
    path = file(tmp_path, "a\nb\ncafé\n".encode("latin-1"))
    with pytest.raises(FormatError, match=r"a\.txt:3: is not UTF-8: byte 0xe9 .*byte 7 ") as caught:
        read_lines(path)
    assert caught.value.line == 3
    assert "WINDOWS-1252" in str(caught.value)


def test_the_place_of_a_wrong_byte_counts_a_byte_order_mark(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="byte 4 of the file"):
        read_lines(file(tmp_path, b"\xef\xbb\xbfa\xff\n"))


def test_surrogates_encoded_as_utf8_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="not UTF-8"):
        read_lines(file(tmp_path, b"\xed\xa0\x80\n"))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_recognised(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(FormatError, match="looks like UTF-16"):
        read_lines(file(tmp_path, "hello\nworld\n".encode(encoding)))


@pytest.mark.parametrize(
    ("data", "remedy"),
    [
        (b"PK\x03\x04\x14\x00\x06\x00", "ZIP"),
        (gzip.compress(b"x", mtime=0), r"ends in \.gz"),
        (b"\xfd7zXZ\x00\x00", "unxz"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "PDF"),
        (b"SQLite format 3\x00", "data base"),
        (b"one\ntw\x00o\n", "plain text file in UTF-8"),
    ],
)
def test_binary_files_are_refused_with_a_remedy(tmp_path: Path, data: bytes, remedy: str) -> None:
    with pytest.raises(FormatError, match=remedy):
        read_lines(file(tmp_path, data))


def test_a_nul_byte_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"a\.txt:2: is not a text file"):
        read_lines(file(tmp_path, b"one\ntw\x00o\n"))


def test_a_text_that_begins_like_a_compressed_file_is_a_text(tmp_path: Path) -> None:
    assert read_lines(file(tmp_path, b"BZh is not a word\nPAR1\n")) == ["BZh is not a word", "PAR1"]


def test_a_missing_file_is_answered_with_the_nearest_name(tmp_path: Path) -> None:
    file(tmp_path, b"", "reference.txt")
    with pytest.raises(MissingFileError, match=r"did you mean .*reference\.txt") as caught:
        read_lines(tmp_path / "refrence.txt")
    assert isinstance(caught.value, FileNotFoundError)


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="nor a directory"):
        read_lines(tmp_path / "no" / "a.txt")


def test_a_file_in_place_of_a_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="there is no file"):
        read_lines(file(tmp_path, b"") / "b.txt")


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="is a directory; a file is expected"):
        read_lines(tmp_path)


def test_a_file_without_permission_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, *_: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    path = file(tmp_path, b"a\n")
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(MissingFileError, match="permission is denied"):
        read_lines(path)


def test_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", FakeInput(b"\xef\xbb\xbfa\r\nb"))
    assert read_lines("-") == ["a", "b"]
    with pytest.raises(UsageError, match="only once"):
        read_lines("-")


def test_compressed_standard_input_is_decompressed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", FakeInput(gzip.compress(b"a\nb\n")))
    assert read_lines("-") == ["a", "b"]


def test_standard_input_without_bytes_below_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("ä\nb"))
    assert read_lines("-") == ["ä", "b"]


def test_closed_standard_input_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UsageError, match="closed"):
        read_lines("-")


def test_wrong_bytes_in_standard_input_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", FakeInput(b"a\n\xff"))
    with pytest.raises(FormatError, match="standard input:2"):
        read_lines("-")


segment = st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"])).filter(
    lambda text: not text.endswith("\r")
)


@given(st.lists(segment), st.sampled_from(["a.txt", "a.txt.gz"]))
def test_lines_that_are_written_are_read_again(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], name: str
) -> None:
    path = tmp_path_factory.mktemp("lines") / name
    write_lines(path, lines)
    assert read_lines(path) == lines


@given(st.binary())
def test_any_bytes_are_read_or_refused_with_file_and_line(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("bytes") / "a.txt"
    path.write_bytes(data)
    try:
        data.decode()
        text = b"\0" not in data
    except UnicodeDecodeError:
        text = False
    if text:
        body = data.removeprefix(b"\xef\xbb\xbf")
        assert len(read_lines(path)) == body.count(b"\n") + (body.split(b"\n")[-1] != b"")
    else:
        with pytest.raises(FormatError, match=r"a\.txt:\d+: is not"):
            read_lines(path)


def test_a_segment_that_begins_with_a_byte_order_mark_survives(tmp_path: Path) -> None:
    write_lines(tmp_path / "a", ["\ufeffa", "\ufeffb"])
    assert read_lines(tmp_path / "a") == ["\ufeffa", "\ufeffb"]


@pytest.mark.parametrize("text", ["a\nb", "a\r", "a\0b", "\ud800"])
def test_a_text_that_a_line_cannot_hold_is_not_written(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataError, match="segment 2"):
        write_lines(tmp_path / "a", ["fine", text])
    assert not list(tmp_path.iterdir())


def test_a_last_line_without_its_end_is_read_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="gnomon.formats")
    for text, said in (("a\nb\n", False), ("a\nb", True), ("", False)):
        (tmp_path / "x.txt").write_text(text)
        caplog.clear()
        assert read_lines(tmp_path / "x.txt") == text.split()
        assert ("x.txt: the last line has no line end" in caplog.text) is said


def test_endless_input_ends_where_it_is_allowed_to(monkeypatch: pytest.MonkeyPatch) -> None:
    class Endless(FakeInput):
        def __init__(self) -> None:
            super().__init__(b"")
            self.buffer = self

        def read(self, size: int) -> bytes:
            return b"y\n" * (size // 2)

    monkeypatch.setenv("GNOMON_MAX_INPUT", "3MB")
    monkeypatch.setattr(sys, "stdin", Endless())
    with pytest.raises(FormatError, match="standard input: has more than 3,145,728 bytes"):
        read_lines("-")


@pytest.mark.parametrize(
    "head",
    [
        '<?xml version="1.0"?>\n<docx version="1.2">',
        '<?xml version="1.0"?>\n<!-- a comment -->\n<docx>',
        "<!DOCTYPE html>\n<docx>",
    ],
)
def test_markup_is_no_file_of_segments(tmp_path: Path, head: str) -> None:
    """Its lines match each other in every file, whatever the texts are."""
    for name in ("ref.xml", "a.xml"):
        (tmp_path / name).write_text(f"{head}\n<target>乙</target>\n</docx>\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"ref\.xml:1: begins as DOCX"):
        read_plain(references=[tmp_path / "ref.xml"], systems=[tmp_path / "a.xml"])


def test_a_text_may_hold_tags(tmp_path: Path) -> None:
    path = tmp_path / "tags.txt"
    path.write_text("<b>Wichtig</b>\n<?php echo 1\n", encoding="utf-8")
    assert read_plain(references=[path], systems=[path]).segments == 2
