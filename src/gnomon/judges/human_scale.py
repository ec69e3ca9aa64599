"""Distance of a judge's scores from people's, and their conversion to people's scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.core.findings import Finding, Listing, Scatter
from gnomon.core.options import IntervalOptions, OutputFile, Positive, expand_fields
from gnomon.core.records import column_names, table
from gnomon.core.registry import method
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem
from gnomon.core.verdicts import metric_title
from gnomon.data.formats import Human, add_judgements, human_files, write_lines
from gnomon.judges.calibration import Calibration, fit_calibration, predict_left_out
from gnomon.judges.calibration_rows import CalibrationPoint, CalibrationRow
from gnomon.judges.calibration_verdict import calibration_verdict
from gnomon.judges.replies import mean_score
from gnomon.judges.requests import judge_faults, list_judges
from gnomon.messages import message
from gnomon.messages.audiences import Words, flag
from gnomon.metrics.base import Metrics, list_metrics
from gnomon.metrics.scoring import signature_of
from gnomon.stats import pearson
from gnomon.stats.holm import step_down
from gnomon.stats.jackknife import mean_of_units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.findings import View
    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline
    from gnomon.core.signature import Signature
    from gnomon.judges.metric import BoundChatJudge
    from gnomon.messages import Message

_TITLE = "Judges' scores on people's scale"
_FEWEST = 3
_EXAMPLES = """\
examples:
  gnomon judges calibrate -t wmt24/en-cs --human esa -m "judge('gemba-da', model='NAME')" \\
      --items 60 --save people.tsv
  gnomon score -t other/en-cs -m "judge('gemba-da', model='NAME', calibration='people.tsv')"
"""


def check_calibrate(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of :func:`gnomon.judges.calibrate` that fit each alone."""
    wrong = list(judge_faults(outline, options.metrics, allow_code=options.allow_code))
    yield from wrong
    judges = [] if wrong else [*list_judges(options.metrics, allow_code=options.allow_code)]
    for number, (_, judge) in enumerate(judges):
        if judge.calibration is not None:
            message: Words = "a judge that is to be calibrated has no calibration yet; leave it out"
            yield Problem(f"metrics[{number}]", UsageError(message))
    files, kinds = human_files(options.human)
    if outline is None:
        return
    there = outline.human_kinds("segment")
    for kind in kinds:
        if kind not in there:
            yield Problem("human", UnknownNameError("kind of human segment scores", kind, there))
    if not there and not files:
        message = (
            f"people scored no segment of test set {outline.name!r}; name a file (",
            flag("human", "FILE"),
            ")",
        )
        yield Problem("human", DataError(message))
    if options.save and (
        len(list_metrics(options.metrics) if wrong else judges) > 1
        or len(files) + len(kinds or there) > 1
    ):
        message = "scores are saved of one judge and one kind of human scores; name one of each"
        yield Problem("save", UsageError(message))


def _has_human_scores(outline: Outline, options: Mapping[str, Any]) -> bool:
    """True if people scored segments: in the test set, or in a file that the options name."""
    return bool(outline.human_kinds("segment") or human_files(options.get("human") or ())[0])


@method(
    "judges.calibrate",
    purpose="map a judge's scores to the scale of human scores, and measure the distance",
    title=_TITLE,
    unread=("domains",),
    examples=_EXAMPLES,
    tables={"": "judge_calibration", "points": "judge_calibration_points"},
    rows={"calibration": CalibrationRow, "points": CalibrationPoint},
    metrics="all",
    human=True,
    judged=_has_human_scores,
    check=check_calibrate,
    verdict=calibration_verdict,
)
@expand_fields(intervals=IntervalOptions)
def calibrate(
    testset: TestSet,
    metrics: Metrics = (),
    *,
    human: Human = (),
    items: Positive = 50,
    save: OutputFile = None,
    intervals: IntervalOptions,
    allow_code: bool = False,
) -> Finding:
    """Carry a judge's scores over to people's by some outputs that both scored.

    Outputs that people scored are drawn, the judge is asked about these alone, and a line is fitted
    by least squares; see :func:`gnomon.judges.fit_calibration`. How near it comes is
    told of outputs that are left out of the fit, one by one, beside people's mean score of the
    others, which knows nothing of an output.

    Args:
        testset: outputs that people scored.
        metrics: judges without a calibration.
        items: number of outputs drawn from all systems.
        save: a file for the drawn outputs and their human scores, which ``judge(...,
            calibration=FILE)`` reads.

    Returns:
        A finding with a row per judge and kind of human scores, and a table "points".

    Raises:
        DataError: people scored fewer than three outputs, or a text cannot be saved.
        UsageError: a metric is no judge, has a calibration, or costs more than allowed.
        ServerFailedError: the server stopped answering; what it said is kept.
    """
    testset, named = add_judgements(testset, human)
    made = _CalibratedJudges(testset, items, intervals.seed)
    signatures: dict[str, Signature] = {}
    for name, judge in list_judges(metrics, allow_code=allow_code):
        bound = judge.bind(testset)
        for kind in named or testset.human_kinds("segment"):
            made.add(name, kind, bound)
        how = {"method": "calibrate", "items": items, "seed": intervals.seed}
        signatures[name] = signature_of(bound, testset.batch()).adding(how)
    if save is not None:
        _save(save, made.texts, made.humans)
    rows = list(calibration_rows(made.samples, intervals.confidence))
    tables = (
        table("calibration", _TITLE, CalibrationRow, rows, confidence=intervals.confidence),
        table("points", "Outputs by the judge and by people", CalibrationPoint, made.points),
    )
    return Finding(
        method="judges calibrate",
        title=_TITLE,
        tables=tables,
        signatures=signatures,
        views=tuple(made.views()),
        facts={"test set": testset.name, "outputs drawn": str(items), "seed": str(intervals.seed)},
        notices=tuple(dict.fromkeys(made.notices)),
    )


@dataclass
class _CalibratedJudges:
    """Rows as they come in."""

    testset: TestSet
    items: int
    seed: int

    def __post_init__(self) -> None:
        self.samples: list[CalibrationSample] = []
        self.points: list[CalibrationPoint] = []
        self.notices: list[Message] = []
        self.texts: list[dict[str, str]] = []
        self.humans: list[float] = []

    def add(self, name: str, kind: str, bound: BoundChatJudge) -> None:
        """Ask a judge about outputs that people scored, and hold both beside each other."""
        cells, texts, scores = self._draw_outputs(kind, bound)
        self.texts, self.humans = texts, scores.tolist()
        users = [bound.question_about(shown) for shown in texts]
        judged = np.array([mean_score(replies) for replies in bound.ask(users)])
        self.notices += bound.notices_of(users)
        better = bound.rubric.higher_is_better
        readable = np.isfinite(judged)
        x, y = judged[readable], scores[readable]
        left_out = np.full(len(judged), np.nan)
        calibration: Calibration | None = None
        try:
            calibration = fit_calibration(x, y, higher_is_better=better)
            left_out[readable] = predict_left_out(x, y, higher_is_better=better)
        except DataError as error:
            unfit = message("note.judges.not_calibrated", human=kind, why=error.message)
            self.notices.append(unfit.about(metrics=[name]))
        of = self.testset.documents
        documents = None if of is None else [of[i] for _, i in cells]
        drawn = None if documents is None else np.array(documents)[readable]
        self.samples.append(
            CalibrationSample(name, kind, x, y, left_out[readable], calibration, drawn)
        )
        systems = list(self.testset.systems)
        self.points += [
            CalibrationPoint(
                metric=name,
                kind=kind,
                system=systems[k],
                segment=i + 1,
                judge=float(judged[n]),
                human=float(scores[n]),
                left_out=float(left_out[n]),
            )
            for n, (k, i) in enumerate(cells)
        ]

    def _draw_outputs(
        self, kind: str, bound: BoundChatJudge
    ) -> tuple[list[tuple[int, int]], list[dict[str, str]], NDArray[np.float64]]:
        """Systems and segments that people scored, what the judge is shown, and people's scores."""
        batch, scores = self.testset.batch(), self.testset.human_scores(kind)
        judged = np.argwhere(~np.isnan(scores)).tolist()
        shown = {(k, i): bound.shown_texts(batch, k, i) for k, i in judged}
        cells = [(cell, texts) for cell, texts in shown.items() if texts is not None]
        if len(cells) < _FEWEST:
            raise DataError(
                f"people scored {len(cells)} outputs ({kind}) of test set {self.testset.name!r};"
                f" calibration takes {_FEWEST} or more"
            )
        order = np.random.default_rng(self.seed).permutation(len(cells))[: self.items]
        chosen = [cells[number] for number in np.sort(order).tolist()]
        drawn = [cell for cell, _ in chosen]
        return drawn, [texts for _, texts in chosen], np.array([scores[cell] for cell in drawn])

    def views(self) -> Iterator[View]:
        """The figures, and judge and people beside each other."""
        yield Listing("calibration", _TITLE, column_names(CalibrationRow))
        metrics = [row.metric for row in self.samples]
        for row in self.samples:
            yield Scatter(
                table="points",
                title=f"{row.kind} and {metric_title(row.metric, metrics)}",
                x="judge",
                y="human",
                label="system",
                where={"metric": row.metric, "kind": row.kind},
            )


class CalibrationSample(NamedTuple):
    """Scores of the same outputs by a judge and by people, and by the line of the others."""

    metric: str
    kind: str
    judged: NDArray[np.float64]
    human: NDArray[np.float64]
    left_out: NDArray[np.float64]
    line: Calibration | None
    documents: NDArray[np.str_] | None

    @property
    def mean_of_others(self) -> NDArray[np.float64]:
        """People's mean score of all other outputs."""
        y, n = self.human, len(self.human)
        return (y.sum() - y) / (n - 1) if n > 1 else np.full(n, np.nan)

    def gains(self, other: NDArray[np.float64]) -> NDArray[np.float64]:
        """Gains in nearness to people of the line over another guess."""
        gains: NDArray[np.float64] = np.abs(self.human - other) - np.abs(self.human - self.left_out)
        return gains

    def tests(self, other: NDArray[np.float64]) -> Callable[[float], tuple[float, float, float]]:
        """Interval and p of the mean gain by level: documents left out one at a time, or means."""
        if self.line is None:
            return lambda _: (math.nan, math.nan, math.nan)
        return mean_of_units(self.gains(other), self.documents).test


def calibration_rows(
    samples: Sequence[CalibrationSample], confidence: float
) -> Iterator[CalibrationRow]:
    """Rows on how near each judge comes, tested by Holm's procedure over judges and kinds."""
    alpha = round(1 - confidence, 12)
    of_mean = step_down([sample.tests(sample.mean_of_others) for sample in samples], alpha)
    of_raw = step_down([sample.tests(sample.judged) for sample in samples], alpha)
    for sample, mean, raw in zip(samples, of_mean, of_raw, strict=True):
        x, y, line = sample.judged, sample.human, sample.line
        documents = sample.documents
        yield CalibrationRow(
            metric=sample.metric,
            kind=sample.kind,
            outputs=len(x),
            intercept=None if line is None else line.intercept,
            slope=None if line is None else line.slope,
            r=float(pearson(x, y)) if len(x) >= _FEWEST else None,
            raw=float(np.abs(y - x).mean()) if len(x) else None,
            calibrated=None if line is None else float(np.abs(y - sample.left_out).mean()),
            by_mean=float(np.abs(y - sample.mean_of_others).mean()) if len(x) > 1 else None,
            gain=None if line is None else float(sample.gains(sample.mean_of_others).mean()),
            intervals={"gain": (mean.low, mean.high), "raw_gain": (raw.low, raw.high)},
            p=mean.p,
            decided=mean.decided,
            raw_gain=None if line is None else float(sample.gains(x).mean()),
            raw_p=raw.p,
            raw_decided=raw.decided,
            documents=None if documents is None else len(set(documents.tolist())),
        )


def _save(path: object, texts: Sequence[Mapping[str, str]], scores: Sequence[float]) -> None:
    """Write outputs and people's scores as :func:`gnomon.judges.read_anchors` reads them."""
    names = list(texts[0])
    for row in texts:
        for name, text in row.items():
            if "\t" in text or "\n" in text or "\r" in text:
                raise DataError(
                    f"the {name} {text[:40]!r} holds a tab or a line end (several references do),"
                    " which a file for calibration cannot; take other segments (",
                    flag("seed"),
                    "), or one reference (",
                    flag("references"),
                    ")",
                )
    rows = [[*(row[name] for name in names), repr(y)] for row, y in zip(texts, scores, strict=True)]
    write_lines(path, ["\t".join(cells) for cells in ([*names, "score"], *rows)])  # type: ignore[arg-type]  # a path, as is checked before
