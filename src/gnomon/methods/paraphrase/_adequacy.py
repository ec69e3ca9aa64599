"""Do paraphrases keep the meaning? By a metric against the references, and by people."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

import numpy as np

from gnomon.core.errors import DataError, FormatError, UsageError
from gnomon.core.findings import Bars, Finding, Listing
from gnomon.core.options import (
    CONFIDENCE,
    SEED,
    Confidence,
    InputFile,
    Metavar,
    Positive,
    Seed,
)
from gnomon.core.records import SEGMENT, EndColumns, Record, column, column_names, table
from gnomon.core.registry import method
from gnomon.core.signature import content_hash
from gnomon.core.testset import Paraphrase, TestSet
from gnomon.core.verdicts import LEAST, Claim, amount, counted, listed, metric_title
from gnomon.data.formats import FileRecord, atomic_write, read_lines, sheet_rows, to_cell
from gnomon.methods.paraphrase._wordings import (
    Wordings,
    each_of,
)
from gnomon.metrics import bind, score
from gnomon.stats.resampling import bootstrap_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from gnomon.core.findings import Statement, Table
    from gnomon.core.scores import Scores
    from gnomon.metrics import BoundMetric, Metric
    from gnomon.metrics.protocol import Metrics

    AnyMetric: TypeAlias = str | Metric | BoundMetric | Callable[..., float]


ADEQUACY_TITLE = "How well paraphrases keep the meaning of the references"


class AdequacyRow(Record):
    """How well the paraphrases of a method keep the meaning."""

    method: str = column("Method", help="the method that made the paraphrases")
    measure: str = column("Measure", help="a metric against the references, or people (0 to 100)")
    value: float | None = column(
        "Mean",
        help="over the paraphrases",
        interval=EndColumns(how="by bootstrap over segments"),
    )
    n: int = column("Paraphrases", help="that have a value")
    segments: int = column("Segments", help="that have such a paraphrase")
    alone: int = column("Alone", help="of these, segments that lack one of another method")


#: the share of segments without what is compared that is said, at least
_MISSING = 0.01
_NEAREST = Claim(
    "paraphrase.adequacy.nearest",
    "Paraphrases by {best} are nearest to the references: {methods} by {measure}, mean over the"
    " paraphrases",
    "better",
    "the intervals of the first two methods over segments do not overlap, and both paraphrase the"
    " same segments",
)
_NEAR_ALIKE = Claim(
    "paraphrase.adequacy.alike",
    "The data cannot tell which paraphrases keep the meaning best: {methods} by {measure}, mean"
    " over the paraphrases",
    "undecided",
    "the intervals of the first two methods overlap",
)
_NEAR = Claim(
    "paraphrase.adequacy.one",
    "How well paraphrases keep the meaning: {methods} by {measure}, mean over the paraphrases."
    " Nothing is there to compare it with",
    "undecided",
    "the mean of the only method",
)
_OTHER_SEGMENTS = Claim(
    "paraphrase.adequacy.other_segments",
    "{methods} by {measure} cannot be compared: {missing}",
    "caution",
    "more than 1 in 100 of the segments that a method paraphrases lack paraphrases of another",
)
_FEW_ADEQUATE = Claim(
    "paraphrase.adequacy.few_segments",
    "{methods}: fewer than 30 segments have a paraphrase, too few to compare",
    "caution",
    "the number of segments with a paraphrase of the method",
)
ADEQUACY_CLAIMS = (_NEAREST, _NEAR_ALIKE, _NEAR, _OTHER_SEGMENTS, _FEW_ADEQUATE)


def adequacy_verdict(finding: Finding) -> Iterator[Statement]:
    """How well the paraphrases of each method keep the meaning, and which are apart."""
    every = [row for row in finding.records(AdequacyRow) if row.value is not None]
    for measure in dict.fromkeys(row.measure for row in every):
        rows = [row for row in every if row.measure == measure]
        few = [row for row in rows if row.segments < LEAST]
        enough = [row for row in rows if row.segments >= LEAST]
        if enough:
            enough.sort(key=lambda row: -(row.value or 0.0))
            yield _nearest(finding, enough)
        if few:
            names = listed([row.method for row in few])
            yield _FEW_ADEQUATE.said(finding.positions(few), methods=names)


def _nearest(finding: Finding, rows: Sequence[AdequacyRow]) -> Statement:
    """Which of the methods is nearest to the references, best first."""
    measure = rows[0].measure
    sizes = [f"{row.method} {amount(row.value or 0.0, *row.ends('value'))}" for row in rows]
    parts: dict[str, Any] = {
        "methods": listed(sizes),
        "measure": "people" if measure == "human" else metric_title(measure),
    }
    positions = finding.positions(rows)
    if len(rows) == 1:
        return _NEAR.said(positions, **parts)
    alone = [
        f"{row.alone:,} of {counted(row.segments)} of {row.method} lack paraphrases of another"
        for row in rows
        if row.alone > _MISSING * row.segments
    ]
    if alone:
        return _OTHER_SEGMENTS.said(positions, missing=listed(alone), **parts)
    low, high = rows[0].ends("value")[0], rows[1].ends("value")[1]
    if low is not None and high is not None and low > high:
        return _NEAREST.said(positions, best=rows[0].method, **parts)
    return _NEAR_ALIKE.said(positions, **parts)


def closeness(
    testset: TestSet,
    paraphrases: Sequence[Paraphrase],
    metric: AnyMetric = "chrf",
    *,
    allow_code: bool = False,
) -> NDArray[np.float64]:
    """The score of each paraphrase as if it were an output, against its segment's references."""
    if not paraphrases:
        return np.zeros(0)
    return np.asarray(_scored(testset, paraphrases, metric, allow_code=allow_code).segments[0])


def adequacy_rows(
    testset: TestSet, sets: Mapping[str, Wordings], metrics: Metrics, *, allow_code: bool
) -> tuple[list[AdequacyRow], dict[str, str]]:
    """Mean scores of each set's wordings against the references, and signatures by metric.

    Empty wordings are left out.
    """
    made = [
        Paraphrase(number, text, name)
        for name, groups in sets.items()
        for number, group in enumerate(groups, start=1)
        for text in group
        if text is not None and text.strip()
    ]
    if not made:
        raise DataError("there is no paraphrase to judge; name files with --paraphrases FILE")
    beyond = max(one.segment for one in made)
    if beyond > testset.segments:
        raise DataError(f"segment {beyond} is out of range: there are {testset.segments}, from 1")
    rows, signatures = [], {}
    for one_metric in each_of(metrics):
        scores = _scored(testset, made, one_metric, allow_code=allow_code)
        metric = one_metric if isinstance(one_metric, str) else scores.metric
        by_set: dict[str, dict[int, list[float]]] = {}
        for one, value in zip(made, scores.segments[0].tolist(), strict=True):
            by_set.setdefault(one.method, {}).setdefault(one.segment, []).append(value)
        shared = _shared(by_set)
        rows += [
            adequacy_row(name, metric, by_segment, CONFIDENCE, SEED, shared=shared)
            for name, by_segment in by_set.items()
        ]
        signatures[metric] = str(scores.signature)
    return rows, signatures


def adequacy_views() -> tuple[Listing, Bars]:
    """The table of adequacy, and bars of it."""
    return (
        Listing("adequacy", ADEQUACY_TITLE, column_names(AdequacyRow)),
        Bars("adequacy", ADEQUACY_TITLE, "method", "measure", ("value",), beside="n"),
    )


def adequacy_finding(
    rows: Sequence[AdequacyRow],
    signatures: Mapping[str, str],
    facts: Mapping[str, str],
    more: Sequence[Table] = (),
) -> Finding:
    """Rows of :func:`adequacy_row` as a finding."""
    if not rows:
        raise DataError("there is no paraphrase to judge; name files with --paraphrases FILE")
    return Finding(
        method="paraphrase adequacy",
        title=ADEQUACY_TITLE,
        tables=(table("adequacy", ADEQUACY_TITLE, AdequacyRow, rows), *more),
        signatures=signatures,
        views=adequacy_views(),
        facts=facts,
    )


def adequacy_row(
    made_by: str,
    measure: str,
    by_segment: Mapping[int, Sequence[float]],
    confidence: float,
    seed: int,
    *,
    shared: Collection[int],
) -> AdequacyRow:
    """The mean of values that come in segments, which are drawn whole.

    Undefined values (NaN) are left out.
    """
    defined = [[value for value in group if np.isfinite(value)] for group in by_segment.values()]
    sums = np.array([(sum(g), len(g)) for g in defined if g], dtype=np.float64).reshape(-1, 2)
    interval = bootstrap_interval(sums, _ratio, level=confidence, seed=seed) if len(sums) else None
    return AdequacyRow(
        method=made_by,
        measure=measure,
        value=interval.estimate if interval else None,
        intervals={"value": (interval.low, interval.high)} if interval else None,
        n=int(sums[:, 1].sum()),
        segments=len(sums),
        alone=len(set(by_segment) - set(shared)),
    )


def _shared(by_method: Mapping[str, Mapping[int, Sequence[float]]]) -> set[int]:
    """The segments of which every method has a value."""
    return set.intersection(*(set(segments) for segments in by_method.values()))


def _scored(
    testset: TestSet, paraphrases: Sequence[Paraphrase], metric: AnyMetric, *, allow_code: bool
) -> Scores:
    """The paraphrases as the outputs of one system, each a segment of its own."""
    places = [paraphrase.segment - 1 for paraphrase in paraphrases]
    flat = TestSet(
        name=testset.name,
        references={n: [texts[i] for i in places] for n, texts in testset.references.items()},
        systems={"paraphrases": [paraphrase.text for paraphrase in paraphrases]},
        sources=None if testset.sources is None else [testset.sources[i] for i in places],
        language_pair=testset.language_pair,
    )
    return score(flat, metric, allow_code=allow_code)


def _ratio(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    total, count = rows.sum(axis=0)
    return np.asarray(total / count)


# A sheet on which people score paraphrases from 0 to 100, its key, and what the scores say.


_KEY = ("item", "method", "segment", "system", "text")
_JUDGE_EXAMPLES = """\
examples:
  gnomon paraphrase judge --answers anna.tsv ben.tsv --key key.tsv
"""


class ParaphraseAnswerRow(Record):
    """A score that somebody gave a paraphrase."""

    annotator: str = column("Annotator", help="who gave it")
    item: str = column("Item", help="the paraphrase, as the sheet names it")
    method: str = column("Method", help="the method that made it")
    segment: int = SEGMENT
    score: float = column("Score", digits=0, help="0 (not at all) to 100 (perfectly)")


@dataclass(frozen=True)
class SheetItem:
    """A paraphrase to be scored.

    Attributes:
        item: its name on the sheet.
        method: how it was made; hidden from annotators.
        segment: 1-based segment.
        text: the paraphrase.
        system: the system that it is for, if for one.
        references: the references that it should mean the same as; empty in a key.
        source: the source, where there is one.
    """

    item: str
    method: str
    segment: int
    text: str
    system: str | None = None
    references: tuple[str, ...] = ()
    source: str | None = None


def adequacy_sheet(
    testset: TestSet, paraphrases: Sequence[Paraphrase], *, items: Positive = 100, seed: Seed = SEED
) -> tuple[SheetItem, ...]:
    """Draw paraphrases for people to score, the methods mixed.

    Segments are drawn at random, first those that most methods paraphrase; of each, one paraphrase
    of each method, until every method has ``items`` of them or no more are there.
    """
    by_segment: dict[int, dict[str, list[Paraphrase]]] = {}
    for paraphrase in paraphrases:
        if paraphrase.text.strip():
            by_segment.setdefault(paraphrase.segment, {}).setdefault(paraphrase.method, []).append(
                paraphrase
            )
    if not by_segment:
        raise DataError("there is no paraphrase to put on a sheet")
    rng = np.random.default_rng(seed)
    segments = sorted(by_segment)
    order = [segments[i] for i in rng.permutation(len(segments))]
    order.sort(key=lambda segment: -len(by_segment[segment]))
    drawn: list[Paraphrase] = []
    counts: dict[str, int] = {}
    for segment in order:
        for made_by in sorted(by_segment[segment]):
            choices = by_segment[segment][made_by]
            paraphrase = choices[int(rng.integers(len(choices)))]
            if counts.get(made_by, 0) < items:
                counts[made_by] = counts.get(made_by, 0) + 1
                drawn.append(paraphrase)
    study = content_hash(*(f"{p.segment} {p.method} {p.text}" for p in drawn))[:6]
    mixed = [drawn[i] for i in rng.permutation(len(drawn))]
    return tuple(_item(testset, p, f"{study}-{n}") for n, p in enumerate(mixed, start=1))


def write_sheet(path: str | PathLike[str], items: Sequence[SheetItem]) -> None:
    """Write a sheet: ``item, source, reference..., paraphrase, score, comment``, without methods.

    People write into ``score`` how well the paraphrase keeps the meaning of the reference, from 0
    (not at all) to 100 (perfectly). Cells that a spreadsheet would run are neutralised.
    """
    width = max((len(row.references) for row in items), default=0)
    sources = any(row.source for row in items)
    names = [f"reference {k + 1}" if width > 1 else "reference" for k in range(width)]
    header = ["item", *(["source"] if sources else []), *names, "paraphrase", "score", "comment"]
    rows = [
        [
            row.item,
            *([row.source or ""] if sources else []),
            *(*row.references, *[""] * (width - len(row.references))),
            row.text,
            "",
            "",
        ]
        for row in items
    ]
    _write(path, [header, *rows])


def write_key(path: str | PathLike[str], items: Sequence[SheetItem]) -> None:
    """Write the key: which method made each item. Annotators must not see it."""
    rows = [(i.item, i.method, str(i.segment), i.system or "", i.text) for i in items]
    _write(path, [_KEY, *rows])


def read_key(path: str | PathLike[str]) -> dict[str, SheetItem]:
    """Read a key: item -> what it is."""
    key: dict[str, SheetItem] = {}
    for row in sheet_rows(str(path), read_lines(path), _KEY):
        item, segment = row.get("item"), row.get("segment")
        if item in key:
            raise row.error(f"item {item!r} occurs twice in the key")
        if not segment.isdecimal():
            raise row.error(f"segment is {segment!r}; give the key as gnomon wrote it")
        made = SheetItem(item, row.get("method"), int(segment), row.get("text"), row.get("system"))
        key[item] = made
    if not key:
        raise FormatError("holds no items; give the key written with the sheet", path=path)
    return key


@method(
    "paraphrase.judge",
    answers="whether paraphrases keep the meaning, by people's scores on a sheet",
    data=(),
    given="nothing",
    examples=_JUDGE_EXAMPLES,
    rows={"adequacy": AdequacyRow, "scores": ParaphraseAnswerRow},
    systems=False,
    verdict=adequacy_verdict,
    claims=ADEQUACY_CLAIMS,
)
def judge(
    answers: Annotated[Sequence[str | PathLike[str]], InputFile(), Metavar("FILE")],
    key: Annotated[str | PathLike[str], InputFile(), Metavar("FILE")],
    *,
    confidence: Confidence = CONFIDENCE,
    seed: Seed = SEED,
) -> Finding:
    """Mean human score of each method, from filled sheets.

    An annotator is named by a column ``annotator``, or else by the file. Items left open count
    nowhere; the scores of several annotators for an item are averaged first.

    Args:
        answers: filled sheets.
        key: the key that was written with the sheet.

    Returns:
        A finding with rows as in :func:`adequacy`, measure "human", and every score.

    Raises:
        FormatError: a score is no number from 0 to 100, an item is not in the key or is scored
            twice by one annotator; file and line are named.
        DataError: nothing is scored.
    """
    items = read_key(key)
    given: dict[tuple[str, str], float] = {}
    for path in answers:
        for row in sheet_rows(str(path), read_lines(path), ("item", "score")):
            value = _score(row)
            if value is None:
                continue
            who, item = row.get("annotator") or Path(path).stem, row.get("item")
            if item not in items:
                raise row.error(f"item {item!r} is not in the key; give the key of this sheet")
            if (who, item) in given:
                raise row.error(f"item {item!r} was scored before by {who!r}; keep one score")
            given[who, item] = value
    if not given:
        raise DataError("no item is scored; write numbers from 0 to 100 into 'score'")
    by_item: dict[str, list[float]] = {}
    for (_, item), value in given.items():
        by_item.setdefault(item, []).append(value)
    by_method: dict[str, dict[int, list[float]]] = {}
    for item, sheet_item in items.items():
        if item in by_item:
            mean = sum(by_item[item]) / len(by_item[item])
            by_method.setdefault(sheet_item.method, {}).setdefault(sheet_item.segment, []).append(
                mean
            )
    shared = _shared(by_method)
    rows = [
        adequacy_row(m, "human", v, confidence, seed, shared=shared)
        for m, v in sorted(by_method.items())
    ]
    scores = [
        ParaphraseAnswerRow(
            annotator=who,
            item=item,
            method=items[item].method,
            segment=items[item].segment,
            score=value,
        )
        for (who, item), value in given.items()
    ]
    annotators = dict.fromkeys(who for who, _ in given)
    return adequacy_finding(
        rows,
        {},
        {"annotators": ", ".join(annotators), "scored": f"{len(by_item)} of {len(items)} items"},
        [table("scores", "Every score", ParaphraseAnswerRow, scores)],
    )


def _item(testset: TestSet, one: Paraphrase, name: str) -> SheetItem:
    i = one.segment - 1
    references = tuple(t[i] or "" for t in testset.references.values() if t[i] is not None)
    source = None if testset.sources is None else testset.sources[i]
    return SheetItem(name, one.method, one.segment, one.text, one.system, references, source)


def _score(row: FileRecord) -> float | None:
    text = row.get("score").replace(",", ".")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 100:
        raise row.error(f"the score is {text!r}; a number from 0 to 100 is expected, or nothing")
    return value


def _write(path: str | PathLike[str], rows: Iterable[Sequence[str]]) -> None:
    with atomic_write(path) as file:
        file.writelines("\t".join(map(to_cell, row)) + "\n" for row in rows)


# Which paraphrases to keep.


class Filtered(NamedTuple):
    """What is left of some paraphrases, and how many were dropped for what."""

    kept: tuple[Paraphrase, ...]
    empty: int
    copies: int
    duplicates: int
    inadequate: int


def filtered(
    testset: TestSet,
    paraphrases: Sequence[Paraphrase],
    *,
    copies: bool = True,
    duplicates: bool = True,
    metric: str | None = None,
    least: float | None = None,
    allow_code: bool = False,
) -> Filtered:
    """Drop paraphrases that add nothing, or that do not say the same."""
    if (metric is None) is not (least is None):
        raise UsageError("a filter needs both a metric and the least score that it lets through")
    full = [paraphrase for paraphrase in paraphrases if paraphrase.text.strip()]
    columns = testset.references.values()
    references = [
        {" ".join((c[i] or "").split()) for c in columns} for i in range(testset.segments)
    ]
    new = [
        p for p in full if not copies or " ".join(p.text.split()) not in references[p.segment - 1]
    ]
    once = {
        (p.segment, p.system, p.text if duplicates else n): p
        for n, p in reversed(list(enumerate(new)))
    }
    kept = list(reversed(once.values()))
    left = kept
    if metric is not None and least is not None and kept:
        _, bound = bind(testset, metric, allow_code=allow_code)
        sign = 1 if bound.higher_is_better else -1
        values = sign * closeness(testset, kept, metric, allow_code=allow_code)
        left = [
            paraphrase
            for paraphrase, fit in zip(kept, np.greater_equal(values, sign * least), strict=True)
            if fit
        ]
    return Filtered(
        tuple(left),
        empty=len(paraphrases) - len(full),
        copies=len(full) - len(new),
        duplicates=len(new) - len(kept),
        inadequate=len(kept) - len(left),
    )
