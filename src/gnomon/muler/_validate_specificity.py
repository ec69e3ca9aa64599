"""Is a feature's MuLER its own, or would any words of like frequency have the same?"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from gnomon.faults import refuse
from gnomon.findings import Finding
from gnomon.muler._figures import figures
from gnomon.muler._requests import check_specificity
from gnomon.muler._setup import DEFAULT_FEATURES, prepared
from gnomon.muler._tables import VARIANTS
from gnomon.muler._validate_specificity_rows import Real, curve_rows, group_row, real_row
from gnomon.muler._validate_specificity_tables import specificity_tables, specificity_views
from gnomon.muler._validate_synthetic import synthetic
from gnomon.muler._validate_words import words_of
from gnomon.slices import slices

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from gnomon.findings import Cell
    from gnomon.metrics.protocol import MaskingMetric
    from gnomon.muler._figures import Figures
    from gnomon.muler._setup import AnyMetric, Options, Setup
    from gnomon.muler._validate_synthetic import Synthetic
    from gnomon.muler._validate_words import Words
    from gnomon.testset import TestSet

__all__ = ["validate_specificity"]

_CURVES = 12  # features whose distribution is drawn: the most frequent ones


def validate_specificity(
    testset: TestSet,
    metric: AnyMetric | Sequence[AnyMetric] = "bleu",
    features: Sequence[str] = DEFAULT_FEATURES,
    *,
    draws: int = 1000,
    groups: Sequence[int] = (2, 3, 4, 5, 6),
    seed: int = 0,
    **options: Unpack[Options],
) -> Finding:
    """Whether MuLER tells features apart from random words (Karidi et al., specificity).

    For each system, the word types of its references and output are split at random into p equal
    groups, one of which is treated as a feature; and so ``draws`` times. For every real feature p
    is 1 / its share of the references' words, rounded (at least 2), so that the random features
    are about as frequent; and p goes through ``groups`` for its own sake. A word is a token of
    BLEU's tokeniser for the language, a type its case-folded form.

    Args:
        testset: references and the outputs of one or more systems.
        metric: spec string, metric or function; or several of them.
        features: names of the features compared, wildcards allowed.
        draws: random features per system and p.
        groups: further numbers of groups, 2 or more.
        seed: seed of the draws; the same seed gives the same features under every metric.
        **options: as of :func:`gnomon.muler.muler`: ``tagger, lexicons, patterns, labels, overlap,
            granularity, allow_code, cache, progress``.

    Returns:
        A finding whose rows hold ``system, metric, feature, variant, segments, reference_share,
        output_share, muler, groups, draws, synthetic_reference_share, synthetic_output_share,
        mean, variance, q05, median, q95, deviation, z, below``: ``draws`` counts the random
        features with a defined MuLER, ``deviation`` is the feature's MuLER less their mean, ``z``
        the same in standard deviations, ``below`` the share of them with a lower MuLER. Table
        "synthetic" describes the random features per system and p, "distribution" holds their
        cumulative distributions. Undefined figures are ``None``, with a notice.

    Raises:
        UsageError: draws or groups are too few, or the seed is negative; a metric, a feature or an
            option is malformed.
        UnknownNameError: a metric, feature, tagger or option does not exist.
        MaskingError: the metric cannot tell two masks apart.
        DataError: the test set has no references or no systems.
    """
    refuse(
        check_specificity(
            testset.outline, metric, features, draws=draws, groups=groups, seed=seed, **options
        )
    )
    setup = prepared(testset, metric, features, options)
    every = words_of(setup.batch)
    words = [every.of_system(setup.batch, k) for k in range(len(setup.batch.systems))]
    gathered = _Gathered()
    for name, one in setup.metrics.items():
        experiment = _Experiment(setup, name, one, words, draws, tuple(sorted(set(groups))), seed)
        experiment.run(gathered)
        gathered.signatures[name] = setup.signature(
            one,
            "muler-validate-specificity",
            fields={"draws": draws, "seed": seed, "p": ",".join(map(str, experiment.groups))},
        )
    return Finding(
        method="muler validate specificity",
        title="MuLER's specificity: are features told from random words?",
        tables=specificity_tables(gathered.real, gathered.synthetic, gathered.curves),
        signatures=gathered.signatures,
        views=specificity_views(list(gathered.signatures), setup.batch.systems),
        notices=(*setup.annotation.notices, *dict.fromkeys(gathered.notices)),
        facts={**setup.facts(), "draws": str(draws), "seed": str(seed)},
    )


@dataclass
class _Gathered:
    """Records of the three tables, signatures, notices."""

    real: list[dict[str, Cell]] = field(default_factory=list)
    synthetic: list[dict[str, Cell]] = field(default_factory=list)
    curves: list[dict[str, Cell]] = field(default_factory=list)
    signatures: dict[str, str] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Experiment:
    """All systems under one metric."""

    setup: Setup
    name: str
    metric: MaskingMetric
    words: Sequence[Words]
    draws: int
    groups: tuple[int, ...]
    seed: int

    def run(self, gathered: _Gathered) -> None:
        """Score real and random features of every system, and record them."""
        found = self._figures()
        for system, words in enumerate(self.words):
            real = [
                Real.of(name, words.covered(self.setup.spans, f), found[f][system])
                for f, name in enumerate(self.setup.spans.features)
            ]
            drawn = self._drawn(system, words, {one.groups for one in real if one.groups})
            self._record(gathered, system, real, drawn)

    def _figures(self) -> list[tuple[Figures, ...]]:
        """The figures of the real features, [features][systems]."""
        everything = slices(self.setup.testset, None)[0].members
        scored = self.setup.scored(
            self.metric, self.setup.plan(self.metric), f"scoring {self.name}"
        )
        return [figures(scores, present, everything) for scores, present in scored]

    def _drawn(self, system: int, words: Words, wanted: set[int]) -> dict[int, Synthetic]:
        """Random features for every number of groups that the vocabulary allows."""
        batch = self.setup.batch.select(systems=[system])
        asked = sorted({*self.groups, *wanted})
        possible = [groups for groups in asked if groups <= len(words.types)]
        total = self.draws * len(possible) * len(self.words)
        found = {}
        for place, groups in enumerate(possible):
            before = self.draws * (system * len(possible) + place)
            found[groups] = synthetic(
                self.metric,
                batch,
                words,
                self.setup.oracles,
                groups=groups,
                draws=self.draws,
                seed=self.seed,
                progress=partial(self._step, before, total),
            )
        return found

    def _step(self, before: int, total: int, done: int) -> None:
        self.setup.step(f"drawing {self.name}", before + done, total)

    def _record(
        self,
        gathered: _Gathered,
        system: int,
        real: Sequence[Real],
        drawn: dict[int, Synthetic],
    ) -> None:
        name, types = self.setup.batch.systems[system], len(self.words[system].types)
        frequent = sorted(real, key=lambda one: -(one.reference_share or 0.0))[:_CURVES]
        for variant in VARIANTS:
            key: dict[str, Cell] = {"system": name, "metric": self.name, "variant": variant}
            rows = [key | real_row(one, drawn.get(one.groups or 0), variant) for one in real]
            gathered.real += rows
            gathered.synthetic += [
                key | group_row(groups, drawn.get(groups), types, variant)
                for groups in sorted({*self.groups, *drawn})
            ]
            shown = {one.feature for one in frequent}
            chosen = [row for row in rows if row["feature"] in shown]
            gathered.curves += [
                key | row for row in curve_rows(chosen, self.groups, drawn, variant)
            ]
        gathered.notices += _notices(name, types, self.groups, real, drawn, self.draws)


def _notices(
    system: str,
    types: int,
    groups: Sequence[int],
    real: Sequence[Real],
    drawn: dict[int, Synthetic],
    draws: int,
) -> list[str]:
    notices = []
    absent = [one.feature for one in real if not one.figures.segments]
    if absent:
        notices.append(
            f"{system}: without segments in which both sides have it: {', '.join(absent)}"
        )
    much = sorted({*groups, *(one.groups for one in real if one.groups)} - set(drawn))
    if much:
        notices.append(
            f"{system}: a vocabulary of {types} types cannot be split into"
            f" {', '.join(map(str, much))} groups"
        )
    lost = {p: draws - found.defined for p, found in drawn.items() if found.defined < draws}
    if lost:
        told = ", ".join(f"{count} of {draws} at p = {p}" for p, count in sorted(lost.items()))
        notices.append(f"{system}: random features without a MuLER, left out: {told}")
    return notices
