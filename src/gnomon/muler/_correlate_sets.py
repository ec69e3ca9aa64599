"""The test sets of a comparison: named apart, dated, without human submissions."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.errors import DataError, UsageError
from gnomon.testset import SystemInfo, TestSet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Member", "members", "year_in"]

_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_SHORT = re.compile(r"(?i)(?:wmt|iwslt|newstest|news)[-_ ]?(\d\d)(?!\d)")


@dataclass(frozen=True)
class Member:
    """One test set of a comparison.

    Attributes:
        name: its name among the others ("wmt19 de-en").
        testset: the test set without human submissions.
        human: the submissions left out.
    """

    name: str
    testset: TestSet
    human: tuple[str, ...] = ()

    @property
    def pair(self) -> str:
        """The language pair; empty where it is not known."""
        return self.testset.language_pair or ""

    def known(self, system: str) -> Mapping[str, str | int | None]:
        """Year, architecture and constraint of a system; ``None`` is what is not known."""
        info = self.testset.info.get(system, SystemInfo())
        limited = {True: "constrained", False: "unconstrained", None: None}[info.constrained]
        return {
            "year": info.year if info.year is not None else year_in(self.name),
            "architecture": info.architecture,
            "constrained": limited,
        }


def year_in(name: str) -> int | None:
    """The year that the name of a test set tells, if any.

    >>> year_in("wmt19 de-en"), year_in("newstest2018"), year_in("cnndm")
    (2019, 2018, None)
    """
    whole, short = _YEAR.search(name), _SHORT.search(name)
    if whole:
        return int(whole[0])
    return 2000 + int(short[1]) if short else None


def members(testsets: TestSet | Sequence[TestSet]) -> tuple[Member, ...]:
    """Name test sets apart and leave human submissions out.

    Raises:
        UsageError: no test set is given, or two cannot be told apart.
        DataError: all systems of a test set are human.
    """
    given = [testsets] if isinstance(testsets, TestSet) else list(testsets)
    if not given:
        raise UsageError("no test set was given; name one or more with -t DIR")
    return tuple(_member(name, one) for name, one in zip(_names(given), given, strict=True))


def _names(testsets: Sequence[TestSet]) -> list[str]:
    plain = [t.name for t in testsets]
    paired = [" ".join(filter(None, (t.name, t.language_pair))) for t in testsets]
    placed = [t.path or name for t, name in zip(testsets, paired, strict=True)]
    for names in (plain, paired, placed):
        if len(set(names)) == len(names) and (len(names) == 1 or names is not plain):
            return names
    twice = ", ".join(name for name, times in Counter(placed).items() if times > 1)
    raise UsageError(f"a test set is named twice: {twice}; name each once")


def _member(name: str, testset: TestSet) -> Member:
    human = tuple(system for system, info in testset.info.items() if info.human)
    machines = [system for system in testset.systems if system not in human]
    if not machines and human:
        raise DataError(
            f"all systems of test set {name!r} are human submissions ({', '.join(human)});"
            " MuLER is correlated over the outputs of machines"
        )
    return Member(name, testset.select(systems=machines) if human else testset, human)
