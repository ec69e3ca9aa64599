"""What is to be paraphrased: texts, under which code, with which words in them."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, NamedTuple

from gnomon.errors import DataError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.paraphrase._constraints import Constraint
    from gnomon.testset import TestSet

__all__ = ["Ask", "Group", "asked", "digest"]


class Ask(NamedTuple):
    """One text to be paraphrased.

    Attributes:
        segment: 1-based segment.
        text: a reference.
        code: the code to begin with.
        phrases: what the paraphrase must hold.
    """

    segment: int
    text: str
    code: int | None = None
    phrases: tuple[str, ...] = ()


class Group(NamedTuple):
    """Texts of one segment that n paraphrases are wanted of, taken in turn."""

    segment: int
    system: str | None
    asks: tuple[Ask, ...]


def asked(
    testset: TestSet,
    *,
    constraints: Sequence[Constraint] | None = None,
    together: bool = False,
    codes: Mapping[str, Sequence[int]] | None = None,
) -> list[list[Group]]:
    """The groups of every segment; none where all its references are empty.

    Args:
        testset: references.
        constraints: one group for each of them; for all of a segment, if together.
        together: see ``constraints``.
        codes: of the outputs of systems, -1 without one; one group for each system.

    Raises:
        DataError: a constraint is of a segment that the test set has not.
        UsageError: both constraints and codes.
    """
    if constraints is not None and codes is not None:
        raise UsageError("paraphrases follow constraints or the codes of outputs, not both")
    phrases = None if constraints is None else _phrases(testset, constraints, together=together)
    found: list[list[Group]] = []
    for i in range(testset.segments):
        columns = testset.references.values()
        texts = [text for column in columns if (text := column[i]) is not None and text.strip()]
        texts = list(dict.fromkeys(texts))
        if not texts:
            found.append([])
        elif phrases is not None:
            found.append([_group(i + 1, texts, phrases=these) for these in phrases[i]])
        elif codes is not None:
            found.append(
                [_group(i + 1, texts, name, code=of[i]) for name, of in codes.items() if of[i] >= 0]
            )
        else:
            found.append([_group(i + 1, texts)])
    return found


def digest(groups: Sequence[Sequence[Group]]) -> str:
    """A hash of what is asked, 16 digits."""
    return hashlib.sha256(json.dumps(groups).encode()).hexdigest()[:16]


def _group(
    segment: int,
    texts: Sequence[str],
    system: str | None = None,
    *,
    code: int | None = None,
    phrases: tuple[str, ...] = (),
) -> Group:
    given = None if code is None else int(code)
    return Group(segment, system, tuple(Ask(segment, text, given, phrases) for text in texts))


def _phrases(
    testset: TestSet, constraints: Sequence[Constraint], *, together: bool
) -> list[list[tuple[str, ...]]]:
    found: list[list[str]] = [[] for _ in range(testset.segments)]
    for one in constraints:
        if not 1 <= one.segment <= testset.segments:
            raise DataError(
                f"the constraint {one.text!r} is of segment {one.segment}, and the test set has"
                f" {testset.segments} segments, counted from 1; were they made for another set?"
            )
        found[one.segment - 1].append(one.text)
    if together:
        return [[tuple(dict.fromkeys(texts))] if texts else [] for texts in found]
    return [[(text,) for text in dict.fromkeys(texts)] for texts in found]
