"""The study of Bawden et al. (2020): gain by method, metric and number of paraphrases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np

from gnomon.agreement.gains import GainTesting, Over, gain_rows
from gnomon.agreement.measures import Measure
from gnomon.agreement.pairing import PairingRequest, check_kinds, labels_of, pairings
from gnomon.agreement.significance import resample_faults, without_documents
from gnomon.agreement.tables import changed_decisions, ordered_outputs
from gnomon.core.cache import Cache
from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.core.findings import Finding
from gnomon.core.human import only_kind
from gnomon.core.options import (
    DrawOptions,
    Group,
    InputFile,
    Limits,
    Metavar,
    Specs,
    Unit,
    with_fields,
)
from gnomon.core.registry import method
from gnomon.core.scores import of_metric
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem, problems, refuse
from gnomon.core.verdicts import anomaly_notice
from gnomon.data.formats import read_paraphrases
from gnomon.linguistics import standard_parser
from gnomon.methods.paraphrase._adequacy import closeness
from gnomon.methods.paraphrase._diversity import lexical_values, mean, set_mean, syntactic_values
from gnomon.methods.paraphrase._wordings import (
    Language,
    Paraphrases,
    ParserName,
    Parses,
    TreeSets,
    by_parser,
    check_trees,
    cut,
    each_of,
    first_of,
    judgement_files,
    needed,
    paraphrases_of,
    tagger_faults,
    tree_sets,
    trees_of,
)
from gnomon.methods.paraphrase.gains._tables import (
    GAIN_ROWS,
    TITLE,
    GainDecisionRow,
    GainRow,
    GainRows,
    SegmentGainRow,
    average_rows,
    tables,
    views,
)
from gnomon.methods.paraphrase.gains._verdict import GAIN_CLAIMS, gain_verdict
from gnomon.metrics import score
from gnomon.metrics.circularity import has_post_edits, kind_counts_edits
from gnomon.metrics.protocol import Metrics
from gnomon.metrics.registry import check_metric

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.agreement.pairing import Pairing
    from gnomon.core.options import BoundOptions
    from gnomon.core.scores import Scores
    from gnomon.core.summary import Outline
    from gnomon.core.testset import Paraphrase


# What is wrong with a request, before anything is scored or parsed.


def check_gain(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`gnomon.paraphrase.gain` refuses of options that fit each alone."""
    yield from resample_faults(options.resamples, options.confidence)
    if not isinstance(options.n, int) and not options.n:
        yield Problem("n", UsageError("n must name a number of paraphrases; got none"))
    for number, metric in enumerate(each_of(options.metrics)):
        yield from problems(
            f"metrics[{number}]", check_metric, metric, outline, allow_code=options.allow_code
        )
    if options.adequacy not in (None, "none"):
        yield from problems(
            "adequacy", check_metric, options.adequacy, outline, allow_code=options.allow_code
        )
    yield from tagger_faults(options.tagger, options.language)
    faults = list(problems("human", judgement_files, options.human))
    yield from faults
    if outline is not None and options.unit == "document" and not outline.slices.get("document"):
        yield Problem("unit", without_documents(outline.name))
    if outline is not None and not faults:
        yield from _of_set(outline, options.methods, *judgement_files(options.human))
        if options.parse and not options.tagger and not options.language:
            wrong = list(problems("parse", parsed_language, outline))
            yield from wrong or problems("parse", standard_parser, outline.target_language or "")


def _of_set(
    outline: Outline, methods: Sequence[str] | None, files: Sequence[str], human: Sequence[str]
) -> Iterator[Problem]:
    """Names that the test set does not have."""
    for number, name in enumerate(methods or ()):
        if outline.paraphrases and name not in outline.paraphrases:
            error = UnknownNameError("method of paraphrases", name, outline.paraphrases)
            yield Problem(f"methods[{number}]", error)
    if files:
        return  # these bring kinds of their own
    wrong = list(problems("human", check_kinds, [outline], human))
    yield from wrong or problems("human", kinds_of, outline, human)


def parsed_language(outline: Outline) -> str:
    """The language whose standard pipeline parses a test set."""
    if outline.target_language is None:
        raise DataError(
            f"nothing says which language {outline.name!r} is in, and so what parses it: give a"
            " language (-l en; language='en') or a parser (--tagger spacy:NAME;"
            " tagger='spacy:NAME')"
        )
    return outline.target_language


# The sets of paraphrases that are compared: each method, and how many of each.


class FirstParaphrases(NamedTuple):
    """The first n paraphrases of one method."""

    method: str
    n: int
    paraphrases: tuple[Paraphrase, ...]

    @property
    def label(self) -> str:
        """What charts call it."""
        return f"{self.method} {self.n}"


class DiversityOptions(NamedTuple):
    """How paraphrases themselves are described."""

    adequacy: str | None = "chrf"
    trees: Mapping[str, Parses] | None = None
    tagger: str | None = None
    language: str | None = None
    cache: Cache | None = None
    allow_code: bool = False


def arms_of(
    paraphrases: Sequence[Paraphrase], numbers: Sequence[int], methods: Sequence[str] | None
) -> tuple[list[FirstParaphrases], list[str]]:
    """Each method with each number of paraphrases, and what was left out, in words.

    A number larger than any segment has is the same as the largest that one has.
    """
    there = tuple(
        dict.fromkeys(paraphrase.method for paraphrase in paraphrases if paraphrase.text.strip())
    )
    if not there:
        raise DataError("there is no paraphrase to score with; name files with --paraphrases FILE")
    for name in methods or ():
        if name not in there:
            raise UnknownNameError("method of paraphrases", name, there)
    arms, notices = [], []
    for name in methods or there:
        of_method = [
            paraphrase
            for paraphrase in paraphrases
            if paraphrase.method == name and paraphrase.text.strip()
        ]
        most = _most(of_method)
        wanted = sorted({min(n, most) for n in numbers})
        if max(numbers) > most:
            notices.append(f"{name}: no segment has more than {most} paraphrase(s)")
        arms += [FirstParaphrases(name, n, tuple(first_of(of_method, n=n))) for n in wanted]
    return arms, notices


def described(
    testset: TestSet, arm: FirstParaphrases, looked: DiversityOptions
) -> dict[str, float | None]:
    """Number, diversity and adequacy of the paraphrases of an arm."""
    groups = _groups(arm)
    row: dict[str, float | None] = {
        "wordings": len(arm.paraphrases) / max(len(groups), 1),
        "segments": (there := len({paraphrase.segment for paraphrase in arm.paraphrases})),
        "without": testset.segments - there,
        "outputs": _outputs(testset, arm),
        "diversity": mean(lexical_values(groups)),
        "syntactic": _syntactic(arm, groups, looked),
        "change": _change(testset, arm),
        "adequacy": None,
    }
    if looked.adequacy is not None:
        values = closeness(testset, arm.paraphrases, looked.adequacy, allow_code=looked.allow_code)
        row["adequacy"] = float(np.nanmean(values)) if np.isfinite(values).any() else None
    return row


def _groups(arm: FirstParaphrases) -> list[list[str]]:
    """The wordings of each segment, and of each system where they are its own."""
    groups: dict[tuple[int, str | None], list[str]] = {}
    for paraphrase in arm.paraphrases:
        groups.setdefault((paraphrase.segment, paraphrase.system), []).append(paraphrase.text)
    return list(groups.values())


def _outputs(testset: TestSet, arm: FirstParaphrases) -> float:
    """Which share of the paraphrases are outputs for their segment, but no reference."""
    info = testset.info
    judged = [t for s, t in testset.systems.items() if not (s in info and info[s].human)]
    same = 0
    for paraphrase in arm.paraphrases:
        i, text = paraphrase.segment - 1, paraphrase.text.strip()
        references = {(column[i] or "").strip() for column in testset.references.values()}
        same += text not in references and any(text == outputs[i].strip() for outputs in judged)
    return same / len(arm.paraphrases)


def _most(paraphrases: Sequence[Paraphrase]) -> int:
    counts: dict[tuple[int, str | None], int] = {}
    for paraphrase in paraphrases:
        counts[paraphrase.segment, paraphrase.system] = (
            counts.get((paraphrase.segment, paraphrase.system), 0) + 1
        )
    return max(counts.values())


def _change(testset: TestSet, arm: FirstParaphrases) -> float | None:
    """Mean lexical distance of a paraphrase from its references."""
    pairs = [
        [paraphrase.text, text]
        for paraphrase in arm.paraphrases
        for column in testset.references.values()
        if (text := column[paraphrase.segment - 1]) is not None
    ]
    return mean(lexical_values(pairs))


def _syntactic(
    arm: FirstParaphrases, groups: list[list[str]], looked: DiversityOptions
) -> float | None:
    if looked.trees is not None and arm.method in looked.trees:
        given = [list(parses)[: arm.n] for parses in looked.trees[arm.method]]
        if max(map(len, given), default=0) < arm.n:
            return None
        return set_mean(syntactic_values(given), "zero")
    if looked.tagger is None and looked.language is None:
        return None
    from gnomon.linguistics import parse

    texts = list(dict.fromkeys(text for group in groups for text in group))
    trees = parse(texts, tagger=looked.tagger, language=looked.language, cache=looked.cache)
    sets = by_parser({arm.method: groups}, dict(zip(texts, trees, strict=True)))
    return set_mean(syntactic_values(sets[arm.method]), "zero")


# The method.


_EXAMPLES = """\
Every metric scores with the references as they are and with n paraphrases of one method beside
them, and both are compared with people's judgements: over systems (Pearson's r, Williams's test,
decisions) and over segments (rankings, or scores).

With several test sets (-t), names of files hold {pair}, which stands for each one's language pair.

examples:
  gnomon paraphrase gain -t wmt19/de-en --paraphrases beam.jsonl codes.jsonl -m bleu meteor chrf
  gnomon paraphrase gain ref.txt -i *.sys.txt --human de-en.da-z.sys.tsv --paraphrases ref.p?.txt
  gnomon paraphrase gain -t wmt19/de-en wmt19/lt-en --paraphrases '{pair}.beam.jsonl' --html g.html
"""


def _named_paraphrases(inputs: Any, options: dict[str, Any]) -> tuple[Any, ...]:
    """Test sets and the paraphrases of each, as a command line names them."""
    args = inputs.args
    files = needed(inputs, "a gain needs paraphrases")
    if args.no_original:
        raise UsageError("a gain compares with the original references; leave out --no-original")
    trees = options.pop("trees", None) or []
    if len(args.test_set or ()) > 1 and not all("{pair}" in name for name in (*files, *trees)):
        raise UsageError(
            "-t names several test sets, and each has its own paraphrases: write {pair} where file"
            " names differ, as in --paraphrases '{pair}.beam.jsonl'; likewise for --trees"
        )
    sets, parses = [], []
    for given in inputs.each():
        testset = given.original()
        pair = testset.language_pair or testset.name
        paths = [path.replace("{pair}", pair) for path in files]
        sets.append((testset, read_paraphrases(paths, segments=testset.segments)))
        made = tree_sets([path.replace("{pair}", pair) for path in trees])
        parses.append(cut(made, args.first))
    if trees:
        options["trees"] = parses
    return sets[0] if len(sets) == 1 else (sets,)


def _sets_of_study(
    *, original: TestSet, paraphrases: Sequence[Paraphrase], **_: object
) -> tuple[TestSet, Sequence[Paraphrase]]:
    return original, paraphrases


@method(
    "paraphrase.gain",
    answers="how agreement with people changes with paraphrased references",
    title="Paraphrases: gain",
    data=("testsets", "paraphrases"),
    given=_named_paraphrases,
    examples=_EXAMPLES,
    tables={"": "paraphrase_gain"},
    rows=GAIN_ROWS,
    metrics="all",
    human=True,
    from_study=_sets_of_study,
    paraphrased=True,
    check=check_gain,
    verdict=gain_verdict,
    claims=GAIN_CLAIMS,
)
@with_fields(draws=DrawOptions)
def gain(
    testsets: TestSet | Sequence[tuple[TestSet, Paraphrases]],
    paraphrases: Paraphrases = (),
    metrics: Metrics = "bleu",
    *,
    n: Annotated[int | Sequence[int], Limits(1), Metavar("N")] = (1, 5, 20),
    methods: Annotated[Sequence[str] | None, Metavar("NAME")] = None,
    human: Annotated[str | Sequence[str], InputFile(sure=False), Metavar("KIND|FILE")] = (),
    adequacy: Annotated[str | None, Metavar("METRIC"), Specs()] = "chrf",
    trees: TreeSets | Sequence[Mapping[str, Parses]] | None = None,
    parse: Annotated[bool, Group("syntax trees")] = False,
    tagger: ParserName = None,
    language: Language = None,
    over: Annotated[Over, Group("intervals and tests")] = "segments",
    unit: Unit = "auto",
    draws: DrawOptions,
    allow_code: bool = False,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Finding:
    """What paraphrased references bring, by their method, their number, and metric.

    Each metric scores with the references as they are and with n paraphrases of one method beside
    them; both are compared with people's judgements, over systems (Pearson's r, Williams's test)
    and over segments (DaRR where people ranked, Pearson and Kendall where they scored), with the
    decisions on pairs of systems and of outputs that are repaired and broken. Tables 2, 3 and 8 and
    figures 1 to 3 of Bawden et al. (2020).

    Args:
        testsets: one test set, or pairs of a test set and its paraphrases.
        paraphrases: those of the one test set, or files of them.
        metrics: specs of metrics, metrics or functions of texts.
        n: numbers of paraphrases of each segment; a larger one than there are is the largest.
        methods: of the paraphrases, these alone.
        human: kinds of human scores and rankings (da-z, darr), or files of them; by default the
            only one of each level.
        adequacy: metric of the paraphrases against the references; "none": not measured.
        trees: of the paraphrases, for the syntactic diversity: by method, or files of one tree in
            brackets per line (ref.NAME.ptb); of several test sets, one mapping for each.
        parse: parse what has no trees, by the standard pipeline of the language that each test set
            is translated into.
        tagger: the parser (``spacy:NAME``) that does that instead.
        language: its standard pipeline does.
        over: what is resampled for the intervals over systems: "segments" (would another text give
            this gain?) or "systems" (would other systems?).
        unit: what is independent at segment level: "segment", "document" (left out one at a time,
            in place of resamples), or "auto": documents where they are known, because one person
            judges a whole document.

    Returns:
        A finding whose rows hold ``test_set, metric, base, value, gain, gain_low, gain_high, p,
        method, paraphrases, repaired, broken, pairs, base_score, score, diversity, ...``; further
        tables: "segments", "decisions", "averages" (of several test sets).

    Raises:
        DataError: a test set has no paraphrase, or several kinds of human scores and none named;
            trees are not parallel to a test set; the language to parse is not known.
        UnknownNameError: there is no such method, no such kind of human scores in any test set, or
            nothing of the kind to resample.
        UsageError: a number is out of its range.
    """
    pairs = [(testsets, paraphrases)] if isinstance(testsets, TestSet) else list(testsets)
    files, kinds = judgement_files(human)
    sets = [
        (_judged(testset, files), paraphrases_of(made, testset.segments)) for testset, made in pairs
    ]
    numbers = (n,) if isinstance(n, int) else n
    adequacy = None if adequacy == "none" else adequacy
    if unit == "document":
        refuse(
            Problem("unit", without_documents(testset.name))
            for testset, _ in sets
            if not testset.documents
        )
    how = GainTesting(
        draws.resamples,
        draws.seed,
        draws.confidence,
        over,
        by_document=unit != "segment",
        expanded=False,
    )
    check_kinds([testset.outline for testset, _ in sets], kinds)
    diversity_options = DiversityOptions(adequacy, None, tagger, language, cache, allow_code)
    looks = [
        diversity_options._replace(
            trees=given_trees, language=_language(testset, diversity_options, parse=parse)
        )
        for (testset, _), given_trees in zip(sets, _trees_of(trees, sets), strict=True)
    ]
    scored, notices = [], []
    labels = labels_of([testset for testset, _ in sets])
    for (testset, made), look, label in zip(sets, looks, labels, strict=True):
        arms, warnings = arms_of(made, numbers, methods)
        notices += [f"{label}: {notice}" if len(sets) > 1 else notice for notice in warnings]
        ticked = None if progress is None else partial(progress, f"scoring {label}")
        scored.append(list(_scored(testset, arms, each_of(metrics), look, ticked)))
        notices += _of_metrics(testset, scored[-1])
    rows = _judged_rows([testset for testset, _ in sets], scored, kinds, how)
    if len(sets) > 1:
        rows.averages.extend(average_rows(rows.gain))
    bare = dict.fromkeys(row.test_set for row in rows.gain if row.value is None)
    return Finding(
        method="paraphrase gain",
        title=TITLE,
        tables=tables(rows, draws.confidence if draws.resamples else None),
        signatures={
            f"{arm.metric}, {arm.arm.label}, {label}": str(arm.wide.signature)
            for label, some in zip(labels, scored, strict=True)
            for arm in some
        },
        views=views(rows),
        notices=(
            *notices,
            *[
                f"{test_set}: people scored fewer than three systems, so that there is no r"
                for test_set in bare
            ],
        ),
        facts={
            "test sets": ", ".join(labels),
            "segments": ", ".join(str(testset.segments) for testset, _ in sets),
            "adequacy": adequacy or "not measured",
            "intervals": f"{draws.resamples} resamples of {over}, seed {draws.seed}",
            "intervals of segments": ", ".join(
                "documents left out" if testset.documents and how.by_document else "segments drawn"
                for testset, _ in sets
            ),
        },
    )


class _ScoredArm(NamedTuple):
    """A metric with the references as they are, and with the paraphrases of an arm beside them."""

    metric: str
    arm: FirstParaphrases
    base: Scores
    wide: Scores
    described: Mapping[str, float | None]

    @property
    def name(self) -> str:
        """What tells the metric with these paraphrases from others."""
        return f"{self.metric}+{self.arm.label}"


def _scored(
    testset: TestSet,
    arms: Sequence[FirstParaphrases],
    metrics: Sequence[Any],
    looked: DiversityOptions,
    ticked: Callable[[int, int], None] | None,
) -> Iterator[_ScoredArm]:
    """Scores of a test set with each arm and without."""
    code = looked.allow_code
    before = [(spec, score(testset, spec, allow_code=code)) for spec in metrics]
    for done, arm in enumerate(arms, start=1):
        described_set = described(testset, arm, looked)
        wide = testset.with_paraphrases(list(arm.paraphrases))
        for metric, base in before:
            name = metric if isinstance(metric, str) else base.metric
            yield _ScoredArm(name, arm, base, score(wide, metric, allow_code=code), described_set)
        if ticked is not None:
            ticked(done, len(arms))


def _of_metrics(testset: TestSet, scored: Sequence[_ScoredArm]) -> Iterator[str]:
    """What metrics say of their scores with the references as they are."""
    anomalies = set(map(anomaly_notice, testset.anomalies))
    for metric, base in {arm.metric: arm.base for arm in scored}.items():
        yield from (of_metric(metric, notice) for notice in base.notices if notice not in anomalies)


_MEASURES = {
    "system": (Measure("pearson", "system", "none"),),
    "ranking": (Measure("darr", "segment", "item"),),
    "segment": (Measure("pearson", "segment", "none"), Measure("kendall_b", "segment", "none")),
}


def _judged_rows(
    testsets: Sequence[TestSet],
    scored: Sequence[Sequence[_ScoredArm]],
    kinds: Sequence[str],
    how: GainTesting,
) -> GainRows:
    """Agreement with and without each arm, on each test set, level by level."""
    rows = GainRows([], [], [], [])
    for testset, label, some in zip(testsets, labels_of(testsets), scored, strict=True):
        names = {scored_arm.metric: scored_arm.base for scored_arm in some} | {
            scored_arm.name: scored_arm.wide for scored_arm in some
        }
        request = PairingRequest(human=kinds, controls=False, allow_circular=True)
        levels = _by_level(list(pairings([testset], list(names.items()), request)), label, kinds)
        edits = _count_edits(testset, kinds)
        metrics = {entry.metric: entry for entry in levels["system"].entries}
        ordered = {level: dict(ordered_outputs(pairing, None)) for level, pairing in levels.items()}
        for scored_arm in some:
            head: dict[str, Any] = {
                "metric": scored_arm.metric,
                "method": scored_arm.arm.method,
                "paraphrases": scored_arm.arm.n,
                "arm": scored_arm.arm.label,
            }
            both = metrics[scored_arm.metric], metrics[scored_arm.name]
            decided = [
                row
                for level, pairing in levels.items()
                for row in changed_decisions(pairing, both, ordered[level], how)
                if row.pairs
            ]
            counts = {"repaired": 0, "broken": 0, "pairs": 0}
            for row in decided:
                if row.comparison == "systems":
                    counts = {name: getattr(row, name) for name in counts}
            rows.decisions.extend(GainDecisionRow.of(row, **head) for row in decided)
            for level, pairing in levels.items():
                for gained in gain_rows(pairing, both, _MEASURES[level], how):
                    if level != "system":
                        rows.segments.append(SegmentGainRow.of(gained, **head))
                        continue
                    means = (
                        float(np.mean(side.system)) for side in (scored_arm.base, scored_arm.wide)
                    )
                    more: dict[str, Any] = dict(zip(("base_score", "score"), means, strict=True))
                    more |= {**counts, **scored_arm.described, "edits": edits}
                    rows.gain.append(GainRow.of(gained, **head, **more))
    return rows


def _by_level(pairings: Sequence[Pairing], label: str, kinds: Sequence[str]) -> dict[str, Pairing]:
    """Scores and people's at each level, of the kind of judgements that is taken there."""
    testset = pairings[0].testset
    nobody = np.full_like(pairings[0].system, np.nan)
    levels = {"system": replace(pairings[0], label=label, system=nobody, kinds={}, ranking=None)}
    chosen = kinds_of(testset.outline, kinds)
    for level, kind in (
        ("system", chosen.system),
        ("ranking", chosen.ranking),
        ("segment", chosen.segment),
    ):
        for pairing in pairings:
            if kind is not None and pairing.kind == kind:
                ranking = pairing.ranking if level == "ranking" else None
                levels[level] = replace(pairing, label=label, kinds={level: kind}, ranking=ranking)
    return levels


class Kinds(NamedTuple):
    """The kind of human scores at each level, and of rankings; None: there are none."""

    system: str | None
    segment: str | None
    ranking: str | None


def kinds_of(outline: Outline, kinds: Sequence[str] = ()) -> Kinds:
    """The kinds of human scores and rankings that judge a test set."""
    there = (
        (outline.human_kinds("system"), "human system scores"),
        (outline.human_kinds("segment"), "human segment scores"),
        (outline.rankings, "rankings"),
    )
    fitting = [
        (tuple(kind for kind in some if not kinds or kind in kinds), what) for some, what in there
    ]
    return Kinds(*(only_kind(None, some, what) if some else None for some, what in fitting))


def _judged(testset: TestSet, files: Sequence[str]) -> TestSet:
    for file in files:
        testset = testset.with_human(file)
    return testset


def _count_edits(testset: TestSet, kinds: Sequence[str]) -> bool:
    """Whether the human scores that judge a test set are rates of edits, or of post-edits."""
    chosen = kinds_of(testset.outline, kinds)
    judging = dict.fromkeys(kind for kind in (chosen.system, chosen.segment) if kind is not None)
    return has_post_edits(testset) or any(kind_counts_edits(testset, kind) for kind in judging)


def _trees_of(
    trees: TreeSets | Sequence[Mapping[str, Parses]] | None,
    sets: Sequence[tuple[TestSet, object]],
) -> list[Mapping[str, Parses]]:
    """The trees of each test set, which fit it."""
    several = [given_trees for given_trees in trees or () if isinstance(given_trees, Mapping)]
    given = several or ([trees_of(trees)] if trees else [{}] * len(sets))  # type: ignore[arg-type]  # the line above tells which
    if len(given) != len(sets):
        raise DataError(
            f"there are trees of {len(given)} test set(s), and {len(sets)} test set(s); each has"
            " its own paraphrases, and so its own trees"
        )
    for (testset, _), trees_of_set in zip(sets, given, strict=True):
        check_trees(trees_of_set, testset.segments)
    return list(given)


def _language(testset: TestSet, looked: DiversityOptions, *, parse: bool) -> str | None:
    """Whose standard pipeline parses a test set; None: none does."""
    if looked.language or looked.tagger or not parse:
        return looked.language
    return parsed_language(testset.outline)
