"""What people say of pairs: their agreement with MuLER and with each other."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, TypeAlias

from gnomon import stats
from gnomon.core.findings import Bars, Finding, Listing
from gnomon.core.options import InputFile, Metavar
from gnomon.core.records import FEATURE, SEGMENT, EndColumns, Record, column, table
from gnomon.core.registry import method
from gnomon.core.verdicts import LEAST, Claim, amount, listed, p_value
from gnomon.linguistics import gloss
from gnomon.methods.muler.paper.sheet import Answer, Key, check_items, read_answers, read_key
from gnomon.stats.significance import binomial_p, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from os import PathLike

    from gnomon.core.findings import Level, Statement, Table
    from gnomon.methods.muler.paper.sheet import KeyRow

    Answers: TypeAlias = Mapping[str, str]


# Several annotators: what most of them say, and how far they agree.


def majority(answers_by_annotator: Mapping[str, Answers]) -> dict[str, str]:
    """For each item what more annotators prefer, A or B; a tie where equally many do.

    >>> majority({"x": {"1": "A"}, "y": {"1": "tie"}, "z": {"1": "A", "2": "B"}})
    {'1': 'A', '2': 'B'}
    """
    votes: dict[str, Counter[str]] = {}
    for answers in answers_by_annotator.values():
        for item, answer in answers.items():
            votes.setdefault(item, Counter())[answer] += 1
    return {
        item: "tie" if count["A"] == count["B"] else max("AB", key=count.__getitem__)
        for item, count in votes.items()
    }


def kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Cohen's kappa (1960) of two annotators: agreement beyond what their habits bring by chance.

    >>> kappa([("A", "A"), ("B", "B"), ("A", "B"), ("B", "B")])
    0.5
    """
    if not pairs:
        return None
    size = len(pairs)
    first, second = (Counter(pair[side] for pair in pairs) for side in (0, 1))
    chance = sum(first[name] * second[name] for name in first) / size**2
    same = sum(a == b for a, b in pairs) / size
    return None if chance == 1 else (same - chance) / (1 - chance)


def alpha(answers_by_annotator: Mapping[str, Answers]) -> float | None:
    """Krippendorff's alpha for nominal answers: several annotators, items may be left open."""
    items = {item for answers in answers_by_annotator.values() for item in answers}
    units = [
        [a[item] for a in answers_by_annotator.values() if item in a] for item in sorted(items)
    ]
    units = [unit for unit in units if len(unit) > 1]
    totals = Counter(answer for unit in units for answer in unit)
    size = totals.total()
    expected = size * size - sum(count**2 for count in totals.values())
    if not expected:
        return None
    observed = sum(
        (len(unit) ** 2 - sum(count**2 for count in Counter(unit).values())) / (len(unit) - 1)
        for unit in units
    )
    return 1 - (size - 1) * observed / expected


class AnnotatorPairRow(Record):
    """How far two annotators agree."""

    annotator: str = column("Annotator", help="who answered")
    other: str = column("Other annotator", help="whom the answers are compared with")
    items: int = column("Items", help="items that both answered")
    same: int = column("Same", help="items with the same answer: A, B or tie")
    agreement: float | None = column(
        "Agreement", kind="share", digits=3, help="same answers, as a share of the items"
    )
    kappa: float | None = column(
        "Cohen's kappa", digits=3, help="agreement beyond what habits bring by chance"
    )
    opposite: int = column("Opposite", help="one says A, the other B")


def annotator_table(answers_by_annotator: Mapping[str, Answers]) -> Table:
    """How far every two annotators agree."""
    rows = []
    for (name, mine), (other, theirs) in combinations(answers_by_annotator.items(), 2):
        pairs = [(mine[item], theirs[item]) for item in mine if item in theirs]
        same = sum(a == b for a, b in pairs)
        rows.append(
            AnnotatorPairRow(
                annotator=name,
                other=other,
                items=len(pairs),
                same=same,
                agreement=same / len(pairs) if pairs else None,
                kappa=kappa(pairs),
                opposite=sum({a, b} == {"A", "B"} for a, b in pairs),
            )
        )
    return table("annotators", "Agreement among annotators", AnnotatorPairRow, rows)


# What the answers say: do people prefer the system that MuLER calls better?


MAJORITY = "majority"
_ALL = "all"
_SHOWN = (
    "annotator", "feature", "agree", "disagree", "ties", "agreement", "low", "high", "p",
)  # fmt: skip


class PreferenceRow(Record):
    """How often people prefer what MuLER calls better, on a feature."""

    annotator: str = column("Annotator", help="who answered; majority: most of them")
    feature: str = FEATURE
    items: int = column("Items", help="items of the study")
    open: int = column("Open", help="items without an answer")
    agree: int = column("A > B", help="people prefer A")
    disagree: int = column("B > A", help="people prefer B")
    ties: int = column("Ties", help="people prefer neither")
    agreement: float | None = column(
        "Agreement",
        kind="share",
        digits=3,
        help="A > B out of A > B and B > A",
        interval=EndColumns(how="95 %, Wilson's", kind="share"),
    )
    p: float | None = column(
        "p", kind="share", digits=4, help="two-sided exact binomial test against one half"
    )

    @property
    def decided(self) -> int:
        """The items on which people preferred one of the two."""
        return self.agree + self.disagree


class ChoiceRow(Record):
    """An answer, with the names of the systems."""

    item: str = column("Item", help="its name in the sheet")
    feature: str = FEATURE
    segment: int = SEGMENT
    annotator: str = column("Annotator", help="who answered")
    preferred: str = column("Preferred", help="empty for a tie")
    better: str = column("Better by MuLER", help="the system with the lower MuLER")
    cheaper: str = column("Cheaper here", help="the system that the feature costs less here")
    agrees: bool | None = column("Agrees", help="with MuLER; empty for a tie")
    comment: str = column("Comment", help="what the annotator wrote beside the answer")


_ALPHA = 0.05

PREFERRED = Claim(
    "muler.judge.preferred",
    "{phrase} the system that MuLER calls better on {feature}: {facts}",
    None,
    "a binomial test of the decided answers, corrected over features after Holm",
)
FEW_ANSWERS = Claim(
    "muler.judge.few",
    "{features}: fewer than 30 decided items say little of whether people see it",
    "caution",
    "the items on which people preferred one of the two",
)
JUDGE_CLAIMS = (PREFERRED, FEW_ANSWERS)


def judge_verdict(finding: Finding) -> Iterator[Statement]:
    """Whether people prefer what MuLER calls better; p-values are Holm's, over features."""
    every = finding.records(PreferenceRow, "agreement")
    rows = [r for r in every if r.annotator == every[0].annotator and r.agreement is not None]
    few = [row for row in rows if row.decided < LEAST]
    sound = [row for row in rows if row not in few]
    corrected = stats.holm([math.nan if row.p is None else row.p for row in sound])
    for row, q in zip(sound, corrected.tolist(), strict=True):
        share = row.agreement or 0.0
        size = amount(share, *row.ends("agreement"), share=True)
        facts = f"in {size} of {row.decided:,} decided items (corrected {p_value(q)})"
        level: Level = "undecided"
        phrase = "The data cannot tell whether people prefer"
        if q <= _ALPHA:
            level = "better" if share > 0.5 else "worse"
            phrase = f"People {'prefer' if level == 'better' else 'do not prefer'}"
        else:
            facts = f"they do {facts}"
        places, feature = finding.positions([row]), gloss(row.feature)
        yield PREFERRED.said(places, level=level, phrase=phrase, feature=feature, facts=facts)
    if few:
        names = listed([gloss(row.feature) for row in few])
        yield FEW_ANSWERS.said(finding.positions(few), features=names)


_EXAMPLES = """\
examples:
  gnomon muler judge --answers anna.tsv answers-of-ben.json --key key.tsv
"""


@method(
    "muler.judge",
    answers="whether people agree with MuLER, from filled sheets of 'muler pairs'",
    title="MuLER: answers of people",
    data=(),
    given="nothing",
    examples=_EXAMPLES,
    rows={
        "agreement": PreferenceRow,
        "segments": PreferenceRow,
        "annotators": AnnotatorPairRow,
        "answers": ChoiceRow,
    },
    systems=False,
    verdict=judge_verdict,
    claims=JUDGE_CLAIMS,
)
def judge(
    answers: Annotated["Sequence[str | PathLike[str] | Answer]", InputFile(), Metavar("FILE")],
    key: Annotated["str | PathLike[str] | Key", InputFile(), Metavar("FILE")],
) -> Finding:
    """How often people prefer the system that MuLER calls better (Karidi et al., table 10).

    With several annotators, the majority of the decided answers counts for each item (equally many
    for both: a tie), and rows for each annotator follow.

    Args:
        answers: filled sheets (TSV), what the form saved (TSV or JSON), or what
            :func:`read_answers` made of them; open items count nowhere.
        key: the key that was written with the sheet, or what :func:`read_key` made of it.

    Returns:
        A finding whose rows hold ``annotator, feature, items, open, agree, disagree, ties,
        agreement, low, high, p``: agreement = agree / (agree + disagree), its Wilson interval at
        95 %, and the two-sided p of an exact binomial test against one half; feature "all" comes
        first. Table "segments" holds the same against the costs in the very segment, "annotators"
        how far annotators agree among themselves, "answers" every answer with the systems' names.

    Raises:
        MissingFileError: a file is missing.
        FormatError: a file is malformed, or an answer is to an item that the key does not know.
        DataError: no item was answered.
    """
    paths = [answer for answer in answers if not isinstance(answer, Answer)]
    all_answers = [answer for answer in answers if isinstance(answer, Answer)] + read_answers(paths)
    if not isinstance(key, Key):
        key = read_key(key)
    check_items(all_answers, key)
    given = _by_annotator(all_answers)
    columns = {MAJORITY: majority(given), **given} if len(given) > 1 else given
    tables = [
        _agreement_table("agreement", columns, key, lambda row: row.better),
        _agreement_table("segments", columns, key, lambda row: row.cheaper),
        *([annotator_table(given)] if len(given) > 1 else []),
        _answer_table(all_answers, key),
    ]
    return Finding(
        method="muler judge",
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
    return {name: decided for name, decided in given.items() if decided}


_TITLES = {
    "agreement": "Do people prefer the system with the lower MuLER?",
    "segments": "Do people prefer the output that the feature costs less in the segment?",
}
_NOTES = {
    "agreement": "A is the system with the lower MuLER (not the sheet's A), B the other one.",
    "segments": "A is the output that the feature costs less there (not the sheet's A), B the other"
    " one.",
}


def _agreement_table(
    name: str, columns: Mapping[str, Answers], key: Key, choice: Callable[[KeyRow], str]
) -> Table:
    features = sorted({row.feature for row in key.rows.values()})
    rows = [
        _preferences(annotator, given, key, feature, choice)
        for annotator, given in columns.items()
        for feature in (None, *features)
    ]
    return table(name, _TITLES[name], PreferenceRow, rows, note=_NOTES[name])


def _preferences(
    annotator: str,
    answers_given: Answers,
    key: Key,
    feature: str | None,
    choice: Callable[[KeyRow], str],
) -> PreferenceRow:
    rows = [row for row in key.rows.values() if feature in (None, row.feature)]
    answers = [(row, answers_given[row.item]) for row in rows if row.item in answers_given]
    counts = Counter(
        _preferred(row, answer) == choice(row) for row, answer in answers if answer != "tie"
    )
    ties = sum(answer == "tie" for _, answer in answers)
    decided = counts.total()
    share, low, high = wilson_interval(counts[True], decided) if decided else (None, None, None)
    return PreferenceRow(
        annotator=annotator,
        feature=feature or _ALL,
        items=len(rows),
        open=len(rows) - decided - ties,
        agree=counts[True],
        disagree=counts[False],
        ties=ties,
        agreement=share,
        intervals={"agreement": (low, high)},
        p=binomial_p(counts[True], decided) if decided else None,
    )


def _preferred(row: KeyRow, answer: str) -> str:
    """The system that an answer prefers; empty for a tie."""
    return {"A": row.a, "B": row.b}.get(answer, "")


def _answer_table(answers: Sequence[Answer], key: Key) -> Table:
    rows = []
    for answer in answers:
        if not answer.answer and not answer.comment:
            continue
        row = key.rows[answer.item]
        preferred = _preferred(row, answer.answer)
        rows.append(
            ChoiceRow(
                item=row.item,
                feature=row.feature,
                segment=row.segment,
                annotator=answer.annotator,
                preferred=preferred,
                better=row.better,
                cheaper=row.cheaper,
                agrees=preferred == row.better if preferred else None,
                comment=answer.comment,
            )
        )
    return table("answers", "Answers, with the names of the systems", ChoiceRow, rows)


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
