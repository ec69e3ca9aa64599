"""Distinct texts and indices into them: the one shape in which metrics see data."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.outline import target_of
from gnomon.native import text as loops

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["Batch", "Ragged"]


@dataclass(frozen=True)
class Ragged:
    """One list of indices per segment, of any lengths.

    Attributes:
        offsets: int32 [N + 1]; the list of segment i is ``indices[offsets[i]:offsets[i + 1]]``.
        indices: int32, indices into ``Batch.texts``.
    """

    offsets: NDArray[np.int32]
    indices: NDArray[np.int32]

    @classmethod
    def pack(cls, lists: Sequence[Sequence[int]]) -> Ragged:
        """Pack one list per segment."""
        offsets = np.cumsum([0, *(len(row) for row in lists)], dtype=np.int32)
        indices = np.array([index for row in lists for index in row], dtype=np.int32)
        return cls(offsets, indices)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, segment: int) -> NDArray[np.int32]:
        return self.indices[self.offsets[segment] : self.offsets[segment + 1]]

    def __iter__(self) -> Iterator[NDArray[np.int32]]:
        return (self[segment] for segment in range(len(self)))

    def select(self, segments: NDArray[np.int32]) -> Ragged:
        """The lists of some segments, in the order given."""
        return Ragged.pack([self[int(segment)].tolist() for segment in segments])


@dataclass(frozen=True)
class Batch:
    """K systems over N segments, every distinct text once.

    Attributes:
        texts: the distinct strings.
        candidates: int32 [K, N], index of each system's text.
        references: the references of each segment, shared by all systems.
        sources: int32 [N], or none.
        systems: names of the K systems.
        segments: int32 [N], 0-based numbers of the segments in their test set.
        language_pair: "de-en" or "en" or unknown.
        system_references: references of one system (by position) in place of the shared ones.
        paraphrases: which of the references are paraphrases, for signatures; empty: none.
    """

    texts: tuple[str, ...]
    candidates: NDArray[np.int32]
    references: Ragged
    sources: NDArray[np.int32] | None
    systems: tuple[str, ...]
    segments: NDArray[np.int32]
    language_pair: str | None = None
    system_references: Mapping[int, Ragged] = field(default_factory=dict)
    paraphrases: str = ""

    @classmethod
    def build(
        cls,
        *,
        systems: Mapping[str, Sequence[str]],
        references: Sequence[Sequence[str | None]],
        sources: Sequence[str] | None = None,
        language_pair: str | None = None,
        system_references: Mapping[str, Sequence[Sequence[str | None]]] | None = None,
        paraphrases: str = "",
    ) -> Batch:
        """Intern the texts of some systems; references come one sequence per reference.

        A reference that is ``None`` is left out of its segment's list. References of one system
        alone are appended to the shared ones.
        """
        n = len(next(iter([*references, *systems.values(), *([sources] if sources else [])]), ()))
        distinct, flat = loops.Distinct(), chain.from_iterable

        def lists(columns: Sequence[Sequence[str | None]]) -> list[list[str]]:
            rows = zip(*columns, strict=True)
            return [[text for text in row if text is not None] for row in rows] or [[]] * n

        def ragged(rows: Sequence[Sequence[str]]) -> Ragged:
            offsets = np.cumsum([0, *map(len, rows)], dtype=np.int32)
            return Ragged(offsets, distinct.number(flat(rows)))

        shared = lists(references)
        names = tuple(systems)
        ours = ragged(shared)  # texts are numbered in this order
        candidates = np.empty((len(names), n), dtype=np.int32)
        for row, texts in zip(candidates, systems.values(), strict=True):
            row[:] = distinct.number(texts)
        by_system = {
            names.index(name): ragged([a + b for a, b in zip(shared, lists(columns), strict=True)])
            for name, columns in (system_references or {}).items()
        }
        inputs = None if sources is None else distinct.number(sources)
        return cls(
            texts=distinct.texts,
            candidates=candidates,
            references=ours,
            sources=inputs,
            systems=names,
            segments=np.arange(n, dtype=np.int32),
            language_pair=language_pair,
            system_references=by_system,
            paraphrases=paraphrases,
        )

    @property
    def shape(self) -> tuple[int, int]:
        """(K, N): numbers of systems and segments."""
        systems, segments = self.candidates.shape
        return systems, segments

    @property
    def target_language(self) -> str | None:
        """The language of references and candidates, where known."""
        return target_of(self.language_pair) if self.language_pair else None

    def references_of(self, system: int) -> Ragged:
        """The references that judge one system (by position)."""
        return self.system_references.get(system, self.references)

    def select(
        self,
        *,
        systems: Sequence[int] | None = None,
        segments: Sequence[int] | NDArray[np.int32] | None = None,
    ) -> Batch:
        """Some systems and segments by position; the texts stay as they are, indices and all."""
        rows = np.asarray(range(len(self.systems)) if systems is None else systems, dtype=np.int32)
        columns = np.asarray(
            range(len(self.segments)) if segments is None else segments, dtype=np.int32
        )
        by_system = {
            new: self.system_references[int(old)].select(columns)
            for new, old in enumerate(rows)
            if int(old) in self.system_references
        }
        return replace(
            self,
            candidates=np.ascontiguousarray(self.candidates[np.ix_(rows, columns)]),
            references=self.references.select(columns),
            sources=None if self.sources is None else self.sources[columns],
            systems=tuple(self.systems[int(row)] for row in rows),
            segments=self.segments[columns],
            system_references=by_system,
        )

    def blocks(self, characters: int) -> Iterator[Batch]:
        """Runs of segments, each with its own texts alone; this batch itself where it is one.

        Args:
            characters: how long the outputs of a run are at most, but for its first segment's.
        """
        lengths = np.fromiter(map(len, self.texts), np.int32, len(self.texts))
        ends = np.cumsum(sum(lengths[row].astype(np.int64) for row in self.candidates))
        if not len(self.systems) or ends[-1:].sum() <= characters:
            yield self
            return
        run = (ends - 1).clip(0) // characters
        for number in np.unique(run).tolist():
            yield _drop_unused_texts(self.select(segments=np.flatnonzero(run == number).tolist()))


def _drop_unused_texts(batch: Batch) -> Batch:
    """Without the texts that nothing points to; the others keep their order."""
    lists = (batch.references, *batch.system_references.values())
    columns = [batch.candidates.ravel(), *(ragged.indices for ragged in lists)]
    columns += [] if batch.sources is None else [batch.sources]
    used = np.unique(np.concatenate(columns))
    number = np.zeros(len(batch.texts), dtype=np.int32)
    number[used] = np.arange(len(used), dtype=np.int32)

    def renumbered(ragged: Ragged) -> Ragged:
        return Ragged(ragged.offsets, number[ragged.indices])

    return replace(
        batch,
        texts=tuple(batch.texts[k] for k in used.tolist()),
        candidates=number[batch.candidates],
        references=renumbered(batch.references),
        sources=None if batch.sources is None else number[batch.sources],
        system_references={k: renumbered(ragged) for k, ragged in batch.system_references.items()},
    )
