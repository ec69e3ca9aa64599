"""Segments by document and number, from which WMT's XML and SGML files make a test set."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import chain, count
from string import ascii_uppercase
from typing import TYPE_CHECKING, Literal, NamedTuple

from gnomon.core.errors import DataError, FormatError, UnknownNameError, UsageError
from gnomon.core.testset import SystemInfo, TestSet
from gnomon.data.formats._files import LOGGER
from gnomon.data.formats._lines import report_empty

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Role = Literal["source", "reference", "system"]
Incomplete = Literal["refuse", "empty", "drop"]
INCOMPLETE = ("refuse", "empty", "drop")
KEEPABLE = ("test-suites", "unreferenced", "entities")
_BREAKS = re.compile(r"[\t\n\r\v\f]+")
_UNKNOWN = "unknown"


class PassagePlace(NamedTuple):
    """A segment's document and number."""

    document: str
    number: str


@dataclass
class Passages:
    """The segments of one source, one translator or one system."""

    role: Role
    name: str
    path: str
    language: str | None = None
    texts: dict[PassagePlace, str] = field(default_factory=dict)
    lines: dict[PassagePlace, int] = field(default_factory=dict)

    def add(self, place: PassagePlace, text: str, line: int) -> None:
        """Note a segment."""
        if place in self.texts:
            raise FormatError(
                f"a second {self.called} for segment {place.number} of document"
                f" {place.document!r}; line {self.lines[place]} has the first",
                path=self.path,
                line=line,
            )
        self.texts[place] = one_line(text)
        self.lines[place] = line

    @property
    def called(self) -> str:
        """What to call it in messages."""
        return f"{self.role} {self.name}".strip()


@dataclass
class Collected:
    """What one or several files of a set hold."""

    name: str = ""
    parts: list[Passages] = field(default_factory=list)
    facts: dict[str, dict[str, str]] = field(default_factory=dict)

    def of(self, role: Role) -> list[Passages]:
        """The parts of one role."""
        return [part for part in self.parts if part.role == role]


@dataclass(frozen=True)
class Choices:
    """What to do where a file is not plain."""

    keep: tuple[str, ...] = ()
    incomplete: Incomplete = "refuse"

    def __post_init__(self) -> None:
        for name in self.keep:
            if name not in KEEPABLE:
                raise UnknownNameError("thing to keep", name, KEEPABLE)
        if self.incomplete not in INCOMPLETE:
            raise UnknownNameError("way with incomplete systems", self.incomplete, INCOMPLETE)


def one_line(text: str) -> str:
    r"""A text on one line: tabs and line ends, with the spaces around them, become one space.

    >>> one_line(" a \n   b\tc ")
    'a b c'
    """
    parts = (part.strip(" ") for part in _BREAKS.split(text))
    return " ".join(part for part in parts if part)


def merged(collections: Sequence[Collected]) -> Collected:
    """Several files of one set as one; what they repeat must be the same."""
    found = Collected(next((one.name for one in collections if one.name), ""))
    for one in collections:
        for document, facts in one.facts.items():
            found.facts[document] = {**found.facts.get(document, {}), **facts}
        for part in one.parts:
            known = [p for p in found.of(part.role) if part.role == "source" or p.name == part.name]
            if known and (part.role == "source" or part.name):
                _check_same(known[0], part)
            else:
                found.parts.append(part)
    return found


def _check_same(known: Passages, part: Passages) -> None:
    for place, text in part.texts.items():
        if known.texts.setdefault(place, text) != text:
            raise FormatError(
                f"the {part.called} of segment {place.number} of document {place.document!r} is"
                f" not that of {known.path}:{known.lines.get(place, 0)}; convert files of one set"
                " together only",
                path=part.path,
                line=part.lines[place],
            )
        known.lines.setdefault(place, part.lines[place])


def assemble(
    found: Collected, *, path: str, language_pair: str | None, choices: Choices
) -> TestSet:
    """Put the parts into one order, that of the sources (or, without them, of a reference).

    References that name no translator are called A, B, ... Segments without a reference are left
    out where others have one, and so are documents of test suites; both are said.
    """
    pair = _pair(found, path, language_pair)
    parts = [part for part in found.parts if _fits(part, pair)]
    sources = [part for part in parts if part.role == "source"]
    references = _references_by_name([part for part in parts if part.role == "reference"])
    spine = [*sources, *references.values()]
    if not spine or not spine[0].texts:
        raise DataError(
            f"{path} holds neither sources nor references; name the files of both"
            + (f" (of {pair})" if pair else "")
        )
    for part in parts:
        _check_places(part, spine[0])
    places = _chosen(list(spine[0].texts), list(references.values()), found, path, choices)
    refs = {n: [part.texts.get(place) for place in places] for n, part in references.items()}
    systems = _systems([part for part in parts if part.role == "system"], places, choices)
    for name, texts in refs.items():
        report_empty(f"{path}, reference {name}", "reference", texts)
    for part in sources:
        report_empty(str(part.path), "source", [part.texts.get(place) for place in places])
    documents = [place.document for place in places]
    labels = {n: c for n in ("origlang", "collection") if (c := _facts(found, documents, n))}
    return TestSet(
        name=found.name,
        references=refs,
        systems=systems,
        sources=[sources[0].texts[place] for place in places] if sources else None,
        language_pair=pair,
        info={name: SystemInfo(human=True) for name in systems if name in refs},
        documents=documents,
        domains=_facts(found, documents, "domain"),
        labels=labels,
        path=path,
    )


def languages(found: Collected) -> list[str]:
    """The language pairs of the parts, as far as they say it in codes."""
    starts = dict.fromkeys(p.language for p in found.of("source") if p.language)
    ends = dict.fromkeys(p.language for p in found.parts if p.role != "source" and p.language)
    return [f"{start}-{end}" for start in starts for end in ends if start != end]


def _pair(found: Collected, path: str, wanted: str | None) -> str | None:
    pairs = languages(found)
    fitting = [p for p in pairs if wanted in (None, p, p.rpartition("-")[2])]
    if pairs and not fitting:
        raise UnknownNameError(f"language pair of {path}", str(wanted), pairs)
    if len(fitting) > 1:
        raise UsageError(
            f"{path} holds several language pairs: {', '.join(fitting)}; name one of them"
        )
    return fitting[0] if fitting else wanted


def _fits(part: Passages, pair: str | None) -> bool:
    if part.language is None or pair is None or "-" not in pair:
        return True
    start, _, end = pair.partition("-")
    return part.language == (start if part.role == "source" else end)


def _references_by_name(parts: Sequence[Passages]) -> dict[str, Passages]:
    """References by translator; a letter where none is named, or one is named in several files."""
    counts = Counter(part.name for part in parts)
    taken = {part.name for part in parts if counts[part.name] == 1}
    every = chain(ascii_uppercase, (f"R{number}" for number in count(27)))
    letters = (name for name in every if name not in taken)
    return {
        part.name if part.name and counts[part.name] == 1 else next(letters): part for part in parts
    }


def _check_places(part: Passages, spine: Passages) -> None:
    for place in part.texts:
        if place not in spine.texts:
            raise FormatError(
                f"the {part.called} has segment {place.number} of document {place.document!r},"
                f" which the {spine.called} ({spine.path}) lacks; the files must be of one set",
                path=part.path,
                line=part.lines[place],
            )


def _chosen(
    places: list[PassagePlace],
    references: Sequence[Passages],
    found: Collected,
    path: str,
    choices: Choices,
) -> list[PassagePlace]:
    if "test-suites" not in choices.keep:
        usual = [p for p in places if not found.facts.get(p.document, {}).get("testsuite")]
        places = _left(usual, places, f"{path}: %d segments belong to test suites", "test-suites")
    if references and "unreferenced" not in choices.keep:
        known = [p for p in places if any(p in part.texts for part in references)]
        places = _left(known, places, f"{path}: %d segments have no reference", "unreferenced")
    return places


def _left(
    some: list[PassagePlace], places: list[PassagePlace], what: str, option: str
) -> list[PassagePlace]:
    """Some of the places, if there are any; those left out are counted aloud."""
    if some and len(some) < len(places):
        LOGGER.info(
            what + " and are left out ('gnomon data convert --keep %s' keeps them)",
            len(places) - len(some),
            option,
        )
    return some or places


def _systems(
    parts: Sequence[Passages], places: Sequence[PassagePlace], choices: Choices
) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for part in parts:
        missing = [place for place in places if place not in part.texts]
        if len(missing) == len(places):
            LOGGER.info("%s: system %s has none of the segments; left out", part.path, part.name)
            continue
        if missing and choices.incomplete == "refuse":
            raise _incomplete(part, missing, len(places))
        if missing and choices.incomplete == "drop":
            LOGGER.warning(
                "%s: system %s lacks %d segments; left out", part.path, part.name, len(missing)
            )
            continue
        if missing:
            LOGGER.warning(
                "%s: system %s lacks %d segments; empty there", part.path, part.name, len(missing)
            )
        found[part.name] = [part.texts.get(place, "") for place in places]
        report_empty(f"{part.path}, system {part.name}", "candidate", found[part.name])
    return found


def _incomplete(part: Passages, missing: Sequence[PassagePlace], count: int) -> DataError:
    first = missing[0]
    return DataError(
        f"{part.path}: system {part.name!r} lacks {len(missing)} of {count} segments, the first is"
        f" segment {first.number} of document {first.document!r}; 'gnomon data convert --incomplete"
        " drop' leaves such systems out, '--incomplete empty' gives them empty outputs there"
    )


def _facts(found: Collected, documents: Iterable[str], name: str) -> list[str] | None:
    say_count: Mapping[str, str | None] = {d: f.get(name) for d, f in found.facts.items()}
    column = [say_count.get(document) or _UNKNOWN for document in documents]
    return None if set(column) <= {_UNKNOWN} else column
