"""Paraphrases that need no model, batch by batch."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gnomon.errors import UsageError
from gnomon.paraphrase._adequacy import filtered
from gnomon.paraphrase._constraints import variant_paraphrases
from gnomon.paraphrase._translations import pseudo_references, round_trip
from gnomon.paraphrase.generation._saving import MadeBatch
from gnomon.signature import content_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from gnomon.testset import Paraphrase, TestSet

    #: makes the paraphrases of the segments (from 0) of a range
    Make: TypeAlias = Callable[[range], Sequence[Paraphrase]]

_BATCH = 500


@dataclass(frozen=True)
class Kept:
    """Which paraphrases stay; see :func:`gnomon.paraphrase.filtered`."""

    copies: bool = False
    duplicates: bool = False
    metric: str | None = None
    least: float | None = None
    allow_code: bool = False

    def settings(self) -> dict[str, object]:
        """What results depend on."""
        return {
            "keep_copies": self.copies,
            "keep_duplicates": self.duplicates,
            "metric": self.metric,
            "least": self.least,
        }


@dataclass(frozen=True)
class PlainWork:
    """Everything that is to be done without a model; :func:`save_generated` writes it.

    Attributes:
        testset: references, and whatever else the method reads.
        method: what the paraphrases are called.
        make: makes them.
        about: the options of the method.
        kept: which ones stay.
    """

    testset: TestSet
    method: str
    make: Make
    about: Mapping[str, object] = field(default_factory=dict)
    kept: Kept = field(default_factory=Kept)

    @property
    def total(self) -> int:
        """How many segments there are."""
        return self.testset.segments

    def settings(self) -> dict[str, object]:
        """What the results depend on; not the size of batches."""
        outputs = self.testset.systems if self.method == "pseudo" else {}
        read = [*self.testset.references.items(), *outputs.items()]
        asked = content_hash(repr([(name, list(texts)) for name, texts in read]))
        return {"method": self.method, **self.about, **self.kept.settings(), "asked": asked}

    def batches(self, size: int = _BATCH, after: int = 0) -> Iterator[MadeBatch]:
        """Make paraphrases of ``size`` segments at once, leaving out those done before."""
        if size < 1:
            raise UsageError(f"a batch holds at least 1 segment; got {size}")
        for start in range(after, self.total, size):
            part = range(start, min(start + size, self.total))
            yield self._batch(self.make(part), part)

    def _batch(self, made: Sequence[Paraphrase], part: range) -> MadeBatch:
        found = filtered(
            self.testset,
            made,
            copies=not self.kept.copies,
            duplicates=not self.kept.duplicates,
            metric=self.kept.metric,
            least=self.kept.least,
            allow_code=self.kept.allow_code,
        )
        columns = self.testset.references.values()
        counts = Counter(
            bare=sum(not any((column[i] or "").strip() for column in columns) for i in part),
            **{name: getattr(found, name) for name in found._fields if name != "kept"},
        )
        return MadeBatch((found.kept,), part.stop, counts)


def by_commands(
    testset: TestSet,
    forward: str | Sequence[str],
    back: str | Sequence[str],
    *,
    timeout: float = 600.0,
    kept: Kept | None = None,
) -> PlainWork:
    """Round trips through two commands; see :func:`gnomon.paraphrase.round_trip`."""

    def make(part: range) -> Sequence[Paraphrase]:
        other = {i + 1 for i in range(testset.segments) if i not in part}
        most = max(1, len(part) * len(testset.references))
        found = round_trip(testset, forward, back, timeout=timeout, batch=most, skip=other)
        return [one for batch in found for one in batch]

    about = {"forward": forward, "back": back}
    return PlainWork(testset, "round-trip", make, about, kept or Kept())


def by_variants(
    testset: TestSet, variants: Sequence[Sequence[str]], *, kept: Kept | None = None
) -> PlainWork:
    """Variants of phrases; see :func:`gnomon.paraphrase.variant_paraphrases`."""
    about = {"variants": content_hash(repr([list(group) for group in variants]))}
    make = _once(lambda: variant_paraphrases(testset, variants))
    return PlainWork(testset, "variants", make, about, kept or Kept())


def by_pool(
    testset: TestSet,
    quality: str = "chrf",
    *,
    n: int = 1,
    least: float | None = None,
    share: float = 1.0,
    shared: bool = False,
    kept: Kept | None = None,
) -> PlainWork:
    """Outputs of other systems; see :func:`gnomon.paraphrase.pseudo_references`."""
    options = {"n": n, "least": least, "share": share, "shared": shared}
    rules = kept or Kept()

    def pool() -> Sequence[Paraphrase]:
        return pseudo_references(
            testset,
            quality,
            n=n,
            least=least,
            share=share,
            shared=shared,
            allow_code=rules.allow_code,
        )

    return PlainWork(testset, "pseudo", _once(pool), {"quality": quality, **options}, rules)


def _once(whole: Callable[[], Sequence[Paraphrase]]) -> Make:
    """A maker of parts from one that makes all."""
    held: dict[int, list[Paraphrase]] = {}

    def make(part: range) -> Sequence[Paraphrase]:
        if not held:
            held[0] = []
            for one in whole():
                held.setdefault(one.segment, []).append(one)
        return [one for i in part for one in held.get(i + 1, ())]

    return make
