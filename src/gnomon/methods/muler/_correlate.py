"""MuLER over many systems and test sets: what it correlates with."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from gnomon.core.errors import DataError, UsageError
from gnomon.core.findings import Finding
from gnomon.core.options import SEED, Count, Group, Limits, Metavar, with_fields
from gnomon.core.registry import method
from gnomon.core.signature import Signature, of_test_sets
from gnomon.core.slices import slices
from gnomon.core.testset import SystemInfo, TestSet
from gnomon.linguistics import Features, FeatureSources, Tagger
from gnomon.methods.muler._contrasts import contrasts, exhibit
from gnomon.methods.muler._correlations import (
    CORRELATE_CLAIMS,
    MEANING,
    POOLING,
    SCORER,
    CorrelationRow,
    FrequencyRow,
    GroupRow,
    PointRow,
    correlate_verdict,
    correlation_table,
    correlations,
    frequency_table,
    group_table,
    groups,
    point_table,
    points_of,
    views,
)
from gnomon.methods.muler._figures import VARIANTS, defined, figures
from gnomon.methods.muler._sentences import (
    ScorerRow,
    Scorers,
    scorer_faults,
    scorers_of,
    sentence_part,
)
from gnomon.methods.muler._setup import (
    MaskOptions,
    Run,
    WordChoice,
    check_masked,
    prepared,
)
from gnomon.methods.muler._uncertainty import Bootstrap
from gnomon.metrics.masking import MaskSeed
from gnomon.metrics.protocol import Metrics

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gnomon.core.findings import Exhibit, Table
    from gnomon.core.options import BoundOptions
    from gnomon.core.summary import Outline
    from gnomon.core.validation import Problem
    from gnomon.linguistics.scorers import SentenceScorer
    from gnomon.methods.muler._figures import FeatureScores, Figures, Presence
    from gnomon.methods.muler._setup import Setup


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


# Sentence scorers among what is correlated: minus their mean absolute difference.


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
        member.testset.batch(),
        scorers,
        slices(member.testset, None),
        Bootstrap(resamples=0),
        tagger,
        0,
        run.cache,
        run.progress,
    )
    gathered.notices += [f"{member.name}: {notice}" for notice in part.notices]
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
    """What all test sets and metrics gave so far."""

    points: list[PointRow] = field(default_factory=list)
    lower_is_better: set[str] = field(default_factory=set)  # metrics
    frequencies: list[FrequencyRow] = field(default_factory=list)
    exhibits: list[Exhibit] = field(default_factory=list)
    signatures: dict[tuple[str, str], Signature] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)


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
    """How often a system uses a feature in all segments, and in how many forms."""
    batch, spans = setup.batch, setup.spans
    texts = batch.candidates[system]
    times = np.bincount(texts, minlength=len(batch.texts))
    rows = np.flatnonzero((spans.feature == feature) & (times[spans.text] > 0))
    columns = (spans.text[rows].tolist(), spans.start[rows].tolist(), spans.end[rows].tolist())
    forms = {batch.texts[text][start:end] for text, start, end in zip(*columns, strict=True)}
    words = sum(len(batch.texts[text].split()) for text in texts.tolist())
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
            muler=best.of(variant),
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


#: the morphology that the paper looks at
_MORPHOLOGY = ("morph:Gender", "morph:Number", "morph:Definite")
_EXAMPLES = """\
examples:
  gnomon muler correlate -t wmt18/de-en wmt18/fi-en wmt19/de-en --html report.html
  gnomon muler correlate -t wmt19/de-en --features 'pos:*' -m bleu chrf -f json
  gnomon muler correlate -t wmt19/de-en --scorers sentiment

Year, architecture and human submissions are read from systems.tsv (columns system, year,
architecture, constrained, human) in each test set; a missing year from the set's name (wmt19).
"""
_SHOWN = Group("segments alike in score and apart on a feature (on the page)")


def check_correlate(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`correlate` refuses of options that fit each alone."""
    if options.scorers:
        yield from scorer_faults(options.scorers, allow_code=options.allow_code)
    yield from check_masked(outline, options)


@method(
    "muler.correlate",
    answers="which features correlate with the score, over many systems and test sets",
    title="MuLER: correlations",
    data=("testsets",),
    given="testsets",
    examples=_EXAMPLES,
    rows={
        "correlations": CorrelationRow,
        "systems": PointRow,
        "groups": GroupRow,
        "frequency": FrequencyRow,
    },
    tagged=True,
    for_pages={"examples": ""},
    check=check_correlate,
    verdict=correlate_verdict,
    claims=CORRELATE_CLAIMS,
)
@with_fields(sources=FeatureSources, masks=MaskOptions, run=Run)
def correlate(
    testsets: TestSet | Sequence[TestSet],
    metrics: Metrics = "bleu",
    features: Features = None,
    *,
    sources: FeatureSources,
    scorers: Scorers = (),
    masks: MaskOptions,
    seed: MaskSeed = SEED,
    examples: Annotated[Count, _SHOWN] = 3,
    max_score_gap: Annotated[float, Limits(0), Metavar("UNITS"), _SHOWN] = 1.0,
    run: Run,
) -> Finding:
    """How MuLER goes along with scores, over many systems and test sets (Karidi et al., sec. 4).

    Human submissions are left out. Correlations are taken within each test set and, where there
    are several, over the systems of all of them, as they are and after the mean of the test set
    was taken off both sides.

    Args:
        testsets: one or several test sets; year, architecture and human submissions are read from
            ``info``, a missing year from the test set's name ("wmt19").
        features: names such as ``pos:NOUN``; wildcards ``pos:*``. By default as for
            :func:`gnomon.muler`, and with parts of speech and entities also the morphology
            that the paper looks at: ``morph:Gender``, ``morph:Number``, ``morph:Definite``.
        scorers: sentence scorers, as for :func:`gnomon.muler`: minus their mean absolute
            difference is correlated as -MuLER is, under features ``scorer:NAME``.
        examples: segments per feature and test set; 0 for none.
        max_score_gap: their scores differ by this much at most, in the metric's own units.

    Returns:
        A finding whose rows hold ``test_set, metric, variant, feature, against, r, n,
        segments``; over fewer than 8 systems they are grey, and in parentheses. Further tables:
        "systems" (what was correlated), "groups" (by year and architecture),
        "frequency".

    Raises:
        UsageError: a feature or an option is malformed, a test set is named twice, or no tagger is
            named or found.
        UnknownNameError: a metric, feature, scorer or tagger does not exist.
        MaskingError: the metric cannot tell two masks apart.
        DataError: a test set has no references, or no systems but human ones.
    """
    sets = members(testsets)
    sentence_scorers = scorers_of(scorers, allow_code=run.allow_code) if scorers else {}
    words = WordChoice.of(sources, features)
    masking = masks.seeded(seed)
    gathered = Gathered()
    setups: list[Setup] = []
    for member in sets:
        setup = prepared(member.testset, metrics, words, masking, run, _MORPHOLOGY)
        gather(gathered, member, setup, examples=examples, max_score_gap=max_score_gap)
        if sentence_scorers:
            add_scorers(gathered, member, sentence_scorers, tagger=sources.tagger, run=run)
        setups.append(setup)
    return _finding(gathered, sets, setups)


def _finding(
    gathered: Gathered,
    sets: Sequence[Member],
    setups: Sequence[Setup],
) -> Finding:
    tagged = [point for point in gathered.points if not point.feature.startswith(SCORER)]
    tables: list[Table] = [
        correlation_table(correlations(gathered.points, gathered.lower_is_better)),
        point_table(tagged),
        group_table(groups(tagged)),
        frequency_table(gathered.frequencies),
    ]
    metrics = list(setups[0].metrics)
    return Finding(
        method="muler correlate",
        title="MuLER over many systems: what it correlates with",
        tables=tuple(tables),
        signatures=of_test_sets(gathered.signatures),
        views=views({table.name: table for table in tables}, metrics),
        exhibits=tuple(gathered.exhibits),
        notices=(*_notices(sets, setups), *dict.fromkeys(gathered.notices)),
        facts=_facts(sets, setups, metrics),
    )


def _notices(sets: Sequence[Member], setups: Sequence[Setup]) -> tuple[str, ...]:
    notices = [MEANING, *([POOLING] if len(sets) > 1 else [])]
    notices += [
        f"{member.name}: human submissions are left out: {', '.join(member.human)}"
        for member in sets
        if member.human
    ]
    notices += [notice for setup in setups for notice in setup.notices]
    return tuple(dict.fromkeys(notices))


def _facts(
    sets: Sequence[Member], setups: Sequence[Setup], metrics: Sequence[str]
) -> dict[str, str]:
    sizes = [f"{m.name} ({len(m.testset.systems)} x {m.testset.segments})" for m in sets]
    facts = {
        "test sets (systems x segments)": ", ".join(sizes),
        "systems": str(sum(len(m.testset.systems) for m in sets)),
        "metrics": ", ".join(metrics),
        "features": str(len({name for setup in setups for name in setup.spans.features})),
    }
    taggers = dict.fromkeys(name for setup in setups for name in setup.annotation.taggers)
    if taggers:
        facts["tagger"] = ", ".join(taggers)
    return facts
