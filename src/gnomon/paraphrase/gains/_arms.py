"""The sets of paraphrases that are compared: each method, and how many of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.errors import DataError, UnknownNameError, UsageError
from gnomon.paraphrase._adequacy import closeness
from gnomon.paraphrase._lexical import lexical_values, mean
from gnomon.paraphrase._sets import by_parser, first_of
from gnomon.paraphrase._syntactic import counted, syntactic_values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.cache import Cache
    from gnomon.findings import Cell
    from gnomon.paraphrase._sets import Parses
    from gnomon.testset import Paraphrase, TestSet

__all__ = ["Arm", "Looked", "arms_of", "described"]


class Arm(NamedTuple):
    """The first n paraphrases of one method."""

    method: str
    n: int
    paraphrases: tuple[Paraphrase, ...]


class Looked(NamedTuple):
    """How paraphrases themselves are looked at.

    Attributes:
        adequacy: metric of the paraphrases against the references; None: none.
        trees: trees of methods that were parsed elsewhere.
        parser: what parses the others (``spacy:NAME``); None with no language: nothing does.
        language: whose standard pipeline parses them.
        cache: where parses are kept.
        allow_code: let a spec ``python('module:function')`` run code.
    """

    adequacy: str | None = "chrf"
    trees: Mapping[str, Parses] | None = None
    parser: str | None = None
    language: str | None = None
    cache: Cache | None = None
    allow_code: bool = False


def arms_of(
    paraphrases: Sequence[Paraphrase], numbers: Sequence[int], methods: Sequence[str] | None
) -> tuple[list[Arm], list[str]]:
    """Each method with each number of paraphrases, and what was left out, in words.

    A number larger than any segment has is the same as the largest that one has.

    Raises:
        DataError: there is no paraphrase.
        UnknownNameError: there is no such method.
        UsageError: no number is given, or one is below 1.
    """
    if not numbers or min(numbers) < 1:
        raise UsageError(
            f"numbers of paraphrases are at least 1; got {min(numbers, default='none')}"
        )
    known = tuple(dict.fromkeys(one.method for one in paraphrases if one.text.strip()))
    if not known:
        raise DataError("there is no paraphrase to score with; name files with --paraphrases FILE")
    for method in methods or ():
        if method not in known:
            raise UnknownNameError("method of paraphrases", method, known)
    arms, notices = [], []
    for method in methods or known:
        own = [one for one in paraphrases if one.method == method and one.text.strip()]
        most = _most(own)
        wanted = sorted({min(n, most) for n in numbers})
        if max(numbers) > most:
            notices.append(f"{method}: no segment has more than {most} paraphrase(s)")
        arms += [Arm(method, n, tuple(first_of(own, n=n))) for n in wanted]
    return arms, notices


def described(testset: TestSet, arm: Arm, looked: Looked) -> dict[str, Cell]:
    """Number, diversity and adequacy of the paraphrases of an arm."""
    groups = _groups(arm)
    row: dict[str, Cell] = {
        "wordings": len(arm.paraphrases) / max(len(groups), 1),
        "segments": len({one.segment for one in arm.paraphrases}),
        "diversity": mean(lexical_values(groups)),
        "syntactic": _syntactic(arm, groups, looked),
        "change": _change(testset, arm),
        "adequacy": None,
    }
    if looked.adequacy is not None:
        found = closeness(testset, arm.paraphrases, looked.adequacy, allow_code=looked.allow_code)
        row["adequacy"] = float(np.nanmean(found)) if np.isfinite(found).any() else None
    return row


def _groups(arm: Arm) -> list[list[str]]:
    """The wordings of each segment, and of each system where they are its own."""
    groups: dict[tuple[int, str | None], list[str]] = {}
    for one in arm.paraphrases:
        groups.setdefault((one.segment, one.system), []).append(one.text)
    return list(groups.values())


def _most(paraphrases: Sequence[Paraphrase]) -> int:
    counts: dict[tuple[int, str | None], int] = {}
    for one in paraphrases:
        counts[one.segment, one.system] = counts.get((one.segment, one.system), 0) + 1
    return max(counts.values())


def _change(testset: TestSet, arm: Arm) -> float | None:
    """Mean lexical distance of a paraphrase from its references."""
    pairs = [
        [one.text, text]
        for one in arm.paraphrases
        for column in testset.references.values()
        if (text := column[one.segment - 1]) is not None
    ]
    return mean(lexical_values(pairs))


def _syntactic(arm: Arm, groups: list[list[str]], looked: Looked) -> float | None:
    if looked.trees is not None and arm.method in looked.trees:
        given = [list(parses)[: arm.n] for parses in looked.trees[arm.method]]
        if max(map(len, given), default=0) < arm.n:
            return None
        return counted(syntactic_values(given), "zero")
    if looked.parser is None and looked.language is None:
        return None
    from gnomon.annotate import parse

    texts = list(dict.fromkeys(text for group in groups for text in group))
    trees = parse(texts, tagger=looked.parser, language=looked.language, cache=looked.cache)
    sets = by_parser({arm.method: groups}, dict(zip(texts, trees, strict=True)))
    return counted(syntactic_values(sets[arm.method]), "zero")
