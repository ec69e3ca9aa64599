"""Validation of MuLER on given data: three experiments whose outcome is known in advance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from gnomon.core.errors import UsageError
from gnomon.core.findings import Finding
from gnomon.core.options import SEED, Group, Limits, Metavar, Seed, expand_fields
from gnomon.core.registry import method
from gnomon.core.run_settings import Run
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem
from gnomon.linguistics import Features, FeatureSources
from gnomon.messages.audiences import parameter
from gnomon.metrics.base import Metrics
from gnomon.muler._mask_kinds import mixed_masks
from gnomon.muler._setup import MaskOptions, WordChoice, check_masked, prepared
from gnomon.muler.validate._frequency import (
    PartRow,
    frequency_experiment,
    frequency_verdict,
)
from gnomon.muler.validate._range import RangeRow, range_experiment, range_verdict
from gnomon.muler.validate.beside_random import (
    RandomWordsRow,
    Vocabulary,
    random_experiment,
    random_verdict,
)
from gnomon.muler.validate.initials import Part, Shares, initials_by_feature

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline
    from gnomon.messages import Message

Experiment: TypeAlias = Literal["range", "frequency", "random"]
EXPERIMENTS: tuple[Experiment, ...] = ("range", "frequency", "random")
_RANDOM = Group("random words")
_EXAMPLES = """\
examples:
  gnomon muler validate ref.txt -i sysA.txt sysB.txt -l en --features pos:NOUN
  gnomon muler validate -t newstest2019/de-en --features 'pos:*' --experiments frequency \\
    --shares .25 .5 .75
  gnomon muler validate ref.txt -i sys.txt --lexicon food=food.txt --experiments random
"""


def check_validate(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of :func:`validate` that fit each alone."""
    if not options.experiments:
        few = f" must be one or more of {', '.join(EXPERIMENTS)}; got none"
        yield Problem("experiments", UsageError(parameter("experiments"), few))
    if not options.shares or min(options.shares) <= 0:
        given = ", ".join(map(str, options.shares)) or "none"
        yield Problem(
            "shares", UsageError(parameter("shares"), f" must be one or more above 0; got {given}")
        )
    yield from check_masked(outline, options)


def validate_verdict(finding: Finding) -> Iterator[Message]:
    """Say the outcome of each experiment."""
    yield from mixed_masks(finding, finding.tables[0].records)
    yield from range_verdict(finding)
    yield from frequency_verdict(finding)
    if finding.records(RandomWordsRow):
        yield from random_verdict(finding)


@method(
    "muler.validate",
    purpose="validate MuLER on your data: its scale, rarer features, random words",
    title="MuLER: validation",
    unread=("documents", "domains"),
    examples=_EXAMPLES,
    tables={"": "muler_range", "frequency": "muler_frequency", "random": "muler_random"},
    rows={"range": RangeRow, "frequency": PartRow, "random": RandomWordsRow},
    by_system=True,
    tagged=True,
    check=check_validate,
    verdict=validate_verdict,
)
@expand_fields(sources=FeatureSources, masks=MaskOptions, run=Run)
def validate(
    testset: TestSet,
    metrics: Metrics = "bleu",
    features: Features = None,
    *,
    experiments: Sequence[Experiment] = EXPERIMENTS,
    shares: Shares = (0.3, 0.4, 0.5),
    draws: Annotated[int, Limits(2, 10**9), Metavar("N"), _RANDOM] = 100,
    groups: Annotated[Sequence[int], Limits(2, 10**9), Metavar("P"), _RANDOM] = (),
    vocabulary: Annotated[Vocabulary, _RANDOM] = "all",
    seed: Seed = SEED,
    sources: FeatureSources,
    masks: MaskOptions,
    run: Run,
) -> Finding:
    """Three experiments on how far MuLER can be trusted (Karidi et al., section 5).

    *range*: the words of a feature are parted by their first letter, case-folded, letters in the
    order of the alphabet, until they hold a share alpha of the feature's occurrences in the
    references. These are masked alike on both sides, the others differently (a *hybrid* of oracle
    and anti-oracle). Were MuLER's scale even, the mean hybrid score over I of the whole feature
    would be min + a (max - min), a the share that the letters really hold.

    *frequency*: only the words up to that letter are still taken for the feature. A system is as
    good at these as at the others, so that a measure of quality should stay where it is. MuLER
    divides by what the feature can move; max - base ("abl-MuLER") does not, and should change more.

    *random*: for each system, the word types of its references and output are split at random into
    p equal groups, one of which is treated as a feature; and so ``draws`` times. For every feature
    p is the share of all words that are split / the feature's share of the references' words,
    rounded (at least 2), so that the random features are about as frequent. A word is a token of
    BLEU's tokeniser for the language, a type its case-folded form.

    Args:
        testset: references and the outputs of one or more systems.
        experiments: tests to run: "range" (the scale), "frequency" (rarer features), "random"
            (random words); by default all.
        shares: shares of a feature that are masked alike on both sides, or kept, in (0, 1].
        draws: random features per system and number of groups; 1000, as in the paper, take ten
            times as long.
        groups: further numbers of groups p into which words are split, 2 or more, each with rows of
            its own.
        vocabulary: words that are split into groups: "all", or "content" words alone: nouns, proper
            nouns, verbs, adjectives and adverbs in most of their occurrences (by a tagger).

    Returns:
        A finding with a table for each experiment. "range": ``system, metric, feature, masks,
        alpha, share, segments, anti_oracle, oracle, base, muler, hybrid, position``; base and MuLER
        are those of the whole feature. "frequency": ``system, metric, feature, variant, masks,
        alpha, share, segments, muler, gain, muler_change, gain_change``; changes are relative to
        alpha = 1. "random": ``system, metric, feature, masks, segments, reference_share,
        muler, groups, draws, random_reference_share, random_output_share, mean, variance,
        deviation, deviation_low, deviation_high, below, apart``: ``draws`` counts the random
        features with a defined MuLER, ``deviation`` is the feature's MuLER less their mean, with
        the ends of their middle 90 %, ``below`` the share of them with a lower MuLER; rows of
        ``groups`` have no feature. Undefined figures are ``None``, with a notice: a feature without
        common segments, or one that cannot be split.

    Raises:
        UsageError: a share is not in (0, 1]; draws or groups are too few; a metric, a feature or an
            option is malformed.
        UnknownNameError: a metric, feature, tagger or option does not exist.
        MaskingError: the metric cannot tell two masks apart.
        DataError: the test set has no references or no systems.
    """
    words, choice = WordChoice.create(sources, features), masks.seeded(seed)
    setup = prepared(testset, metrics, words, choice, run)
    parts: list[Part] = []
    fields: dict[str, object] = {}
    if {"range", "frequency"} & set(experiments):
        split = initials_by_feature(setup.batch, setup.spans)
        fields["alpha"] = ",".join(map(str, sorted(set(shares))))
        parts += [range_experiment(setup, split, shares)] if "range" in experiments else []
        parts += [frequency_experiment(setup, split, shares)] if "frequency" in experiments else []
    if "random" in experiments:
        fields |= {"draws": draws, "seed": seed}
        fields |= {"p": ",".join(map(str, sorted(set(groups))))} if groups else {}
        fields |= {} if vocabulary == "all" else {"vocabulary": vocabulary}
        parts.append(
            random_experiment(
                setup,
                sources.tagger,
                run,
                draws=draws,
                groups=groups,
                vocabulary=vocabulary,
                seed=seed,
            )
        )
    return Finding(
        method="muler validate",
        title="How far can MuLER be trusted here?",
        tables=tuple(part.table for part in parts),
        signatures={
            name: setup.signature(metric, "muler-validate", fields=fields)
            for name, metric in setup.metrics.items()
        },
        views=tuple(view for part in parts for view in part.views),
        notices=(*setup.notices, *dict.fromkeys(note for part in parts for note in part.notices)),
        facts=setup.facts(),
    )
