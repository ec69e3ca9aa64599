"""What the answers say: do people prefer the system that MuLER calls better?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gnomon.findings import Bars, Column, Finding, Listing, Table
from gnomon.muler._sheet_annotators import alpha, annotator_table, majority
from gnomon.muler._sheet_read import check_items
from gnomon.stats.significance import binomial_p, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gnomon.findings import Cell
    from gnomon.muler._sheet import Key, KeyRow
    from gnomon.muler._sheet_annotators import Answers
    from gnomon.muler._sheet_read import Answer

__all__ = ["judge_pairs"]

MAJORITY = "majority"
_ALL = "all"
_SHOWN = (
    "annotator", "feature", "agree", "disagree", "ties", "agreement", "low", "high", "p",
)  # fmt: skip


@dataclass(frozen=True)
class _Tally:
    """Answers to some items, set against what MuLER says."""

    items: int
    agree: int
    disagree: int
    ties: int

    def cells(self) -> dict[str, Cell]:
        decided = self.agree + self.disagree
        share, low, high = wilson_interval(self.agree, decided)
        return {
            "items": self.items,
            "open": self.items - decided - self.ties,
            "agree": self.agree,
            "disagree": self.disagree,
            "ties": self.ties,
            "agreement": share if decided else None,
            "low": low if decided else None,
            "high": high if decided else None,
            "p": binomial_p(self.agree, decided) if decided else None,
        }


def judge_pairs(answers: Sequence[Answer], key: Key) -> Finding:
    """How often people prefer the system that MuLER calls better (Karidi et al., table 10).

    With several annotators, the majority of the decided answers counts for each item (equally many
    for both: a tie), and rows for each annotator follow.

    Args:
        answers: what annotators said, from :func:`read_answers`; open items count nowhere.
        key: the key of the study.

    Returns:
        A finding whose rows hold ``annotator, feature, items, open, agree, disagree, ties,
        agreement, low, high, p``: agreement = agree / (agree + disagree), its Wilson interval at
        95 %, and the two-sided p of an exact binomial test against one half; feature "all" comes
        first. Table "segments" holds the same against the costs in the very segment, "annotators"
        how far annotators agree among themselves, "answers" every answer with the systems' names.

    Raises:
        FormatError: an answer is to an item that the key does not know.
        DataError: no item was answered.
    """
    check_items(answers, key)
    given = _by_annotator(answers)
    columns = {MAJORITY: majority(given), **given} if len(given) > 1 else given
    tables = [
        _agreement_table("agreement", columns, key, lambda row: row.better),
        _agreement_table("segments", columns, key, lambda row: row.cheaper),
        *([annotator_table(given)] if len(given) > 1 else []),
        _answer_table(answers, key),
    ]
    return Finding(
        method="muler pairs",
        title=_TITLES["agreement"],
        tables=tuple(tables),
        signatures={key.metric: key.signature},
        views=(
            Listing("agreement", _TITLES["agreement"], _SHOWN),
            Bars("agreement", "Agreement by feature", "feature", "annotator", ("agreement",)),
        ),
        notices=_notices(given, key),
        facts=_facts(given, key),
    )


def _by_annotator(answers: Sequence[Answer]) -> dict[str, Answers]:
    given: dict[str, dict[str, str]] = {}
    for answer in answers:
        given.setdefault(answer.annotator, {})
        if answer.answer:
            given[answer.annotator][answer.item] = answer.answer
    return {name: found for name, found in given.items() if found}


_TITLES = {
    "agreement": "Do people prefer the system with the lower MuLER?",
    "segments": "Do people prefer the output that the feature costs less in the segment?",
}
_NOTES = {
    "agreement": "A is the system with the lower MuLER (not the sheet's A), B the other one.",
    "segments": "A is the output that the feature costs less there (not the sheet's A), B the other"
    " one.",
}
_COLUMNS = (
    Column("annotator", "Annotator"),
    Column("feature", "Feature"),
    Column("items", "Items", "count", help="items of the study"),
    Column("open", "Open", "count", help="items without an answer"),
    Column("agree", "A > B", "count", help="people prefer A"),
    Column("disagree", "B > A", "count", help="people prefer B"),
    Column("ties", "Ties", "count"),
    Column(
        "agreement",
        "Agreement",
        "share",
        3,
        help="A > B out of A > B and B > A",
        ends=("low", "high"),
    ),
    Column("low", "95 % from", "share", 3, help="Wilson's interval"),
    Column("high", "to", "share", 3),
    Column("p", "p", "share", 4, help="two-sided exact binomial test against one half"),
)


def _agreement_table(
    name: str, columns: Mapping[str, Answers], key: Key, choice: Callable[[KeyRow], str]
) -> Table:
    features = sorted({row.feature for row in key.rows.values()})
    rows: list[dict[str, Cell]] = [
        {
            "annotator": annotator,
            "feature": feature or _ALL,
            **_tally(given, key, feature, choice).cells(),
        }
        for annotator, given in columns.items()
        for feature in (None, *features)
    ]
    return Table(name, _TITLES[name], _COLUMNS, tuple(rows), _NOTES[name])


def _tally(
    given: Answers, key: Key, feature: str | None, choice: Callable[[KeyRow], str]
) -> _Tally:
    rows = [row for row in key.rows.values() if feature in (None, row.feature)]
    answers = [(row, given[row.item]) for row in rows if row.item in given]
    counts = Counter(_preferred(row, answer) == choice(row) for row, answer in answers
                     if answer != "tie")  # fmt: skip
    ties = sum(answer == "tie" for _, answer in answers)
    return _Tally(len(rows), counts[True], counts[False], ties)


def _preferred(row: KeyRow, answer: str) -> str:
    """The system that an answer prefers; empty for a tie."""
    return {"A": row.a, "B": row.b}.get(answer, "")


_ANSWER_COLUMNS = (
    Column("item", "Item"),
    Column("feature", "Feature"),
    Column("segment", "Segment", "count", help="1-based"),
    Column("annotator", "Annotator"),
    Column("preferred", "Preferred", help="empty for a tie"),
    Column("better", "Better by MuLER"),
    Column("cheaper", "Cheaper here", help="the system that the feature costs less here"),
    Column("agrees", "Agrees", "truth", help="with MuLER; empty for a tie"),
    Column("comment", "Comment"),
)


def _answer_table(answers: Sequence[Answer], key: Key) -> Table:
    rows: list[dict[str, Cell]] = []
    for answer in answers:
        if not answer.answer and not answer.comment:
            continue
        row = key.rows[answer.item]
        preferred = _preferred(row, answer.answer)
        rows.append(
            {
                "item": row.item,
                "feature": row.feature,
                "segment": row.segment,
                "annotator": answer.annotator,
                "preferred": preferred,
                "better": row.better,
                "cheaper": row.cheaper,
                "agrees": preferred == row.better if preferred else None,
                "comment": answer.comment,
            }
        )
    return Table("answers", "Answers, with the names of the systems", _ANSWER_COLUMNS, tuple(rows))


def _notices(given: Mapping[str, Answers], key: Key) -> tuple[str, ...]:
    notices = []
    for name, answers in given.items():
        if len(answers) < len(key.rows):
            notices.append(f"{name} answered {len(answers)} of {len(key.rows)} items")
    return tuple(notices)


def _facts(given: Mapping[str, Answers], key: Key) -> dict[str, str]:
    facts = {
        "study": key.study,
        "metric": key.metric,
        "items": str(len(key.rows)),
        "annotators": ", ".join(given),
    }
    value = alpha(given)
    return facts | ({} if value is None else {"Krippendorff's alpha": f"{value:.3f}"})
