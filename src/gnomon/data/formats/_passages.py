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
        return [passages for passages in self.parts if passages.role == role]


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
    parts = (piece.strip(" ") for piece in _BREAKS.split(text))
    return " ".join(piece for piece in parts if piece)


def merged(collections: Sequence[Collected]) -> Collected:
    """Several files of one set as one; what they repeat must be the same."""
    together = Collected(next((collected.name for collected in collections if collected.name), ""))
    for collected in collections:
        for document, facts in collected.facts.items():
            together.facts[document] = {**together.facts.get(document, {}), **facts}
        for passages in collected.parts:
            same = [
                p
                for p in together.of(passages.role)
                if passages.role == "source" or p.name == passages.name
            ]
            if same and (passages.role == "source" or passages.name):
                _check_same(same[0], passages)
            else:
                together.parts.append(passages)
    return together


def _check_same(known: Passages, part: Passages) -> None:
    for segment, text in part.texts.items():
        if known.texts.setdefault(segment, text) != text:
            raise FormatError(
                f"the {part.called} of segment {segment.number} of document {segment.document!r} is"
                f" not that of {known.path}:{known.lines.get(segment, 0)}; convert files of one set"
                " together only",
                path=part.path,
                line=part.lines[segment],
            )
        known.lines.setdefault(segment, part.lines[segment])


def assemble(
    found: Collected, *, path: str, language_pair: str | None, choices: Choices
) -> TestSet:
    """Put the parts into one order, that of the sources (or, without them, of a reference).

    References that name no translator are called A, B, ... Segments without a reference are left
    out where others have one, and so are documents of test suites; both are said.
    """
    pair = _pair(found, path, language_pair)
    parts = [passages for passages in found.parts if _fits(passages, pair)]
    sources = [passages for passages in parts if passages.role == "source"]
    references = _references_by_name(
        [passages for passages in parts if passages.role == "reference"]
    )
    spine = [*sources, *references.values()]
    if not spine or not spine[0].texts:
        raise DataError(
            f"{path} holds neither sources nor references; name the files of both"
            + (f" (of {pair})" if pair else "")
        )
    for passages in parts:
        _check_places(passages, spine[0])
    places = _chosen(list(spine[0].texts), list(references.values()), found, path, choices)
    refs = {
        n: [passages.texts.get(segment) for segment in places] for n, passages in references.items()
    }
    systems = _systems(
        [passages for passages in parts if passages.role == "system"], places, choices
    )
    for name, texts in refs.items():
        report_empty(f"{path}, reference {name}", "reference", texts)
    for passages in sources:
        report_empty(
            str(passages.path), "source", [passages.texts.get(segment) for segment in places]
        )
    documents = [segment.document for segment in places]
    labels = {n: c for n in ("origlang", "collection") if (c := _facts(found, documents, n))}
    return TestSet(
        name=found.name,
        references=refs,
        systems=systems,
        sources=[sources[0].texts[segment] for segment in places] if sources else None,
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
    counts = Counter(passages.name for passages in parts)
    taken = {passages.name for passages in parts if counts[passages.name] == 1}
    every = chain(ascii_uppercase, (f"R{number}" for number in count(27)))
    letters = (name for name in every if name not in taken)
    return {
        passages.name if passages.name and counts[passages.name] == 1 else next(letters): passages
        for passages in parts
    }


def _check_places(part: Passages, spine: Passages) -> None:
    for segment in part.texts:
        if segment not in spine.texts:
            raise FormatError(
                f"the {part.called} has segment {segment.number} of document {segment.document!r},"
                f" which the {spine.called} ({spine.path}) lacks; the files must be of one set",
                path=part.path,
                line=part.lines[segment],
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
        translated = [p for p in places if any(p in passages.texts for passages in references)]
        places = _left(translated, places, f"{path}: %d segments have no reference", "unreferenced")
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
    systems: dict[str, list[str]] = {}
    for passages in parts:
        missing = [segment for segment in places if segment not in passages.texts]
        if len(missing) == len(places):
            LOGGER.info(
                "%s: system %s has none of the segments; left out", passages.path, passages.name
            )
            continue
        if missing and choices.incomplete == "refuse":
            raise _incomplete(passages, missing, len(places))
        if missing and choices.incomplete == "drop":
            LOGGER.warning(
                "%s: system %s lacks %d segments; left out",
                passages.path,
                passages.name,
                len(missing),
            )
            continue
        if missing:
            LOGGER.warning(
                "%s: system %s lacks %d segments; empty there",
                passages.path,
                passages.name,
                len(missing),
            )
        systems[passages.name] = [passages.texts.get(segment, "") for segment in places]
        report_empty(
            f"{passages.path}, system {passages.name}", "candidate", systems[passages.name]
        )
    return systems


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
