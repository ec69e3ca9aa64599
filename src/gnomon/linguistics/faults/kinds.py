r"""Kinds of faults that make an output no translation, or change what it has to keep.

A kind is a function of the texts of a test set, which yields hits: in which column of texts, which
segment, and where::

    @fault("shouting", group="shape")
    def shouting(texts):
        for column, outputs in texts.columns.items():
            for segment, output in enumerate(outputs):
                if output and output.isupper():
                    yield Hit(column, segment, 0, len(output))

References are columns, too: what they show is the floor beside which systems are judged. Packages
offer kinds by the entry point ``gnomon.faults``.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias

from gnomon.core.errors import UnknownNameError
from gnomon.core.options import Metavar
from gnomon.core.plugins import entry_points

if TYPE_CHECKING:
    import re
    from importlib.metadata import EntryPoint

    from numpy.typing import NDArray

    from gnomon.linguistics.facts import Mark
    from gnomon.linguistics.faults.texts import Texts

__all__ = [
    "MANY_SEGMENTS",
    "Fault",
    "FaultKinds",
    "FaultMarks",
    "Hit",
    "fault",
    "fault_kinds",
    "find_faults",
]

Group: TypeAlias = Literal["untranslated", "shape", "kept", "rate", "prescribed"]
#: names of kinds, or of groups of them
FaultKinds: TypeAlias = Annotated[Sequence[str], Metavar("KIND")]
Rule: TypeAlias = "Callable[[Texts], Iterable[Hit]]"

Marks: TypeAlias = "Callable[[str], Iterator[re.Match[str]]]"

_GROUP = "gnomon.faults"
_OTHERS = 2  # texts beside which one can be judged
MANY_SEGMENTS = 200  # that know most words of a language
_MODULES = ("empties", "copies", "answers", "lengths", "others", "marks", "rates")


class Hit(NamedTuple):
    """A fault of one segment of one column; places are characters, half-open, -1 where unknown."""

    column: str
    segment: int  # from 0
    start: int = -1
    end: int = -1
    source_start: int = -1
    source_end: int = -1
    params: dict[str, Any] = {}  # noqa: RUF012  # never changed


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A kind of faults.

    Attributes:
        name: how it is asked for ("copied").
        rule: yields the hits in texts.
        group: what it belongs to; kinds of the group "rate" are never listed as errors.
        cheap: methods that compare systems look for it.
        needs: what it cannot do without: "source", "reference", "document", "others" (three systems
            or references, and py3langid for few segments), or a package.
        at_stake: which segments it may hit, bool [N]; None: all.
        floor: a hit counts only where neither the reference is hit nor half of the systems.
        marks: what it is about, in any text: the features ``check:NAME``.
        package: which offers it.
        about: what it is, in a line.
    """

    name: str
    rule: Rule
    group: Group
    cheap: bool = False
    needs: tuple[str, ...] = ()
    at_stake: Callable[[Texts], NDArray[Any]] | None = None
    floor: bool = True
    marks: Marks | None = None
    package: str = "gnomon"
    about: str = ""

    def lacks(self, texts: Texts) -> str:
        """Name the missing requirement; empty where nothing is missing."""
        known = texts.language and importlib.util.find_spec("py3langid")
        there = {
            "source": texts.sources is not None,
            "reference": bool(texts.references),
            "document": texts.documents is not None,
            "others": len(texts.columns) > _OTHERS
            and (texts.segments >= MANY_SEGMENTS or bool(known)),
        }
        for need in self.needs:
            if need in there and not there[need]:
                return need
            if need not in there and importlib.util.find_spec(need) is None:
                return need
        return ""


def fault(
    name: str,
    *,
    group: Group,
    cheap: bool = False,
    needs: Sequence[str] = (),
    at_stake: Callable[[Texts], NDArray[Any]] | None = None,
    floor: bool = True,
    marks: Marks | None = None,
) -> Callable[[Rule], Fault]:
    """Make a function a kind of faults; the parameters are those of :class:`Fault`."""

    def decorate(rule: Rule) -> Fault:
        about = (rule.__doc__ or "").partition("\n")[0]
        return Fault(
            name=name,
            rule=rule,
            group=group,
            cheap=cheap,
            needs=tuple(needs),
            at_stake=at_stake,
            floor=floor,
            marks=marks,
            about=about,
        )

    return decorate


@functools.cache
def _built_in() -> dict[str, Fault]:
    found = {}
    for module in _MODULES:
        home = importlib.import_module(f"gnomon.linguistics.faults.{module}")
        found.update({one.name: one for one in vars(home).values() if isinstance(one, Fault)})
    return found


def _load(point: EntryPoint) -> Fault:
    loaded: Fault = point.load()
    return replace(loaded, package=point.dist.name if point.dist else "an unknown package")


def fault_kinds() -> dict[str, Fault]:
    """All kinds by name: built-in ones, then what packages offer."""
    offered = {one.name: one for one in map(_load, entry_points(group=_GROUP))}
    return {**offered, **_built_in()}


class FaultMarks(NamedTuple):
    """Marks of a kind of faults, as a feature of texts."""

    name: str
    find: Marks

    @property
    def signature(self) -> str:
        """Its signature, by which results name it."""
        return f"check:{self.name}"

    def marks(self, text: str) -> Iterator[Mark]:
        """Where it stands in a text."""
        from gnomon.linguistics.facts import Mark  # which comparisons need not load

        for found in self.find(text):
            yield Mark(*found.span(), f"check:{self.name}")

    @staticmethod
    def collect(kinds: Iterable[str]) -> dict[str, Marks]:
        """Those of all kinds of faults, where features of the kind ``check`` are among others."""
        every = fault_kinds().values() if "check" in kinds else ()
        return {one.name: one.marks for one in every if one.marks is not None}


def find_faults(names: Sequence[str] = ("all",)) -> list[Fault]:
    """The kinds that names and groups stand for, each once.

    Raises:
        UnknownNameError: there is no such kind or group.

    >>> [one.name for one in find_faults(["empty", "loop"])]
    ['empty', 'loop']
    """
    every = fault_kinds()
    found: dict[str, Fault] = {}
    for name in names:
        some = [one for one in every.values() if name in (one.name, one.group, "all")]
        if not some:
            groups = dict.fromkeys(one.group for one in every.values())
            raise UnknownNameError("kind of faults", name, (*every, *groups, "all"))
        found.update({one.name: one for one in some})
    return list(found.values())
