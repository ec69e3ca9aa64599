"""Archives of strangers: what is unpacked, and what is refused before anything is kept."""

from __future__ import annotations

import bz2
import gzip
import io
import logging
import lzma
import os
import random
import shutil
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gnomon.core.errors import FormatError, MissingFileError, OutputError
from gnomon.data.official import archive_files as _archives
from gnomon.data.official import is_archive, unpack

FILES = {"set/src.txt": b"eins\nzwei\n", "set/systems/a.txt": b"one\ntwo\n"}


def tar(members: dict[str, bytes], *more: tarfile.TarInfo) -> bytes:
    """A plain tar archive of files, and members without content."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as packed:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            info.mode = 0o6777
            packed.addfile(info, io.BytesIO(data))
        for info in more:
            packed.addfile(info)
    return stream.getvalue()


def special(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def written(folder: Path, data: bytes, name: str = "a") -> Path:
    file = folder / name
    file.write_bytes(data)
    return file


def tree(folder: Path) -> dict[str, bytes]:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


@pytest.mark.parametrize(
    "pack",
    [
        lambda: tar(FILES),
        lambda: gzip.compress(tar(FILES)),
        lambda: bz2.compress(tar(FILES)),
        lambda: lzma.compress(tar(FILES)),
    ],
    ids=["tar", "tar.gz", "tar.bz2", "tar.xz"],
)
def test_every_kind_is_told_by_its_bytes_and_unpacked(
    tmp_path: Path, pack: Callable[[], bytes]
) -> None:
    archive = written(tmp_path, pack())
    assert is_archive(archive)
    assert unpack(archive, tmp_path / "out" / "here") == 2
    assert tree(tmp_path / "out" / "here") == FILES
    mode = (tmp_path / "out" / "here" / "set" / "src.txt").stat().st_mode
    assert not mode & (stat.S_ISUID | stat.S_ISGID | stat.S_IXUSR)


def test_what_is_no_archive_is_told_from_one(tmp_path: Path) -> None:
    for data in (
        b"",
        b"text\n" * 200,
        gzip.compress(b"text\n" * 200),
        b"PK\x03\x04",
        b"\x1f\x8bxx",
    ):
        file = written(tmp_path, data)
        assert not is_archive(file)
        with pytest.raises(FormatError, match="is no tar archive, or is damaged"):
            unpack(file, tmp_path / "out")
    assert not is_archive(tmp_path)
    with pytest.raises(MissingFileError):
        unpack(tmp_path / "nothing", tmp_path / "out")


@pytest.mark.parametrize("name", ["../x", "set/../../x", "../" * 9 + "etc/passwd"])
def test_names_that_lead_elsewhere_refuse_the_whole_archive(tmp_path: Path, name: str) -> None:
    inner = tmp_path / "deep" / "deeper"
    inner.mkdir(parents=True)
    archive = written(tmp_path, tar({**FILES, name: b"x"}))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(FormatError, match=r"outside the destination.* nothing of this one"):
        unpack(archive, inner / "out")
    assert sorted(tmp_path.rglob("*")) == before


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30))
@example("é\0x")
def test_no_name_at_all_writes_outside(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    base = tmp_path_factory.mktemp("any")
    archive = written(base, tar({name: b"x"}))
    try:
        unpack(archive, base / "in" / "out")
    except (FormatError, OutputError):
        assert not (base / "in" / "out").exists()
    outside = [f for f in base.rglob("*") if f.is_file() and (base / "in" / "out") not in f.parents]
    assert outside == [archive]


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_devices_and_pipes_are_refused(tmp_path: Path, kind: bytes) -> None:
    archive = written(tmp_path, tar(FILES, special("set/dev", kind)))
    with pytest.raises(FormatError, match=r"'set/dev' is a special file"):
        unpack(archive, tmp_path / "out")


def test_links_are_not_made_and_nothing_is_written_through_them(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    links = (
        special("set/up", tarfile.SYMTYPE, str(victim)),
        special("set/hard", tarfile.LNKTYPE, "set/src.txt"),
    )
    first = tar(FILES, *links)
    # a link to a folder, and then a file "inside" it
    stream = io.BytesIO(first)
    with tarfile.open(fileobj=stream, mode="a") as packed:
        info = tarfile.TarInfo("set/up/evil.txt")
        packed.addfile(info)
    with caplog.at_level(logging.WARNING):
        unpack(written(tmp_path, stream.getvalue()), tmp_path / "out")
    assert "2 members are links, which are not made; the first is 'set/up'" in caplog.text
    assert not any(victim.iterdir())
    assert not any(file.is_symlink() for file in (tmp_path / "out").rglob("*"))


def test_a_bomb_is_stopped_by_its_bytes_and_members_left_out_count(tmp_path: Path) -> None:
    archive = written(tmp_path, gzip.compress(tar({"z": bytes(80 << 20)}), 1), "bomb")
    assert archive.stat().st_size < 1_000_000
    for wanted in (None, lambda _: False):
        with pytest.raises(FormatError, match=r"unpacks to more than .* nothing of it was kept"):
            unpack(archive, tmp_path / "out", most=64 << 20, wanted=wanted)
        assert [file.name for file in tmp_path.glob("*")] == ["bomb"]


def test_the_number_of_files_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_archives, "_MOST_FILES", 1)
    with pytest.raises(FormatError, match="holds more than 1 files"):
        unpack(written(tmp_path, tar(FILES)), tmp_path / "out")


def test_a_huge_header_does_not_fill_the_memory(tmp_path: Path) -> None:
    info = tarfile.TarInfo("x")
    info.pax_headers = {"comment": "x" * (3 << 20)}
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as packed:
        packed.addfile(info)
    with pytest.raises(FormatError, match=r"a header of 3,\d+,\d+ bytes"):
        unpack(written(tmp_path, stream.getvalue()), tmp_path / "out")


@pytest.mark.parametrize(
    "pack", [gzip.compress, bz2.compress, lzma.compress, bytes], ids=["gz", "bz2", "xz", "tar"]
)
def test_an_archive_that_is_cut_short_leaves_nothing(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    data = pack(tar({"a": os.urandom(2_000_000), "b": b"x"}))
    archive = written(tmp_path, data[: len(data) // 2])
    with pytest.raises(FormatError, match=r"is damaged or cut short .*fetch it again"):
        unpack(archive, tmp_path / "out")
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


def test_what_file_managers_leave_is_left_out(tmp_path: Path) -> None:
    more = {"__MACOSX/set/._src.txt": b"x", "set/.DS_Store": b"x", "set/._src.txt": b"x"}
    unpack(written(tmp_path, tar({**FILES, **more})), tmp_path / "out")
    assert tree(tmp_path / "out") == FILES


def test_a_folder_that_exists_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(OutputError, match="exists already"):
        unpack(written(tmp_path, tar(FILES)), tmp_path / "out")


def flipped(data: bytes, bit: int) -> bytes:
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def taken(folder: Path, data: bytes) -> dict[str, bytes] | None:
    """The files of an archive; None if it was refused, which must leave nothing."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    try:
        unpack(written(folder, data), folder / "out")
    except FormatError:
        assert sorted(file.name for file in folder.iterdir()) == ["a"]
        return None
    return tree(folder / "out")


LINES = {f"set/systems/{i}.txt": os.urandom(400).hex().encode() for i in range(4)}


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_flipped_bit_of_a_compressed_archive_changes_nothing_unseen(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    data, draw = pack(tar(LINES)), random.Random(1)
    found = [taken(tmp_path, flipped(data, draw.randrange(len(data) * 8))) for _ in range(60)]
    assert found.count(None) > 50
    assert all(files in (None, LINES) for files in found)


def test_a_flipped_bit_in_a_header_of_a_plain_tar_is_refused(tmp_path: Path) -> None:
    data = tar(FILES)
    with tarfile.open(fileobj=io.BytesIO(data)) as packed:
        starts = [member.offset for member in packed]
    for bit in range(0, tarfile.BLOCKSIZE * 8, 97):
        for start in starts:
            assert taken(tmp_path, flipped(data, start * 8 + bit)) in (None, FILES)
        name = starts[1] * 8 + bit % 80
        assert taken(tmp_path, flipped(data, name)) is None


def test_what_tarfile_takes_for_the_end_of_an_archive_is_refused(tmp_path: Path) -> None:
    data = tar(FILES)
    end = len(data.rstrip(b"\0")) // tarfile.BLOCKSIZE * tarfile.BLOCKSIZE + tarfile.BLOCKSIZE
    for cut in range(tarfile.BLOCKSIZE, end + 1, 128):
        assert taken(tmp_path, data[:cut]) is None
    assert taken(tmp_path, data[: end + tarfile.BLOCKSIZE]) == FILES
    for more in (data + data, data[:-1] + b"x"):
        for archive in (more, gzip.compress(more)):
            with pytest.raises(FormatError, match="something follows its end"):
                unpack(written(tmp_path, archive), tmp_path / "more")
    parts = gzip.compress(data[:700]) + gzip.compress(data[700:])
    assert taken(tmp_path, parts) == FILES
    assert taken(tmp_path, parts[:-3]) is None


def test_the_checksum_behind_the_end_of_an_archive_is_compared(tmp_path: Path) -> None:
    data = gzip.compress(tar(FILES))
    for changed in (data[:-8] + bytes(8), data[:-8], data + b"x"):
        with pytest.raises(FormatError, match="damaged or cut short"):
            unpack(written(tmp_path, changed), tmp_path / "out")
        assert taken(tmp_path, changed) is None
