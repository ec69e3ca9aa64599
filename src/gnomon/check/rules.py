"""Rules that outputs must keep: texts and patterns that must or must not stand there, lengths.

A table (CSV, TSV, JSONL) has a row per rule, and some of these columns:

``segment``
    the one segment, counted from 1, for which the row holds; empty: all
``must``, ``must-not``
    a text that must, or must not, stand in the output; alternatives are parted by ``|``
``pattern``, ``not-pattern``
    a regular expression that must, or must not, be found
``at-most``
    most characters of the output

A judge that is asked yes or no, or any metric between 0 and 1, is a rule, too: below .5 means no.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.errors import FormatError, UsageError
from gnomon.data.formats import read_records
from gnomon.linguistics.faults import Fault, Hit
from gnomon.linguistics.word_lists import Pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from gnomon.core.scores import Scores
    from gnomon.data.formats import FileRecord
    from gnomon.linguistics.faults import Texts

__all__ = ["Rule", "Rules", "read_rules"]

_COLUMNS = ("must", "must-not", "pattern", "not-pattern", "at-most")
_SECONDS = 0.5  # per text and pattern; a sane one takes microseconds
_YES = 0.5


@dataclass(frozen=True)
class Rule:
    """A rule that outputs have to keep.

    Attributes:
        must: one of these texts must stand in it.
        must_not: none of these may.
        pattern: is to be found.
        not_pattern: is not to be found.
        at_most: most characters; None for any number.
        segment: for which it holds, from 0; None for all.
    """

    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    pattern: Pattern | None = None
    not_pattern: Pattern | None = None
    at_most: int | None = None
    segment: int | None = None

    def breach(self, text: str) -> tuple[int, int, str, Sequence[object]] | None:
        """Where a text breaks it, and what it breaks; None where it keeps it."""
        if self.must and not any(one in text for one in self.must):
            return -1, -1, "must", self.must
        for one in self.must_not:
            if one in text:
                at = text.index(one)
                return at, at + len(one), "must-not", [one]
        if self.pattern and not self.pattern.find(text, seconds=_SECONDS):
            return -1, -1, "pattern", [self.pattern.pattern]
        place = self.not_pattern and self.not_pattern.find(text, seconds=_SECONDS)
        if self.not_pattern and place:
            return *place, "not-pattern", [self.not_pattern.pattern]
        if self.at_most is not None and len(text) > self.at_most:
            return self.at_most, len(text), "at-most", [self.at_most]
        return None


@dataclass(frozen=True)
class Rules:
    """Rules beside texts.

    Attributes:
        rules: from a table.
        answers: of a judge: system -> a score between 0 and 1 per segment.
        judge: its name.
    """

    rules: tuple[Rule, ...] = ()
    answers: Mapping[str, NDArray[np.float64]] | None = None
    judge: str = ""

    def add_judge(self, scores: Scores) -> Rules:
        """These rules, and a judge's answers.

        Raises:
            UsageError: its scores are not between 0 and 1.
        """
        known = scores.segments[~np.isnan(scores.segments)]
        if known.size and (known.min() < 0 or known.max() > 1):
            raise UsageError(
                f"{scores.metric} gives {known.min():g} to {known.max():g}; a rule asks yes or no:"
                " give its rubric the scale [0, 1]"
            )
        answers = dict(zip(scores.systems, scores.segments, strict=True))
        return Rules(self.rules, answers, scores.metric)

    @cached_property
    def fault(self) -> Fault:
        """The kind ``rule``."""
        return Fault(
            name="rule",
            rule=self._broken,
            group="prescribed",
            floor=False,
            at_stake=self._select_segments,
            about="A rule for the segment that the output breaks.",
        )

    def _broken(self, texts: Texts) -> Iterator[Hit]:
        everywhere = [rule for rule in self.rules if rule.segment is None]
        own: dict[int | None, list[Rule]] = {}
        for rule in self.rules:
            own.setdefault(rule.segment, []).append(rule)
        for column, segment, text, _ in texts.outputs(empty=True):
            breaches = (rule.breach(text) for rule in (*everywhere, *own.get(segment, ())))
            broken = next(filter(None, breaches), None)
            if broken:
                start, end, name, values = broken
                said = {"rule": name, "expected": [f"{name}: {value}" for value in values]}
                yield Hit(column, segment, start, end, params=said)
            elif self.answers and column in self.answers and self.answers[column][segment] < _YES:
                yield Hit(column, segment, params={"rule": self.judge, "expected": [self.judge]})

    def _select_segments(self, texts: Texts) -> NDArray[np.bool_]:
        if self.answers or any(rule.segment is None for rule in self.rules):
            return np.ones(texts.segments, dtype=bool)
        found = np.zeros(texts.segments, dtype=bool)
        segments = [rule.segment for rule in self.rules if rule.segment is not None]
        found[[segment for segment in segments if segment < texts.segments]] = True
        return found


def read_rules(path: str | PathLike[str]) -> Rules:
    """Read rules from a table (``.csv``, ``.tsv``, ``.jsonl``).

    Raises:
        FormatError: it has no column of rules, or a row holds no rule or no number.
        UsageError: a pattern is not a regular expression.
    """
    records = read_records(path)
    if records and not set(_COLUMNS) & records[0].values.keys():
        raise FormatError(
            f"has no column of rules ({', '.join(_COLUMNS)}); the header has:"
            f" {', '.join(records[0].values)}",
            path=records[0].path,
            line=1,
        )
    return Rules(tuple(_rule(record) for record in records))


def _rule(record: FileRecord) -> Rule:
    must, must_not = (
        tuple(filter(None, map(str.strip, record.get(one).split("|")))) for one in _COLUMNS[:2]
    )
    pattern, not_pattern = (
        Pattern.read(f"{record.path}, line {record.line}", written) if written else None
        for written in map(record.get, _COLUMNS[2:4])
    )
    at_most, segment = (
        record.integer(column, least) if record.values.get(column) not in (None, "") else None
        for column, least in (("at-most", 0), ("segment", 1))
    )
    if not (must or must_not or pattern or not_pattern) and at_most is None:
        raise record.error(f"holds no rule; give one of {', '.join(_COLUMNS)}")
    return Rule(
        must, must_not, pattern, not_pattern, at_most, None if segment is None else segment - 1
    )
