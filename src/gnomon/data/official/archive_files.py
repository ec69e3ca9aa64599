"""Unpacking of untrusted tar archives, plain or compressed with gzip, bzip2 or xz."""

from __future__ import annotations

import bz2
import gzip
import logging
import lzma
import posixpath
import re
import secrets
import shutil
import tarfile
import zlib
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Self, cast

from gnomon.core.errors import FormatError, MissingFileError, OutputError
from gnomon.data.formats import explain_failure, largest_input
from gnomon.messages.audiences import flag

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Progress = Callable[[str, int, int], None]
    Wanted = Callable[[PurePosixPath], bool]

__all__ = ["is_archive", "sweep", "unpack"]


_log = logging.getLogger(__name__)

_MOST_BYTES = 32 << 30
_MOST_FILES = 500_000
_CHUNK = 1 << 20
_RUBBISH = ("__MACOSX", ".DS_Store")
_PACKED = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\x00", lzma.open))
_DAMAGED = (tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, UnicodeDecodeError)
_LONGEST_HEADER = 1 << 20  # bytes; a pax header holds names and times
_HEADERS = (
    tarfile.XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)


def is_archive(path: Path) -> bool:
    """True if a file is a (compressed) tar archive, by its first bytes."""
    try:
        return path.is_file() and tarfile.is_tarfile(path)
    except (*_DAMAGED, OSError):
        return False


def unpack(
    archive: Path,
    folder: Path,
    *,
    most: int | None = None,
    wanted: Wanted | None = None,
    progress: Progress | None = None,
) -> int:
    """Unpack an archive into a new folder, which appears whole or not at all.

    A path that leads elsewhere, a device or a pipe refuses the archive, and so does one that holds
    too much; links are not made, which is said. It is read to its end, with the checksum of its
    compression; a plain tar holds none of its files' content.

    Args:
        archive: the file.
        folder: does not exist yet.
        most: bytes that it may hold; 32 GiB by default, or as many as an input may have if these
            are more.
        wanted: which members to take; all by default. Those left out are checked alike.
        progress: called with "unpack", bytes of the archive so far, and its bytes in all.

    Returns:
        The number of files.

    Raises:
        FormatError: the archive is refused, damaged, or none at all.
        OutputError: the folder exists, or cannot be written.
    """
    if folder.exists():
        raise OutputError(f"cannot unpack {archive}: {folder} exists already; name a new folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = folder.with_name(f".{secrets.token_hex(8)}.tmp")
    count = 0
    try:
        with explain_failure(folder), _explain_refusal(archive):
            scratch.mkdir()
            for tar, member in _members(archive, most, progress):
                if wanted is None or wanted(PurePosixPath(member.name)):
                    _write(tar, member, scratch / _place(member))
                    count += 1
            scratch.replace(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return count


class _RefusedMemberError(Exception):
    """A member that no honest archive has."""


def _place(member: tarfile.TarInfo) -> str:
    """The path of a member below the folder; the data filter of tarfile is not in Python 3.11.2."""
    place = posixpath.normpath(member.name.lstrip("/"))
    if place == ".." or place.startswith("../"):
        raise _RefusedMemberError(f"{member.name!r} would stand outside the destination")
    if not (member.isfile() or member.isdir()):
        raise _RefusedMemberError(f"{member.name!r} is a special file")
    return place


def _write(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with cast("IO[bytes]", tar.extractfile(member)) as source, target.open("wb") as file:
        shutil.copyfileobj(source, file)


def sweep(folder: Path) -> None:
    """Delete what a killed process left half unpacked; no other process may work there."""
    for folder_left in (*folder.glob(".*.tmp"), *folder.glob(".*.new")):
        if re.fullmatch(r"\.[0-9a-f]{16}\.(?:tmp|new)", folder_left.name) and folder_left.is_dir():
            shutil.rmtree(folder_left, ignore_errors=True)


def _members(
    archive: Path, most: int | None, progress: Progress | None
) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo]]:
    """The files of an archive, while it is read to its end."""
    budget = _Budget(archive, max(_MOST_BYTES, largest_input()) if most is None else most)
    links: list[str] = []
    with archive.open("rb") as file:
        stream = cast("IO[bytes]", budget.counted(file, progress))
        with tarfile.open(fileobj=stream, mode="r|", tarinfo=_Header) as tar:
            for member in tar:
                budget.take_file()
                if member.issym() or member.islnk():
                    links.append(member.name)
                    continue
                if "\0" in member.name:
                    raise tarfile.TarError(f"{member.name!r} is no name of a file")
                _place(member)
                if member.issparse():  # a few bytes of which may claim any size
                    raise tarfile.TarError(f"{member.name!r} is a file with holes")
                if member.isfile() and not _is_rubbish(member.name):
                    yield tar, member
            rest = cast("IO[bytes]", tar.fileobj)  # to its end, where checksums are compared
            if any(chunk.strip(b"\0") for chunk in iter(lambda: rest.read(_CHUNK), b"")):
                raise tarfile.ReadError("something follows its end")
    if links:
        said = "%s: %d members are links, which are not made; the first is %r"
        _log.warning(said, archive, len(links), links[0])


@contextmanager
def _explain_refusal(archive: Path) -> Iterator[None]:
    """Say why nothing of an archive is kept."""
    if not archive.is_file():
        raise MissingFileError(f"there is no file {archive}")
    if not is_archive(archive):
        raise FormatError("is no tar archive, or is damaged", path=archive)
    try:
        yield
    except _RefusedMemberError as error:
        raise FormatError(
            f"{error}; an honest archive has no such member, and nothing of this one was kept",
            path=archive,
        ) from error
    except (*_DAMAGED, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of this machine's files; gzip and bz2 speak of damage without a number
        raise FormatError(
            f"the archive is damaged or cut short ({error}); nothing of it was kept, fetch it"
            " again",
            path=archive,
        ) from error


def _is_rubbish(name: str) -> bool:
    """True if a member is what file managers leave behind."""
    parts = PurePosixPath(name).parts
    return any(part in _RUBBISH or part.startswith("._") for part in parts)


class _Budget:
    """The rest of the limits while one archive is read."""

    def __init__(self, archive: Path, most: int) -> None:
        self._archive = archive
        self._most = most
        self._bytes = 0
        self._files = 0

    def counted(self, file: IO[bytes], progress: Progress | None) -> _Budget:
        """The decompressed stream of a file, which counts what is read from it."""
        head = file.read(6)
        file.seek(0)
        way = next((way for magic, way in _PACKED if head.startswith(magic)), None)
        self._file, self._progress = file, progress
        self._stream = file if way is None else cast("IO[bytes]", way(file, "rb"))
        return self

    def read(self, size: int) -> bytes:
        """The next bytes."""
        data = self._stream.read(size)
        self._bytes += len(data)
        if self._bytes > self._most:
            raise self._refusal(f"unpacks to more than {self._most:,} bytes")
        if self._progress is not None:
            self._progress("unpack", self._file.tell(), self._archive.stat().st_size)
        return data

    def take_file(self) -> None:
        """Count a file or a folder."""
        self._files += 1
        if self._files > _MOST_FILES:
            raise self._refusal(f"holds more than {_MOST_FILES:,} files")

    def _refusal(self, problem: str) -> FormatError:
        return FormatError(
            f"{problem}; nothing of it was kept. If this is meant, unpack it yourself and give"
            " the folder, or allow more bytes (",
            flag("max_input"),
            ")",
            path=self._archive,
        )


class _Header(tarfile.TarInfo):
    """Refuses what tarfile takes for the end, and headers that would fill the memory."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(archive)
        except tarfile.HeaderError as error:
            if isinstance(error, tarfile.EOFHeaderError):  # type: ignore[attr-defined]  # typeshed lacks it
                raise
            raise tarfile.ReadError(f"{error} where a member or the end should be") from error

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        header = super().frombuf(buf, encoding, errors)
        if header.type in _HEADERS and header.size > _LONGEST_HEADER:
            raise tarfile.TarError(f"a header of {header.size:,} bytes")
        return header
