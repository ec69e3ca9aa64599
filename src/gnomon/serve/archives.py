"""Archives that were sent (.zip, .gz): their files take their place, and are counted."""

from __future__ import annotations

import errno
import gzip
import lzma
import zipfile
import zlib
from typing import IO, TYPE_CHECKING

from gnomon.core.errors import DataError
from gnomon.serve.uploads import file_title

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["unpack"]

#: how many times as large as the archive its files may be, and bytes that they may always have
_RATIO, _SMALL = 100, 1_000_000
_BLOCK = 1 << 16
#: what zipfile raises where bytes of an archive are other than they should be
_DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, RuntimeError, EOFError, UnicodeError)


def unpack(archive: Path, name: str, first: int, *, files: int, size: int, total: int) -> list[str]:
    """Write the files of an archive beside it, as ``first``, ``first + 1``, ..., by no other names.

    Args:
        archive: an uploaded file.
        name: its name.
        first: number of the first file.
        files: how many files there may be.
        size: bytes of one file.
        total: bytes of all.

    Returns:
        What the files are called.

    Raises:
        DataError: it holds too much, nothing, or what cannot be read.
    """
    names: list[str] = []
    left = min(total, max(_SMALL, _RATIO * archive.stat().st_size))
    try:
        if name.casefold().endswith(".gz"):
            with gzip.open(archive) as stream:
                _copy(stream, archive.with_name(str(first)), min(size, left))
            return [file_title(name)[: -len(".gz")] or name]
        with zipfile.ZipFile(archive) as opened:
            for member in opened.infolist():
                title = file_title(member.filename)
                if member.is_dir() or title.startswith(".") or "__MACOSX/" in member.filename:
                    continue
                if len(names) == files:
                    raise DataError(f"holds more than {files} files")
                target = archive.with_name(str(first + len(names)))
                with opened.open(member) as stream:
                    left -= _copy(stream, target, min(size, left))
                names.append(title)
    except (*_DAMAGED, OSError) as error:
        # bz2 says no number, and a place before the beginning of the file is an invalid argument
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        raise DataError("cannot be unpacked here: it is damaged, or has a password") from error
    if not names:
        raise DataError("holds no files")
    return names


def _copy(stream: IO[bytes] | gzip.GzipFile, target: Path, most: int) -> int:
    """Copy a file, and return its number of bytes."""
    size = 0
    with target.open("wb") as file:
        while block := stream.read(_BLOCK):
            size += len(block)
            if size > most:
                raise DataError("holds more, unpacked, than this server takes")
            file.write(block)
    return size
