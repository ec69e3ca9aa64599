from __future__ import annotations

import errno
import gzip
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gnomon.core.errors import FormatError, MissingFileError, OutputError
from gnomon.core.testset import TestSet
from gnomon.data.formats import (
    atomic_write,
    plain_name,
    read_human,
    read_lines,
    read_test_set,
    replace_folder,
    sets_in,
    write_test_set,
)

if TYPE_CHECKING:
    from collections.abc import Callable


def write_and_stop(path: Path, stop: BaseException) -> None:
    with atomic_write(path) as file:
        file.write("new")
        raise stop


def failing(code: int) -> Callable[[int], None]:
    def fail(_: int) -> None:
        raise OSError(code, os.strerror(code))

    return fail


def test_a_file_appears_only_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with atomic_write(path) as file:
        file.write("ä\n")
        file.flush()
        assert not path.exists()
    assert path.read_bytes() == "ä\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_bytes_are_written_as_they_are(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "a", "wb") as file:
        file.write(b"\r\n\x00")
    assert (tmp_path / "a").read_bytes() == b"\r\n\x00"


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError, match="mine"):
        write_and_stop(path, RuntimeError("mine"))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupt_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write_and_stop(path, KeyboardInterrupt())
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_same_text_compresses_to_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        with atomic_write(tmp_path / name) as file:
            file.write("hello\n" * 100)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_a_new_file_has_the_permissions_that_the_user_wants(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    with atomic_write(tmp_path / "a"):
        pass
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_an_old_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("")
    path.chmod(0o640)
    with atomic_write(path) as file:
        file.write("new")
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with atomic_write(tmp_path / "link") as file:
        file.write("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_a_device_is_written_directly() -> None:
    with atomic_write("/dev/null") as file:
        file.write("gone")
    assert not Path("/dev/null").is_file()


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    with (
        pytest.raises(OutputError, match="create the folder first"),
        atomic_write(tmp_path / "b/a"),
    ):
        pass


def test_a_directory_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="it is a directory"), atomic_write(tmp_path):
        pass


def test_a_file_in_place_of_the_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("")
    with pytest.raises(OutputError, match="is a file"), atomic_write(tmp_path / "f" / "a"):
        pass


def test_a_name_that_is_too_long_is_said(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="too long"), atomic_write(tmp_path / ("a" * 300)):
        pass
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("code", "remedy"),
    [(errno.ENOSPC, "disk is full"), (errno.EDQUOT, "quota"), (errno.EIO, "error")],
)
def test_a_full_disk_is_said_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, remedy: str
) -> None:
    monkeypatch.setattr(os, "fsync", failing(code))
    with pytest.raises(OutputError, match=remedy), atomic_write(tmp_path / "a") as file:
        file.write("x")
    assert not list(tmp_path.iterdir())


def test_a_disk_that_fills_up_while_writing_is_said() -> None:
    if not Path("/dev/full").is_char_device():
        pytest.skip("this system has no /dev/full")
    with pytest.raises(OutputError, match="disk is full"), atomic_write("/dev/full") as file:
        file.write("x" * 100_000)


def test_a_folder_without_permission_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, *_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(OutputError, match="permission is denied"), atomic_write(tmp_path / "a"):
        pass


def test_errors_of_other_files_pass_through(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="other"), atomic_write(tmp_path / "a"):
        (tmp_path / "other").read_bytes()
    with pytest.raises(MissingFileError), atomic_write(tmp_path / "a"):
        raise MissingFileError("mine")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("x/online-A.0.txt", "online-A.0"),
        ("x/a.txt.gz", "a"),
        ("a.gz", "a"),
        ("a.de", "a.de"),
        ("-", "-"),
        ("a.txt.txt", "a.txt"),
    ],
)
def test_a_name_is_the_file_name_without_txt_and_gz(path: str, name: str) -> None:
    assert plain_name(path) == name


def lost(path: Path) -> None:
    path.symlink_to("nowhere")


def bound_socket(path: Path) -> None:
    before = Path.cwd()
    os.chdir(path.parent)  # the name of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(before)


def link_to_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


ODD = {
    "is a pipe": os.mkfifo,
    "is a socket": bound_socket,
    "is a device": link_to_device,
    "is a link to nowhere, which is not there": lost,
}
odd = pytest.mark.parametrize(("said", "make"), ODD.items(), ids=[said.split()[2] for said in ODD])


@odd
def test_what_has_no_end_or_leads_nowhere_is_no_file(
    tmp_path: Path, said: str, make: Callable[[Path], None]
) -> None:
    make(tmp_path / "a.txt")
    with pytest.raises(MissingFileError, match=rf"a\.txt {said}"):
        read_lines(tmp_path / "a.txt")


@pytest.mark.parametrize(
    "name",
    [
        "documents.tsv",
        "systems.tsv",
        "testset.json",
        "src.txt",
        "ref.A.missing.tsv",
        "systems/c.txt",
        "human/da.seg.tsv",
        "human",
        "system-references/a",
    ],
)
@odd
def test_what_stands_in_place_of_a_file_that_may_be_missing_is_not_left_out(
    tmp_path: Path, name: str, said: str, make: Callable[[Path], None]
) -> None:
    testset = TestSet.from_lists({"a": ["a b", "b"]}, ["a b", "c"])
    write_test_set(testset, tmp_path / "set")
    place = tmp_path / "set" / name
    place.parent.mkdir(exist_ok=True)
    place.unlink(missing_ok=True)
    make(place)
    with pytest.raises(MissingFileError, match=rf"{place.name} {said}"):
        read_test_set(tmp_path / "set")


@pytest.mark.parametrize("name", ["x.sgm", "x.tsv", "dev.hter"])
@odd
def test_a_folder_is_not_searched_past_what_cannot_be_read(
    tmp_path: Path, name: str, said: str, make: Callable[[Path], None]
) -> None:
    for suffix in ("src", "mt"):
        (tmp_path / f"dev.{suffix}").write_text("a\n")
    make(tmp_path / name)
    make(tmp_path / f".#{name}")  # as editors leave them behind
    with pytest.raises(MissingFileError, match=rf"/{name} {said}"):
        read_test_set(sets_in(tmp_path)[0].place)


def piped(data: bytes) -> str:
    out, into = os.pipe()
    with os.fdopen(into, "wb") as stream:
        stream.write(data)
    return f"/dev/fd/{out}"


def test_what_a_shell_pipes_in_is_read_as_often_as_is_needed() -> None:
    testset = TestSet.from_lists({"a": ["a b", "b"]}, ["a b", "c"])
    path = piped(b"system\tseg\tda\na\t1\t5\na\t2\t7\n")
    [found] = [read_human(path, testset).scores for _ in range(2)][1]
    assert found.values.tolist() == [[5.0, 7.0]]
    assert read_lines(piped(b"other\n")) == ["other"]


@pytest.mark.parametrize("cut", [1, 7, 8, 20])
def test_a_gz_file_that_is_cut_short_is_named(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\n" * 50)[:-cut])
    with pytest.raises(FormatError, match=r"a\.txt\.gz: the gzip data are damaged or cut short"):
        read_lines(path)


def test_a_flipped_bit_of_a_gz_file_changes_nothing_unseen(tmp_path: Path) -> None:
    lines = [f"line {i * 7919 % 1000}" for i in range(60)]
    data, path = gzip.compress("\n".join(lines).encode()), tmp_path / "a.txt.gz"
    refused = 0
    for bit in range(0, len(data) * 8, 5):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        try:
            assert read_lines(path) == lines
        except FormatError:
            refused += 1
    assert refused > len(data) * 8 / 5 - 20  # the header holds a time and a system's name


def _folders(place: Path) -> tuple[Path, Path]:
    """A folder, and one that is to replace it."""
    for name in ("old", "new"):
        (place / name).mkdir()
        (place / name / f"{name}.txt").write_text(name)
    return place / "new", place / "old"


def test_a_folder_replaces_another(tmp_path: Path) -> None:
    new, old = _folders(tmp_path)
    (tmp_path / "link").symlink_to(old)
    replace_folder(new, tmp_path / "link")
    assert [one.name for one in (tmp_path / "link").iterdir()] == ["new.txt"]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["link", "old"]


@pytest.mark.parametrize("step", [1, 2])
def test_a_folder_that_cannot_be_replaced_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    new, old = _folders(tmp_path)
    replace, calls = Path.replace, 0

    def stopped(self: Path, target: Path) -> Path:
        nonlocal calls
        calls += 1
        if calls == step:
            raise KeyboardInterrupt
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", stopped)
    with pytest.raises(KeyboardInterrupt):
        replace_folder(new, old)
    assert [one.name for one in old.iterdir()] == ["old.txt"]
