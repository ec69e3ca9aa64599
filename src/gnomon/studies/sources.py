"""Test sets of a study: reading them, and hashes of their contents."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping  # noqa: TC003  # records are read from JSON by their types
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from gnomon.core.dependencies import Dependency  # noqa: TC001  # likewise
from gnomon.core.errors import DataError, GnomonError, LengthMismatchError
from gnomon.core.outline import Outline  # noqa: TC001  # likewise
from gnomon.core.signature import content_hash, version
from gnomon.studies.definition import SetSource, Step, fits
from gnomon.studies.folder import record_in
from gnomon.studies.needs import IN_FILES, identity, place_of, stamp_of, stamp_of_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from gnomon.core.human import HumanScores
    from gnomon.core.testset import Paraphrase, TestSet
    from gnomon.studies.needs import Stamp

__all__ = [
    "FileEntry",
    "PlanRecord",
    "PlannedSet",
    "Sketches",
    "content_of",
    "paraphrases_of",
    "read_original",
    "read_set",
    "sketch_of",
    "systems_of",
]


#: a worker meets the same set task after task
_KEPT = 4


@dataclass(frozen=True)
class Sketch:
    """The sketch of a test set for a plan: names, sizes and hashes of the texts."""

    name: str
    language_pair: str | None
    segments: int
    references: tuple[str, ...]
    systems: Mapping[str, str]
    texts: str
    people: str
    judged: bool
    outline: Outline = field(compare=False)


class ReadSet(NamedTuple):
    """A test set and its sketch."""

    testset: TestSet
    sketch: Sketch


@dataclass(frozen=True)
class PlannedSet:
    """A test set of a study, as its last plan saw it.

    Attributes:
        source: where it is, and what of it the study takes.
        sketch: what it contained then.
    """

    source: SetSource
    sketch: Sketch

    @property
    def name(self) -> str:
        """Its name in the tables."""
        return self.sketch.name

    def read(self) -> TestSet:
        """Its texts, which are those that the results are of.

        Raises:
            DataError: it is not there any more, cannot be read, or holds other texts now.
        """
        try:
            read = read_set(self.source)
        except (GnomonError, OSError) as error:
            why = error if isinstance(error, GnomonError) else str(error)
            raise DataError(f"the texts of {self.name} cannot be read again: ", why) from error
        if read.sketch != self.sketch:
            raise DataError(
                f"{self.source.path} holds other texts than the results of {self.name} are of; run"
                " the study again",
                path=self.source.path,
            )
        return read.testset


@dataclass(frozen=True)
class PlanRecord:
    """A store's record of the study that ran last."""

    name: str = ""
    tasks: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    testsets: tuple[PlannedSet, ...] = ()


@dataclass(frozen=True)
class FileEntry:
    """A store's record of files."""

    stamp: str
    sketch: Sketch | None = None
    identity: str = ""


def read_set(source: SetSource, *, only: tuple[str, ...] = ()) -> ReadSet:
    """The test set that a source names, narrowed as it says, and its sketch."""
    return _read(source, only, stamp_of(*source.places))


@lru_cache(maxsize=_KEPT)
def _read(source: SetSource, only: tuple[str, ...], _stamp: Stamp) -> ReadSet:
    testset = read_original(source, only=only)
    if source.paraphrases:
        testset = testset.with_paraphrases(
            paraphrases_of(source), n=source.n, methods=source.methods or None
        )
    return ReadSet(testset, sketch_of(testset))


def read_original(source: SetSource, *, only: tuple[str, ...] = ()) -> TestSet:
    """The same without paraphrases."""
    whole = _read_whole(source, only, stamp_of(source.path, *source.human))
    names = systems_of(source, whole.systems)
    if whole.systems and not names:
        raise DataError(
            f"{source.path}: no system fits {', '.join(source.systems) or '*'}"
            f"{' without ' + ', '.join(source.exclude) if source.exclude else ''}; there are"
            f" {', '.join(whole.systems)}"
        )
    testset = whole.select(
        systems=names, segments=None if source.first is None else _first(whole, source.first)
    )
    return replace(testset, name=source.name) if source.name else testset


def paraphrases_of(source: SetSource) -> list[Paraphrase]:
    """All paraphrases that a source names, of the segments that it takes."""
    from gnomon.data.formats import read_paraphrases

    whole = _read_whole(source, (), stamp_of(source.path, *source.human))
    paraphrases = read_paraphrases(source.paraphrases, segments=whole.segments)
    return [
        paraphrase
        for paraphrase in paraphrases
        if source.first is None or paraphrase.segment <= source.first
    ]


@lru_cache(maxsize=1)
def _read_whole(source: SetSource, only: tuple[str, ...], _stamp: Stamp) -> TestSet:
    from gnomon.core.testset import TestSet
    from gnomon.data.formats import output_files

    if not only and (source.systems or source.exclude):
        # what is left out is not read: it need not fit the rest
        files = output_files(source.path, language_pair=source.language_pair)
        only = tuple(systems_of(source, files))
    pair, references = source.language_pair, source.references or None
    try:
        testset = TestSet.read(
            source.path, language_pair=pair, systems=only or None, references=references
        )
    except LengthMismatchError:
        from gnomon.alignment.aligning import read_aligned_set

        # all are aligned by the same guide, whichever are asked for
        names = systems_of(source, output_files(source.path, language_pair=pair))
        testset = read_aligned_set(
            source.path, language_pair=pair, systems=names, references=references
        ).select(systems=only or None)
    for file in source.human:
        testset = testset.with_human(file)
    return testset


def systems_of(source: SetSource, systems: Iterable[str]) -> list[str]:
    """The systems that a source takes, of those that are there."""
    return [
        name
        for name in systems
        if (not source.systems or fits(name, source.systems)) and not fits(name, source.exclude)
    ]


def name_of(testset: TestSet) -> str:
    """Name of a test set in a store: ``wmt19/de-en``."""
    pair = testset.language_pair
    return testset.name if not pair or pair in testset.name else f"{testset.name}/{pair}"


def sketch_of(testset: TestSet) -> Sketch:
    """Names, sizes and hashes of a test set."""
    return Sketch(
        name=name_of(testset),
        language_pair=testset.language_pair,
        segments=testset.segments,
        references=tuple(testset.references),
        systems={name: _digest_of_system(testset, name) for name in testset.systems},
        texts=_digest_of_set(testset),
        people=_digest_of_people(testset),
        judged=bool(testset.human or testset.rankings),
        outline=testset.outline,
    )


def content_of(sketch: Sketch, systems: Sequence[str], *, human: bool) -> str:
    """A hash of what a task reads of a test set."""
    missing = [name for name in systems if name not in sketch.systems]
    if missing:
        raise DataError(f"{sketch.name} has no system {', '.join(missing)} any more")
    parts = [sketch.texts, *(sketch.systems[name] for name in systems)]
    return content_hash(*parts, *([sketch.people] if human else []))


def _digest_of_set(testset: TestSet) -> str:
    parts = [name_of(testset), testset.language_pair or ""]
    for name, texts in testset.references.items():
        parts += ["reference", name, testset.paraphrases.get(name, ""), _joined_texts(texts)]
    for system, columns in testset.system_references.items():
        for name, texts in columns.items():
            parts += ["own reference", system, name, _joined_texts(texts)]
    for kind, values in (
        ("sources", testset.sources),
        ("documents", testset.documents),
        ("domains", testset.domains),
        *(("label " + name, labels) for name, labels in sorted(testset.labels.items())),
        *((f"codes {role}", row) for role, c in testset.codes.items() for row in c.values()),
    ):
        parts += [kind, _joined_texts(values or ())]
    return content_hash(*parts)


def _digest_of_system(testset: TestSet, system: str) -> str:
    scores = [repr((m, s[system])) for m, s in testset.logged.items() if system in s]
    texts = _joined_texts(testset.systems[system])
    aligned = [repr(one) for name, one in testset.alignments.items() if name == system]
    return content_hash(system, repr(testset.info.get(system)), texts, *scores, *aligned)


def _digest_of_people(testset: TestSet) -> str:
    scores = [
        piece for scores_of_people in testset.human for piece in _bytes_of_scores(scores_of_people)
    ]
    further = [repr(rows) for rows in (testset.looked_at, testset.repeated) if rows]
    return content_hash(*scores, repr(testset.rankings), repr(testset.errors), *further)


def _bytes_of_scores(scores: HumanScores) -> tuple[str | bytes, ...]:
    names = repr((scores.kind, scores.level, scores.rater, scores.systems, scores.items))
    return names, scores.values.tobytes()


def _joined_texts(texts: Iterable[str | None]) -> str:
    # boundaries show, and what is missing is not what is empty
    return json.dumps(list(texts), ensure_ascii=False)


def _first(testset: TestSet, first: int) -> range:
    return range(min(first, testset.segments))


# Sketches of test sets are kept, so that unchanged files are not read again.


#: changes of a file within the tick of a clock cannot be seen: younger files are read again
_YOUNG = 3.0
_FORM = "sketch-3"


@dataclass
class Sketches:
    """Sketches by what was read, each with the stamp of its files."""

    known: Mapping[str, FileEntry] = field(default_factory=dict)
    fresh: dict[str, FileEntry] = field(default_factory=dict)
    seen: dict[Dependency, str] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path) -> Sketches:
        """Read the sketches of a store; empty where the file is missing or damaged."""
        try:
            return cls(record_in(file, dict[str, FileEntry]) or {})
        except DataError:
            return cls()

    def sketch(self, source: SetSource) -> Sketch:
        """The sketch of a test set, from memory where its files are unchanged."""
        key = content_hash(_FORM, version(), json.dumps(asdict(source), sort_keys=True))
        stamp = stamp_of(*source.places)
        entry = self.known.get(key)
        if entry is not None and entry.stamp == stamp.hash != "" and entry.sketch is not None:
            return entry.sketch
        sketch = read_set(source).sketch
        same = stamp == stamp_of(*source.places)
        if stamp.hash and same and stamp.newest < time.time() - _YOUNG:
            self.fresh[key] = FileEntry(stamp.hash, sketch)
        return sketch

    def identity(self, need: Dependency) -> str:
        """Version or hash of something that numbers depend on; those of large files are kept."""
        if need not in self.seen:
            path = place_of(need) if need.kind in IN_FILES else None
            content_id = identity(need) if path is None else self._identify_files(need, str(path))
            self.seen[need] = content_id
        return self.seen[need]

    def _identify_files(self, need: Dependency, path: str) -> str:
        key = content_hash(_FORM, version(), *need)
        state = stamp_of_file if need.kind == "file" else stamp_of
        stamp = state(path)
        entry = self.known.get(key)
        if entry is not None and entry.stamp == stamp.hash != "":
            return entry.identity
        content_id = identity(need)
        if stamp.hash and stamp == state(path) and stamp.newest < time.time() - _YOUNG:
            self.fresh[key] = FileEntry(stamp.hash, identity=content_id)
        return content_id

    def merged(self) -> dict[str, FileEntry]:
        """All of them, for keeping."""
        return {**self.known, **self.fresh}
