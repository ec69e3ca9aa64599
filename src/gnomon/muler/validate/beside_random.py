"""MuLER of a feature beside MuLER of random words that are as frequent."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from gnomon import stats
from gnomon.core.findings import Bars, Finding, Listing
from gnomon.core.records import METRIC, SYSTEM, EndColumns, Record, column, table
from gnomon.core.slices import slices
from gnomon.core.verdicts import LEAST, metric_title
from gnomon.linguistics import gloss
from gnomon.messages import message
from gnomon.messages.grammar import amount, counted, listed
from gnomon.muler._mask_kinds import MASKS
from gnomon.muler._setup import WordChoice
from gnomon.muler.figures import defined, figures, is_outside
from gnomon.muler.validate.initials import Part
from gnomon.muler.validate.random_words import RandomSplits, synthetic, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.findings import Cell, View
    from gnomon.core.run_settings import Run
    from gnomon.linguistics import Tagger
    from gnomon.messages import Message
    from gnomon.metrics.base import BoundMetric
    from gnomon.muler._setup import Setup
    from gnomon.muler.figures import Figures
    from gnomon.muler.validate.random_words import PlacedWords, Synthetic

__all__ = ["RandomWordsRow", "Vocabulary", "random_experiment", "random_verdict", "tell_apart"]


# Features beside random words.


#: the ends of the middle 90 %
_MIDDLE = (0.05, 0.95)


@dataclass(frozen=True)
class Real:
    """A real feature of one system."""

    feature: str
    reference_share: float | None
    groups: int | None
    figures: Figures

    @classmethod
    def describe(
        cls,
        feature: str,
        reference: float | None,
        figures: Figures,
        drawable: float,
    ) -> Real:
        """A feature with its share of the references' words."""
        # halves up, and at least 2: a whole vocabulary is no feature
        groups = max(2, int(drawable / reference + 0.5)) if reference else None
        return cls(feature, reference, groups, figures)


def random_row(
    random: Synthetic | None,
    real: Real | None,
    *,
    system: str,
    metric: str,
    masks: str,
    groups: int | None,
) -> RandomWordsRow:
    """Random features of some number of groups, and the real one beside which they are drawn.

    Whether that one is apart is not known.
    """
    muler = None if real is None else real.figures.muler
    values = np.zeros(0) if random is None else random.muler[~np.isnan(random.muler)]
    mean, variance = _moments(values)
    low, high = np.quantile(values, _MIDDLE).tolist() if len(values) else (None, None)
    return RandomWordsRow(
        system=system,
        metric=metric,
        feature=f"random words, p = {groups}" if real is None else real.feature,
        masks=masks,
        segments=None if real is None else real.figures.segments,
        reference_share=None if real is None else real.reference_share,
        muler=muler,
        groups=groups,
        draws=len(values),
        random_reference_share=None if random is None else defined(random.reference.mean()),
        random_output_share=None if random is None else defined(random.output.mean()),
        mean=mean,
        variance=variance,
        deviation=_less(muler, mean),
        intervals={"deviation": (_less(muler, high), _less(muler, low))},
        below=float((values < muler).mean()) if muler is not None and len(values) else None,
        apart=False,
    )


def _less(muler: float | None, other: float | None) -> float | None:
    return None if muler is None or other is None else muler - other


def _moments(values: NDArray[np.float64]) -> tuple[float | None, float | None]:
    """Mean, and variance with n - 1."""
    mean = float(values.mean()) if len(values) else None
    return mean, float(values.var(ddof=1)) if len(values) > 1 else None


# The columns, and views of them.


class RandomWordsRow(Record):
    """A feature beside random words of like frequency."""

    system: str = SYSTEM
    metric: str = METRIC
    feature: str = column("Feature", help="or random words alone, of some number of groups")
    masks: str = MASKS
    segments: int | None = column("Segments", help="segments where both sides have the feature")
    reference_share: float | None = column(
        "in ref", digits=3, help="share of the references' words"
    )
    muler: float | None = column(
        "MuLER",
        digits=3,
        better="lower",
        help="loss on these words, as a share of what the metric could give",
    )
    groups: int | None = column("p", help="groups that the vocabulary is split into")
    draws: int = column("draws", help="random features with a defined MuLER")
    random_reference_share: float | None = column(
        "random: in ref", digits=3, help="mean share of the random ones"
    )
    random_output_share: float | None = column(
        "random: in out", digits=3, help="their mean share of the output's words"
    )
    mean: float | None = column("mean", digits=3, help="mean MuLER of the random features")
    variance: float | None = column("var", digits=5, help="its variance (n - 1)")
    deviation: float | None = column(
        "excess",
        digits=3,
        help="MuLER of the feature less that of the random ones: their mean, their middle 90 %",
        interval=EndColumns(
            "deviation_low",
            "deviation_high",
            how="MuLER of the feature less the 95 % and 5 % quantiles of the random ones",
        ),
    )
    below: float | None = column(
        "below", digits=3, help="share of random features with lower MuLER"
    )
    apart: bool = column(
        "distinct",
        help="a test distinguishes it from the random features, corrected for their number",
    )

    @property
    def readable(self) -> bool:
        """True if its MuLER may be read as a finding."""
        return not is_outside(self.muler) and (self.segments or 0) >= LEAST

    @property
    def p(self) -> float:
        """Of a feature among random ones as frequent, two-sided.

        As many as are drawn can show no p below 2 in their number and one, which many features do
        not survive. Beyond the middle 95 % of them, p is that of a normal and of a gamma
        distribution of their mean and variance, whichever says less: MuLER of rare features is
        skewed like the latter. The variance is its upper 95 % bound.
        """
        below, n = self.below or 0.0, self.draws
        among = min(1.0, 2 * (min(below, 1 - below) * n + 1) / (n + 1))
        muler, mean, variance = (value or 0.0 for value in (self.muler, self.mean, self.variance))
        if among > _ALPHA or not variance or n < LEAST:
            return among
        # chi-squared as a cube of a normal, and below gamma likewise (Wilson and Hilferty, 1931)
        ninth = 2 / (9 * (n - 1))
        spread = math.sqrt(variance * (1 + 1 / n) / (1 - ninth - _Z_ONE * math.sqrt(ninth)) ** 3)
        tails = [abs(muler - mean) / spread]
        if mean > 0:
            shape = (mean / spread) ** 2
            root = math.cbrt(max(muler, 0.0) / mean)
            tails.append(abs(root - 1 + 1 / (9 * shape)) * 3 * math.sqrt(shape))
        return math.erfc(min(tails) / math.sqrt(2))


_LISTED = "system feature reference_share groups muler mean variance deviation below"


def tell_apart(rows: Sequence[RandomWordsRow]) -> list[RandomWordsRow]:
    """The rows, with what stands out of random words, corrected for their number."""
    judged = [(n, row) for n, row in enumerate(rows) if row.below is not None and row.readable]
    corrected = stats.holm([row.p for _, row in judged])
    apart = {n for (n, _), q in zip(judged, corrected, strict=True) if q <= _ALPHA}
    return [replace(row, apart=n in apart) for n, row in enumerate(rows)]


def random_views(metrics: Sequence[str]) -> Iterator[View]:
    """A list per metric, and how far features lie from random words."""
    for metric in metrics:
        where: dict[str, Cell] = {"metric": metric}
        name = metric_title(metric, metrics)
        title = f"Features beside random words under {name}"
        yield Listing("random", title, tuple(_LISTED.split()), where)
        yield Bars(
            table="random",
            title=f"{name}: how far features lie from random words",
            category="system",
            series="feature",
            values=("deviation", "muler"),
            where=where,
            ordered=True,
            strong="apart",
            ends=("less is lost than on random words", "more is lost than on random words"),
        )


# Sentences.


_ALPHA, _Z_ONE = 0.05, 1.644854


def random_verdict(finding: Finding) -> Iterator[Message]:
    """Which features stand out from random words as frequent; p-values are Holm's."""
    rows = [row for row in finding.records(RandomWordsRow) if row.below is not None]
    flawed = [row for row in rows if not row.readable]
    sound = [row for row in rows if row.readable]
    significant = [row for row in sound if row.apart]
    for more, what in ((True, "more"), (False, "less")):
        some = [row for row in significant if ((row.deviation or 0.0) > 0) == more]
        some.sort(key=lambda row: -abs(row.deviation or 0.0))
        if some:
            yield message(
                "muler.validate.random.apart",
                finding.positions(some),
                what=what.capitalize(),
                features=listed([_describe_row(row) for row in some]),
            )
    draws = max((row.draws for row in sound), default=0)
    if sound and 2 / (draws + 1) > _ALPHA:
        yield message("muler.validate.random.draws", {}, draws=counted(draws, "draw"))
    elif len(sound) > len(significant):
        yield message(
            "muler.validate.random.alike",
            {},
            figures=counted(len(sound) - len(significant), "figure"),
        )
    if flawed:
        names = listed(list(dict.fromkeys(gloss(row.feature) for row in flawed)))
        yield message("note.muler.validate.left_out", finding.positions(flawed), features=names)


def _describe_row(row: RandomWordsRow) -> str:
    muler = row.muler or 0.0
    low, high = (muler - (end or 0.0) for end in reversed(row.ends("deviation")))
    random = amount(row.mean or 0.0, low, high, share=True)
    return f"{gloss(row.feature)} ({row.system}: {amount(muler, share=True)} against {random})"


# Comparison of features with random words of like frequency.


Vocabulary: TypeAlias = Literal["all", "content"]
_CONTENT = ("pos:NOUN", "pos:PROPN", "pos:VERB", "pos:ADJ", "pos:ADV")


def random_experiment(
    setup: Setup,
    tagger: Tagger,
    run: Run,
    *,
    draws: int,
    groups: Sequence[int],
    vocabulary: Vocabulary,
    seed: int,
) -> Part:
    """Features beside random shares of the vocabulary that are about as frequent."""
    every = words_of(setup.batch)
    if vocabulary == "content":
        content = WordChoice(tagger=tagger, features=_CONTENT)
        language = setup.testset.target_language
        tagged = content.annotated(setup.batch, language, run.cache, run.progress)
        every = every.restrict_to(tagged.spans)
    words = [every.select_system(setup.batch, k) for k in range(len(setup.batch.systems))]
    rows: list[RandomWordsRow] = []
    notices: list[Message] = []
    for name, metric in setup.metrics.items():
        experiment = _Experiment(
            setup, name, metric, words, draws, tuple(sorted(set(groups))), seed
        )
        for system_rows, said in experiment.run():
            rows += system_rows
            notices += said
    rows = tell_apart(rows)
    note = "below = share of random features with lower MuLER; near 0 or 1 a feature stands out."
    title = "Features beside random words of like frequency"
    return Part(
        table("random", title, RandomWordsRow, rows, note=note),
        tuple(random_views(list(setup.metrics))),
        tuple(dict.fromkeys(notices)),
    )


@dataclass(frozen=True)
class _Experiment:
    """All systems under one metric."""

    setup: Setup
    name: str
    metric: BoundMetric
    words: Sequence[PlacedWords]
    draws: int
    groups: tuple[int, ...]
    seed: int

    def run(self) -> Iterator[tuple[list[RandomWordsRow], list[Message]]]:
        """Score real and random features: the rows of every system, and notices on them."""
        all_figures = self._figures()
        for system, words in enumerate(self.words):
            share = words.drawable_share
            real = [
                Real.describe(
                    name, words.covered(self.setup.spans, f), all_figures[f][system], share
                )
                for f, name in enumerate(self.setup.spans.features)
            ]
            drawn = self._random_features(
                system, words, {feature.groups for feature in real if feature.groups}
            )
            yield self._rows(system, real, drawn), self._notices(system, real, drawn)

    def _figures(self) -> list[tuple[Figures, ...]]:
        """The figures of the real features, [features][systems]."""
        everything = slices(self.setup.testset, None)[0].members
        scored = self.setup.scored(
            self.metric, self.setup.plan(self.metric), f"scoring {self.name}"
        )
        return [figures(scores, present, everything) for scores, present in scored]

    def _random_features(
        self, system: int, words: PlacedWords, wanted: set[int]
    ) -> dict[int, Synthetic]:
        """Random features for every number of groups that the vocabulary allows."""
        batch = self.setup.batch.select(systems=[system])
        asked = sorted({*self.groups, *wanted})
        possible = [groups for groups in asked if groups <= len(words.drawable)]
        total = self.draws * len(possible) * len(self.words)
        random = {}
        for position, groups in enumerate(possible):
            before = self.draws * (system * len(possible) + position)
            random[groups] = synthetic(
                self.metric,
                batch,
                words,
                self.setup.oracles,
                RandomSplits(groups, self.draws, self.seed),
                partial(self._step, before, total),
            )
        return random

    def _step(self, before: int, total: int, done: int) -> None:
        self.setup.step(f"drawing {self.name}", before + done, total)

    def _rows(
        self, system: int, real: Sequence[Real], drawn: dict[int, Synthetic]
    ) -> list[RandomWordsRow]:
        name, masks = self.setup.batch.systems[system], self.metric.masks_used
        beside = [(feature.groups, feature) for feature in real]
        return [
            random_row(
                drawn.get(groups or 0),
                feature,
                system=name,
                metric=self.name,
                masks=masks,
                groups=groups,
            )
            for groups, feature in (*beside, *((groups, None) for groups in self.groups))
        ]

    def _notices(
        self, system: int, real: Sequence[Real], drawn: dict[int, Synthetic]
    ) -> list[Message]:
        wanted = {*self.groups, *(feature.groups for feature in real if feature.groups)}
        much = sorted(wanted - set(drawn))
        if not much:
            return []
        name, types = self.setup.batch.systems[system], len(self.words[system].drawable)
        return [message("note.muler.few_types", system=name, types=types, groups=much)]
