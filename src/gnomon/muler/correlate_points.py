"""Points to correlate: test sets, and the figures of each under each metric."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import DataError, UsageError
from gnomon.core.options import CONFIDENCE
from gnomon.core.scores import name_testset
from gnomon.core.scripts import spaced_words
from gnomon.core.slices import slices
from gnomon.core.testset import SystemInfo, TestSet
from gnomon.muler._sentences import ScorerRow, sentence_part
from gnomon.muler.contrasts import contrasts, exhibit
from gnomon.muler.correlations import SCORER, FrequencyRow, PointRow, points_of
from gnomon.muler.figures import VARIANTS, defined, figures
from gnomon.muler.uncertainty import Grouping

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.core.findings import Exhibit
    from gnomon.core.run_settings import Run
    from gnomon.core.signature import Signature
    from gnomon.linguistics import Tagger
    from gnomon.linguistics.scorers import SentenceScorer
    from gnomon.messages import Message
    from gnomon.muler._setup import Setup
    from gnomon.muler.figures import FeatureScores, Figures, Presence

__all__ = ["Gathered", "Member", "add_scorers", "gather", "members", "year_in"]


# The test sets of a comparison: named apart, dated, without human submissions.


_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_SHORT = re.compile(r"(?i)(?:wmt|iwslt|newstest|news)[-_ ]?(\d\d)(?!\d)")


@dataclass(frozen=True)
class Member:
    """One test set of a comparison."""

    name: str
    testset: TestSet
    human: tuple[str, ...] = ()

    @property
    def pair(self) -> str:
        """The language pair; empty where it is not known."""
        return self.testset.language_pair or ""

    def traits(self, system: str) -> dict[str, Any]:
        """Year and architecture of a system; ``None`` is what is not known."""
        info = self.testset.info.get(system, SystemInfo())
        return {
            "year": info.year if info.year is not None else year_in(self.name),
            "architecture": info.architecture,
        }


def year_in(name: str) -> int | None:
    """The year in the name of a test set, if any.

    >>> year_in("wmt19 de-en"), year_in("newstest2018"), year_in("cnndm")
    (2019, 2018, None)
    """
    whole, short = _YEAR.search(name), _SHORT.search(name)
    if whole:
        return int(whole[0])
    return 2000 + int(short[1]) if short else None


def members(testsets: TestSet | Sequence[TestSet]) -> tuple[Member, ...]:
    """Name test sets apart and leave human submissions out."""
    given = [testsets] if isinstance(testsets, TestSet) else list(testsets)
    if not given:
        raise UsageError("no test set was given; name one or more with -t DIR")
    return tuple(_member(name, testset) for name, testset in zip(_names(given), given, strict=True))


def _names(testsets: Sequence[TestSet]) -> list[str]:
    plain = [t.name for t in testsets]
    paired = [" ".join(filter(None, (t.name, t.language_pair))) for t in testsets]
    placed = [t.path or name for t, name in zip(testsets, paired, strict=True)]
    for names in (plain, paired, placed):
        if len(set(names)) == len(names) and (len(names) == 1 or names is not plain):
            return names
    twice = ", ".join(name for name, times in Counter(placed).items() if times > 1)
    raise UsageError(f"a test set is named twice: {twice}; name each once")


def _member(name: str, testset: TestSet) -> Member:
    human = tuple(system for system, info in testset.info.items() if info.human)
    machines = [system for system in testset.systems if system not in human]
    if not machines and human:
        raise DataError(
            f"all systems of test set {name!r} are human submissions ({', '.join(human)});"
            " MuLER is correlated over the outputs of machines"
        )
    return Member(name, testset.select(systems=machines) if human else testset, human)


# Sentence scorers as points: minus their mean absolute difference.


def add_scorers(
    gathered: Gathered,
    member: Member,
    scorers: Mapping[str, SentenceScorer],
    *,
    tagger: Tagger,
    run: Run,
) -> None:
    """Add the points of sentence scorers (features ``scorer:NAME``) to those of a test set."""
    part = sentence_part(
        member.testset,
        scorers,
        slices(member.testset, None),
        CONFIDENCE,
        Grouping("segment", None),
        tagger,
        examples=0,
        run=run,
    )
    gathered.notices += [name_testset(member.name, notice) for notice in part.notices]
    gathered.signatures |= {(name, member.name): text for name, text in part.signatures.items()}
    points = [point for point in gathered.points if point.test_set == member.name]
    gathered.points += _points(points, part.table.records)


def _points(points: Sequence[PointRow], rows: Sequence[object]) -> Iterator[PointRow]:
    """One point per scorer and system for each metric and variant there is."""
    places = {(p.metric, p.variant, p.system): p for p in points}
    for row in rows:
        assert isinstance(row, ScorerRow)  # noqa: S101  # of the table of scorers
        for (_, _, system), point in places.items():
            if system == row.system:
                yield replace(
                    point,
                    feature=f"{SCORER}{row.scorer}",
                    segments=row.n,
                    muler=row.absolute,
                    indices=None,
                    spread=None,
                )


# One test set under one metric: points, frequencies, contrasts.


@dataclass
class Gathered:
    """The figures of all test sets and metrics so far."""

    points: list[PointRow] = field(default_factory=list)
    lower_is_better: set[str] = field(default_factory=set)  # metrics
    frequencies: list[FrequencyRow] = field(default_factory=list)
    exhibits: list[Exhibit] = field(default_factory=list)
    signatures: dict[tuple[str, str], Signature] = field(default_factory=dict)
    notices: list[Message] = field(default_factory=list)


def gather(
    gathered: Gathered, member: Member, setup: Setup, *, examples: int, max_score_gap: float
) -> None:
    """Score all features of a test set under all its metrics and add what they give."""
    everywhere = np.ones(member.testset.segments, dtype=np.bool_)
    for name, metric in setup.metrics.items():
        plan = setup.plan(metric)
        scores_of_systems = [defined(score) for score in metric.system(setup.batch)]
        scored = setup.scored(metric, plan, f"scoring {member.name} {name}")
        for feature, (scores, present) in enumerate(scored):
            rows = figures(scores, present, everywhere)
            gathered.points += points_of(
                member, rows, scores_of_systems, metric=name, feature=scores.feature
            )
            if not scores.higher_is_better:
                gathered.lower_is_better.add(name)
            best = _best(scores_of_systems, higher_is_better=scores.higher_is_better)
            if best is not None:
                gathered.frequencies += _frequencies(member, setup, name, feature, best, rows[best])
            if examples:
                gathered.exhibits += _contrasts(
                    member, setup, name, scores, present, max_score_gap, examples
                )
        gathered.signatures[name, member.name] = setup.signature(metric, "muler", plan)


def _frequencies(
    member: Member, setup: Setup, metric: str, feature: int, system: int, best: Figures
) -> Iterator[FrequencyRow]:
    """Count a system's uses of each feature in all segments, and their forms."""
    batch, spans = setup.batch, setup.spans
    texts = batch.candidates[system]
    times = np.bincount(texts, minlength=len(batch.texts))
    rows = np.flatnonzero((spans.feature == feature) & (times[spans.text] > 0))
    columns = (spans.text[rows].tolist(), spans.start[rows].tolist(), spans.end[rows].tolist())
    forms = {batch.texts[text][start:end] for text, start, end in zip(*columns, strict=True)}
    words = sum(len(spaced_words(batch.texts[text])) for text in texts.tolist())
    occurrences = int(times[spans.text[rows]].sum())
    for variant in VARIANTS:
        yield FrequencyRow(
            test_set=member.name,
            metric=metric,
            variant=variant,
            feature=spans.features[feature],
            system=batch.systems[system],
            occurrences=occurrences,
            per_hundred=100 * occurrences / words if words else None,
            uniqueness=len(forms) / occurrences if occurrences else None,
            muler=best.get_muler(variant),
        )


def _contrasts(
    member: Member,
    setup: Setup,
    metric: str,
    scores: FeatureScores,
    present: Presence,
    max_score_gap: float,
    most: int,
) -> list[Exhibit]:
    kind = f"contrast under {metric}, {member.name}"
    return [
        exhibit(contrast, member.testset, setup.batch, setup.spans, scores.feature, kind)
        for contrast in contrasts(scores, present, max_score_gap=max_score_gap, most=most)
    ]


def _best(scores: Sequence[float | None], *, higher_is_better: bool) -> int | None:
    """Position of the best score, the first of equal ones; ``None`` where none is defined."""
    sign = 1.0 if higher_is_better else -1.0
    oriented = [(sign * score, -i) for i, score in enumerate(scores) if score is not None]
    return -max(oriented)[1] if oriented else None
