"""Vectors kept on disk between runs: files that appear whole, checked when they are read.

A folder holds one folder per model, layer and way to run it (``vectors-HASH``), and that holds
*shards*: safetensors files with the vectors of the texts that were encoded together. What a text
is found by is a hash of its pieces. Nothing of the texts themselves is written.
"""

from __future__ import annotations

import logging
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon.core.errors import OutputError, UsageError
from gnomon.core.signature import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["VectorStore", "open_store", "vector_key"]

_LIMIT = "GNOMON_EMBEDDINGS_LIMIT"
_LIMIT_BYTES = 20_000_000_000
_FORMAT = "1"
_HASH = "[0-9a-f]" * 16
_OWN = f"vectors-{_HASH}"
_SHARDS = f"{_OWN}/{_HASH}.safetensors"
#: seconds by which the clock of files may lag behind that of processes
_TICK = 0.1
_STALE = 86400  # seconds: what a process that died left behind

_log = logging.getLogger(__name__)


class _Entry(NamedTuple):
    shard: Path
    first: int
    stop: int
    digest: bytes


class _DamagedError(Exception):
    """A shard is not what was written."""


def vector_key(kind: str, ids: NDArray[np.int32]) -> bytes:
    """Key of the vectors of a text, 16 bytes: "pieces", or "mean" for a single one."""
    return blake2b(ids.tobytes(), digest_size=16, person=kind.encode()).digest()


def open_store(folder: str, about: Mapping[str, object], dimensions: int) -> VectorStore:
    """The vectors of one model in a folder, which is made where it is not there."""
    given = os.environ.get(_LIMIT, str(_LIMIT_BYTES))
    if not given.isdecimal():
        raise UsageError(f"{_LIMIT} is a number of bytes; got {given!r}")
    clean = {key: str(value) for key, value in about.items()}
    root = Path(folder).expanduser()
    store_folder = (
        root / f"vectors-{content_hash(_FORMAT, *(x for pair in clean.items() for x in pair))}"
    )
    try:
        store_folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"embeddings cannot be kept in {root}: {error}; name another folder (embeddings="
            "'FOLDER')"
        ) from error
    return VectorStore(store_folder, clean, dimensions, int(given))


@dataclass(eq=False)
class VectorStore:
    """The vectors of one model, layer and way to run it.

    Shards that no run has used for longest are deleted first; those used since this store was
    opened never are.
    """

    folder: Path
    about: dict[str, str]  # what is written into shards for people to read
    dimensions: int
    limit_bytes: int  # of all models' shards in the folder above

    def __post_init__(self) -> None:
        self._begun = time.time() - _TICK
        self._index: dict[bytes, _Entry] | None = None
        self._full = False

    def fill(
        self, keys: Sequence[bytes], offsets: NDArray[np.int64], into: NDArray[np.float32]
    ) -> NDArray[np.bool_]:
        """Read the vectors of those of E texts that are there and whole; which were, bool [E].

        Those of text e go to rows ``offsets[e]:offsets[e + 1]`` of ``into``.
        """
        whole = np.zeros(len(keys), dtype=np.bool_)
        wanted: dict[Path, list[int]] = {}
        for number, key in enumerate(keys):
            entry = self._vector_places.get(key)
            if entry and entry.stop - entry.first == offsets[number + 1] - offsets[number]:
                wanted.setdefault(entry.shard, []).append(number)
        for shard, numbers in wanted.items():
            try:
                self._read(shard, keys, numbers, offsets, into, whole)
            except OSError:  # another process deleted it
                self._forget(shard)
            except _DamagedError as error:
                self._drop(shard, str(error))
        return whole

    def keep(
        self, keys: Sequence[bytes], offsets: NDArray[np.int64], vectors: NDArray[np.float32]
    ) -> None:
        """Write the vectors of some texts as one shard; where that fails, only log it."""
        if not len(vectors):
            return
        index: dict[str, NDArray[Any]] = {
            "keys": np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(len(keys), -1),
            "offsets": offsets.astype(np.int64),
            "digests": np.stack(
                [np.frombuffer(_digest(vectors[a:b]), dtype=np.uint8) for a, b in pairwise(offsets)]
            ),
        }
        shard = self.folder / f"{content_hash(b''.join(keys))}.safetensors"
        try:
            if not self._make_space(vectors.nbytes):
                if not self._full:
                    _log.warning(
                        "embeddings in %s reach %d bytes; further ones are not kept (%s=BYTES"
                        " allows more)",
                        self.folder.parent,
                        self.limit_bytes,
                        _LIMIT,
                    )
                self._full = True
                return
            self._write(shard, index, vectors)
        except OSError as error:
            _log.warning("embeddings are not kept in %s: %s", self.folder.parent, error)
            return
        self._vector_places.update(_entries(shard, index))

    @property
    def _vector_places(self) -> dict[bytes, _Entry]:
        if self._index is None:
            self._index = {}
            for shard in sorted(self.folder.glob(f"{_HASH}.safetensors")):
                try:
                    self._index.update(_entries(shard, _index_of(shard)))
                except OSError:
                    continue
                except _DamagedError as error:
                    self._drop(shard, str(error))
        return self._index

    def _read(
        self,
        shard: Path,
        keys: Sequence[bytes],
        numbers: list[int],
        offsets: NDArray[np.int64],
        into: NDArray[np.float32],
        whole: NDArray[np.bool_],
    ) -> None:
        with _opened(shard) as file:
            vectors = file.get_slice("vectors")
            for number in numbers:
                entry = self._vector_places[keys[number]]
                rows = vectors[entry.first : entry.stop]
                if rows.dtype != np.float32 or _digest(rows) != entry.digest:
                    raise _DamagedError("vectors are not those that were written")
                into[offsets[number] : offsets[number + 1]] = rows
                whole[number] = True
        try:
            os.utime(shard)
        except OSError as error:  # a folder that may only be read goes without
            _log.debug("use of %s is not noted: %s", shard, error)

    def _write(
        self, shard: Path, index: Mapping[str, NDArray[Any]], vectors: NDArray[np.float32]
    ) -> None:
        from safetensors import SafetensorError
        from safetensors.numpy import save_file

        partial = shard.with_name(f".{shard.stem}-{os.getpid()}.part")
        try:
            metadata = self.about | {"index": _proof(index)}
            save_file({**index, "vectors": np.ascontiguousarray(vectors)}, partial, metadata)
            partial.replace(shard)
        except SafetensorError as error:  # what it makes of a full disk
            raise OSError(str(error)) from error
        finally:
            partial.unlink(missing_ok=True)

    def _make_space(self, size: int) -> bool:
        """Delete old shards until some bytes fit; whether they do."""
        root = self.folder.parent
        for stat, left in _stats(root.glob(f"{_OWN}/.{_HASH}-*.part")):
            if stat.st_mtime < self._begun - _STALE:
                left.unlink(missing_ok=True)
        stats = sorted(_stats(root.glob(_SHARDS)), key=lambda s: s[0].st_mtime)
        total = sum(stat.st_size for stat, _ in stats) + size
        for stat, shard in stats:
            if total <= self.limit_bytes or stat.st_mtime >= self._begun:
                break
            shard.unlink(missing_ok=True)
            self._forget(shard)
            total -= stat.st_size
        return total <= self.limit_bytes

    def _drop(self, shard: Path, why: str) -> None:
        """Forget a damaged shard; its texts are encoded anew."""
        _log.warning("embeddings in %s are damaged (%s) and are made anew", shard, why)
        self._forget(shard)
        try:
            shard.unlink(missing_ok=True)
        except OSError as error:
            _log.debug("%s cannot be removed: %s", shard, error)

    def _forget(self, shard: Path) -> None:
        if self._index is not None:
            gone = [key for key, entry in self._index.items() if entry.shard == shard]
            for key in gone:
                del self._index[key]


def _stats(files: Iterable[Path]) -> Iterator[tuple[os.stat_result, Path]]:
    """Those files that are still there: another process may delete some at the same time."""
    for file in files:
        try:
            yield file.stat(), file
        except FileNotFoundError:
            continue


@contextmanager
def _opened(shard: Path) -> Iterator[Any]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(shard, framework="numpy") as file:
            yield file
    except SafetensorError as error:
        raise _DamagedError(str(error)) from error


def _index_of(shard: Path) -> dict[str, NDArray[Any]]:
    """Keys, offsets and digests of a shard."""
    with _opened(shard) as file:
        index = {name: file.get_tensor(name) for name in ("keys", "offsets", "digests")}
        if (file.metadata() or {}).get("index") != _proof(index):
            raise _DamagedError("the index is not the one that was written")
    return index


def _entries(shard: Path, index: Mapping[str, NDArray[Any]]) -> Iterable[tuple[bytes, _Entry]]:
    bounds = index["offsets"].tolist()
    rows = zip(index["keys"], bounds[:-1], bounds[1:], index["digests"], strict=True)
    for key, first, stop, digest in rows:
        yield key.tobytes(), _Entry(shard, first, stop, digest.tobytes())


def _proof(index: Mapping[str, NDArray[Any]]) -> str:
    return content_hash(*(index[name].tobytes() for name in ("keys", "offsets", "digests")))


def _digest(vectors: NDArray[np.float32]) -> bytes:
    return blake2b(np.ascontiguousarray(vectors).data, digest_size=8).digest()
