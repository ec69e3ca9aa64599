"""How far several judges agree with each other and with people, and where they do not."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from gnomon import stats
from gnomon.core.errors import SpecError, UnknownNameError, UsageError
from gnomon.core.findings import Finding, Listing
from gnomon.core.options import CONFIDENCE, Confidence
from gnomon.core.records import METRIC, SEGMENT, SYSTEM, Record, column, column_names, table
from gnomon.core.registry import method
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem
from gnomon.core.verdicts import LEAST, Claim, amount, counted, p_value, titles_of
from gnomon.data.formats import Human, human_files, with_human
from gnomon.metrics.judges.panels import JudgePanel
from gnomon.metrics.judges.remarks import output_exhibit
from gnomon.metrics.judges.requests import judge_faults, named_judges, named_judges_and_panels
from gnomon.metrics.judges.verdict import ALPHA, UNREADABLE, judge_title, or_nan, statement
from gnomon.metrics.protocol import Metrics
from gnomon.metrics.scoring import signature_of
from gnomon.stats.correlation import pearson_of_sums
from gnomon.stats.jackknife import LEAST_DOCUMENTS, Jackknife, jackknife_test, numbered
from gnomon.stats.reliability import alpha_of_sums, alpha_sums

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.findings import Exhibit, Statement
    from gnomon.core.options import BoundOptions
    from gnomon.core.summary import Outline
    from gnomon.metrics.judges.panels import BoundJudgePanel

_TITLE = "Agreement of judges"
_EXAMPLES = """\
examples:
  gnomon judges panel -t wmt24/en-cs --human esa \\
      -m "judge([judge('gemba-da', model='A'), judge('gemba-da', model='B')])"
"""
_SHOWN = 20  # disagreements that are shown
_OVER_SEGMENTS = "segments are left out one at a time, with the outputs of all systems"


class PanelMemberRow(Record):
    """How one judge stands to the others of a panel."""

    metric: str = METRIC
    score: float | None = column("Score", help="mean of its scores, on the panel's scale")
    r: float | None = column(
        "r with others",
        digits=3,
        interval=True,
        help=f"Pearson's, its scores and the mean of the others'; {_OVER_SEGMENTS}",
    )
    distance: float | None = column(
        "Distance", help="mean distance of its scores from the mean of the others'"
    )
    apart: bool = column(
        "Stands apart",
        help="agrees with the others less than each of them does (tested, Holm's over pairs)",
    )
    outputs: int = column("Outputs", help="that it has a score of")
    missing: int = column("Missing", help="outputs without one")


class PanelRow(Record):
    """How far all judges of a panel agree."""

    alpha: float | None = column(
        "Alpha",
        digits=3,
        interval=True,
        help=f"Krippendorff's, interval scale: 1 is equal scores, 0 is chance; {_OVER_SEGMENTS}",
    )
    judges: int = column("Judges", help="how many")
    outputs: int = column("Outputs", help="that two judges or more have a score of")
    complete: int = column("Complete", help="outputs that all judges have a score of")
    scored: int = column("Scored", help="outputs that the panel has a score of")
    segments: int = column("Segments", help="of the test set")


class JudgePairRow(Record):
    """How far two judges of a panel agree."""

    a: str = column("A", help="one judge")
    b: str = column("B", help="the other")
    r: float | None = column(
        "r", digits=3, interval=True, help=f"Pearson's over outputs; {_OVER_SEGMENTS}"
    )
    difference: float | None = column(
        "Difference",
        interval=True,
        help="mean score of A less that of B on the outputs that both have a score of; likewise",
    )
    p: float | None = column("p", digits=3, help="that the difference is none")
    outputs: int = column("Outputs", help="that both have a score of")


class JudgePeopleRow(Record):
    """How far a judge, or the panel, agrees with people."""

    metric: str = METRIC
    kind: str = column("Human scores", help="kind of people's scores")
    r: float | None = column(
        "r",
        digits=3,
        better="higher",
        interval=True,
        help="Pearson's over outputs, turned where lower is better; documents are left out one at a"
        " time (segments, where documents are unknown)",
    )
    gain: float | None = column(
        "Panel's gain", digits=3, interval=True, help="the panel's r less this judge's; likewise"
    )
    p: float | None = column("p", digits=3, help="that the gain is none")
    outputs: int = column("Outputs", help="that all judges, the panel and people have a score of")
    units: int = column("Left out", help="documents, or segments, that were left out one by one")


class DisagreementRow(Record):
    """An output on which a judge is not of the others' opinion."""

    metric: str = METRIC
    system: str = SYSTEM
    segment: int = SEGMENT
    score: float | None = column("Score", help="its score, on the panel's scale")
    others: float | None = column("Others", help="mean score of the other judges")
    away: float | None = column("Away", help="the difference of the two")


_AGREE = Claim(
    "judges.panel.agreement",
    "On {outputs} the {judges} agree with Krippendorff's alpha {alpha} (1: equal scores, 0:"
    " chance)",
    "undecided",
    "alpha on the interval scale",
)
_LEVELS = Claim(
    "judges.panel.levels",
    "{a} scores {difference} points higher than {b} on the same outputs ({facts}): scores of one do"
    " not compare with those of the other",
    "caution",
    "the mean difference on common outputs, tested, Holm's over pairs of judges",
)
_ODD = Claim(
    "judges.panel.odd",
    "{metric} agrees with the others less than each of them does (r = {r} with their mean, the next"
    " one {next})",
    "caution",
    "differences of correlations with the mean of the others, Holm's over pairs of judges",
)
_PANEL_BETTER = Claim(
    "judges.panel.better",
    "The panel agrees with people ({kind}) better than each of its judges (r = {r}; the best of"
    " them, {metric}, {own}; {facts})",
    "better",
    "all differences of correlations with people, each tested",
)
_PANEL_WORSE = Claim(
    "judges.panel.worse",
    "{metric} alone agrees with people ({kind}) better than the panel (r = {own} against {r};"
    " {facts})",
    "worse",
    "the difference of correlations with people, tested, Holm's over judges",
)
_PANEL_UNDECIDED = Claim(
    "judges.panel.undecided",
    "The data cannot tell whether the panel agrees with people ({kind}) better than {metric}, its"
    " best judge (r = {r} against {own})",
    "undecided",
    "neither of the two tests above",
)
_UNTESTED = Claim(
    "judges.panel.untested",
    "whether the panel agrees with people ({kind}) better than its judges was not tested: that"
    " takes {least} documents (segments, where documents are unknown), and people judged {units}",
    "caution",
    "the number of documents or segments that people judged",
)
_FEW = Claim(
    "judges.panel.few_segments",
    "fewer than 30 segments were judged, too few to be read as a finding",
    "caution",
    "the number of segments",
)
PANEL_CLAIMS = (
    _AGREE,
    _LEVELS,
    _ODD,
    _PANEL_BETTER,
    _PANEL_WORSE,
    _PANEL_UNDECIDED,
    _UNTESTED,
    _FEW,
    UNREADABLE,
)


def panel_verdict(finding: Finding) -> Iterator[Statement]:
    """How far the judges agree, who stands apart, and what the panel gains beside people."""
    titles = {name: judge_title(title) for name, title in titles_of(finding).items()}
    members = finding.records(PanelMemberRow)
    (whole,) = finding.records(PanelRow)
    missing = sum(row.missing for row in members)
    answers = missing + sum(row.outputs for row in members)
    if missing > 0.01 * answers:
        share = f"{missing:,} of {counted(answers, 'score')}"
        yield statement(UNREADABLE, finding.positions(members), missing=share, metric="the judges")
    if whole.segments < LEAST:
        yield statement(_FEW, finding.positions([whole]))
        return
    yield from _beside_people(finding, titles)
    if whole.alpha is not None:
        yield statement(
            _AGREE,
            finding.positions([whole]),
            judges=counted(whole.judges, "judge"),
            outputs=counted(whole.outputs, "output"),
            alpha=amount(whole.alpha, *whole.ends("alpha"), share=True),
        )
    yield from _apart(finding, members, titles)
    yield from _levels(finding, titles)


def _beside_people(finding: Finding, titles: Mapping[str, str]) -> Iterator[Statement]:
    every = finding.records(JudgePeopleRow)
    for kind in dict.fromkeys(row.kind for row in every):
        of_kind = [row for row in every if row.kind == kind]
        judges = [row for row in of_kind if row.gain is not None]
        panel = next((row for row in of_kind if row.gain is None), None)
        if panel is None or panel.r is None or not judges:
            continue
        if panel.units < LEAST_DOCUMENTS:
            there = finding.positions(of_kind)
            units = {"least": LEAST_DOCUMENTS, "units": panel.units}
            yield statement(_UNTESTED, there, None, kind=kind, **units)
            continue
        best = max(judges, key=lambda row: or_nan(row.r))
        corrected = stats.holm([or_nan(row.p) for row in judges]).tolist()
        gains = [or_nan(row.gain) for row in judges]
        all_gain = all(
            gain > 0 and or_nan(row.p) <= ALPHA for gain, row in zip(gains, judges, strict=True)
        )
        best_p = corrected[judges.index(best)]
        claim = _PANEL_UNDECIDED
        if all_gain:
            claim = _PANEL_BETTER
        elif or_nan(best.gain) < 0 and best_p <= ALPHA:
            claim = _PANEL_WORSE
        p = max(or_nan(row.p) for row in judges) if all_gain else best_p
        parts: dict[str, object] = {
            "metric": titles.get(best.metric, best.metric),
            "kind": kind,
            "r": amount(panel.r, *panel.ends("r"), share=True),
            "own": amount(or_nan(best.r), *best.ends("r"), share=True),
            "facts": "" if math.isnan(p) else p_value(p),
        }
        if claim is _PANEL_UNDECIDED:
            parts.pop("facts")
        yield statement(claim, finding.positions([panel, best]), None, **parts)


def _apart(
    finding: Finding, members: Sequence[PanelMemberRow], titles: Mapping[str, str]
) -> Iterator[Statement]:
    rows = sorted(members, key=lambda row: or_nan(row.r))
    if rows[0].apart:
        yield statement(
            _ODD,
            finding.positions(rows[:2]),
            metric=titles.get(rows[0].metric, rows[0].metric),
            r=amount(or_nan(rows[0].r), *rows[0].ends("r"), share=True),
            next=amount(or_nan(rows[1].r), *rows[1].ends("r"), share=True),
        )


def _levels(finding: Finding, titles: Mapping[str, str]) -> Iterator[Statement]:
    pairs = finding.records(JudgePairRow)
    corrected = stats.holm([or_nan(row.p) for row in pairs]).tolist()
    apart = [(row, p) for row, p in zip(pairs, corrected, strict=True) if p <= ALPHA]
    if apart:
        row, p = max(apart, key=lambda pair: abs(or_nan(pair[0].difference)))
        value, (low, high) = or_nan(row.difference), row.ends("difference")
        a, b = row.a, row.b
        if value < 0:
            a, b, value, low, high = b, a, -value, -or_nan(high), -or_nan(low)
        yield statement(
            _LEVELS,
            finding.positions([row]),
            a=titles.get(a, a),
            b=titles.get(b, b),
            difference=amount(value, low, high),
            facts=p_value(p),
        )


def check_panel(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`gnomon.judges.panel` refuses of options that fit each alone."""
    wrong = list(judge_faults(outline, options.metrics, allow_code=options.allow_code))
    yield from wrong
    if not wrong:
        try:
            _panel_of(options.metrics, allow_code=options.allow_code).check_combination()
        except (SpecError, UsageError) as error:
            yield Problem("metrics", error)
    there = () if outline is None else outline.human_kinds("segment")
    for kind in human_files(options.human)[1]:
        if outline is not None and kind not in there:
            yield Problem("human", UnknownNameError("kind of human segment scores", kind, there))


def _panel_of(metrics: Metrics, *, allow_code: bool) -> JudgePanel:
    """The panel that is named, or one of all judges that are."""
    every = list(named_judges_and_panels(metrics, allow_code=allow_code))
    if len(every) == 1 and isinstance(every[0][1], JudgePanel):
        return every[0][1]
    return JudgePanel(tuple(judge for _, judge in named_judges(metrics, allow_code=allow_code)))


@method(
    "judges.panel",
    answers="how far several judges agree with each other and with people, and where they do not",
    title=_TITLE,
    unread=("domains",),
    examples=_EXAMPLES,
    tables={
        "": "judge_panel_members",
        "agreement": "judge_panel",
        "pairs": "judge_panel_pairs",
        "people": "judge_panel_people",
        "disagreements": "judge_panel_disagreements",
    },
    rows={
        "members": PanelMemberRow,
        "agreement": PanelRow,
        "pairs": JudgePairRow,
        "people": JudgePeopleRow,
        "disagreements": DisagreementRow,
    },
    metrics="all",
    human=True,
    check=check_panel,
    verdict=panel_verdict,
    claims=PANEL_CLAIMS,
)
def panel(
    testset: TestSet,
    metrics: Metrics = (),
    *,
    human: Human = (),
    confidence: Confidence = CONFIDENCE,
    allow_code: bool = False,
) -> Finding:
    """How far several judges agree, on all outputs of a test set.

    Scores are on the panel's scale; see :class:`gnomon.judges.JudgePanel`. Agreement on the scores
    themselves is Krippendorff's alpha, on what is better than what Pearson's r; intervals and tests
    leave out one segment at a time (:func:`gnomon.stats.jackknife`), of people's scores one
    document. An output that a judge has no score of is left out where that judge is concerned.

    Args:
        testset: what was translated, and by whom.
        metrics: a panel, or judges, of which one is made.

    Returns:
        A finding with a row per judge, and the tables "agreement" (all judges), "pairs" (each two
        judges), "people" (each judge and the panel beside people's scores) and "disagreements" (a
        row per output and judge, those farthest from the other judges first).

    Raises:
        UsageError: a metric is no judge, or costs more than allowed.
        ServerFailedError: a server stopped answering; what it said is kept.
    """
    testset, named = with_human(testset, human)
    judges = _panel_of(metrics, allow_code=allow_code)
    bound = judges.bind(testset)
    batch = testset.batch()
    scores = bound.scores(batch)
    combined = bound.segments(batch)
    names = [judge.spec for judge in judges.judges]
    agreement = _Agreement(names, scores, combined, confidence)
    kinds = named or testset.human_kinds("segment")
    people = [
        row
        for kind in kinds
        if kind not in bound.informed_by
        for row in agreement.people(kind, testset, bound, higher=judges.higher_is_better)
    ]
    signatures = {judges.spec: str(signature_of(bound, batch))}
    for name, judge in zip(names, bound.judges, strict=True):
        signatures[name] = str(signature_of(judge, batch))
    circular = [
        f"a judge of the panel is calibrated by people's scores ({kind}): how far it agrees with"
        " them is not said"
        for kind in kinds
        if kind in bound.informed_by
    ]
    disagreements = agreement.disagreements(batch.systems)
    beside_people = Listing("people", "Judges and people", column_names(JudgePeopleRow))
    return Finding(
        method="judges panel",
        title=_TITLE,
        tables=(
            table("members", _TITLE, PanelMemberRow, agreement.members(), confidence=confidence),
            table("agreement", "All judges", PanelRow, [agreement.whole()], confidence=confidence),
            table("pairs", "Each two judges", JudgePairRow, agreement.pairs(),
                  confidence=confidence),
            table("people", "Judges and people", JudgePeopleRow, people, confidence=confidence),
            table("disagreements", "Where judges disagree", DisagreementRow, disagreements),
        ),
        signatures=signatures,
        views=(
            Listing("members", _TITLE, column_names(PanelMemberRow)),
            Listing("agreement", "All judges", column_names(PanelRow)),
            Listing("pairs", "Each two judges", column_names(JudgePairRow)),
            *((beside_people,) if people else ()),
            Listing(
                "disagreements", "Where judges disagree", column_names(DisagreementRow), most=_SHOWN
            ),
        ),
        exhibits=tuple(_exhibits(testset, bound, disagreements[:_SHOWN])),
        facts={"test set": testset.name, "combined by": judges.combine},
        notices=(*bound.notices(batch), *circular),
    )  # fmt: skip


def _exhibits(
    testset: TestSet, bound: BoundJudgePanel, rows: Sequence[DisagreementRow]
) -> Iterator[Exhibit]:
    """The outputs of some disagreements, each with what all judges said of it."""
    batch = testset.batch()
    remarks = bound.remarks(batch)
    numbers = {system: k for k, system in enumerate(batch.systems)}
    cells = dict.fromkeys((numbers[row.system], row.segment - 1) for row in rows)
    for rank, cell in enumerate(cells):
        shown_for = (bound.metric.spec, "where judges disagree")
        weight = float(len(cells) - rank)
        yield output_exhibit(testset, batch, cell, shown_for, remarks[cell], weight=weight)


@dataclass
class _Agreement:
    """Scores of judges [M, K, N], and what follows from them."""

    names: Sequence[str]
    scores: NDArray[np.float64]
    combined: NDArray[np.float64]
    confidence: float
    others: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        self.others = np.stack([_mean(np.delete(self.scores, m, axis=0)) for m in self._judges()])

    def _judges(self) -> range:
        return range(len(self.names))

    def _test(self, values: NDArray[np.float64], statistic: object) -> Jackknife:
        """A statistic of sums over outputs [K, N, Q], without each segment in turn."""
        sums = values.sum(axis=0)
        segments = np.arange(len(sums))
        return jackknife_test(sums, segments, statistic, confidence=self.confidence)  # type: ignore[arg-type]  # a function of sums

    def members(self) -> list[PanelMemberRow]:
        """A row for each judge."""
        apart = self._stands_apart()
        rows = []
        for m in self._judges():
            own, others = self.scores[m], self.others[m]
            test = self._test(_products(own, others), _pearson)
            both = np.isfinite(own) & np.isfinite(others)
            rows.append(
                PanelMemberRow(
                    metric=self.names[m],
                    score=_number(own[np.isfinite(own)].mean()) if np.isfinite(own).any() else None,
                    r=_number(test.estimate),
                    intervals={"r": _ends(test)},
                    distance=_number(np.abs(own - others)[both].mean()) if both.any() else None,
                    apart=m == apart,
                    outputs=int(np.isfinite(own).sum()),
                    missing=int(np.isnan(own).sum()),
                )
            )
        return rows

    def whole(self) -> PanelRow:
        """The row of all judges."""
        test = self._test(alpha_sums(self.scores), alpha_of_sums)
        readable = np.isfinite(self.scores).sum(axis=0)
        return PanelRow(
            alpha=_number(test.estimate),
            intervals={"alpha": _ends(test)},
            judges=len(self.names),
            outputs=int((readable >= 2).sum()),
            complete=int((readable == len(self.names)).sum()),
            scored=int(np.isfinite(self.combined).sum()),
            segments=self.scores.shape[2],
        )

    def pairs(self) -> list[JudgePairRow]:
        """A row for each two judges."""
        rows = []
        for a, b in combinations(self._judges(), 2):
            products = _products(self.scores[a], self.scores[b])
            r, level = self._test(products, _pearson), self._test(products, _difference)
            rows.append(
                JudgePairRow(
                    a=self.names[a],
                    b=self.names[b],
                    r=_number(r.estimate),
                    difference=_number(level.estimate),
                    intervals={"r": _ends(r), "difference": _ends(level)},
                    p=_number(level.p),
                    outputs=int(products[..., 0].sum()),
                )
            )
        return rows

    def _stands_apart(self) -> int | None:
        """The judge that agrees with the others less than each of them does; None: none does."""
        if len(self.names) < 3:
            return None
        products = [_products(self.scores[m], self.others[m]) for m in self._judges()]
        tests = {
            (a, b): self._test(np.concatenate([products[a], products[b]], axis=-1), _gain)
            for a, b in combinations(self._judges(), 2)
        }
        corrected = stats.holm([float(test.p) for test in tests.values()]).tolist()
        less = {
            (a, b) if test.estimate < 0 else (b, a)
            for (a, b), test, p in zip(tests, tests.values(), corrected, strict=True)
            if p <= ALPHA
        }
        for m in self._judges():
            if all((m, other) in less for other in self._judges() if other != m):
                return m
        return None

    def people(
        self, kind: str, testset: TestSet, bound: BoundJudgePanel, *, higher: bool
    ) -> Iterator[JudgePeopleRow]:
        """Each judge and the panel beside people's scores, on the outputs that all have."""
        human = testset.human_scores(kind)
        every = np.concatenate([self.scores, self.combined[None]])
        shown = np.isfinite(human) & np.isfinite(every).all(axis=0)
        sign = 1.0 if higher else -1.0
        products = [_products(np.where(shown, sign * values, np.nan), human) for values in every]
        documents = testset.documents
        where = np.arange(human.shape[1]) if documents is None else numbered(list(documents))
        units = len(np.unique(where[shown.any(axis=0)]))
        names = [*self.names, bound.metric.spec]
        for n, (name, own) in enumerate(zip(names, products, strict=True)):
            sums = own.sum(axis=0)
            test = jackknife_test(sums, where, _pearson, confidence=self.confidence)
            gain = None
            if n < len(self.names):
                both = np.concatenate([products[-1].sum(axis=0), sums], axis=-1)
                gain = jackknife_test(both, where, _gain, confidence=self.confidence)
            yield JudgePeopleRow(
                metric=name,
                kind=kind,
                r=_number(test.estimate),
                gain=None if gain is None else _number(gain.estimate),
                intervals={"r": _ends(test), "gain": (None, None) if gain is None else _ends(gain)},
                p=None if gain is None else _number(gain.p),
                outputs=int(shown.sum()),
                units=units,
            )

    def disagreements(self, systems: Sequence[str]) -> list[DisagreementRow]:
        """A row for each output and judge, those farthest from the others first."""
        away = self.scores - self.others
        places = np.argwhere(np.isfinite(away))
        order = np.argsort(-np.abs(away[tuple(places.T)]), kind="stable")
        return [
            DisagreementRow(
                metric=self.names[m],
                system=systems[k],
                segment=i + 1,
                score=float(self.scores[m, k, i]),
                others=float(self.others[m, k, i]),
                away=float(away[m, k, i]),
            )
            for m, k, i in places[order].tolist()
        ]


def _mean(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means over the first axis of what is known; NaN where nothing is."""
    readable = np.isfinite(scores)
    count = readable.sum(axis=0)
    total = np.where(readable, scores, 0.0).sum(axis=0)
    means = np.full(count.shape, np.nan)
    np.divide(total, count, out=means, where=count > 0)
    return means


def _products(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of each output 1, x, y, x x, y y and x y; 0 where either is missing: [..., 6]."""
    both = np.isfinite(x) & np.isfinite(y)
    x, y = (np.where(both, side, 0.0) for side in (x, y))
    return np.stack([both.astype(np.float64), x, y, x * x, y * y, x * y], axis=-1)


def _pearson(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return pearson_of_sums(np.moveaxis(sums, -1, 0))


def _difference(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((sums[..., 1] - sums[..., 2]) / sums[..., 0])


def _gain(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """The first Pearson's r less the second, of sums [..., 12]."""
    return _pearson(sums[..., :6]) - _pearson(sums[..., 6:])


def _number(value: object) -> float | None:
    number = float(value)  # type: ignore[arg-type]  # an array of one number
    return None if math.isnan(number) else number


def _ends(test: Jackknife) -> tuple[float | None, float | None]:
    return _number(test.low), _number(test.high)
