"""Unpacking archives of strangers: tar (plain, gzip, bzip2, xz) and ZIP, told by their bytes."""

from __future__ import annotations

import bz2
import gzip
import logging
import lzma
import re
import secrets
import shutil
import stat
import tarfile
import zipfile
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Self, cast

from gnomon.errors import FormatError, MissingFileError, OutputError
from gnomon.official._limits import Budget, Limits
from gnomon.official._members import is_rubbish, safe_path, write_member

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path, PurePosixPath

    from gnomon.official._limits import Progress

    Wanted = Callable[[PurePosixPath], bool]

__all__ = ["is_archive", "member_names", "sweep", "unpack"]

_log = logging.getLogger(__name__)

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_PACKED = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\x00", lzma.open))
_DAMAGED = (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
_LONGEST_HEADER = 1 << 20  # bytes; a pax header holds names and times
_HEADERS = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)


def is_archive(path: Path) -> bool:
    """Whether a file is a ZIP or a (compressed) tar archive, by its first bytes."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        if file.read(4) in _ZIP:
            return True
    try:
        with _decompressed(path) as (stream, _):
            tarfile.TarInfo.frombuf(stream.read(tarfile.BLOCKSIZE), "utf-8", "surrogateescape")
    except (*_DAMAGED, OSError):
        return False
    return True


def unpack(
    archive: Path,
    folder: Path,
    *,
    limits: Limits | None = None,
    wanted: Wanted | None = None,
    progress: Progress | None = None,
) -> int:
    """Unpack an archive into a new folder, which appears whole or not at all.

    Absolute paths, paths that lead upwards, devices and pipes are refused, and so is an archive
    that holds too much; links are not made, which is said.

    Args:
        archive: the file.
        folder: does not exist yet.
        limits: of size, number and ratio.
        wanted: which members to take; all by default. Those left out are checked alike.
        progress: called with "unpack", bytes of the archive so far, and its bytes in all.

    Returns:
        The number of files.

    Raises:
        FormatError: the archive is refused, damaged, or none at all.
        OutputError: the folder exists.
    """
    if folder.exists():
        raise OutputError(f"cannot unpack {archive}: {folder} exists already; name a new folder")
    budget = _budget(archive, limits, progress)
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = folder.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        scratch.mkdir()
        count = _unpack(archive, scratch, budget, wanted)
        scratch.replace(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return count


def sweep(folder: Path) -> None:
    """Delete what a process that was killed left half unpacked; nobody else may work there."""
    for place in (*folder.glob(".*.tmp"), *folder.glob(".*.new")):
        if re.fullmatch(r"\.[0-9a-f]{16}\.(?:tmp|new)", place.name) and place.is_dir():
            shutil.rmtree(place, ignore_errors=True)


def member_names(archive: Path, *, limits: Limits | None = None) -> list[PurePosixPath]:
    """The files of an archive; it is read as a whole, and nothing is written.

    Raises:
        FormatError: the archive is refused, damaged, or none at all.
    """
    names: list[PurePosixPath] = []

    def heard(path: PurePosixPath) -> bool:
        names.append(path)
        return False

    _unpack(archive, archive.parent, _budget(archive, limits), heard)
    return names


def _budget(archive: Path, limits: Limits | None, progress: Progress | None = None) -> Budget:
    if not archive.is_file():
        raise MissingFileError(f"there is no file {archive}")
    if not is_archive(archive):
        raise FormatError("is neither a tar nor a ZIP archive, or is damaged", path=archive)
    return Budget(archive, limits or Limits(), progress)


def _unpack(archive: Path, folder: Path, budget: Budget, wanted: Wanted | None) -> int:
    with archive.open("rb") as file:
        is_zip = file.read(4) in _ZIP
    take = _unpack_zip if is_zip else _unpack_tar
    try:
        return take(archive, folder, budget, wanted or (lambda _: True))
    except _DAMAGED as error:
        raise FormatError(
            f"the archive is damaged or cut short ({error}); nothing of it was kept, fetch it"
            " again",
            path=archive,
        ) from error


@contextmanager
def _decompressed(path: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """The decompressed stream, and the file below it."""
    with path.open("rb") as file:
        head = file.read(6)
        file.seek(0)
        way = next((way for magic, way in _PACKED if head.startswith(magic)), None)
        if way is None:
            yield file, file
            return
        with way(file, "rb") as stream:
            yield cast("IO[bytes]", stream), file


class _Counted:
    """A stream that takes what is read from it from the budget."""

    def __init__(self, stream: IO[bytes], file: IO[bytes], budget: Budget) -> None:
        self._stream = stream
        self._file = file
        self._budget = budget

    def read(self, size: int) -> bytes:
        try:
            data = self._stream.read(size)
        except OSError as error:
            if error.errno is not None:
                raise
            raise tarfile.ReadError(str(error)) from error  # what gzip and bz2 say of damage
        self._budget.take(len(data))
        self._budget.report(self._file.tell())
        return data


class _ShortHeader(tarfile.TarInfo):
    """Refuses headers beside a member that would fill the memory."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        found = super().frombuf(buf, encoding, errors)
        if found.type in _HEADERS and found.size > _LONGEST_HEADER:
            raise tarfile.TarError(f"a header of {found.size:,} bytes")
        return found


def _unpack_tar(archive: Path, folder: Path, budget: Budget, wanted: Wanted) -> int:
    count = 0
    links: list[str] = []
    with _decompressed(archive) as (stream, file):
        counted = cast("IO[bytes]", _Counted(stream, file, budget))
        with tarfile.open(fileobj=counted, mode="r|", tarinfo=_ShortHeader) as tar:
            for member in tar:
                budget.take_file()
                path = safe_path(member.name, archive)
                if member.issym() or member.islnk():
                    links.append(member.name)
                elif not (member.isfile() or member.isdir()) or member.issparse():
                    raise _special(member.name, archive)
                elif is_rubbish(path) or member.isdir():
                    continue
                elif wanted(path):
                    data = cast("IO[bytes]", tar.extractfile(member))
                    write_member(data, folder, path, archive, None)
                    count += 1
    _say_links(links, archive)
    return count


def _unpack_zip(archive: Path, folder: Path, budget: Budget, wanted: Wanted) -> int:
    count = 0
    done = 0
    links: list[str] = []
    with zipfile.ZipFile(archive) as packed:
        for member in packed.infolist():
            budget.take_file()
            path = safe_path(member.filename, archive)
            done += member.compress_size
            budget.report(done)
            mode = member.external_attr >> 16
            if stat.S_ISLNK(mode):
                links.append(member.filename)
            elif stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise _special(member.filename, archive)
            elif is_rubbish(path) or member.is_dir():
                continue
            elif wanted(path):
                with _opened(packed, member, archive) as data:
                    write_member(data, folder, path, archive, budget)
                count += 1
    _say_links(links, archive)
    return count


@contextmanager
def _opened(packed: zipfile.ZipFile, member: zipfile.ZipInfo, archive: Path) -> Iterator[IO[bytes]]:
    try:
        data = packed.open(member)
    except (RuntimeError, NotImplementedError) as error:  # encrypted; packed in another way
        raise FormatError(
            f"member {member.filename!r} cannot be read ({error}); unpack the archive yourself and"
            " give the folder",
            path=archive,
        ) from error
    with data:
        yield data


def _special(name: str, archive: Path) -> FormatError:
    return FormatError(
        f"member {name[:200]!r} is a device, a pipe or the like; an honest archive has none such,"
        " and nothing of this one was kept",
        path=archive,
    )


def _say_links(links: list[str], archive: Path) -> None:
    if links:
        _log.warning(
            "%s: %d members are links, which are not made; the first is %r",
            archive,
            len(links),
            links[0],
        )
