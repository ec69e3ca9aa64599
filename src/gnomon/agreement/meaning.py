"""People's agreement with the direction of a metric's differences, by test set.

A *meaning* is made of all pairs of systems of several test sets that people judged. It holds the
share of agreement by classes of differences, a curve that never falls, and where both come from; a
small JSON file keeps it.
"""

from __future__ import annotations

import math
import re
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec
import numpy as np

from gnomon.core.errors import DataError, FormatError, UsageError
from gnomon.core.signature import Signature, version
from gnomon.core.verdicts import LEAST
from gnomon.data.formats import atomic_write, read_bytes
from gnomon.messages.grammar import listed
from gnomon.stats.binomial import wilson_interval
from gnomon.stats.isotonic import isotonic_regression
from gnomon.stats.resampling import percentile_interval, resample_counts
from gnomon.stats.student import upper_tail

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from gnomon.agreement.pairing import JudgedMetric, Pairing
    from gnomon.core.options import DrawOptions

#: fewer sets or pairs make no meaning
LEAST_SETS, LEAST_PAIRS = 3, 100
FORMAT: Literal["gnomon.meaning"] = "gnomon.meaning"
FILE_VERSION = 1
#: names of the kinds of human scores in sentences
_JUDGEMENTS = {
    "da": "direct assessment",
    "da-raw": "direct assessment",
    "da-z": "direct assessment",
    "esa": "ESA",
    "mqm": "MQM",
    "psqm": "pSQM",
    "sqm": "SQM",
}
_YEAR = re.compile(r"(?<!\d)((?:19|20)\d\d)(?!\d)|wmt[-_]?(\d\d)(?!\d)", re.IGNORECASE)
_WMT = re.compile(r"wmt(\d\d)(?!\d)", re.IGNORECASE)


class SetPairs(NamedTuple):
    """All pairs of systems of one test set under one metric, but those where either side ties."""

    name: str
    language_pair: str | None
    year: int | None
    human: str
    systems: int
    differences: NDArray[np.float64]  # of the metric, without a sign [pairs]
    agree: NDArray[np.bool_]  # whether people order them alike [pairs]


# The file: each class is an object of the JSON


class _Part(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """An object of the file; further fields are refused."""


class MeaningSet(_Part, frozen=True):
    """A test set that a meaning rests on."""

    name: str
    language_pair: str | None
    year: int | None  # None: its name does not say
    human: str  # kind of the human scores
    systems: int
    pairs: int
    agree: int


class DifferenceClass(_Part, frozen=True):
    """The pairs whose difference is at least ``low`` and below ``high`` (the last: at most)."""

    low: float
    high: float
    mean: float  # of the differences
    pairs: int
    agree: int  # pairs that people order as the metric does
    sets: int
    share_low: float
    share_high: float

    @property
    def share(self) -> float:
        """In which share of the pairs people agreed."""
        return self.agree / self.pairs


class CurvePoint(_Part, frozen=True):
    """A point of the curve, which is straight between its points."""

    difference: float
    share: float
    low: float
    high: float


class Meaning(_Part, frozen=True):
    """Meaning of the differences of one metric."""

    metric: str
    signature: str
    sets: tuple[MeaningSet, ...]
    classes: tuple[DifferenceClass, ...]
    curve: tuple[CurvePoint, ...]

    @property
    def pairs(self) -> int:
        """All pairs of systems."""
        return sum(each.pairs for each in self.sets)

    @property
    def largest(self) -> float:
        """The largest difference that was seen."""
        return self.classes[-1].high

    @property
    def label(self) -> str:
        """Label of the sets in sentences: "WMT17-19", or their names."""
        return listed(set_names([each.name for each in self.sets]))

    @property
    def judgements(self) -> str:
        """Names of the kinds of human scores in sentences."""
        return listed(judgement_names(each.human for each in self.sets))

    def class_of(self, difference: float) -> DifferenceClass | None:
        """The class of a difference, whatever its sign; None beyond the largest that was seen."""
        size = abs(difference)
        inside = (c for c in self.classes if c.low <= size < c.high or size == c.high)
        return next(inside, None)

    def share_at(self, difference: float) -> float | None:
        """Share of a difference on the curve; None beyond the largest that was seen."""
        if abs(difference) > self.largest:
            return None
        x, y = zip(*((point.difference, point.share) for point in self.curve), strict=True)
        return float(np.interp(abs(difference), x, y))


class _MeaningFile(_Part, frozen=True):
    """The whole file."""

    format: Literal["gnomon.meaning"]
    version: int
    gnomon: str
    confidence: float
    resamples: int
    seed: int
    meanings: tuple[Meaning, ...]


# Names of sets


def year_in(name: str) -> int | None:
    """The year that the name of a test set says.

    >>> year_in("wmt19 de-en"), year_in("newstest2014"), year_in("flores")
    (2019, 2014, None)
    """
    match = _YEAR.search(name)
    if match is None:
        return None
    return int(match[1]) if match[1] else 2000 + int(match[2])


def judgement_names(kinds: Iterable[str]) -> list[str]:
    """Names of some kinds of human scores in sentences.

    >>> judgement_names(["da-z", "da", "mqm"])
    ['direct assessment', 'MQM']
    """
    return list(dict.fromkeys(_JUDGEMENTS.get(kind, kind) for kind in kinds))


def set_names(names: Sequence[str]) -> list[str]:
    """Names of some test sets in sentences: years of WMT together.

    >>> set_names(["wmt17 de-en", "wmt18 de-en", "wmt19 de-en", "wmt19 kk-en", "wmt21 en-de"])
    ['WMT17-19', 'WMT21']
    """
    matches = [_WMT.match(name) for name in names]
    found = sorted({int(match[1]) for match in matches if match})
    if not all(matches):
        return list(dict.fromkeys(names))
    runs: list[list[int]] = []
    for year in found:
        if runs and year == runs[-1][-1] + 1:
            runs[-1].append(year)
        else:
            runs.append([year])
    return [f"WMT{run[0]:02}" + f"-{run[-1]:02}" * (len(run) > 1) for run in runs]


def describe_class(
    size: tuple[float, float],
    share: tuple[float, float | None, float | None],
    unit: str | None,
    systems: Sequence[str] = (),
) -> dict[str, Any]:
    """A class of differences, as sentences take it: its ends, the share with its interval."""
    names = ("low", "high", "share", "share_low", "share_high")
    kind = "between" if size[0] else "below"
    figures = dict(zip(names, (*size, *share), strict=True))
    return {"size": kind, **figures, "unit": unit, "systems": systems}


# Computation of a meaning


def set_pairs(pairing: Pairing, entry: JudgedMetric) -> SetPairs:
    """The pairs of systems of a test set, each with the metric's difference and people's sign."""
    people, metric = pairing.system, entry.system
    scored = np.flatnonzero(~(np.isnan(people) | np.isnan(metric)))
    pairs = np.array(list(combinations(scored.tolist(), 2)), dtype=np.int64).reshape(-1, 2)
    gaps, human = (side[pairs[:, 0]] - side[pairs[:, 1]] for side in (metric, people))
    told = (gaps != 0) & (human != 0)
    return SetPairs(
        name=pairing.title,
        language_pair=pairing.testset.language_pair,
        year=year_in(pairing.testset.name),
        human=pairing.kinds["system"],
        systems=len(scored),
        differences=np.abs(gaps[told]),
        agree=np.sign(gaps[told]) == np.sign(human[told]),
    )


def make_meaning(
    metric: str, signature: str, sets: Sequence[SetPairs], drawing: DrawOptions
) -> Meaning:
    """Estimate the meaning of differences of a metric in some test sets.

    Raises:
        DataError: there are fewer than three sets with pairs, or fewer than 100 pairs.
    """
    some = [each for each in sets if len(each.differences)]
    pairs = sum(len(each.differences) for each in some)
    if not _is_enough(some):
        raise DataError(
            f"{metric}: {len(some)} test sets with {pairs} pairs of systems that people and the"
            f" metric tell apart; what a difference means takes {LEAST_SETS} test sets and"
            f" {LEAST_PAIRS} pairs"
        )
    return Meaning(
        metric=metric,
        signature=signature,
        sets=tuple(
            MeaningSet(
                each.name,
                each.language_pair,
                each.year,
                each.human,
                each.systems,
                len(each.differences),
                int(each.agree.sum()),
            )
            for each in some
        ),
        classes=tuple(_classes(some, drawing)),
        curve=tuple(_curve(some, drawing)),
    )


def fitted(sets: Sequence[SetPairs]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The curve of some sets: differences, ascending, and the share of agreement at each."""
    differences = np.concatenate([each.differences for each in sets])
    return isotonic_regression(differences, np.concatenate([each.agree for each in sets]))


def promised(sets: Sequence[SetPairs], others: Sequence[SetPairs]) -> float:
    """Mean share that the curve of other sets gives the pairs of some sets.

    Differences beyond the largest of the others are left at the end of the curve.
    """
    differences = np.concatenate([each.differences for each in sets])
    return float(np.interp(differences, *fitted(others)).mean())


class MeaningYear(NamedTuple):
    """The pairs of one year beside what all older sets promised for such differences."""

    year: int
    sets: int
    pairs: int
    share: float  # of the pairs
    promised: float  # mean of the older sets' curve
    p: float | None  # of the test that the year is like the older sets; None: not tested


def meaning_years(sets: Sequence[SetPairs]) -> Iterator[MeaningYear]:
    """Each year beside what all older sets promise, where these are enough for a meaning."""
    dated = [each for each in sets if each.year is not None and len(each.differences)]
    for year in sorted({each.year or 0 for each in dated}):
        of_year = [each for each in dated if each.year == year]
        older = [each for each in dated if (each.year or 0) < year]
        if _is_enough(older):
            sizes = np.array([len(each.differences) for each in of_year], dtype=np.float64)
            pairs, agree = int(sizes.sum()), sum(int(each.agree.sum()) for each in of_year)
            by_older = promised(of_year, older)
            p = _gap_p(agree / pairs - by_older, sizes, older)
            yield MeaningYear(year, len(of_year), pairs, agree / pairs, by_older, p)


def _is_enough(sets: Sequence[SetPairs]) -> bool:
    pairs = sum(len(each.differences) for each in sets)
    return len(sets) >= LEAST_SETS and pairs >= LEAST_PAIRS


def _gap_p(gap: float, sizes: NDArray[np.float64], older: Sequence[SetPairs]) -> float | None:
    """Two-sided p that new sets of so many pairs differ by a gap from what older sets promise.

    How far sets lie from a curve that was made without them is known of the older ones: the mean
    square of their own gaps, each by the curve of the others, is the variance of a set's gap.
    Student's t has two degrees of freedom less than there are older sets.
    """
    gaps = [
        float(each.agree.mean()) - promised([each], [other for other in older if other is not each])
        for each in older
    ]
    variance = float(np.mean(np.square(gaps))) * float((sizes**2).sum() / sizes.sum() ** 2)
    if variance <= 0:
        return None
    return min(1.0, 2 * upper_tail(abs(gap) / math.sqrt(variance), len(older) - 2))


def _edges(sets: Sequence[SetPairs]) -> list[float]:
    """Round edges (1, 2, 5, 10, ...) between which there are 30 pairs of three sets or more."""
    differences = np.concatenate([each.differences for each in sets])
    of_set = np.repeat(np.arange(len(sets)), [len(each.differences) for each in sets])

    def enough(low: float, high: float) -> bool:
        inside = (differences >= low) & (differences < high)
        return int(inside.sum()) >= LEAST and len(np.unique(of_set[inside])) >= LEAST_SETS

    largest, edges = float(differences.max()), [0.0]
    first, last = (math.floor(math.log10(size)) for size in (differences.min(), largest))
    for power in range(first, last + 1):
        for step in (1, 2, 5):
            edge = float(f"{step}e{power}")
            if edge < largest and enough(edges[-1], edge) and enough(edge, math.inf):
                edges.append(edge)
    return [*edges, largest]


def _classes(sets: Sequence[SetPairs], drawing: DrawOptions) -> Iterator[DifferenceClass]:
    edges = _edges(sets)
    counts = _draws(len(sets), drawing)
    for low, high in pairwise(edges):
        closed = high == edges[-1]
        inside = [(each.differences >= low) & ((each.differences < high) | closed) for each in sets]
        pairs = np.array([some.sum() for some in inside], dtype=np.float64)
        agree = np.array(
            [(each.agree & some).sum() for each, some in zip(sets, inside, strict=True)],
            dtype=np.float64,
        )
        drawn = pairs @ counts
        shares = agree @ counts / np.where(drawn == 0, np.nan, drawn)
        there = int((pairs > 0).sum())
        share_low, share_high = _wide(shares, int(agree.sum()), int(pairs.sum()), there, drawing)
        mean = float(
            np.concatenate([s.differences[i] for s, i in zip(sets, inside, strict=True)]).mean()
        )
        yield DifferenceClass(
            low, high, mean, int(pairs.sum()), int(agree.sum()), there, share_low, share_high
        )


def _wide(
    shares: NDArray[np.float64], agree: int, pairs: int, sets: int, drawing: DrawOptions
) -> tuple[float, float]:
    """The interval of redrawn sets, and no narrower than Wilson's of independent pairs.

    Where all pairs of all sets agree, redrawn ones do, too, and would leave no room for a doubt.
    """
    wilson = wilson_interval(agree, pairs, level=drawing.confidence)
    if not shares.size:
        return wilson.low, wilson.high
    low, high = map(float, percentile_interval(shares, drawing.confidence, sets))
    return min(low, wilson.low), max(high, wilson.high)


def _draws(sets: int, drawing: DrawOptions) -> NDArray[np.float64]:
    """Count the draws of each set [sets, draws]."""
    if not drawing.resamples:
        return np.empty((sets, 0))
    return resample_counts(sets, count=drawing.resamples, seed=drawing.seed).astype(np.float64)


def _curve(sets: Sequence[SetPairs], drawing: DrawOptions) -> Iterator[CurvePoint]:
    """The ends of the level parts of the curve, with intervals of redrawn sets."""
    differences = np.concatenate([each.differences for each in sets])
    agree = np.concatenate([each.agree for each in sets]).astype(np.float64)
    of_set = np.repeat(np.arange(len(sets)), [len(each.differences) for each in sets])
    knots, levels = isotonic_regression(differences, agree)
    block = np.concatenate([[0], np.cumsum(np.diff(levels) > 0)])
    ends = np.array([f(np.flatnonzero(block == b)) for b in np.unique(block) for f in (min, max)])
    points = np.unique(ends)
    drawn = np.empty((len(points), drawing.resamples))
    for k, counts in enumerate(_draws(len(sets), drawing).T):
        x, y = isotonic_regression(differences, agree, counts[of_set])
        drawn[:, k] = np.interp(knots[points], x, y)
    for at, shares in zip(points, drawn, strict=True):
        inside = np.isin(differences, knots[block == block[at]])
        sums = int(agree[inside].sum()), int(inside.sum())
        low, high = _wide(shares, *sums, len(np.unique(of_set[inside])), drawing)
        yield CurvePoint(float(knots[at]), float(levels[at]), low, high)


# Written and read


def write_meanings(
    path: str | PathLike[str], meanings: Sequence[Meaning], drawing: DrawOptions
) -> None:
    """Write what differences of some metrics meant as JSON.

    Raises:
        OutputError: the file cannot be written.
    """
    whole = _MeaningFile(
        FORMAT,
        FILE_VERSION,
        version(),
        drawing.confidence,
        drawing.resamples,
        drawing.seed,
        tuple(meanings),
    )
    with atomic_write(path) as file:
        file.write(msgspec.json.format(msgspec.json.encode(whole), indent=1).decode() + "\n")


def read_meanings(path: str | PathLike[str]) -> tuple[Meaning, ...]:
    """Read what :func:`write_meanings` wrote.

    Raises:
        MissingFileError: there is no such file.
        FormatError: it is no JSON, of another format or version, or a field is wrong; the message
            says which.
    """
    data = read_bytes(path)
    try:
        head = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError(f"is no JSON ({error}); {_MADE}", path=path) from error
    given = head.get("format") if isinstance(head, dict) else None
    if given != FORMAT:
        raise FormatError(
            f'says nothing of what differences mean ("format" must be "{FORMAT}"); {_MADE}',
            path=path,
        )
    if head.get("version") != FILE_VERSION:
        raise FormatError(
            f"is of version {head.get('version')!r}, and this gnomon reads version {FILE_VERSION};"
            f" {_MADE}",
            path=path,
        )
    try:
        whole = msgspec.convert(head, _MeaningFile)
    except msgspec.ValidationError as error:
        raise FormatError(f"{error}; {_MADE}", path=path) from error
    if not whole.meanings:
        raise FormatError(f"holds no metric; {_MADE}", path=path)
    for number, meaning in enumerate(whole.meanings):
        for place, wrong in _faults(meaning):
            raise FormatError(f"$.meanings[{number}]{place}: {wrong}; {_MADE}", path=path)
    return whole.meanings


_MADE = "gnomon metaeval delta-accuracy makes such a file"


def _faults(meaning: Meaning) -> Iterator[tuple[str, str]]:
    """Figures that contradict each other, with their place."""
    if len(meaning.sets) < LEAST_SETS or meaning.pairs < LEAST_PAIRS:
        few = f"{len(meaning.sets)} sets and {meaning.pairs} pairs"
        yield ".sets", f"{few}, and {LEAST_SETS} and {LEAST_PAIRS} are needed"
    try:
        Signature.parse(meaning.signature)
    except UsageError as error:
        yield ".signature", str(error)
    if not meaning.classes or not meaning.curve:
        yield "", "there are no classes, or no curve"
    for name, some in (("sets", meaning.sets), ("classes", meaning.classes)):
        yield from _miscounts(name, [(each.agree, each.pairs) for each in some])
    in_classes = sum(each.pairs for each in meaning.classes)
    if in_classes != meaning.pairs:
        yield ".classes", f"{in_classes} pairs, and the sets have {meaning.pairs}"
    end = 0.0
    for number, each in enumerate(meaning.classes):
        if each.low != end or not each.low < each.high < math.inf:
            yield f".classes[{number}]", "classes must begin at 0 and follow one another"
        end = each.high
    points = [(point.difference, point.share) for point in meaning.curve]
    if points != sorted(points) or sorted(points, key=lambda point: point[1]) != points:
        yield ".curve", "differences and shares must rise"
    if not all(0 <= share <= 1 for share in _shares(meaning)):
        yield "", "a share lies outside 0 to 1"


def _miscounts(name: str, counts: Sequence[tuple[int, int]]) -> Iterator[tuple[str, str]]:
    for agree, pairs in counts:
        if not 0 <= agree <= pairs or pairs < 1:
            yield f".{name}", f"{agree} of {pairs} pairs agree, which cannot be"


def _shares(meaning: Meaning) -> Iterator[float]:
    for each in meaning.classes:
        yield from (each.share_low, each.share_high)
    for point in meaning.curve:
        yield from (point.share, point.low, point.high)


def signature_differences(made: Signature, signature: Signature) -> str:
    """Which fields of a metric's signature differ from those of another; empty: none.

    The version of gnomon is none of them.

    >>> signature_differences(Signature("bleu").adding(refs=1), Signature("bleu").adding(refs=2))
    'refs:2 in place of refs:1'
    """
    parts = [] if signature.spec == made.spec else [f"{signature.spec} in place of {made.spec}"]
    parts += [
        f"{name}:{signature.get(name, 'none')} in place of {name}:{made.get(name, 'none')}"
        for name in dict.fromkeys((*made, *signature))
        if made.get(name) != signature.get(name)
    ]
    return listed(parts, most=len(parts)) if parts else ""
