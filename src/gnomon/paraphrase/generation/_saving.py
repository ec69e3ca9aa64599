"""A file that grows batch by batch and survives interruptions."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from gnomon.core.errors import DataError, FormatError, UsageError
from gnomon.data.formats import atomic_write, explain_failure, format_paraphrase
from gnomon.messages.audiences import parameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gnomon.core.testset import Paraphrase, TestSet
    from gnomon.messages import Message
    from gnomon.paraphrase.generation.requests import GenerationRequest

    Progress: TypeAlias = Callable[[str, int, int], None]


_FORMAT = 1


@dataclass(frozen=True)
class SavedRecord:
    """Progress of a file: kept beside it, as ``FILE.settings.json``."""

    settings: dict[str, object]
    done: int = 0
    size: int = 0
    counts: Counter[str] | None = None

    def after(self, batch: MadeBatch, written: int) -> SavedRecord:
        """The record when a batch has been written."""
        counts = Counter(self.counts or {})
        counts.update(batch.counts)
        counts["paraphrases"] += len(batch)
        counts["segments"] += len({paraphrase.segment for paraphrase in batch})
        return SavedRecord(self.settings, batch.done, self.size + written, counts)

    def write(self, path: Path) -> None:
        """Write it, whole or not at all."""
        record = {"done": self.done, "size": self.size, "counts": dict(self.counts or {})}
        with atomic_write(_settings_file(path)) as file:
            json.dump({"format": _FORMAT, "settings": self.settings, **record}, file, indent=1)
            file.write("\n")


def record_of(path: str | os.PathLike[str]) -> SavedRecord | None:
    """The record beside a file of paraphrases, if there is one."""
    file = _settings_file(Path(path))
    if not file.is_file():
        return None
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        if record["format"] != _FORMAT:
            raise FormatError(
                f"has format {record['format']!r}; this version of gnomon reads {_FORMAT}",
                path=file,
            )
        counts = Counter({str(key): int(value) for key, value in record["counts"].items()})
        return SavedRecord(
            dict(record["settings"]), int(record["done"]), int(record["size"]), counts
        )
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(
            "is damaged, so that nobody knows how the paraphrases were made; leave out ",
            parameter("resume"),
            ", or name another file",
            path=file,
        ) from error


def save_generated(
    path: str | os.PathLike[str],
    work: Making,
    *,
    resume: bool = False,
    batch: int | None = None,
    progress: Progress | None = None,
) -> Counter[str]:
    """Write what a method makes into a JSONL file that :func:`read_paraphrases` reads.

    Each batch is written and counted in ``FILE.settings.json`` before the next one is made, so
    that an interruption, at whatever moment, loses one batch. The bytes of the finished file are
    the same with and without interruptions.

    Args:
        path: the file.
        work: what :func:`plan` made.
        resume: go on where the file ends; a new file is begun where there is none.
        batch: segments at once; by default 32 where a model is asked, 500 elsewhere.
        progress: called with "making", segments done, segments.

    Returns:
        Counts of "paraphrases", of "segments" with any, and those of :class:`MadeBatch`; of earlier
        runs, too.

    Raises:
        UsageError: the file was made with other settings (says which differ), or holds what an
            interrupted run made, and ``resume`` is False.
        DataError: the file is not what its record says.
    """
    file = Path(path)
    if not resume:
        _refuse_unfinished(file, work)
    record = _begun(file, work) if resume else None
    if record is None:
        record = SavedRecord(work.settings())
        with explain_failure(file):
            file.write_bytes(b"")
        record.write(file)
    total = work.total
    with file.open("r+b") as stream:
        stream.truncate(record.size)
        stream.seek(record.size)
        for made in work.batches(batch, record.done):
            lines = "".join(format_paraphrase(paraphrase) + "\n" for paraphrase in made).encode()
            with explain_failure(file):
                stream.write(lines)
                stream.flush()
                os.fsync(stream.fileno())
            record = record.after(made, len(lines))
            record.write(file)
            if progress is not None:
                progress("making", record.done, total)
    return Counter(record.counts or {})


def _refuse_unfinished(file: Path, work: Making) -> None:
    """Refuse to throw away what an interrupted run made."""
    if not (file.is_file() and file.stat().st_size and _settings_file(file).is_file()):
        return
    record = record_of(file)
    if record is not None and 0 < record.done < work.total:
        raise UsageError(
            f"{file} holds the paraphrases of {record.done} segments of an interrupted run; go on"
            " with it by ",
            parameter("resume"),
            ", or name another file to begin anew",
        )


def _begun(file: Path, work: Making) -> SavedRecord | None:
    """The record of a file that can be gone on with; None where nothing was begun."""
    record = record_of(file)
    if record is None:
        if not file.is_file() or not file.stat().st_size:
            return None
        raise DataError(
            f"{file} cannot be resumed: there is no {_settings_file(file).name} beside it that"
            " says how its paraphrases were made; name another file, or leave out ",
            parameter("resume"),
            " to begin anew",
        )
    _compare(file, record.settings, json.loads(json.dumps(work.settings())))
    size = file.stat().st_size if file.is_file() else 0
    if size < record.size or record.done > work.total:
        raise DataError(
            f"{file} has {size} bytes, and {record.size} had been written: it was changed since;"
            " leave out ",
            parameter("resume"),
            " to begin anew",
        )
    return record


def _compare(file: Path, made: dict[str, object], wanted: dict[str, object]) -> None:
    names = {"asked": "texts, constraints or codes"}
    wrong = [
        f"{names.get(key, key)} {made.get(key)!r}, now {wanted.get(key)!r}"
        for key in dict.fromkeys((*made, *wanted))
        if made.get(key) != wanted.get(key)
    ]
    if wrong:
        raise UsageError(
            f"{file} was made with other settings: {'; '.join(wrong)}; name another file, give"
            " the settings that it was made with, or leave out ",
            parameter("resume"),
            " to begin anew",
        )


def _settings_file(path: Path) -> Path:
    return path.with_name(path.name + ".settings.json")


# The paraphrases of some segments, as they come out of any generator.


@dataclass(frozen=True)
class MadeBatch:
    """The paraphrases of some segments, by segment, best first; iterating gives all of them."""

    groups: tuple[tuple[Paraphrase, ...], ...]  # of each reference, constraint or system asked for
    done: int  # segments so far, from the first one
    # of this batch: segments without a reference ("bare"), groups of fewer than n ("short"),
    # constraints that no paraphrase holds ("unreachable"), and what filters dropped ("empty",
    # "copies", "duplicates", "inadequate")
    counts: Counter[str]

    def __iter__(self) -> Iterator[Paraphrase]:
        return chain.from_iterable(self.groups)

    def __len__(self) -> int:
        return sum(map(len, self.groups))


@dataclass(frozen=True)
class Making(ABC):
    """Generation of paraphrases, segment after segment, with the same result each time."""

    testset: TestSet  # references, and further inputs of the generator
    method: str  # name of the paraphrases
    request: GenerationRequest  # number of paraphrases, and filters
    usual_size: ClassVar[int] = 32  # default segments of a batch

    @property
    def total(self) -> int:
        """Number of segments."""
        return self.testset.segments

    def batches(self, size: int | None = None, after: int = 0) -> Iterator[MadeBatch]:
        """Make paraphrases of ``size`` segments at once, leaving out those done before."""
        size = self.usual_size if size is None else size
        if size < 1:
            raise UsageError(f"a batch holds at least 1 segment; got {size}")
        for start in range(after, self.total, size):
            yield self.make_batch(range(start, min(start + size, self.total)))

    @abstractmethod
    def make_batch(self, segments: range) -> MadeBatch:
        """The paraphrases of some segments (from 0)."""

    @abstractmethod
    def settings(self) -> dict[str, object]:
        """Settings that the results depend on; not the size of batches."""

    def notices(self, counts: Counter[str]) -> tuple[Message, ...]:
        """Notices for the reader, from the counts of all batches and of all "paraphrases"."""
        del counts
        return ()
