"""Opening files to read, writing them whole or not at all, and finding them in folders."""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import logging
import os
import re
import shutil
import sys
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, TextIO, TypeVar, cast, overload

from gnomon.core.errors import (
    DataError,
    FormatError,
    GnomonError,
    MissingFileError,
    OutputError,
    UnknownNameError,
    UsageError,
)
from gnomon.data.formats.unreadable_files import (
    explain,
    explain_unreadable,
    kind_of_file,
    require_directory,
)
from gnomon.messages.audiences import Named

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Generator, Mapping, Sequence
    from os import PathLike


LOGGER = logging.getLogger("gnomon.formats")

STANDARD_INPUT = "-"
_GZIP = b"\x1f\x8b"
_CHUNK = 1 << 20
#: what a path of an open file of this process is called: "/dev/fd/63" of a shell's <(COMMAND)
_DESCRIPTOR = re.compile(r"/dev/(?:stdin|fd/\d+)|/proc/(?:self|\d+)/fd/\d+")
_SIZE = re.compile(r"(\d+) ?(?:([KMGT])i?)?B?", re.IGNORECASE)
#: formats of translation units, by how files are called
UNIT_FORMATS = {
    ".xlf": "xliff",
    ".xliff": "xliff",
    ".sdlxliff": "xliff",
    ".mxliff": "xliff",
    ".mqxliff": "xliff",
    ".tmx": "tmx",
    ".po": "po",
    ".srt": "subtitles",
    ".vtt": "subtitles",
}
#: how logs of evaluations are called
LOGS = (".jsonl", ".json", ".eval", ".parquet")
_used_input: TextIO | None = None
_piped: dict[tuple[int, int], bytes] = {}  # what came through a descriptor, which can be read once
MAX_INPUT = "GNOMON_MAX_INPUT"
_MAX_INPUT = 2 << 30


def largest_input() -> int:
    """Most bytes that an input may have, decompressed: ``GNOMON_MAX_INPUT``, else 2 GiB.

    Raises:
        UsageError: the variable is no size.
    """
    given = os.environ.get(MAX_INPUT, "").strip()
    match = _SIZE.fullmatch(given)
    if given and not match:
        raise UsageError(f"{MAX_INPUT} is a size such as 500MB or 8GB; got {given!r}")
    if not match:
        return _MAX_INPUT
    return int(match[1]) << 10 * " KMGT".index((match[2] or " ").upper())


def read_bytes(path: str | PathLike[str]) -> bytes:
    """The bytes of a file, of a decompressed ``.gz`` file, or of standard input (``-``).

    Pipes, sockets and devices are no files, unless they are open already and named by their
    descriptor (``/dev/fd/63``, which a shell makes of ``<(COMMAND)``).

    Raises:
        MissingFileError: the file is missing, is a directory, a pipe or the like, a link that leads
            nowhere, or may not be read.
        FormatError: a ``.gz`` file is damaged or is not compressed at all; there are more bytes
            than :func:`largest_input` allows.
        UsageError: standard input was read before.
    """
    if os.fspath(path) == STANDARD_INPUT:
        data = _read_standard_input()
        return _decompress(data, "standard input") if data.startswith(_GZIP) else data
    file = Path(path)
    with explain_unreadable(file), _open(file) as stream:
        if isinstance(stream, io.BufferedReader) and file.is_file():
            _check_size(file.stat().st_size, file)  # before anything is read
        data = _read_stream(stream, file)
    return _decompress(data, file) if file.suffix == ".gz" else data


def _open(file: Path) -> IO[bytes]:
    """Open a file to read; a pipe or a device is refused, as reading might never end."""
    status = file.stat()
    kind = kind_of_file(status.st_mode)
    if kind in ("a file", "a directory"):
        return file.open("rb")
    if not _DESCRIPTOR.fullmatch(str(file)):
        raise MissingFileError(
            f"{file} is {kind}; a file is expected here (what a command prints can be given as"
            " <(COMMAND), or as - on standard input)",
            path=file,
        )
    key = status.st_dev, status.st_ino
    if key not in _piped:
        with file.open("rb") as stream:
            _piped[key] = _read_stream(stream, file)
    return io.BytesIO(_piped[key])


def _read_stream(stream: IO[bytes], name: object) -> bytes:
    """All bytes of a stream, but not more than an input may have."""
    buffer = io.BytesIO()
    while chunk := stream.read(_CHUNK):
        buffer.write(chunk)
        _check_size(buffer.tell(), name)
    return buffer.getvalue()


def _check_size(size: int, name: object) -> None:
    most = largest_input()
    if size > most:
        raise FormatError(
            f"has more than {most:,} bytes (decompressed), the most that an input may have; if"
            " this is meant, allow more (",
            Named("--max-input 8GB", f"{MAX_INPUT}=8GB in the environment"),
            ")",
            path=name,
        )


def unpack_member(packed: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Unpack a file of an archive, piece by piece: no more than the size that it states.

    Raises:
        zipfile.BadZipFile: it is damaged, or has another size.
    """
    with packed.open(member) as stream:
        return b"".join(iter(lambda: stream.read(_CHUNK), b""))


def read_head(path: Path, size: int) -> bytes:
    """The first bytes of a file or of a decompressed ``.gz`` file; none where it is damaged."""
    with explain_unreadable(path), _open(path) as file:
        if path.suffix != ".gz":
            return file.read(size)
        try:
            return gzip.GzipFile(fileobj=file).read(size)
        except (OSError, EOFError, zlib.error):
            return b""  # the reader proper says what is wrong


def plain_name(path: str | PathLike[str]) -> str:
    """A file's name without ``.gz``, and ``.txt`` or what a file of translation units ends in.

    >>> plain_name("outputs/online-A.0.txt.gz")
    'online-A.0'
    """
    name = Path(path).name.removesuffix(".gz")
    return name.removesuffix(Path(name).suffix if unit_format(name) else ".txt")


def unit_format(path: str | PathLike[str]) -> str | None:
    """The format of a file of translation units, by how the file is called; else none."""
    return UNIT_FORMATS.get(Path(str(path).removesuffix(".gz")).suffix.lower())


@overload
def atomic_write(
    path: str | PathLike[str], mode: Literal["w"] = "w"
) -> contextlib.AbstractContextManager[TextIO]: ...


@overload
def atomic_write(
    path: str | PathLike[str], mode: Literal["wb"]
) -> contextlib.AbstractContextManager[IO[bytes]]: ...


def atomic_write(
    path: str | PathLike[str], mode: Literal["w", "wb"] = "w"
) -> contextlib.AbstractContextManager[Any]:
    r"""Write a file whole or not at all: a reader sees the old bytes or all of the new ones.

    A temporary file in the same folder is filled, flushed to the disk and renamed; it is removed
    on any failure, which leaves an older file as it was. Text is UTF-8 with ``\n`` line ends, and
    a name that ends in ``.gz`` is compressed (the same text gives the same bytes). Links are
    followed; devices and pipes are written directly.

    Args:
        path: the file to write.
        mode: "w" for text, "wb" for bytes.

    Raises:
        OutputError: the folder is missing or not writable, the path is a directory, the disk is
            full; the message says what to do.
    """
    return _atomic_write(Path(path), mode)


def write_together(contents: Mapping[str | PathLike[str], str | bytes]) -> None:
    """Write several files, all of them or none; see :func:`atomic_write`.

    Args:
        contents: what each file holds; the last one gets its name first.

    Raises:
        OutputError: one of them cannot be written.
    """
    with contextlib.ExitStack() as files:
        opened = []
        for path, content in contents.items():
            mode: Literal["w", "wb"] = "wb" if isinstance(content, bytes) else "w"
            opened.append((files.enter_context(_atomic_write(Path(path), mode)), content))
        for file, content in opened:
            file.write(content)
            file.flush()


@contextlib.contextmanager
def _atomic_write(path: Path, mode: str) -> Generator[IO[Any]]:
    target = Path(os.path.realpath(path))
    scratch = target.with_name(f".{os.urandom(8).hex()}.tmp")
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        direct = target.exists() and not target.is_file()
        with target.open("wb") if direct else scratch.open("xb") as raw:
            yield from _open_to_fill(raw, mode, compress=path.suffix == ".gz")
            raw.flush()
            if not direct:
                os.fsync(raw.fileno())
        if not direct:
            _replace(scratch, target)
    except GnomonError:
        raise
    except OSError as error:
        if error.filename not in (None, str(scratch), str(target)):
            raise
        raise OutputError(explain(path, error)) from error
    finally:
        with contextlib.suppress(OSError):
            scratch.unlink(missing_ok=True)


def _open_to_fill(raw: IO[bytes], mode: str, *, compress: bool) -> Generator[IO[Any]]:
    with contextlib.ExitStack() as stack:
        stream: IO[bytes] = raw
        if compress:
            stream = cast(
                "IO[bytes]",
                stack.enter_context(gzip.GzipFile("", "wb", fileobj=raw, mtime=0)),
            )
        if mode == "wb":
            yield stream
            return
        text = io.TextIOWrapper(stream, encoding="utf-8", newline="\n")
        try:
            yield text
            text.flush()
        finally:
            with contextlib.suppress(OSError, ValueError):
                text.detach()


def _replace(scratch: Path, target: Path) -> None:
    if target.exists():
        shutil.copymode(target, scratch)
    scratch.replace(target)
    with contextlib.suppress(OSError):  # not every file system can flush a folder
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def replace_folder(new: Path, target: Path) -> None:
    """Give a folder the name of another one, which is deleted when that is done."""
    target = Path(os.path.realpath(target))
    if not target.exists():
        new.replace(target)
        return
    old = target.with_name(f".{os.urandom(8).hex()}.old")
    target.replace(old)
    try:
        new.replace(target)
    except BaseException:
        old.replace(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _read_standard_input() -> bytes:
    global _used_input  # noqa: PLW0603  # there is one standard input per process
    stream = sys.stdin
    if stream is None:
        raise UsageError("'-' names standard input, which is closed")
    if stream is _used_input:
        raise UsageError(
            "'-' (standard input) can be read only once per command; save it to a file first"
        )
    _used_input = stream
    if hasattr(stream, "buffer"):
        return _read_stream(stream.buffer, "standard input")
    return stream.read().encode("utf-8", "surrogatepass")


def _decompress(data: bytes, path: object) -> bytes:
    if not data.startswith(_GZIP):
        raise FormatError(
            "the name ends in .gz, but the file is not gzip-compressed; rename it or compress it",
            path=path,
        )
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            return _read_stream(cast("IO[bytes]", stream), path)
    except (EOFError, zlib.error, OSError) as error:
        raise FormatError(
            f"the gzip data are damaged or cut short ({error}); fetch or compress the file again",
            path=path,
        ) from error


# Finding things in the folders of a test set.


T = TypeVar("T")

_TEXT = re.compile(r"(?P<name>.+)\.txt(?:\.gz)?", re.DOTALL)
_PAIR = re.compile(
    r"[a-z]{2}(_[A-Za-z]{2,4})?-[a-z]{2}(_[A-Za-z]{2,4})?"
    r"|[a-z]{3}(_[A-Za-z]{2,4})?-[a-z]{3}(_[A-Za-z]{2,4})?"
)


def is_pair(name: str) -> bool:
    """True if a name looks like a language pair.

    >>> is_pair("de-en"), is_pair("en-zh_TW"), is_pair("my-set")
    (True, True, False)
    """
    return _PAIR.fullmatch(name) is not None


def find(folder: Path, name: str) -> Path | None:
    """A file of this name, plain or compressed; whatever bears the name, the reader judges it."""
    files = [file for file in (folder / name, folder / f"{name}.gz") if os.path.lexists(file)]
    if len(files) > 1:
        raise FormatError(f"{files[1].name} lies beside it; keep one of the two", path=files[0])
    return files[0] if files else None


def entries(folder: Path) -> list[Path]:
    """Entries of a folder, sorted; empty where there is none."""
    if os.path.lexists(folder) and not folder.is_file():
        require_directory(folder)
    return sorted(folder.iterdir()) if folder.is_dir() else []


def bears_file(path: Path) -> bool:
    """True if a name in a folder is that of a file, or of what stands in its place.

    A pipe or a link that leads nowhere is no file, but leaving it out would change what is read:
    the reader refuses it. Hidden ones are nobody's data.
    """
    return path.is_file() or not (path.is_dir() or path.name.startswith("."))


def text_files(folder: Path) -> dict[str, Path]:
    """Name -> file of the ``NAME.txt`` and ``NAME.txt.gz`` in a folder, in natural order."""
    named: dict[str, Path] = {}
    for file in entries(folder):
        match = _TEXT.fullmatch(file.name)
        if file.name.startswith(".") or not match:
            continue
        name = match["name"]
        if name in named:
            raise DataError(f"two files are called {name!r}: {named[name]} and {file}; keep one")
        named[name] = file
    return {name: named[name] for name in sorted(named, key=natural)}


def natural(name: str) -> list[tuple[int, int, str]]:
    """Sort key by which ``sys10`` comes after ``sys9``."""
    parts = re.split(r"([0-9]+)", name)
    return [(0, int(p), p) if p.isascii() and p.isdigit() else (1, 0, p) for p in parts]


def choose(kind: str, wanted: Sequence[str] | None, there: Mapping[str, T]) -> dict[str, T]:
    """The wanted ones in the order wanted; all by default."""
    for name in wanted or ():
        if name not in there:
            raise UnknownNameError(kind, name, there)
    return {name: there[name] for name in (there if wanted is None else wanted)}


def agree(stated: str | None, given: str | None, path: Path) -> str | None:
    """The language pair, from what the directory says and what the user says."""
    if stated is None or given is None or given in (stated, stated.split("-")[-1]):
        return stated or given
    raise UsageError(f"{path} is a test set for {stated}; {given} was asked for")


def references_in(path: Path) -> dict[str, Path]:
    """Name -> file of the ``ref.NAME.txt`` in a folder, which may be missing."""
    named = text_files(path)
    return {n.removeprefix("ref."): file for n, file in named.items() if re.match(r"ref\..", n)}
