"""Reading the test sets of a study, and saying what they hold in a hash."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING

from gnomon.errors import DataError
from gnomon.signature import content_hash
from gnomon.testset import TestSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gnomon.human import HumanScores
    from gnomon.study._config import SetSource

__all__ = ["digest_of_people", "digest_of_set", "digest_of_system", "name_of", "read_set"]

#: a worker meets the same set task after task
_KEPT = 4


@lru_cache(maxsize=_KEPT)
def read_set(source: SetSource) -> TestSet:
    """The test set that a source names, narrowed as it says.

    Raises:
        DataError: it cannot be read, or no system is left.
    """
    whole = TestSet.read(
        source.path,
        language_pair=source.language_pair,
        references=source.references or None,
    )
    names = [
        name
        for name in whole.systems
        if (not source.systems or _fits(name, source.systems)) and not _fits(name, source.exclude)
    ]
    if whole.systems and not names:
        raise DataError(
            f"{source.path}: no system fits {', '.join(source.systems) or '*'} without"
            f" {', '.join(source.exclude) or 'any'}; there are {', '.join(whole.systems)}"
        )
    found = whole.select(
        systems=names, segments=None if source.first is None else _first(whole, source.first)
    )
    if source.paraphrases:
        return found.with_paraphrases(
            source.paraphrases, n=source.n, methods=source.methods or None
        )
    return found


def name_of(testset: TestSet) -> str:
    """What a test set is called in a store: ``wmt19/de-en``."""
    pair = testset.language_pair
    return testset.name if not pair or pair in testset.name else f"{testset.name}/{pair}"


def digest_of_set(testset: TestSet) -> str:
    """A hash of all that a test set holds beside its systems and what people said."""
    parts = [name_of(testset), testset.language_pair or ""]
    for name, texts in testset.references.items():
        parts += ["reference", name, *_texts(texts)]
    for system, columns in testset.system_references.items():
        for name, texts in columns.items():
            parts += ["own reference", system, name, *_texts(texts)]
    for kind, values in (
        ("sources", testset.sources),
        ("documents", testset.documents),
        ("domains", testset.domains),
        *(("label " + name, labels) for name, labels in sorted(testset.labels.items())),
    ):
        parts += [kind, *_texts(values or ())]
    return content_hash(*parts)


def digest_of_system(testset: TestSet, system: str) -> str:
    """A hash of a system's name and outputs, and of what is known of it."""
    return content_hash(system, repr(testset.info.get(system)), *testset.systems[system])


def digest_of_people(testset: TestSet) -> str:
    """A hash of what people said of a test set."""
    scores = [part for one in testset.human for part in _people(one)]
    return content_hash(*scores, repr(testset.rankings), repr(testset.errors))


def _people(one: HumanScores) -> tuple[str | bytes, ...]:
    names = repr((one.kind, one.level, one.rater, one.systems, one.items))
    return names, one.values.tobytes()


def _texts(texts: Iterable[str | None]) -> list[str]:
    # what is missing is not what is empty
    return ["-" if text is None else f"+{text}" for text in texts]


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _first(testset: TestSet, first: int) -> range:
    return range(min(first, testset.segments))
