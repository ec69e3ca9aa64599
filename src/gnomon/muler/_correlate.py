"""Correlations of MuLER over many systems and test sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from gnomon.core.findings import Finding
from gnomon.core.options import (
    CONFIDENCE,
    SEED,
    Confidence,
    Count,
    Group,
    Limits,
    Metavar,
    expand_fields,
)
from gnomon.core.registry import method
from gnomon.core.run_settings import Run
from gnomon.core.signature import merge_signatures
from gnomon.core.testset import TestSet
from gnomon.core.verdicts import metric_title
from gnomon.linguistics import Features, FeatureSources
from gnomon.messages import message
from gnomon.metrics.base import Metrics
from gnomon.metrics.masking import MaskSeed
from gnomon.muler._mask_kinds import masks_differ
from gnomon.muler._sentences import Scorers, scorer_faults, scorers_of
from gnomon.muler._setup import MaskOptions, WordChoice, check_masked, prepared
from gnomon.muler.correlate_points import Gathered, add_scorers, gather, members
from gnomon.muler.correlations import (
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
    views,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.findings import Table
    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline
    from gnomon.core.validation import Problem
    from gnomon.messages import Message
    from gnomon.muler._setup import Setup
    from gnomon.muler.correlate_points import Member


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
    """Check options of :func:`correlate` that fit each alone."""
    if options.scorers:
        yield from scorer_faults(options.scorers, allow_code=options.allow_code)
    yield from check_masked(outline, options)


@method(
    "muler.correlate",
    purpose="correlate features with the score, over many systems and test sets",
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
)
@expand_fields(sources=FeatureSources, masks=MaskOptions, run=Run)
def correlate(
    testsets: TestSet | Sequence[TestSet],
    metrics: Metrics = "bleu",
    features: Features = None,
    *,
    sources: FeatureSources,
    scorers: Scorers = (),
    confidence: Confidence = CONFIDENCE,
    masks: MaskOptions,
    seed: MaskSeed = SEED,
    examples: Annotated[Count, _SHOWN] = 3,
    max_score_gap: Annotated[float, Limits(0), Metavar("UNITS"), _SHOWN] = 1.0,
    run: Run,
) -> Finding:
    """Correlations of MuLER with scores, over systems and test sets (Karidi et al., sec. 4).

    Human submissions are left out. Correlations are taken within each test set and, where there
    are several, over the systems of all of them, as they are and after the mean of the test set
    was taken off both sides.

    Args:
        testsets: one or several test sets; year, architecture and human submissions are read from
            ``info``, a missing year from the test set's name ("wmt19").
        features: names such as ``pos:NOUN``; wildcards ``pos:*``. By default as for
            :func:`gnomon.muler`, and with parts of speech and entities also the morphology
            that the paper looks at: ``morph:Gender``, ``morph:Number``, ``morph:Definite``.
        scorers: names of sentence scorers, as for :func:`gnomon.muler`; minus their mean absolute
            difference is correlated as -MuLER is, under features ``scorer:NAME``.
        confidence: confidence level of the intervals; correlations are decided at 1 - confidence.
        examples: segments per feature and test set; 0 for none.
        max_score_gap: the largest difference of their scores, in the metric's own units.

    Returns:
        A finding whose rows hold ``test_set, metric, variant, feature, against, r, low,
        high, p_corrected, decided, n, segments``; over fewer than 8 systems they are grey, and in
        parentheses. Further tables: "systems" (what was correlated), "groups" (by year and
        architecture), "frequency".

    Raises:
        UsageError: a feature or an option is malformed, a test set is named twice, or no tagger is
            named or found.
        UnknownNameError: a metric, feature, scorer or tagger does not exist.
        MaskingError: the metric cannot tell two masks apart.
        DataError: a test set has no references, or no systems but human ones.
    """
    sets = members(testsets)
    sentence_scorers = scorers_of(scorers, allow_code=run.allow_code) if scorers else {}
    words = WordChoice.create(sources, features)
    masking = masks.seeded(seed)
    gathered = Gathered()
    setups: list[Setup] = []
    for member in sets:
        setup = prepared(member.testset, metrics, words, masking, run, _MORPHOLOGY)
        gather(gathered, member, setup, examples=examples, max_score_gap=max_score_gap)
        if sentence_scorers:
            add_scorers(gathered, member, sentence_scorers, tagger=sources.tagger, run=run)
        setups.append(setup)
    return _finding(gathered, sets, setups, confidence)


def _finding(
    gathered: Gathered,
    sets: Sequence[Member],
    setups: Sequence[Setup],
    confidence: float,
) -> Finding:
    tagged = [point for point in gathered.points if not point.feature.startswith(SCORER)]
    rows = correlations(gathered.points, gathered.lower_is_better)
    tables: list[Table] = [
        correlation_table(rows, tagged, confidence),
        point_table(tagged),
        group_table(groups(tagged)),
        frequency_table(gathered.frequencies),
    ]
    metrics = list(setups[0].metrics)
    return Finding(
        method="muler correlate",
        title="MuLER over many systems: what it correlates with",
        tables=tuple(tables),
        signatures=merge_signatures(gathered.signatures),
        views=views({table.name: table for table in tables}, metrics),
        exhibits=tuple(gathered.exhibits),
        notices=(*_notices(sets, setups), *dict.fromkeys(gathered.notices)),
        facts=_facts(sets, setups, metrics),
    )


def _notices(sets: Sequence[Member], setups: Sequence[Setup]) -> tuple[Message, ...]:
    kinds = setups[0].kinds
    titles = {metric_title(name, kinds): kind for name, kind in kinds.items()}
    correlated = message("note.muler.correlated", pooled=len(sets) > 1)
    notices = [*masks_differ(titles), correlated]
    notices += [
        message("note.muler.people_left_out", systems=member.human).about(testsets=[member.name])
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
