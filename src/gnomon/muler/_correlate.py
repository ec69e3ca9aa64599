"""MuLER over many systems and test sets: what it goes along with."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from gnomon.errors import UsageError
from gnomon.findings import Finding
from gnomon.muler import _correlate_tables as tables
from gnomon.muler._checks import check_examples, check_variants
from gnomon.muler._correlate_gather import Examples, Gathered, gather
from gnomon.muler._correlate_groups import groups
from gnomon.muler._correlate_points import SCORER
from gnomon.muler._correlate_pools import correlations
from gnomon.muler._correlate_scorers import add_scorers
from gnomon.muler._correlate_sets import members
from gnomon.muler._correlate_views import views
from gnomon.muler._setup import Options, prepared
from gnomon.muler._tables import VARIANTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from gnomon.annotate import Annotator, Labels
    from gnomon.cache import Cache
    from gnomon.findings import Table
    from gnomon.metrics import BoundMetric, Metric
    from gnomon.metrics.masking import Granularity, Overlap
    from gnomon.muler._correlate_scorers import AnyScorer
    from gnomon.muler._correlate_sets import Member
    from gnomon.muler._setup import Setup
    from gnomon.muler._tables import Variant
    from gnomon.testset import TestSet

    AnyMetric: TypeAlias = str | Metric | BoundMetric | Callable[..., float]

__all__ = ["FEATURES", "correlate"]

#: parts of speech, entities, and the morphology that the paper looks at
FEATURES = ("pos:*", "ent:*", "morph:Gender", "morph:Number", "morph:Definite")


def correlate(
    testsets: TestSet | Sequence[TestSet],
    metric: AnyMetric | Sequence[AnyMetric] = "bleu",
    features: Sequence[str] = FEATURES,
    *,
    tagger: str | Annotator | None = None,
    lexicons: Mapping[str, str | PathLike[str] | Sequence[str]] | None = None,
    patterns: Mapping[str, str] | None = None,
    labels: Labels | None = None,
    scorers: Sequence[AnyScorer] = (),
    variants: Sequence[Variant] = VARIANTS,
    by: str | None = None,
    few: int = 8,
    overlap: Overlap = "any",
    granularity: Granularity = "token",
    examples: int = 3,
    near: float = 1.0,
    far: float = 0.5,
    allow_code: bool = False,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """How MuLER goes along with scores, over many systems and test sets (Karidi et al., sec. 4).

    Human submissions are left out. Correlations are taken within each test set and, where there
    are several, over the systems of all of them, as they are and after the mean of the test set
    was taken off both sides.

    Args:
        testsets: one or several test sets; year, architecture and human submissions are read from
            ``info``, a missing year from the test set's name ("wmt19").
        metric: spec string, metric or function; or several of them.
        features: names such as ``pos:NOUN``; wildcards ``pos:*``.
        tagger: ``spacy:NAME`` or an annotator; by default one for each target language.
        lexicons: word lists for ``lex:NAME``, as words or as a file of one entry per line.
        patterns: regular expressions for ``re:NAME``.
        labels: the user's own labels.
        scorers: sentence scorers, as for :func:`gnomon.muler.sentences`: minus their mean absolute
            difference is correlated as -MuLER is, under features ``scorer:NAME``.
        variants: "ratio" (ratio of means), "segment-clipped" (mean of clipped segment ratios).
        by: slice by "document", "domain", "length" or a label of the test sets.
        few: cells of fewer systems than this are greyed.
        overlap: when a metric token counts as masked: "any", "majority" or "inside".
        granularity: one mask per "token" or per "span".
        examples: contrasting segments per feature and test set; 0 for none.
        near: the scores of a contrast differ by this much at most, in the metric's own units.
        far: its segment MuLER differs by this much at least.
        allow_code: let a spec ``python('module:function')`` import and run the module.
        cache: where annotations are kept between runs; none by default.
        progress: called with a stage, what is done and the total.

    Returns:
        A finding whose rows hold ``test_set, pooling, metric, variant, feature, slice, with, r, n,
        faint, segments``. Further tables: "systems" (what was correlated), "groups" (by year,
        architecture and constraint), "frequency", "contrasts", "negative".

    Raises:
        UsageError: a feature or an option is malformed, a test set is named twice, or no tagger is
            named or found.
        UnknownNameError: a metric, feature, scorer, tagger or slice does not exist.
        MaskingError: the metric cannot tell two masks apart.
        DataError: a test set has no references, or no systems but human ones.
    """
    _check(variants, few, examples, near, far)
    sets = members(testsets)
    options = Options(
        tagger=tagger,
        lexicons=lexicons,
        patterns=patterns,
        labels=labels,
        overlap=overlap,
        granularity=granularity,
        allow_code=allow_code,
        cache=cache,
        progress=progress,
    )
    gathered = Gathered()
    setups: list[Setup] = []
    for member in sets:
        setup = prepared(member.testset, metric, features, options)
        shown = Examples(examples, near, far)
        gather(gathered, member, setup, variants=variants, by=by, examples=shown)
        if scorers:
            add_scorers(gathered, member, scorers, by=by, options=options)
        setups.append(setup)
    return _finding(gathered, sets, setups, list(variants), few, Examples(examples, near, far))


def _check(variants: Sequence[str], few: int, examples: int, near: float, far: float) -> None:
    check_variants(variants)
    check_examples(examples)
    if few < 0:
        raise UsageError(f"few is a number of systems, 0 or more; got {few}")
    if not (near >= 0 and 0 <= far <= 1):
        raise UsageError(
            f"near is a difference of scores, 0 or more, far one of MuLER, 0 to 1; got {near} and"
            f" {far}"
        )


def _finding(
    gathered: Gathered,
    sets: Sequence[Member],
    setups: Sequence[Setup],
    variants: Sequence[Variant],
    few: int,
    examples: Examples,
) -> Finding:
    tagged = [point for point in gathered.points if not point.feature.startswith(SCORER)]
    found: list[Table] = [
        tables.correlation_table(correlations(gathered.points, few), few),
        tables.point_table([point.row() for point in tagged]),
        tables.group_table(groups(tagged)),
        tables.frequency_table(gathered.frequencies),
        tables.contrast_table(gathered.contrasts, examples.near, examples.far),
        tables.negative_table(gathered.negatives),
    ]
    metrics = list(setups[0].metrics)
    return Finding(
        method="muler correlate",
        title="MuLER over many systems: what it goes along with",
        tables=tuple(found),
        signatures=_signatures(gathered.signatures),
        views=views({table.name: table for table in found}, metrics, variants),
        exhibits=tuple(gathered.exhibits),
        notices=(*_notices(sets, setups), *dict.fromkeys(gathered.notices)),
        facts=_facts(sets, setups, metrics),
    )


def _signatures(signatures: Mapping[tuple[str, str], str]) -> Mapping[str, str]:
    """One per metric or scorer where all test sets agree, else one for each test set too."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(name for name, _ in signatures):
        own = {place: text for (other, place), text in signatures.items() if other == name}
        if len(set(own.values())) == 1:
            found[name] = next(iter(own.values()))
        else:
            found |= {f"{name} on {place}": text for place, text in own.items()}
    return found


def _notices(sets: Sequence[Member], setups: Sequence[Setup]) -> tuple[str, ...]:
    notices = [tables.MEANING, *([tables.POOLING] if len(sets) > 1 else [])]
    notices += [
        f"{member.name}: human submissions are left out: {', '.join(member.human)}"
        for member in sets
        if member.human
    ]
    notices += [notice for setup in setups for notice in setup.annotation.notices]
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
