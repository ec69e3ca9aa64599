"""The reading order of an answer: the sentences first read, the others, and those folded."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from gnomon.core.data_cautions import SAID_FIRST, doubtful_systems, select_messages
from gnomon.messages import Message, joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gnomon.core.findings import Finding
    from gnomon.messages import Message

__all__ = [
    "MOST",
    "brief",
    "cautious",
    "mentions",
    "split_notes",
    "unread_metrics",
]


#: statements of a verdict besides cautions and notes, at most
MOST = 6


#: findings that stay, however much is undecided
_ANSWERS = 2


#: cautions that are read first, at most
_CAUTIONS = 2


#: the levels of messages in the order in which they are read
_ORDER = ("finding", "undecided", "caution", "note")


def brief(statements: Iterable[Message]) -> tuple[Message, ...]:
    """The statements as they are read: what was found, what is undecided, then cautions and notes.

    Six of the first two at most, of which further findings go first. Which systems are doubtful,
    so that nothing is said of them, comes before all.
    """
    first: list[Message] = []
    levels: dict[str, list[Message]] = {level: [] for level in _ORDER}
    for said in statements:
        stops = said.code == "data.doubtful" or said.params.get("stops")
        (first if stops else levels[said.level]).append(said)
    found, undecided, cautions, notes = levels.values()
    found = found[: max(_ANSWERS, MOST - len(undecided))]
    return (*first, *found, *undecided[: MOST - len(found)], *cautions, *notes)


def split_notes(verdict: Sequence[Message]) -> tuple[Sequence[Message], Sequence[Message]]:
    """The statements that are read first, and those to be unfolded: notes and further cautions."""
    cautions = [n for n, said in enumerate(verdict) if said.level == "caution"]
    after = {*cautions[_CAUTIONS:], *(n for n, said in enumerate(verdict) if said.level == "note")}
    shown = [said for n, said in enumerate(verdict) if n not in after]
    return shown, joined(verdict[n] for n in sorted(after))


def cautious(
    verdict: Callable[[Finding], Iterable[Message]],
    finding: Finding,
    *,
    judges: bool = False,
) -> tuple[Message, ...]:
    """A verdict that says first what systems and metrics are doubtful, and nothing else of them.

    Args:
        verdict: says what a method found.
        finding: what it found; rows that set a system beside one that its notices call doubtful are
            not read, nor are those of metrics that do not read the texts.
        judges: it is the metrics that are judged, so that their figures say what they are worth.
    """
    names = frozenset(doubtful_systems(finding.notices))
    unread = frozenset() if judges else unread_metrics(finding)
    # among systems by which metrics are judged a reference does no harm
    codes = SAID_FIRST[:-1] if judges else SAID_FIRST
    first = [one for code in codes for one in select_messages(code, finding.notices)]
    statements = (
        _leave_out_rows(verdict, finding, names, unread) if names or unread else verdict(finding)
    )
    silent = bool(unread) and unread >= _metrics(finding)
    kept = [
        said
        for said in statements
        if said.level == "caution" or not (silent or _names_any(said, names))
    ]
    return brief([*first, *kept])


def _names_any(said: Message, names: Iterable[str]) -> bool:
    """True if a message speaks of one of some names."""
    return any(mentions(one, names) for one in said.words())


def mentions(text: str, names: Iterable[str]) -> bool:
    """True if a text holds a name, as a word of its own."""
    longest = sorted(names, key=len, reverse=True)
    some = "|".join(map(re.escape, longest))
    return bool(some) and bool(re.search(rf"(?<![\w.-])(?:{some})(?![\w-]|\.\w)", text))


def _metrics(finding: Finding) -> frozenset[str]:
    """The metrics that a finding names."""
    tables = (table for table in finding.tables if any(c.name == "metric" for c in table.columns))
    rows = {str(row["metric"]) for table in tables for row in table.rows if row["metric"]}
    return frozenset(rows) or frozenset(finding.signatures)


def unread_metrics(finding: Finding) -> frozenset[str]:
    """The metrics that do not read the texts, as notices say: of some, or of all without a name."""
    unread = select_messages("data.unread", finding.notices)
    some = (one.subjects.get("metrics") or _metrics(finding) for one in unread)
    return frozenset(name for names in some for name in names)


#: columns that name the system that another one is compared with
_PARTNERS = frozenset({"baseline", "leader"})


def _leave_out_rows(
    verdict: Callable[[Finding], Iterable[Message]],
    finding: Finding,
    names: frozenset[str],
    metrics: frozenset[str],
) -> Iterable[Message]:
    """Leave out rows of some metrics from a verdict, and systems from comparisons."""
    places, tables = {}, []
    for table in finding.tables:
        columns = {column.name for column in table.columns}
        read = {"system", *_PARTNERS} & columns if _PARTNERS & columns else set()
        kept = [
            n
            for n, row in enumerate(table.rows)
            if names.isdisjoint(row[c] for c in read) and row.get("metric") not in metrics
        ]
        places[table.name] = kept
        tables.append(replace(table, records=tuple(table.records[n] for n in kept), excerpt=None))
    return (map_positions(said, places) for said in verdict(replace(finding, tables=tuple(tables))))


def map_positions(statement: Message, places: Mapping[str, Sequence[int]]) -> Message:
    """A statement of some rows, with the positions that these have among all rows."""
    rows = {name: tuple(places[name][n] for n in some) for name, some in statement.rows.items()}
    return replace(statement, rows=rows)
