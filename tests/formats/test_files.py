from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from gnomon.errors import MissingFileError, OutputError
from gnomon.formats import atomic_write, plain_name

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
    if not Path("/dev/full").exists():
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
