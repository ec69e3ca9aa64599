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


class SegmentId(NamedTuple):
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
    texts: dict[SegmentId, str] = field(default_factory=dict)
    lines: dict[SegmentId, int] = field(default_factory=dict)

    def add(self, segment: SegmentId, text: str, line: int) -> None:
        """Note a segment."""
        if segment in self.texts:
            raise FormatError(
                f"a second {self.called} for segment {segment.number} of document"
                f" {segment.document!r}; line {self.lines[segment]} has the first",
                path=self.path,
                line=line,
            )
        self.texts[segment] = join_lines(text)
        self.lines[segment] = line

    @property
    def called(self) -> str:
        """Its name in messages."""
        return f"{self.role} {self.name}".strip()


@dataclass
class Collected:
    """The contents of one or several files of a set."""

    name: str = ""
    parts: list[Passages] = field(default_factory=list)
    facts: dict[str, dict[str, str]] = field(default_factory=dict)

    def select(self, role: Role) -> list[Passages]:
        """The parts of one role."""
        return [passages for passages in self.parts if passages.role == role]


@dataclass(frozen=True)
class Choices:
    """The choices to make where a file is ambiguous."""

    keep: tuple[str, ...] = ()
    incomplete: Incomplete = "refuse"

    def __post_init__(self) -> None:
        for name in self.keep:
            if name not in KEEPABLE:
                raise UnknownNameError("thing to keep", name, KEEPABLE)
        if self.incomplete not in INCOMPLETE:
            raise UnknownNameError("way with incomplete systems", self.incomplete, INCOMPLETE)


def join_lines(text: str) -> str:
    r"""A text on one line: tabs and line ends, with the spaces around them, become one space.

    >>> join_lines(" a \n   b\tc ")
    'a b c'
    """
    parts = (piece.strip(" ") for piece in _BREAKS.split(text))
    return " ".join(piece for piece in parts if piece)


def merge(collections: Sequence[Collected]) -> Collected:
    """Several files of one set as one; what they repeat must be the same."""
    together = Collected(next((collected.name for collected in collections if collected.name), ""))
    for collected in collections:
        for document, facts in collected.facts.items():
            together.facts[document] = {**together.facts.get(document, {}), **facts}
        for passages in collected.parts:
            same = [
                p
                for p in together.select(passages.role)
                if passages.role == "source" or p.name == passages.name
            ]
            if same and (passages.role == "source" or passages.name):
                _check_same(same[0], passages)
            else:
                together.parts.append(passages)
    return together


def _check_same(first: Passages, other: Passages) -> None:
    for segment, text in other.texts.items():
        if first.texts.setdefault(segment, text) != text:
            raise FormatError(
                f"the {other.called} of segment {segment.number} of document {segment.document!r}"
                f" is not that of {first.path}:{first.lines.get(segment, 0)}; convert files of one"
                " set together only",
                path=other.path,
                line=other.lines[segment],
            )
        first.lines.setdefault(segment, other.lines[segment])


def assemble(
    collected: Collected, *, path: str, language_pair: str | None, choices: Choices
) -> TestSet:
    """Put the parts into one order, that of the sources (or, without them, of a reference).

    References that name no translator are called A, B, ... Segments without a reference are left
    out where others have one, and so are documents of test suites; both are said.
    """
    pair = _pair(collected, path, language_pair)
    parts = [passages for passages in collected.parts if _fits(passages, pair)]
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
        _check_segments(passages, spine[0])
    segments = _choose_segments(
        list(spine[0].texts), list(references.values()), collected, path, choices
    )
    refs = {
        n: [passages.texts.get(segment) for segment in segments]
        for n, passages in references.items()
    }
    systems = _systems(
        [passages for passages in parts if passages.role == "system"], segments, choices
    )
    for name, texts in refs.items():
        report_empty(f"{path}, reference {name}", "reference", texts)
    for passages in sources:
        report_empty(
            str(passages.path), "source", [passages.texts.get(segment) for segment in segments]
        )
    documents = [segment.document for segment in segments]
    labels = {n: c for n in ("origlang", "collection") if (c := _facts(collected, documents, n))}
    return TestSet(
        name=collected.name,
        references=refs,
        systems=systems,
        sources=[sources[0].texts[segment] for segment in segments] if sources else None,
        language_pair=pair,
        info={name: SystemInfo(human=True) for name in systems if name in refs},
        documents=documents,
        domains=_facts(collected, documents, "domain"),
        labels=labels,
        path=path,
    )


def languages(collected: Collected) -> list[str]:
    """The language pairs of the parts, as far as they say it in codes."""
    starts = dict.fromkeys(p.language for p in collected.select("source") if p.language)
    ends = dict.fromkeys(p.language for p in collected.parts if p.role != "source" and p.language)
    return [f"{start}-{end}" for start in starts for end in ends if start != end]


def _pair(collected: Collected, path: str, wanted: str | None) -> str | None:
    pairs = languages(collected)
    fitting = [p for p in pairs if wanted in (None, p, p.rpartition("-")[2])]
    if pairs and not fitting:
        raise UnknownNameError(f"language pair of {path}", str(wanted), pairs)
    if len(fitting) > 1:
        raise UsageError(
            f"{path} holds several language pairs: {', '.join(fitting)}; name one of them"
        )
    return fitting[0] if fitting else wanted


def _fits(passages: Passages, pair: str | None) -> bool:
    if passages.language is None or pair is None or "-" not in pair:
        return True
    start, _, end = pair.partition("-")
    return passages.language == (start if passages.role == "source" else end)


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


def _check_segments(passages: Passages, spine: Passages) -> None:
    for segment in passages.texts:
        if segment not in spine.texts:
            raise FormatError(
                f"the {passages.called} has segment {segment.number} of document"
                f" {segment.document!r}, which the {spine.called} ({spine.path}) lacks; the files"
                " must be of one set",
                path=passages.path,
                line=passages.lines[segment],
            )


def _choose_segments(
    segments: list[SegmentId],
    references: Sequence[Passages],
    collected: Collected,
    path: str,
    choices: Choices,
) -> list[SegmentId]:
    if "test-suites" not in choices.keep:
        usual = [p for p in segments if not collected.facts.get(p.document, {}).get("testsuite")]
        segments = _leave_out_others(
            usual, segments, f"{path}: %d segments belong to test suites", "test-suites"
        )
    if references and "unreferenced" not in choices.keep:
        translated = [p for p in segments if any(p in passages.texts for passages in references)]
        segments = _leave_out_others(
            translated, segments, f"{path}: %d segments have no reference", "unreferenced"
        )
    return segments


def _leave_out_others(
    some: list[SegmentId], segments: list[SegmentId], what: str, option: str
) -> list[SegmentId]:
    """Some of the segments, or all where none fits; the log says how many are left out."""
    if some and len(some) < len(segments):
        LOGGER.info(
            what + " and are left out (gnomon.official.convert(keep=[%r]) keeps them)",
            len(segments) - len(some),
            option,
        )
    return some or segments


def _systems(
    parts: Sequence[Passages], segments: Sequence[SegmentId], choices: Choices
) -> dict[str, list[str]]:
    systems: dict[str, list[str]] = {}
    for passages in parts:
        missing = [segment for segment in segments if segment not in passages.texts]
        if len(missing) == len(segments):
            LOGGER.info(
                "%s: system %s has none of the segments; left out", passages.path, passages.name
            )
            continue
        if missing and choices.incomplete == "refuse":
            raise _incomplete(passages, missing, len(segments))
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
        systems[passages.name] = [passages.texts.get(segment, "") for segment in segments]
        report_empty(
            f"{passages.path}, system {passages.name}", "candidate", systems[passages.name]
        )
    return systems


def _incomplete(passages: Passages, missing: Sequence[SegmentId], count: int) -> DataError:
    first = missing[0]
    return DataError(
        f"{passages.path}: system {passages.name!r} lacks {len(missing)} of {count} segments,"
        f" the first is segment {first.number} of document {first.document!r}; 'gnomon data convert"
        " --incomplete drop' leaves such systems out, '--incomplete empty' gives them empty outputs"
        " there"
    )


def _facts(collected: Collected, documents: Iterable[str], name: str) -> list[str] | None:
    say_count: Mapping[str, str | None] = {d: f.get(name) for d, f in collected.facts.items()}
    column = [say_count.get(document) or _UNKNOWN for document in documents]
    return None if set(column) <= {_UNKNOWN} else column
