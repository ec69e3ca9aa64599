"""The study of Bawden et al. (2020): gain by method, metric and number of paraphrases."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np

from gnomon.annotate import standard_parser
from gnomon.cache import Cache
from gnomon.errors import DataError, UnknownNameError, UsageError
from gnomon.faults import Fault, faults
from gnomon.findings import Finding, Lines, Listing, Scatter, StackedBars
from gnomon.formats import read_paraphrases
from gnomon.methods import method
from gnomon.metrics import score
from gnomon.metrics.circularity import has_post_edits, kind_counts_edits
from gnomon.metrics.protocol import Metrics
from gnomon.metrics.registry import check_metric
from gnomon.options import (
    SEED,
    Confidence,
    Group,
    InputFile,
    Limits,
    Metavar,
    Resamples,
    Seed,
    Specs,
    Unit,
)
from gnomon.paraphrase._adequacy import closeness
from gnomon.paraphrase._diversity import counted, lexical_values, mean, syntactic_values
from gnomon.paraphrase._verdict import GAIN_CLAIMS, gain_verdict
from gnomon.paraphrase._wordings import (
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
from gnomon.paraphrase.gains._agreement import (
    GainDraws,
    HumanJudgements,
    check_kinds,
    decisions,
    kinds_of,
    people_of,
    segment_decisions,
    segment_rows,
    system_row,
)
from gnomon.records import METRIC, Record, column, columns_of, table
from gnomon.scores import of_metric
from gnomon.stats.jackknife import numbered
from gnomon.stats.significance import fewest_draws
from gnomon.testset import TestSet
from gnomon.verdicts import anomaly_notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from gnomon.findings import Cell, Table, View
    from gnomon.options import BoundOptions
    from gnomon.outline import Outline
    from gnomon.scores import Scores
    from gnomon.testset import Paraphrase

    Row = Mapping[str, Cell]


# What is wrong with a request, before anything is scored or parsed.


def check_gain(outline: Outline | None, options: BoundOptions) -> Iterator[Fault]:
    """What :func:`gnomon.paraphrase.gain` refuses of options that fit each alone."""
    fewest = fewest_draws(options.confidence)
    if 0 < options.resamples < fewest:
        said = f"a confidence of {options.confidence} needs {fewest} resamples or more"
        yield Fault("resamples", UsageError(f"{said}, or 0 for none; got {options.resamples}"))
    if not isinstance(options.n, int) and not options.n:
        yield Fault("n", UsageError("n must name a number of paraphrases; got none"))
    for number, metric in enumerate(each_of(options.metrics)):
        yield from faults(
            f"metrics[{number}]", check_metric, metric, outline, allow_code=options.allow_code
        )
    if options.adequacy not in (None, "none"):
        yield from faults(
            "adequacy", check_metric, options.adequacy, outline, allow_code=options.allow_code
        )
    yield from tagger_faults(options.tagger, options.language)
    found = list(faults("human", judgement_files, options.human))
    yield from found
    if outline is not None and options.unit == "document" and not outline.slices.get("document"):
        yield Fault("unit", DataError(no_documents(outline.name)))
    if outline is not None and not found:
        yield from _of_set(outline, options.methods, *judgement_files(options.human))
        if options.parse and not options.tagger and not options.language:
            wrong = list(faults("parse", parsed_language, outline))
            yield from wrong or faults("parse", standard_parser, outline.target_language or "")


def _of_set(
    outline: Outline, methods: Sequence[str] | None, files: Sequence[str], human: Sequence[str]
) -> Iterator[Fault]:
    """Names that the test set does not have."""
    for number, name in enumerate(methods or ()):
        if outline.paraphrases and name not in outline.paraphrases:
            error = UnknownNameError("method of paraphrases", name, outline.paraphrases)
            yield Fault(f"methods[{number}]", error)
    if files:
        return  # these bring kinds of their own
    wrong = list(faults("human", check_kinds, [outline], human))
    yield from wrong or faults("human", kinds_of, outline, human)


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


class Arm(NamedTuple):
    """The first n paraphrases of one method."""

    method: str
    n: int
    paraphrases: tuple[Paraphrase, ...]


class Looked(NamedTuple):
    """How paraphrases themselves are looked at."""

    adequacy: str | None = "chrf"
    trees: Mapping[str, Parses] | None = None
    tagger: str | None = None
    language: str | None = None
    cache: Cache | None = None
    allow_code: bool = False


def arms_of(
    paraphrases: Sequence[Paraphrase], numbers: Sequence[int], methods: Sequence[str] | None
) -> tuple[list[Arm], list[str]]:
    """Each method with each number of paraphrases, and what was left out, in words.

    A number larger than any segment has is the same as the largest that one has.
    """
    known = tuple(dict.fromkeys(one.method for one in paraphrases if one.text.strip()))
    if not known:
        raise DataError("there is no paraphrase to score with; name files with --paraphrases FILE")
    for name in methods or ():
        if name not in known:
            raise UnknownNameError("method of paraphrases", name, known)
    arms, notices = [], []
    for name in methods or known:
        own = [one for one in paraphrases if one.method == name and one.text.strip()]
        most = _most(own)
        wanted = sorted({min(n, most) for n in numbers})
        if max(numbers) > most:
            notices.append(f"{name}: no segment has more than {most} paraphrase(s)")
        arms += [Arm(name, n, tuple(first_of(own, n=n))) for n in wanted]
    return arms, notices


def described(testset: TestSet, arm: Arm, looked: Looked) -> dict[str, Cell]:
    """Number, diversity and adequacy of the paraphrases of an arm."""
    groups = _groups(arm)
    row: dict[str, Cell] = {
        "wordings": len(arm.paraphrases) / max(len(groups), 1),
        "segments": (there := len({one.segment for one in arm.paraphrases})),
        "without": testset.segments - there,
        "outputs": _outputs(testset, arm),
        "diversity": mean(lexical_values(groups)),
        "syntactic": _syntactic(arm, groups, looked),
        "change": _change(testset, arm),
        "adequacy": None,
    }
    if looked.adequacy is not None:
        found = closeness(testset, arm.paraphrases, looked.adequacy, allow_code=looked.allow_code)
        row["adequacy"] = float(np.nanmean(found)) if np.isfinite(found).any() else None
    return row


def _groups(arm: Arm) -> list[list[str]]:
    """The wordings of each segment, and of each system where they are its own."""
    groups: dict[tuple[int, str | None], list[str]] = {}
    for one in arm.paraphrases:
        groups.setdefault((one.segment, one.system), []).append(one.text)
    return list(groups.values())


def _outputs(testset: TestSet, arm: Arm) -> float:
    """Which share of the paraphrases are outputs for their segment, but no reference."""
    info = testset.info
    judged = [t for s, t in testset.systems.items() if not (s in info and info[s].human)]
    same = 0
    for one in arm.paraphrases:
        i, text = one.segment - 1, one.text.strip()
        known = {(column[i] or "").strip() for column in testset.references.values()}
        same += text not in known and any(text == outputs[i].strip() for outputs in judged)
    return same / len(arm.paraphrases)


def _most(paraphrases: Sequence[Paraphrase]) -> int:
    counts: dict[tuple[int, str | None], int] = {}
    for one in paraphrases:
        counts[one.segment, one.system] = counts.get((one.segment, one.system), 0) + 1
    return max(counts.values())


def _change(testset: TestSet, arm: Arm) -> float | None:
    """Mean lexical distance of a paraphrase from its references."""
    pairs = [
        [one.text, text]
        for one in arm.paraphrases
        for column in testset.references.values()
        if (text := column[one.segment - 1]) is not None
    ]
    return mean(lexical_values(pairs))


def _syntactic(arm: Arm, groups: list[list[str]], looked: Looked) -> float | None:
    if looked.trees is not None and arm.method in looked.trees:
        given = [list(parses)[: arm.n] for parses in looked.trees[arm.method]]
        if max(map(len, given), default=0) < arm.n:
            return None
        return counted(syntactic_values(given), "zero")
    if looked.tagger is None and looked.language is None:
        return None
    from gnomon.annotate import parse

    texts = list(dict.fromkeys(text for group in groups for text in group))
    trees = parse(texts, tagger=looked.tagger, language=looked.language, cache=looked.cache)
    sets = by_parser({arm.method: groups}, dict(zip(texts, trees, strict=True)))
    return counted(syntactic_values(sets[arm.method]), "zero")


# The tables and views of a study of gains.


TITLE = "What paraphrased references bring"
_SET: Any = column("Test set", help="its language pair, if that tells")
_METHOD: Any = column("Paraphrases", help="the method that made them")
_N: Any = column("n", help="paraphrases of each segment, at most")
_LABEL: Any = column("Paraphrases and n", help="both in one, as charts name them")
_GAIN: Any = column(
    "Gain", digits=3, better="higher", help="with less without", ends=("low", "high")
)
_LOW: Any = column("Low", digits=3, help="lower end of the gain's confidence interval")
_HIGH: Any = column("High", digits=3, help="upper end of the gain's confidence interval")
_REPAIRED: Any = column("Repaired", help="pairs of systems, wrong without them, now right")
_BROKEN: Any = column("Broken", help="right without them, now wrong")
_PAIRS: Any = column("Pairs", help="pairs of systems that people tell apart")


class GainRow(Record):
    """Agreement over systems with and without the paraphrases of one method."""

    test_set: str = _SET
    metric: str = METRIC
    method: str = _METHOD
    n: int = _N
    base: float | None = column(
        "r before", digits=4, better="higher", help="Pearson's r of system scores"
    )
    value: float | None = column(
        "r after", digits=4, better="higher", help="with the paraphrases, too"
    )
    gain: float | None = _GAIN
    low: float | None = _LOW
    high: float | None = _HIGH
    p: float | None = column("p", digits=4, help="Williams's test: r after is greater")
    repaired: int = _REPAIRED
    broken: int = _BROKEN
    pairs: int = _PAIRS
    base_score: float | None = column("Mean before", help="mean score of the systems")
    score: float | None = column("Mean after", help="likewise, with the paraphrases")
    diversity: float | None = column(
        "Diversity", kind="share", digits=3, help="lexical, among the n paraphrases"
    )
    syntactic: float | None = column(
        "Syntactic", kind="share", digits=3, help="diversity of their trees"
    )
    change: float | None = column(
        "Change", kind="share", digits=3, help="lexical distance from the reference"
    )
    adequacy: float | None = column("Adequacy", help="a metric of them against the reference")
    wordings: float = column("Per segment", help="mean number of paraphrases")
    segments: int = column("Segments", help="that have a paraphrase")
    without: int = column("Without", help="segments that have none")
    edits: bool = column("Edits", help="whether people's scores count edits, as TER does")
    outputs: float = column(
        "Outputs", kind="share", digits=3, help="of its paraphrases, outputs of judged systems"
    )
    systems: int = column("Systems", help="behind r")
    arm: str = _LABEL


class SegmentGainRow(Record):
    """Agreement over segments with and without the paraphrases of one method."""

    test_set: str = _SET
    metric: str = METRIC
    method: str = _METHOD
    n: int = _N
    statistic: str = column("Statistic", help="darr: rankings; pearson, kendall: scores, ungrouped")
    base: float | None = column("Before", digits=4, better="higher", help="without paraphrases")
    value: float | None = column("After", digits=4, better="higher", help="with them")
    gain: float | None = _GAIN
    low: float | None = _LOW
    high: float | None = _HIGH
    p: float | None = column("p", digits=4, help="two-sided, that the gain is 0")
    judgements: int = column("n", help="judged pairs, or scores")
    unit: str | None = column("Unit", help="what intervals leave out or draw")
    groups: int | None = column("Units", help="how many of these are judged")
    arm: str = _LABEL


class GainDecisionRow(Record):
    """Which of two outputs is better: how often references decide as people do."""

    test_set: str = _SET
    metric: str = METRIC
    method: str = _METHOD
    n: int = _N
    comparison: str = column(
        "Comparison",
        help="systems: pairs of systems; darr: outputs that people ranked; pairs: all outputs of a"
        " segment that people scored unlike",
    )
    pairs: int = column("Pairs", help="that people tell apart")
    right: int = column("Both right", help="right without them and with them")
    repaired: int = column("Repaired", help="wrong without them, now right")
    broken: int = _BROKEN
    wrong: int = column("Both wrong", help="wrong without them and with them")
    right_share: float | None = column(
        "Both right", kind="share", digits=3, help="of the pairs, right both times"
    )
    repaired_share: float | None = column(
        "Repaired",
        kind="share",
        digits=4,
        help="of the pairs, now right",
        ends=("repaired_low", "repaired_high"),
    )
    broken_share: float | None = column(
        "Broken",
        kind="share",
        digits=4,
        help="of the pairs, now wrong",
        ends=("broken_low", "broken_high"),
    )
    wrong_share: float | None = column(
        "Both wrong", kind="share", digits=3, help="of the pairs, wrong both times"
    )
    repaired_low: float | None = column(
        "Repaired low", kind="share", digits=4, help="lower end, by bootstrap over segments"
    )
    repaired_high: float | None = column(
        "Repaired high", kind="share", digits=4, help="its upper end"
    )
    broken_low: float | None = column(
        "Broken low", kind="share", digits=4, help="lower end, by bootstrap over segments"
    )
    broken_high: float | None = column("Broken high", kind="share", digits=4, help="its upper end")
    arm: str = _LABEL


class AverageGainRow(Record):
    """Gains over several test sets."""

    metric: str = METRIC
    method: str = _METHOD
    n: int = _N
    average: float = column("Ave r", digits=3, better="higher", help="mean over the test sets")
    gain: float = column("Ave gain", digits=3, better="higher", help="mean over the test sets")
    gain_min: float = column("Min gain", digits=3, better="higher", help="the least of them")
    gain_max: float = column("Max gain", digits=3, better="higher", help="the greatest of them")
    sets: int = column("Test sets", help="with a gain")
    better: int = column("Better", help="test sets with p of at most .05")


_ROWS: Mapping[str, type[Record]] = {
    "gain": GainRow,
    "segments": SegmentGainRow,
    "decisions": GainDecisionRow,
    "averages": AverageGainRow,
}
_TITLES = {
    "gain": "Agreement over systems",
    "segments": "Agreement over segments",
    "decisions": "Decisions repaired and broken",
    "averages": "Gains over the test sets",
}
_COMPARED = {
    "systems": "pairs of systems",
    "darr": "ranked outputs",
    "pairs": "outputs of one segment",
}
_PARTS = ("right_share", "repaired_share", "broken_share", "wrong_share")
_SHOWN = {
    "gain": (
        *("metric", "method", "n", "base", "value", "gain", "low", "high", "p"),
        *("repaired", "broken", "score", "diversity", "adequacy"),
    ),
    "segments": (
        *("metric", "method", "n", "statistic", "base", "value", "gain", "low", "high", "p"),
        *("judgements", "unit"),
    ),
    "decisions": (
        *("metric", "method", "n", "comparison", "pairs"),
        *("repaired_share", "repaired_low", "repaired_high"),
        *("broken_share", "broken_low", "broken_high"),
    ),
    "averages": tuple(one.name for one in columns_of(AverageGainRow)),
}
_SIGNIFICANT = 0.05


def tables(rows: Mapping[str, Sequence[Row]]) -> tuple[Table, ...]:
    """The tables that have rows; the first is always there."""
    return tuple(
        table(name, _TITLES[name], _ROWS[name], found)
        for name, found in rows.items()
        if found or name == "gain"
    )


def views(rows: Mapping[str, Sequence[Row]]) -> tuple[View, ...]:
    """Listings for text; curves, points and bars for the page."""
    places = tuple(dict.fromkeys(str(row["test_set"]) for row in rows["gain"]))
    return (
        *_listings(rows, places),
        *(view for place in places for view in _plots(rows, place)),
    )


def average_rows(rows: Sequence[Row]) -> list[dict[str, Cell]]:
    """Mean, least and greatest gain over the test sets that have one, by metric, method and n."""
    groups: dict[tuple[Cell, Cell, Cell], list[Row]] = {}
    for row in rows:
        if row["gain"] is not None:
            groups.setdefault((row["metric"], row["method"], row["n"]), []).append(row)
    found = []
    for (metric, made_by, n), own in groups.items():
        gains, values = ([float(str(row[key])) for row in own] for key in ("gain", "value"))
        found.append(
            {
                "metric": metric,
                "method": made_by,
                "n": n,
                "average": sum(values) / len(own),
                "gain": sum(gains) / len(own),
                "gain_min": min(gains),
                "gain_max": max(gains),
                "sets": len(own),
                "better": sum(_significant(row["p"]) for row in own),
            }
        )
    return found


def _listings(rows: Mapping[str, Sequence[Row]], places: Sequence[str]) -> Iterator[View]:
    if rows["averages"]:
        yield Listing("averages", _TITLES["averages"], _SHOWN["averages"])
    for name in ("gain", "segments", "decisions"):
        for place in places:
            own = [row for row in rows[name] if row["test_set"] == place]
            if own:
                judged = name != "gain" or any(row["value"] is not None for row in own)
                title = f"{_TITLES[name] if judged else 'Scores and paraphrases'}: {place}"
                yield Listing(name, title, _shown(name, own, judged=judged), {"test_set": place})


def _shown(name: str, rows: Sequence[Row], *, judged: bool) -> tuple[str, ...]:
    """Columns of a listing; without people's judgements, what scores and paraphrases are."""
    if not judged:
        return ("metric", "method", "n", "base_score", "score", "diversity", "change", "adequacy")
    ends = ("low", "high", "repaired_low", "repaired_high", "broken_low", "broken_high")
    bare = {column for column in ends if all(row.get(column) is None for row in rows)}
    return tuple(column for column in _SHOWN[name] if column not in bare)


def _plots(rows: Mapping[str, Sequence[Row]], place: str) -> Iterator[View]:
    # the page offers the test set as a choice, so that no title names one
    own = [row for row in rows["gain"] if row["test_set"] == place]
    where = {"test_set": place}
    if any(row["gain"] is not None and row["diversity"] is not None for row in own):
        title = "Gain against diversity"
        yield Scatter("gain", title, "diversity", "gain", "arm", "method", "metric", where)
    if any(row["gain"] is not None and row["change"] is not None for row in own):
        title = "Gain against distance from the reference"
        yield Scatter("gain", title, "change", "gain", "arm", "method", "metric", where)
    if len({row["n"] for row in own}) > 1 and any(row["gain"] is not None for row in own):
        title = "Gain against the number of paraphrases"
        yield Lines("gain", title, "n", "gain", "method", "metric", where, "low", "high")
    decided = [row for row in rows["decisions"] if row["test_set"] == place]
    for comparison in dict.fromkeys(row["comparison"] for row in decided):
        title = f"{_TITLES['decisions']}: {_COMPARED[str(comparison)]}"
        one = {**where, "comparison": comparison}
        yield StackedBars("decisions", title, "arm", "metric", _PARTS, one)
    if any(row["test_set"] == place for row in rows["segments"]):
        title = "Gain over segments"
        yield Scatter(
            "segments", title, "base", "value", "arm", "method", "metric", where, identity=True
        )


def _significant(p: Cell) -> bool:
    return isinstance(p, float) and p <= _SIGNIFICANT


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
    for one in inputs.each():
        testset = one.original()
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
    rows=_ROWS,
    metrics="all",
    human=True,
    from_study=_sets_of_study,
    paraphrased=True,
    check=check_gain,
    verdict=gain_verdict,
    claims=GAIN_CLAIMS,
)
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
    over: Annotated[Literal["segments", "systems"], Group("intervals and tests")] = "segments",
    unit: Unit = "auto",
    resamples: Resamples = 1000,
    confidence: Confidence = 0.95,
    seed: Seed = SEED,
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
        unit: of intervals over segments: "document" (documents left out one at a time), "segment"
            (segments drawn), or "auto": documents where the test set has them, as one person
            judges a document of one system whole.
        resamples: draws; 0: no intervals, of documents neither.
        confidence: of the intervals.
        seed: of the draws.
        allow_code: let a spec ``python('module:function')`` run code.
        cache: where parses are kept.
        progress: called with a stage, what is done, and the total.

    Returns:
        A finding whose rows hold ``test_set, metric, method, n, base, value, gain, low, high, p,
        repaired, broken, pairs, base_score, score, diversity, syntactic, change, adequacy, ...``;
        further tables: "segments", "decisions", "averages" (of several test sets).

    Raises:
        DataError: a test set has no paraphrase, or several kinds of human scores and none named;
            trees are not parallel to a test set; the language to parse is not known.
        UnknownNameError: there is no such method, no such kind of human scores in any test set, or
            nothing of the kind to resample.
        UsageError: a number is out of its range.
    """
    pairs = [(testsets, paraphrases)] if isinstance(testsets, TestSet) else list(testsets)
    files, kinds = judgement_files(human)
    sets = [(_judged(one, files), paraphrases_of(made, one.segments)) for one, made in pairs]
    numbers = (n,) if isinstance(n, int) else n
    adequacy = None if adequacy == "none" else adequacy
    draws = GainDraws(resamples, seed, confidence, over)
    of_documents = [_documents(testset, unit) for testset, _ in sets]
    check_kinds([testset.outline for testset, _ in sets], kinds)
    looked = Looked(adequacy, None, tagger, language, cache, allow_code)
    looks = [
        looked._replace(trees=own, language=_language(testset, looked, parse=parse))
        for (testset, _), own in zip(sets, _trees_of(trees, sets), strict=True)
    ]
    study = _Study(each_of(metrics), draws, looked, kinds, progress)
    for (testset, made), look, documents in zip(sets, looks, of_documents, strict=True):
        study.looked, study.draws = look, draws._replace(documents=documents)
        place = _place(testset, sets)
        arms, said = arms_of(made, numbers, methods)
        study.notices += [f"{place}: {one}" if len(sets) > 1 else one for one in said]
        study.add(place, testset, arms)
    rows = study.rows
    rows["averages"] = average_rows(rows["gain"]) if len(sets) > 1 else []
    return Finding(
        method="paraphrase gain",
        title=TITLE,
        tables=tables(rows),
        signatures=study.signatures,
        views=views(rows),
        notices=(*study.notices, *_unjudged(rows["gain"])),
        facts={
            "test sets": ", ".join(_place(testset, sets) for testset, _ in sets),
            "segments": ", ".join(str(testset.segments) for testset, _ in sets),
            "adequacy": adequacy or "not measured",
            "intervals": f"{resamples} resamples of {over}, seed {seed}",
            "intervals of segments": ", ".join(
                "documents left out" if one is not None else "segments drawn"
                for one in of_documents
            ),
        },
    )


class _Study:
    """Rows, signatures and notices of one test set after the other."""

    def __init__(
        self,
        metrics: Sequence[Any],
        draws: GainDraws,
        looked: Looked,
        human: Sequence[str],
        progress: Callable[[str, int, int], None] | None,
    ) -> None:
        self._metrics, self.draws, self.looked = metrics, draws, looked
        self._human, self._progress = human, progress
        self.rows: dict[str, list[dict[str, Cell]]] = {"gain": [], "segments": [], "decisions": []}
        self.signatures: dict[str, str] = {}
        self.notices: list[str] = []

    def add(self, place: str, testset: TestSet, arms: Sequence[Arm]) -> None:
        """Score a test set with each arm and without."""
        people, code = people_of(testset, self._human), self.looked.allow_code
        edits = _count_edits(testset, self._human)
        before = [(one, score(testset, one, allow_code=code)) for one in self._metrics]
        known = set(map(anomaly_notice, testset.anomalies))
        for metric, base in before:
            name = metric if isinstance(metric, str) else base.metric
            self.notices += [of_metric(name, one) for one in base.notices if one not in known]
        for done, arm in enumerate(arms, start=1):
            seen = {**described(testset, arm, self.looked), "edits": edits}
            wide = testset.with_paraphrases(list(arm.paraphrases))
            for metric, base in before:
                after = score(wide, metric, allow_code=code)
                name = metric if isinstance(metric, str) else base.metric
                self._judge(_head(place, name, arm), people, base, after, seen)
            if self._progress is not None:
                self._progress(f"scoring {place}", done, len(arms))

    def _judge(
        self,
        head: Mapping[str, Cell],
        people: HumanJudgements,
        base: Scores,
        after: Scores,
        seen: Mapping[str, Cell],
    ) -> None:
        decided = decisions(people, base, after)
        counts = {name: decided[name] for name in ("repaired", "broken", "pairs")}
        found = system_row(people, base, after, self.draws)
        self.rows["gain"].append({**head, **found, **counts, **seen})
        if decided["pairs"]:
            self.rows["decisions"].append({**head, **decided})
        for one in segment_decisions(people, base, after, self.draws):
            self.rows["decisions"].append({**head, **one})
        for one in segment_rows(people, base, after, self.draws):
            self.rows["segments"].append({**head, **one})
        name = ", ".join(str(head[key]) for key in ("metric", "arm", "test_set"))
        self.signatures[name] = str(after.signature)


def _judged(testset: TestSet, files: Sequence[str]) -> TestSet:
    for file in files:
        testset = testset.with_human(file)
    return testset


def _count_edits(testset: TestSet, kinds: Sequence[str]) -> bool:
    """Whether the human scores that judge a test set are rates of edits, or of post-edits."""
    chosen = kinds_of(testset.outline, kinds)
    judging = dict.fromkeys(kind for kind in (chosen.system, chosen.segment) if kind is not None)
    return has_post_edits(testset) or any(kind_counts_edits(testset, kind) for kind in judging)


def _documents(testset: TestSet, unit: Unit) -> NDArray[np.int64] | None:
    """The document of each segment, as numbers; None: segments are the unit."""
    if testset.documents is not None and unit != "segment":
        return numbered(testset.documents)
    if unit == "document":
        raise DataError(no_documents(testset.name))
    return None


def no_documents(name: str) -> str:
    """Why documents cannot be the unit."""
    return (
        f"nothing says which document each segment of {name!r} is from: give them (a column"
        " 'document', or documents.txt in its folder), or take segments as the unit"
    )


def _trees_of(
    trees: TreeSets | Sequence[Mapping[str, Parses]] | None,
    sets: Sequence[tuple[TestSet, object]],
) -> list[Mapping[str, Parses]]:
    """The trees of each test set, which fit it."""
    several = [one for one in trees or () if isinstance(one, Mapping)]
    given = several or ([trees_of(trees)] if trees else [{}] * len(sets))  # type: ignore[arg-type]  # not several: told above
    if len(given) != len(sets):
        raise DataError(
            f"there are trees of {len(given)} test set(s), and {len(sets)} test set(s); each has"
            " its own paraphrases, and so its own trees"
        )
    for (testset, _), own in zip(sets, given, strict=True):
        check_trees(own, testset.segments)
    return list(given)


def _language(testset: TestSet, looked: Looked, *, parse: bool) -> str | None:
    """Whose standard pipeline parses a test set; None: none does."""
    if looked.language or looked.tagger or not parse:
        return looked.language
    return parsed_language(testset.outline)


def _head(place: str, metric: str, arm: Arm) -> dict[str, Cell]:
    return {
        "test_set": place,
        "metric": metric,
        "method": arm.method,
        "n": arm.n,
        "arm": f"{arm.method} {arm.n}",
    }


def _place(testset: TestSet, sets: Sequence[tuple[TestSet, object]]) -> str:
    """What to call a test set: its pair, with its name where two have one pair."""
    pair = testset.language_pair
    if pair and sum(other.language_pair == pair for other, _ in sets) == 1:
        return pair
    return testset.name if not pair or pair in testset.name else f"{testset.name} {pair}"


def _unjudged(rows: Sequence[Mapping[str, Cell]]) -> list[str]:
    bare = dict.fromkeys(str(row["test_set"]) for row in rows if row["value"] is None)
    return [
        f"{place}: people scored fewer than three systems, so that there is no r" for place in bare
    ]
