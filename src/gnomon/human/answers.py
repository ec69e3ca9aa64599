"""Figures of the answers on blind sheets: preferences, scores, and agreement of annotators."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from gnomon.core.findings import Finding, Listing
from gnomon.core.records import FEATURE, SEGMENT, EndColumns, Record, column, column_names, table
from gnomon.core.verdicts import LEAST
from gnomon.linguistics import gloss
from gnomon.messages import message
from gnomon.stats import cohens_kappa, holm, holm_levels, jackknife_test, krippendorff_alpha
from gnomon.stats.binomial import binomial_interval, binomial_p
from gnomon.stats.holm import step_down
from gnomon.stats.resampling import bootstrap_interval

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.findings import Table
    from gnomon.human.sheets import Answer, Key, KeyRow
    from gnomon.messages import Level, Message
    from gnomon.stats.holm import Stepped

    Ends: TypeAlias = tuple[float | None, float | None]
    #: item -> answer; open items are not there
    Answers: TypeAlias = Mapping[str, str]

PREFERENCES, SCORES, ANNOTATORS, ANSWERS = "preferences", "scores", "annotators", "answers"
_MAJORITY, _ALL = "majority", "all"
_LOWER, _HIGHER = "lower MuLER", "higher MuLER"
#: the share of segments without what is compared that is said, at least
_MISSING = 0.01
#: numbers of answers
_NUMBERS = {"A": 0.0, "B": 1.0, "tie": 2.0}


class PreferenceRow(Record):
    """Share of people's preferences for one of two."""

    annotator: str = column("Annotator", help="who answered; majority: most of them")
    feature: str = FEATURE
    system: str = column("System", help="or the one with the lower MuLER on the feature")
    other: str = column("Other", help="that it is compared with")
    items: int = column(
        "Items",
        help="on the sheet; two outputs that stand there under several features are one, and are"
        " left out of the row of all features where these expect different ones",
    )
    open: int = column("Open", help="items without an answer")
    preferred: int = column("Preferred", help="items where the system is preferred")
    other_preferred: int = column("Other preferred", help="items where the other one is")
    ties: int = column("Ties", help="items where neither is")
    share: float | None = column(
        "Share",
        kind="share",
        digits=3,
        help="of the decided items, those where the system is preferred",
        interval=EndColumns(
            how="exact (Clopper and Pearson), where p is corrected at the level of its own step",
            kind="share",
        ),
    )
    p: float | None = column(
        "p", kind="share", digits=4, help="two-sided exact binomial test against one half"
    )
    p_corrected: float | None = column(
        "Corrected p",
        kind="share",
        digits=4,
        help="of the first annotator's rows with 30 decided items, after Holm",
    )
    significant: bool | None = column(
        "Significant",
        help="corrected p is at most 1 - confidence; empty where it was not corrected",
    )

    @property
    def decided(self) -> int:
        """The items on which people preferred one of the two."""
        return self.preferred + self.other_preferred


class ScoredRow(Record):
    """People's scores of the outputs of a system, or of the paraphrases of a method."""

    system: str = column("System", help="or the method of paraphrases")
    score: float | None = column(
        "Score",
        better="higher",
        help="mean over the items of the means over annotators, 0 to 100",
        interval=EndColumns(how="by bootstrap over segments"),
    )
    items: int = column("Items", help="that are scored")
    segments: int = column("Segments", help="of these items")
    alone: int = column("Alone", help="of these, segments where another one has no scored item")
    behind: float | None = column(
        "Behind",
        help="the highest, on the segments that both have, 30 or more",
        interval=EndColumns(
            "behind_low",
            "behind_high",
            how="by jackknife over segments, at the level of its own step of Holm's correction",
        ),
    )
    p: float | None = column("p", digits=3, help="of that, corrected for all pairs, after Holm")
    decided: bool | None = column("Decided", help="corrected p is at most 1 - confidence")


class AnnotatorPairRow(Record):
    """Agreement of two annotators."""

    annotator: str = column("Annotator", help="who answered")
    other: str = column("Other annotator", help="whom the answers are compared with")
    items: int = column("Items", help="items that both answered")
    agreement: float | None = column(
        "Agreement", kind="share", digits=3, help="same answers, as a share of the items"
    )
    kappa: float | None = column(
        "Cohen's kappa", digits=3, help="agreement beyond what habits bring by chance"
    )


class AnswerRow(Record):
    """An answer, with the names of the systems; ``gnomon human compare`` reads scores."""

    item: str = column("Item", help="its name on the sheet")
    feature: str = FEATURE
    segment: int = SEGMENT
    annotator: str = column("Annotator", help="who answered")
    system: str = column("System", help="A, or the one that is scored")
    other: str = column("Other", help="B; empty where one output is scored")
    preferred: str = column("Preferred", help="one of the two; empty for a tie")
    expected: str = column("Expected", help="the system with the lower MuLER on the feature")
    score: float | None = column("Score", digits=0, help="0 (not at all) to 100 (perfectly)")
    comment: str = column("Comment", help="what the annotator wrote beside the answer")


def answers_finding(
    answers: Sequence[Answer], key: Key, *, confidence: float, seed: int
) -> Finding:
    """Finding on filled sheets, by the key of the sheet."""
    given: dict[str, dict[str, str]] = {}
    for answer in answers:
        if answer.answer:
            given.setdefault(answer.annotator, {})[answer.item] = answer.answer
    facts = {"study": key.study, "items": str(len(key.rows)), "annotators": ", ".join(given)}
    agreement = krippendorff_alpha(_ratings(given, scalar=key.scalar), nominal=not key.scalar)
    if not math.isnan(agreement):
        facts["Krippendorff's alpha"] = f"{agreement:.3f}"
    if key.scalar:
        title = "What people score"
        tables = [
            table(SCORES, title, ScoredRow, list(_score_answers(given, key, confidence, seed)))
        ]
        shown = column_names(ScoredRow)
    else:
        title = "What people prefer"
        tables = [_preference_table(title, given, key, confidence)]
        featured = any(row.feature for row in key.rows.values())
        unseen = {"items", *(("system", "other") if featured else ("feature",))}
        shown = tuple(name for name in column_names(PreferenceRow) if name not in unseen)
        if len(given) > 1:
            tables.append(annotator_table(given))
    return Finding(
        method="human sheet",
        title=title,
        tables=(*tables, _answer_table(answers, key)),
        signatures={},
        views=(Listing(tables[0].name, title, shown),),
        notices=tuple(
            message("note.human.open", annotator=name, answered=len(said), items=len(key.rows))
            for name, said in given.items()
            if len(said) < len(key.rows)
        ),
        facts=facts,
    )


def answers_verdict(finding: Finding) -> Iterator[Message]:
    """Which of two people prefer, or what they score highest."""
    names = {one.name for one in finding.tables}
    if PREFERENCES in names:
        yield from _preferences_verdict(finding, finding.records(PreferenceRow, PREFERENCES))
    elif SCORES in names:
        rows = [r for r in finding.records(ScoredRow, SCORES) if r.score is not None]
        few = [row for row in rows if row.segments < LEAST]
        enough = [row for row in rows if row.segments >= LEAST]
        if enough:
            yield _highest(finding, sorted(enough, key=lambda row: -(row.score or 0.0)))
        if few:
            yield _too_few(finding, few, [row.system for row in few], max(r.segments for r in few))


def _too_few(
    finding: Finding, rows: Sequence[Record], of: Sequence[str], n: int, unit: str = "segment"
) -> Message:
    return message("data.few", finding.positions(rows), of=of, n=n, unit=unit, least=LEAST)


# Preferences between two


def majority(given: Mapping[str, Answers]) -> dict[str, str]:
    """For each item what more annotators prefer, A or B; a tie where equally many do.

    >>> majority({"x": {"1": "A"}, "y": {"1": "tie"}, "z": {"1": "A", "2": "B"}})
    {'1': 'A', '2': 'B'}
    """
    votes: dict[str, Counter[str]] = {}
    for answers in given.values():
        for item, answer in answers.items():
            votes.setdefault(item, Counter())[answer] += 1
    return {
        item: "tie" if count["A"] == count["B"] else max("AB", key=count.__getitem__)
        for item, count in votes.items()
    }


def _preference_table(
    title: str, given: Mapping[str, Answers], key: Key, confidence: float
) -> Table:
    groups: dict[tuple[str, str, str], list[KeyRow]] = {}
    for row in key.rows.values():
        groups.setdefault((row.feature, *_sides(row)), []).append(row)
    groups = dict(sorted(groups.items()))
    everything = _expected_alike(key.rows.values())
    if everything and all(row.expected for row in key.rows.values()):
        groups = {(_ALL, _LOWER, _HIGHER): everything, **groups}
    each = {_MAJORITY: majority(given), **given} if len(given) > 1 else given
    rows = [
        _preferences(annotator, answers, group, members, confidence)
        for annotator, answers in each.items()
        for group, members in groups.items()
    ]
    sound = {
        n: row.p or 0.0
        for n, row in enumerate(rows)
        if row.annotator == rows[0].annotator and row.decided >= LEAST
    }
    alpha, p = round(1 - confidence, 12), list(sound.values())
    for n, q, level in zip(sound, holm(p).tolist(), holm_levels(p, alpha).tolist(), strict=True):
        interval = _share_ends(rows[n].preferred, rows[n].decided, 1 - level)
        rows[n] = replace(rows[n], p_corrected=q, significant=q <= alpha, intervals=interval)
    return table(PREFERENCES, title, PreferenceRow, rows, confidence=confidence)


def _expected_alike(rows: Collection[KeyRow]) -> list[KeyRow]:
    """Without pairs of outputs of which one feature expects the one, another feature the other."""
    expected: dict[tuple[int, str, str], set[str]] = {}
    for row in rows:
        expected.setdefault((row.segment, *_order_systems(row)), set()).add(row.expected)
    return [row for row in rows if len(expected[row.segment, *_order_systems(row)]) == 1]


def _sides(row: KeyRow) -> tuple[str, str]:
    """The two that are compared, in an order that no coin decides."""
    return (_LOWER, _HIGHER) if row.expected else _order_systems(row)


def _order_systems(row: KeyRow) -> tuple[str, str]:
    return (row.a, row.b) if row.a < row.b else (row.b, row.a)


def _preferences(
    annotator: str,
    answers: Answers,
    group: tuple[str, str, str],
    rows: Sequence[KeyRow],
    confidence: float,
) -> PreferenceRow:
    # the same two outputs, shown under several features, are one item
    sides = {row.item: (row.segment, *_order_systems(row)) for row in rows}
    votes: dict[tuple[int, str, str], int] = {}
    for row in rows:
        if row.item in answers:
            preferred = _find_preferred(row, answers[row.item])
            vote = (
                0 if not preferred else 1 if preferred == (row.expected or _sides(row)[0]) else -1
            )
            votes[sides[row.item]] = votes.get(sides[row.item], 0) + vote
    first, second = (sum(sign * vote > 0 for vote in votes.values()) for sign in (1, -1))
    items, decided = len(set(sides.values())), first + second
    feature, system, other = group
    return PreferenceRow(
        annotator=annotator,
        feature=feature,
        system=system,
        other=other,
        items=items,
        open=items - len(votes),
        preferred=first,
        other_preferred=second,
        ties=len(votes) - decided,
        share=first / decided if decided else None,
        intervals=_share_ends(first, decided, confidence),
        p=binomial_p(first, decided) if decided else None,
        p_corrected=None,
        significant=None,
    )


def _share_ends(preferred: int, decided: int, level: float) -> dict[str, Ends]:
    _, low, high = binomial_interval(preferred, decided, level=level)
    return {"share": (low, high)}


def _find_preferred(row: KeyRow, answer: str) -> str:
    """The system that an answer prefers; empty for a tie."""
    return {"A": row.a, "B": row.b}.get(answer, "")


def _preferences_verdict(finding: Finding, every: Sequence[PreferenceRow]) -> Iterator[Message]:
    rows = [r for r in every if r.annotator == every[0].annotator and r.items > r.open]
    few = [row for row in rows if row.decided < LEAST]
    for row in rows:
        if row.p_corrected is not None:
            yield _preferred_of_two(finding, row, row.p_corrected)
    if few:
        named = [
            gloss(row.feature) if row.feature else f"{row.system} against {row.other}"
            for row in few
        ]
        yield _too_few(finding, few, named, max(row.decided for row in few), "item")


def _preferred_of_two(finding: Finding, row: PreferenceRow, q: float) -> Message:
    """Message on two, the one first that is preferred more often."""
    share, (low, high) = row.share or 0.0, row.ends("share")
    names, ends = [row.system, row.other], (low or 0.0, high or 0.0)
    if share < 0.5:
        names, share, ends = names[::-1], 1 - share, (1 - ends[1], 1 - ends[0])
    verdict: Level = "finding" if row.significant else "undecided"
    return message(
        "human.sheet.preferred",
        finding.positions([row]),
        level=verdict,
        verdict=verdict,
        system=names[0],
        other=names[1],
        feature=gloss(row.feature) if row.feature not in ("", _ALL) else None,
        share=share,
        low=ends[0],
        high=ends[1],
        items=row.decided,
        p=q,
    )


# Scores of single outputs


def _score_answers(
    given: Mapping[str, Answers], key: Key, confidence: float, seed: int
) -> Iterator[ScoredRow]:
    by_system: dict[str, dict[int, list[float]]] = {}
    for item, row in key.rows.items():
        values = [float(answers[item]) for answers in given.values() if item in answers]
        if values:
            mean = sum(values) / len(values)
            by_system.setdefault(row.a, {}).setdefault(row.segment, []).append(mean)
    sums = {
        system: {n: (sum(scores), len(scores)) for n, scores in by_segment.items()}
        for system, by_segment in sorted(by_system.items())
    }
    enough = {system: there for system, there in sums.items() if len(there) >= LEAST}
    shared = set.intersection(*map(set, (enough or sums).values()))
    gaps = _behind(enough, round(1 - confidence, 12))
    for system, there in sums.items():
        found = bootstrap_interval(np.array([*there.values()]), _ratio, level=confidence, seed=seed)
        behind, tested = gaps.get(system, (None, None))
        yield ScoredRow(
            system=system,
            score=found.estimate,
            items=sum(count for _, count in there.values()),
            segments=len(there),
            alone=len(set(there) - shared),
            behind=behind,
            p=None if tested is None else tested.p,
            decided=None if tested is None else tested.decided,
            intervals={
                "score": (found.low, found.high),
                "behind": (None, None) if tested is None else (tested.low, tested.high),
            },
        )


def _ratio(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    total, count = rows.sum(axis=0)
    return np.asarray(total / count)


def _difference(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(sums[..., 0] / sums[..., 1] - sums[..., 2] / sums[..., 3])


def _behind(
    sums: Mapping[str, Mapping[int, tuple[float, int]]], alpha: float
) -> dict[str, tuple[float, Stepped]]:
    """Distances of the others to the highest, where all pairs are tested in steps."""
    highest = sorted(sums, key=lambda system: -_ratio(np.array([*sums[system].values()])))
    pairs, differences, tests = [], [], []
    for a, b in combinations(highest, 2):
        both = [n for n in sums[a] if n in sums[b]]
        if len(both) >= LEAST:
            rows = np.array([(*sums[a][n], *sums[b][n]) for n in both])
            pairs.append((a, b))
            differences.append(float(_difference(rows.sum(axis=0))))
            tests.append(partial(_gap_test, rows))
    steps = zip(pairs, differences, step_down(tests, alpha), strict=True)
    return {b: (difference, step) for (a, b), difference, step in steps if a == highest[0]}


def _gap_test(rows: NDArray[np.float64], alpha: float) -> tuple[float, float, float]:
    found = jackknife_test(rows, np.arange(len(rows)), _difference, confidence=1 - alpha)
    return float(found.low), float(found.high), float(found.p)


def _highest(finding: Finding, rows: Sequence[ScoredRow]) -> Message:
    """Which is scored highest, of rows with the highest first."""
    alone = [row for row in rows if row.alone > _MISSING * row.segments]
    level, said = _comparison(rows, different=bool(alone))
    return message(
        "human.sheet.scored",
        finding.positions(rows),
        level=level,
        said=said,
        first=rows[0].system,
        alone=[{"system": r.system, "alone": r.alone, "segments": r.segments} for r in alone],
        systems=[
            {
                "system": row.system,
                "score": row.score,
                **dict(zip(("low", "high"), row.ends("score"), strict=True)),
            }
            for row in rows
        ],
    )


def _comparison(rows: Sequence[ScoredRow], *, different: bool) -> tuple[Level, str]:
    if len(rows) == 1:
        return "undecided", "nothing"
    if different:
        return "caution", "different"
    if all(row.decided for row in rows[1:]):
        return "finding", "highest"
    return "undecided", "unknown"


# Agreement of annotators


def _ratings(given: Mapping[str, Answers], *, scalar: bool) -> list[list[float]]:
    """Scores, or numbers that stand for answers [annotators, items]; NaN is missing."""
    items = sorted({item for answers in given.values() for item in answers})
    number = float if scalar else _NUMBERS.__getitem__
    return [
        [number(answers[item]) if item in answers else math.nan for item in items]
        for answers in given.values()
    ]


def annotator_table(given: Mapping[str, Answers]) -> Table:
    """Table of the agreement of every two annotators."""
    rows = []
    for (name, mine), (other, theirs) in combinations(given.items(), 2):
        both = [item for item in mine if item in theirs]
        same = sum(mine[item] == theirs[item] for item in both)
        sides = ([_NUMBERS[answers[item]] for item in both] for answers in (mine, theirs))
        rows.append(
            AnnotatorPairRow(
                annotator=name,
                other=other,
                items=len(both),
                agreement=same / len(both) if both else None,
                kappa=cohens_kappa(*sides),
            )
        )
    return table(ANNOTATORS, "Agreement among annotators", AnnotatorPairRow, rows)


def _answer_table(answers: Sequence[Answer], key: Key) -> Table:
    rows = []
    for said in answers:
        if not said.answer and not said.comment:
            continue
        row = key.rows[said.item]
        rows.append(
            AnswerRow(
                item=row.item,
                feature=row.feature,
                segment=row.segment,
                annotator=said.annotator,
                system=row.a,
                other=row.b,
                preferred=_find_preferred(row, said.answer),
                expected=row.expected,
                score=float(said.answer) if key.scalar and said.answer else None,
                comment=said.comment,
            )
        )
    return table(ANSWERS, "Answers, with the names of the systems", AnswerRow, rows)
