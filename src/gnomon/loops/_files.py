"""Files of machine code: where they lie, what they are made from, and which of them are believed.

A file holds a line of JSON and an object file, with a hash of both. It counts as absent where
anything that made it is another than now, where a byte of it changed, or where anybody but its user
(or root) could have written it.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gnomon.loops._from_numba import Kept
from gnomon.offers import version_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: what a file of machine code begins with
_MAGIC = b"gnomon loop 3\n"
_SUFFIX = f".{sys.implementation.cache_tag}.loop"
_DIGEST = hashlib.sha256().digest_size
#: seconds after which the mark of a trial counts as left behind by a process that was ended
_STALE = 3600.0
#: others that may write: group and world
_OTHERS = 0o022
#: variables of numba's that do not change what it compiles; the file it takes settings from
_HARMLESS, _SETTINGS = {"NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS"}, ".numba_config.yaml"


def are_of_use() -> bool:
    """Whether machine code may be kept here: in ELF files, and if numba is asked nothing special.

    numba is asked by variables, and by a file in the current directory.
    """
    asked = any(k.startswith("NUMBA_") and k not in _HARMLESS for k in os.environ)
    return sys.platform == "linux" and not asked and not Path(_SETTINGS).exists()


# What code is made from.


def digest_of(file: str | None) -> str:
    """A digest of a module's source; empty where there is none."""
    try:
        path = Path(file or "")
        found = path.stat()
        return _digest(path, found.st_mtime_ns, found.st_size)
    except OSError:
        return ""


@lru_cache(maxsize=8)  # each loop of a module asks
def _digest(path: Path, _changed: int, _size: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@cache
def _own_digest() -> str:
    return "".join(digest_of(str(file)) for file in sorted(Path(__file__).parent.glob("*.py")))


def origin(source: str) -> list[str]:
    """What all code of a module depends on: its source, this one, and what made and ran numba.

    Args:
        source: digest of the module.
    """
    versions = [version_of(package) for package in ("numba", "llvmlite")]
    return [source, _own_digest(), *versions, np.__version__, sys.version]


# Where code is kept.


def folders(file: str) -> Iterator[Path]:
    """Where code of a module may be kept: beside Python's own, else in the user's cache."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        yield Path(given, "gnomon")
        return
    yield Path(file).parent / "__pycache__"
    with suppress(RuntimeError):  # nobody's home
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "gnomon", "loops")


def name_of(module: str, function: str, kind: Sequence[str]) -> str:
    """The name of the file of a function.

    Args:
        module: its module.
        function: its name.
        kind: the forms of its arguments, and the processor.
    """
    said = hashlib.sha256(" ".join(kind).encode()).hexdigest()[:16]
    return f"{module}.{function}-{said}{_SUFFIX}"


def keys(module: str, file: str) -> Iterator[list[str]]:
    """What each file with code of a module says that it was made from."""
    for folder in folders(file):
        for path in folder.glob(f"{module}.*{_SUFFIX}"):
            with suppress(OSError, ValueError):
                yield _contents(path)[0]


def read(path: Path, key: Sequence[str]) -> Kept | None:
    """The code of a file, if it was made from this."""
    try:
        said, kept = _contents(path)
    except (OSError, ValueError):
        return None
    return kept if said == key else None


def _contents(path: Path) -> tuple[list[str], Kept]:
    """What a file was made from, and its code.

    Raises:
        OSError: it cannot be read.
        ValueError: it is damaged, or others may have written it.
    """
    with path.open("rb") as file:
        if not (_ours(path.parent.stat()) and _ours(os.fstat(file.fileno()))):
            raise ValueError("others may have written it")
        data = file.read()
    start = len(_MAGIC)
    digest, rest = data[start : start + _DIGEST], data[start + _DIGEST :]
    if data[:start] != _MAGIC or hashlib.sha256(rest).digest() != digest:
        raise ValueError("it is damaged")
    head, _, code = rest.partition(b"\n")
    said = json.loads(head)
    return said["key"], Kept(said["about"], code)


def _ours(found: os.stat_result) -> bool:
    """Whether nobody but root and the user can have written something."""
    return found.st_uid in {0, os.geteuid()} and not found.st_mode & _OTHERS


# Keeping.


def writable(folder: Path) -> bool:
    """Whether code can be kept there so that nobody else can change it; makes the folder."""
    try:
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        return _ours(folder.stat()) and os.access(folder, os.W_OK)
    except OSError:
        return False


def keep(path: Path, key: Sequence[str], made: Callable[[], Kept]) -> None:
    """Make code and write it to a file, which is there when all is written, or not at all.

    Meanwhile there is a mark: an empty file. One that is old was left by a process that ended: one
    more tries, and says so in it, as the trial itself may have ended that process. A mark that
    says anything stays.

    Args:
        path: the file.
        key: what the code is made from.
        made: makes it.

    Raises:
        FileExistsError: another process is at it, or tried in vain.
        ValueError: the code cannot be kept, which the mark says from now on.
        Exception: whatever else ``made`` raises, which leaves no mark.
    """
    mark = path.with_name(f".{path.name}.{hashlib.sha256(json.dumps(key).encode()).hexdigest()}")
    again = False
    with suppress(FileNotFoundError):
        left = mark.stat()
        again = not left.st_size and time.time() - left.st_mtime > _STALE
        if again:
            mark.unlink()
    descriptor = os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if again:
                os.write(descriptor, b"tried again")
            content = _sealed(key, made())
            os.fchmod(descriptor, 0o644)
            file.seek(0)
            file.write(content)
        mark.replace(path)
    except ValueError as error:
        mark.write_text(f"failed: {error}")
        raise
    except BaseException:
        mark.unlink(missing_ok=True)
        raise


def _sealed(key: Sequence[str], kept: Kept) -> bytes:
    """What :func:`_contents` reads."""
    rest = json.dumps({"key": key, "about": kept.about}).encode() + b"\n" + kept.object_file
    return _MAGIC + hashlib.sha256(rest).digest() + rest
