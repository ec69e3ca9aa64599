"""Unpacking archives of strangers: tar (plain, gzip, bzip2, xz) and ZIP, by their bytes."""

from __future__ import annotations

import bz2
import gzip
import logging
import lzma
import os
import re
import secrets
import shutil
import stat
import struct
import tarfile
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Self, cast

from gnomon.core.errors import FormatError, MissingFileError, OutputError
from gnomon.data.formats import explain_failure, largest_input

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Progress = Callable[[str, int, int], None]
    Wanted = Callable[[PurePosixPath], bool]


# How much an archive may hold, counted while it is unpacked.


_STEP = 1 << 20
_FREE = 64 << 20  # bytes: so much is no bomb, however well it was packed


@dataclass(frozen=True)
class ArchiveLimits:
    """What an archive may hold.

    Attributes:
        unpacked: bytes in all; where larger inputs than that are allowed, as many as these.
        files: files and folders.
        ratio: unpacked bytes per byte of the archive, beyond the first 64 MiB.
    """

    unpacked: int = field(default_factory=lambda: max(32 << 30, largest_input()))
    files: int = 500_000
    ratio: float = 200.0


class Budget:
    """What is left of the limits while one archive is read."""

    def __init__(
        self, archive: Path, limits: ArchiveLimits, progress: Progress | None = None
    ) -> None:
        self._archive = archive
        self._limits = limits
        self._progress = progress
        self._size = archive.stat().st_size
        self._reported = 0
        self._most = min(limits.unpacked, _FREE + int(limits.ratio * self._size))
        self._bytes = 0
        self._files = 0

    def take(self, count: int) -> None:
        """Count unpacked bytes."""
        self._bytes += count
        if self._bytes > self._most:
            raise self._refusal(
                f"unpacks to more than {self._most:,} bytes (allowed are"
                f" {self._limits.unpacked:,}, and {self._limits.ratio:g} per byte of the archive)"
            )

    def report(self, position: int) -> None:
        """Say how much of the archive was read, once per MiB."""
        if self._progress is not None and position - self._reported >= _STEP:
            self._reported = position
            self._progress("unpack", position, self._size)

    def take_file(self) -> None:
        """Count a file or a folder."""
        self._files += 1
        if self._files > self._limits.files:
            raise self._refusal(f"holds more than {self._limits.files:,} files")

    def _refusal(self, problem: str) -> FormatError:
        return FormatError(
            f"{problem}; nothing of it was kept. If this is meant, unpack it yourself and give the"
            " folder, or raise the limits (--max-input for its bytes,"
            " gnomon.official.ArchiveLimits for all)",
            path=self._archive,
        )


# What an archive's members may be called, and writing them.


_DRIVE = re.compile(r"[A-Za-z]:")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")
_WINDOWS = re.compile(r'[<>:"|?*]')
_LONGEST = 255  # bytes of one name, on the usual file systems
_DEEPEST = 40
_CHUNK = 1 << 20
_RUBBISH = ("__MACOSX", ".DS_Store")


def safe_path(name: str, archive: Path) -> PurePosixPath:
    """A member's path, which leads into the folder and nowhere else."""
    problem = _problem(name)
    if problem:
        raise FormatError(
            f"member {name[:200]!r} {problem}; an honest archive has none such, and nothing of this"
            " one was kept",
            path=archive,
        )
    return PurePosixPath(name)


def _problem(name: str) -> str:
    parts = PurePosixPath(name).parts
    if name.startswith(("/", "\\")) or _DRIVE.match(name):
        return "has an absolute path"
    if ".." in parts or ".." in name.split("\\"):
        return "leads out of the folder (..)"
    if _CONTROL.search(name) or "\\" in name or (os.name == "nt" and _WINDOWS.search(name)):
        return "has a character that a file name must not have"
    if len(parts) > _DEEPEST or any(len(component.encode()) > _LONGEST for component in parts):
        return "has a path that is too long"
    return ""


def is_rubbish(path: PurePosixPath) -> bool:
    """Whether a member is what file managers leave behind."""
    return any(component in _RUBBISH or component.startswith("._") for component in path.parts)


def write_member(
    stream: IO[bytes], folder: Path, path: PurePosixPath, archive: Path, budget: Budget | None
) -> None:
    """Write a member that is a file; its times and its permissions are not taken over."""
    try:
        (folder / path.parent).mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise _twice(path.parent, archive) from error
    try:
        file = (folder / path).open("xb")
    except (FileExistsError, IsADirectoryError) as error:
        raise _twice(path, archive) from error
    with file:
        while chunk := stream.read(_CHUNK):
            if budget is not None:
                budget.take(len(chunk))
            file.write(chunk)


def _twice(path: PurePosixPath, archive: Path) -> FormatError:
    return FormatError(
        f"two members would be the same file {str(path)!r}; nothing of the archive was kept",
        path=archive,
    )


_log = logging.getLogger(__name__)

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_PACKED = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\x00", lzma.open))
_DAMAGED = (
    tarfile.TarError,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    struct.error,  # what zipfile says of extra fields,
    UnicodeDecodeError,  # of names,
    NotImplementedError,  # and of versions that do not exist
)
_LONGEST_END = 22 + 0xFFFF  # bytes of a ZIP archive's last record with its comment
_UNSAID = 0xFFFF  # members: there are so many that the number stands elsewhere
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
        with _decompress(path) as (stream, _):
            tarfile.TarInfo.frombuf(stream.read(tarfile.BLOCKSIZE), "utf-8", "surrogateescape")
    except (*_DAMAGED, OSError):
        return False
    return True


def has_checksum(path: Path) -> bool:
    """Whether a file is packed in a way that tells damage (ZIP, gzip, bzip2, xz), unlike tar."""
    with path.open("rb") as file:
        return file.read(6).startswith((*_ZIP, *(magic for magic, _ in _PACKED)))


def unpack(
    archive: Path,
    folder: Path,
    *,
    limits: ArchiveLimits | None = None,
    wanted: Wanted | None = None,
    progress: Progress | None = None,
) -> int:
    """Unpack an archive into a new folder, which appears whole or not at all.

    Absolute paths, paths that lead upwards, devices and pipes are refused, and so is an archive
    that holds too much; links are not made, which is said. It is read to its end, with every
    checksum that it holds; a plain tar holds none of its files' content.

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
        OutputError: the folder exists, or cannot be written.
    """
    if folder.exists():
        raise OutputError(f"cannot unpack {archive}: {folder} exists already; name a new folder")
    budget = _budget(archive, limits, progress)
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = folder.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with explain_failure(folder):
            scratch.mkdir()
            count = _unpack(archive, scratch, budget, wanted)
            scratch.replace(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return count


def sweep(folder: Path) -> None:
    """Delete what a killed process left half unpacked; no other process may work there."""
    for folder_left in (*folder.glob(".*.tmp"), *folder.glob(".*.new")):
        if re.fullmatch(r"\.[0-9a-f]{16}\.(?:tmp|new)", folder_left.name) and folder_left.is_dir():
            shutil.rmtree(folder_left, ignore_errors=True)


def member_names(archive: Path, *, limits: ArchiveLimits | None = None) -> list[PurePosixPath]:
    """The files of an archive; it is read as a whole, and nothing is written."""
    names: list[PurePosixPath] = []

    def heard(path: PurePosixPath) -> bool:
        names.append(path)
        return False

    _unpack(archive, archive.parent, _budget(archive, limits), heard)
    return names


def _budget(
    archive: Path, limits: ArchiveLimits | None, progress: Progress | None = None
) -> Budget:
    if not archive.is_file():
        raise MissingFileError(f"there is no file {archive}")
    if not is_archive(archive):
        raise FormatError("is neither a tar nor a ZIP archive, or is damaged", path=archive)
    return Budget(archive, limits or ArchiveLimits(), progress)


def _unpack(archive: Path, folder: Path, budget: Budget, wanted: Wanted | None) -> int:
    with archive.open("rb") as file:
        is_zip = file.read(4) in _ZIP
    take = _unpack_zip if is_zip else _unpack_tar
    try:
        return take(archive, folder, budget, wanted or (lambda _: True))
    except (*_DAMAGED, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of this machine's files; gzip and bz2 speak of damage without a number
        raise FormatError(
            f"the archive is damaged or cut short ({error}); nothing of it was kept, fetch it"
            " again",
            path=archive,
        ) from error


@contextmanager
def _decompress(path: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
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


class _CountedStream:
    """A stream that takes what is read from it from the budget."""

    def __init__(self, stream: IO[bytes], file: IO[bytes], budget: Budget) -> None:
        self._stream = stream
        self._file = file
        self._budget = budget

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._budget.take(len(data))
        self._budget.report(self._file.tell())
        return data


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


def _unpack_tar(archive: Path, folder: Path, budget: Budget, wanted: Wanted) -> int:
    count = 0
    links: list[str] = []
    with _decompress(archive) as (stream, file):
        counted = cast("IO[bytes]", _CountedStream(stream, file, budget))
        with tarfile.open(fileobj=counted, mode="r|", tarinfo=_Header) as tar:
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
            rest = cast("IO[bytes]", tar.fileobj)  # to its end, where checksums are compared
            if any(chunk.strip(b"\0") for chunk in iter(lambda: rest.read(_CHUNK), b"")):
                raise tarfile.ReadError("something follows its end")
    _say_links(links, archive)
    return count


def _unpack_zip(archive: Path, folder: Path, budget: Budget, wanted: Wanted) -> int:
    count = 0
    done = 0
    links: list[str] = []
    with zipfile.ZipFile(archive) as packed:
        _check_count(archive, len(packed.infolist()))
        for member in packed.infolist():
            budget.take_file()
            path = safe_path(member.filename, archive)
            done += member.compress_size
            budget.report(done)
            mode = member.external_attr >> 16
            with _open_member(
                packed, member, archive
            ) as data:  # which compares both of its headers
                if stat.S_ISLNK(mode):
                    links.append(member.filename)
                elif stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                    raise _special(member.filename, archive)
                elif is_rubbish(path) or member.is_dir():
                    continue
                elif wanted(path):
                    write_member(data, folder, path, archive, budget)
                    count += 1
    _say_links(links, archive)
    return count


def _check_count(archive: Path, count: int) -> None:
    """Compare the members that zipfile lists with the number that the archive says at its end."""
    with archive.open("rb") as file:
        file.seek(max(0, archive.stat().st_size - _LONGEST_END))
        end = file.read()
    said = int.from_bytes(end[(at := end.rfind(_ZIP[1]) + 10) : at + 2], "little")
    if said not in (count, _UNSAID):
        raise zipfile.BadZipFile(f"{count} of {said} members are listed")


@contextmanager
def _open_member(
    packed: zipfile.ZipFile, member: zipfile.ZipInfo, archive: Path
) -> Iterator[IO[bytes]]:
    if member.header_offset < 0:
        raise zipfile.BadZipFile(f"member {member.filename[:200]!r} lies nowhere")
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
