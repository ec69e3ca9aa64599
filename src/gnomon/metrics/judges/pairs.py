"""Which of two outputs a judge prefers, asked in both orders."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from gnomon import stats
from gnomon.core.errors import DataError
from gnomon.core.findings import Finding, Listing
from gnomon.core.options import CONFIDENCE, Confidence
from gnomon.core.records import METRIC, EndColumns, Record, column, column_names, table
from gnomon.core.registry import method
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem
from gnomon.core.verdicts import LEAST, Claim, amount, counted, p_value
from gnomon.metrics.judges.panels import BoundJudgePanel, JudgePanel, check_budgets
from gnomon.metrics.judges.requests import named_judges_and_panels, pair_faults
from gnomon.metrics.judges.verdict import (
    ALPHA,
    UNREADABLE,
    by_metric,
    or_nan,
    statement,
    unreadable,
)
from gnomon.metrics.protocol import Metrics
from gnomon.metrics.scoring import signature_of
from gnomon.stats.significance import binomial_p
from gnomon.stats.student import mean_test

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.core.batch import Batch
    from gnomon.core.findings import Statement
    from gnomon.core.options import BoundOptions
    from gnomon.core.summary import Outline
    from gnomon.metrics.judges.metric import BoundChatJudge
    from gnomon.metrics.judges.replies import JudgeReply

_TITLE = "Which system a judge prefers"
_EXAMPLES = """\
examples:
  gnomon judges pairwise -t wmt24/en-cs --systems A B -m "judge('pairwise', model='NAME')"
"""
#: what A gains by an answer, where A stands first, and where it stands second
_FIRST = {"first": 1.0, "tie": 0.5, "second": 0.0}


class PairwiseRow(Record):
    """How often a judge prefers one of two systems."""

    metric: str = METRIC
    a: str = column("A", help="name of one system")
    b: str = column("B", help="name of the other one")
    share: float | None = column(
        "Share of A",
        kind="share",
        digits=3,
        interval=EndColumns(how="over segments (Student's t)", digits=2),
        help="of segments where A is better; half of those where neither is",
    )
    p: float | None = column("p", digits=3, help="sign test of the decided segments")
    a_better: int = column("A better", help="segments where A is preferred on the whole")
    b_better: int = column("B better", help="segments where B is")
    ties: int = column("Ties", help="segments where neither is, or the orders disagree")
    torn: int = column(
        "By place", help="times that the judge preferred one place, whichever text stood in it"
    )
    first: float | None = column(
        "First", kind="share", digits=3, help="share of preferences for the text that stands first"
    )
    segments: int = column("Segments", help="that have answers in both orders")
    answers: int = column("Answers", help="answers that name a side, or neither")
    missing: int = column("Missing", help="answers that say nothing")


# Whom a judge prefers, in sentences.


#: the share of preferences for one place that is said, at least
_BIASED = 0.6
_PREFERS = Claim(
    "judges.pairwise.prefers",
    "{metric} prefers {a} to {b} ({facts})",
    "better",
    "the interval of the share of segments over segments, and the sign test, Holm's over pairs",
)
_PREFERS_NEITHER = Claim(
    "judges.pairwise.neither",
    "The data cannot tell whether {metric} prefers {a} to {b} ({facts})",
    "undecided",
    "the interval holds one half, or the sign test shows no difference",
)
_PLACE = Claim(
    "judges.pairwise.place",
    "the text that stands {place} is preferred in {share} of preferences between {a} and {b}; both"
    " orders are averaged, so that this decides nothing, but costs certainty",
    "caution",
    "the share of preferences for one place, three in five or more",
)
_FEW_COMPARED = Claim(
    "judges.pairwise.few_segments",
    "fewer than 30 segments were compared, too few to be read as a finding",
    "caution",
    "the number of segments with answers",
)
PAIRWISE_CLAIMS = (_PREFERS, _PREFERS_NEITHER, _PLACE, _FEW_COMPARED, UNREADABLE)


def pairwise_verdict(finding: Finding) -> Iterator[Statement]:
    """Who is preferred, by how much, and whether the place moved the judge."""
    every = finding.records(PairwiseRow)
    for metric, rows in by_metric(finding, every).items():
        missing = sum(row.missing for row in rows)
        answers = missing + sum(row.answers for row in rows)
        yield from unreadable(finding, metric, rows, missing, answers)
        corrected = stats.holm([or_nan(row.p) for row in rows])
        for row, p in zip(rows, corrected.tolist(), strict=True):
            if row.share is not None and row.segments >= LEAST:
                yield _preferred(finding, metric, row, p, several=len(rows) > 1)
    yield from _cautions(finding, every)


def _preferred(
    finding: Finding, metric: str, row: PairwiseRow, p: float, *, several: bool
) -> Statement:
    share, low, high = (or_nan(value) for value in (row.share, *row.ends("share")))
    a, b = row.a, row.b
    if share < 0.5:
        a, b, share, low, high = b, a, 1 - share, 1 - high, 1 - low
    tested = "" if math.isnan(p) else f", {'corrected ' if several else ''}{p_value(p)}"
    facts = f"{amount(share, low, high, share=True)} of {counted(row.segments)}{tested}"
    decided = p <= ALPHA and low > 0.5
    claim = _PREFERS if decided else _PREFERS_NEITHER
    return statement(claim, finding.positions([row]), metric=metric, a=a, b=b, facts=facts)


def _cautions(finding: Finding, rows: Sequence[PairwiseRow]) -> Iterator[Statement]:
    biased = [
        (row.first, row)
        for row in rows
        if row.first is not None and (row.first >= _BIASED or row.first <= 1 - _BIASED)
    ]
    if biased:
        share, row = max(biased, key=lambda pair: abs(pair[0] - 0.5))
        yield statement(
            _PLACE,
            finding.positions(biased_row for _, biased_row in biased),
            place="first" if share > 0.5 else "second",
            share=f"{max(share, 1 - share):.0%}",
            a=row.a,
            b=row.b,
        )
    few = [row for row in rows if row.segments < LEAST]
    if few:
        yield statement(_FEW_COMPARED, finding.positions(few))


def check_pairwise(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`gnomon.judges.pairwise` refuses of options that fit each alone."""
    yield from pair_faults(outline, options.metrics, allow_code=options.allow_code)
    if outline is not None and len(outline.systems) < 2:
        yield Problem("", DataError("pairs are of two systems or more; the test set has fewer"))


@method(
    "judges.pairwise",
    answers="which of two systems a judge prefers, whichever it sees first",
    title=_TITLE,
    examples=_EXAMPLES,
    tables={"": "judge_preferences"},
    rows={"pairs": PairwiseRow},
    metrics="all",
    check=check_pairwise,
    verdict=pairwise_verdict,
    claims=PAIRWISE_CLAIMS,
)
def pairwise(
    testset: TestSet,
    metrics: Metrics = (),
    *,
    confidence: Confidence = CONFIDENCE,
    allow_code: bool = False,
) -> Finding:
    """For each pair of systems, which outputs a judge prefers.

    Each pair of outputs is shown twice, either one first. A gains 1 for an answer that prefers it,
    a half for a tie; the two orders are averaged, so that a judge that always prefers the first
    text says nothing. Equal outputs are ties, and not asked about.

    Args:
        testset: what was translated, and by whom.
        metrics: judges whose rubric compares: pairwise, pairwise-summary, or a file; or panels of
            them, whose gains are averaged, or decided by vote (a tie where neither has more votes).

    Returns:
        A finding with a row per judge and pair of systems.

    Raises:
        UsageError: a metric is no judge of pairs, or costs more than allowed.
        ServerFailedError: the server stopped answering; what it said is kept.
    """
    rows, signatures = [], {}
    notices: list[str] = []
    batch = testset.batch()
    pairs = list(combinations(range(len(batch.systems)), 2))
    for name, judge in named_judges_and_panels(metrics, allow_code=allow_code):
        bound = judge.bound(testset.language_pair)
        members = bound.judges if isinstance(bound, BoundJudgePanel) else (bound,)
        asked = [_questions_of_pairs(member, batch, pairs) for member in members]
        flat = [[user for users in cells.values() for user in users] for cells in asked]
        check_budgets(members, flat)
        replies = [
            dict(zip(users, member.ask(users), strict=True))
            for member, users in zip(members, flat, strict=True)
        ]
        for a, b in pairs:
            answers = [
                [tuple(said[user] for user in cells[a, b, i]) for i in range(batch.shape[1])]
                for cells, said in zip(asked, replies, strict=True)
            ]
            rule = judge if isinstance(judge, JudgePanel) else None
            row = _row(name, batch.systems[a], batch.systems[b], answers, confidence, rule)
            rows.append(row)
        signatures[name] = str(signature_of(bound, batch))
        for member, users in zip(members, flat, strict=True):
            notices += member.notices_of(users)
    return Finding(
        method="judges pairwise",
        title=_TITLE,
        tables=(table("pairs", _TITLE, PairwiseRow, rows),),
        signatures=signatures,
        views=(Listing("pairs", _TITLE, column_names(PairwiseRow)),),
        facts={"test set": testset.name},
        notices=tuple(notices),
    )


def _questions_of_pairs(
    bound: BoundChatJudge, batch: Batch, pairs: Sequence[tuple[int, int]]
) -> dict[tuple[int, int, int], tuple[str, ...]]:
    """The questions about each pair of systems and segment."""
    places = [(a, b, i) for a, b in pairs for i in range(batch.shape[1])]
    return {cell: _questions(bound, batch, *cell) for cell in places}


def _questions(bound: BoundChatJudge, batch: Batch, a: int, b: int, i: int) -> tuple[str, ...]:
    """The question with A first, then B first; none of equal outputs or without a reference."""
    texts = [batch.texts[int(batch.candidates[k, i])] for k in (a, b)]
    if texts[0] == texts[1]:
        return ()
    shown = {}
    if "sources" in bound.needs and batch.sources is not None:
        shown["source"] = batch.texts[int(batch.sources[i])]
    if "references" in bound.needs:
        references = batch.references[i].tolist()
        if not references:
            return ()
        shown["reference"] = "\n".join(batch.texts[number] for number in references)
    return tuple(
        bound.question_about({**shown, "first": first, "second": second})
        for first, second in (texts, texts[::-1])
    )


def _row(
    metric: str,
    a: str,
    b: str,
    judged: Sequence[Sequence[tuple[list[JudgeReply], ...]]],
    confidence: float,
    panel: JudgePanel | None = None,
) -> PairwiseRow:
    """How often A is preferred: by one judge, or by several, whose gains a panel combines.

    ``judged``: of each judge and segment, its replies with A first, and with B first.
    """
    least = 1 if panel is None else panel.least or len(judged)
    gains, torn, firsts, choices, missing, asked, counts = [], 0, 0, 0, 0, 0, [0, 0, 0]
    for of_judges in zip(*judged, strict=True):
        of_segment = []
        for orders in of_judges:
            if not orders:
                of_segment.append(0.5)
                continue
            each = list(zip(*orders, strict=True))  # of the repetitions: A first, B first
            readable = [(x.choice, y.choice) for x, y in each if x.choice and y.choice]
            asked += 2 * len(each)
            missing += sum(not reply.choice for pair in each for reply in pair)
            for x, y in readable:
                torn += x == y != "tie"
                firsts += (x == "first") + (y == "first")
                choices += (x != "tie") + (y != "tie")
            if readable:
                of_segment.append(
                    float(np.mean([(_FIRST[x] + 1 - _FIRST[y]) / 2 for x, y in readable]))
                )
        if len(of_segment) < least:
            continue
        gain = float(np.mean(of_segment))
        if panel is not None and panel.combine == "vote":
            votes = sum((own > 0.5) - (own < 0.5) for own in of_segment)
            gain = 0.5 + 0.5 * ((votes > 0) - (votes < 0))
        gains.append(gain)
        counts[(gain > 0.5) - (gain < 0.5) + 1] += 1
    low, high, _ = np.clip(mean_test(gains, 1 - confidence), 0, 1).tolist()
    if set(gains) in ({0.0}, {1.0}):  # equal answers are not certain ones: the exact binomial end
        end = ((1 - confidence) / 2) ** (1 / len(gains))
        low, high = (end, 1.0) if gains[0] else (0.0, 1 - end)
    return PairwiseRow(
        metric=metric,
        a=a,
        b=b,
        share=float(np.mean(gains)) if gains else None,
        intervals={"share": (low, high)},
        p=binomial_p(counts[2], counts[0] + counts[2]),
        a_better=counts[2],
        b_better=counts[0],
        ties=counts[1],
        torn=torn,
        first=firsts / choices if choices else None,
        segments=len(gains),
        answers=asked - missing,
        missing=missing,
    )
