"""What a study of gains holds: its rows, tables and views."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gnomon.agreement.gains import AgreementGainRow
from gnomon.agreement.tables import DecisionRow
from gnomon.core.findings import Lines, Listing, Scatter, StackedBars
from gnomon.core.records import METRIC, Record, column, column_names, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.core.findings import Table, View

TITLE = "What paraphrased references bring"
_METHOD: Any = column("Paraphrases", help="the method that made them")
_NUMBER: Any = column("Number", help="paraphrases of each segment, at most")
_LABEL: Any = column("Paraphrases and number", help="both in one, as charts name them")


class GainRow(AgreementGainRow):
    """Agreement over systems with and without the paraphrases of one method."""

    method: str = _METHOD
    paraphrases: int = _NUMBER
    repaired: int = column("Repaired", help="pairs of systems, wrong without them, now right")
    broken: int = column("Broken", help="right without them, now wrong")
    pairs: int = column("Pairs", help="pairs of systems that people tell apart")
    base_score: float | None = column("Mean before", help="mean score of the systems")
    score: float | None = column("Mean after", help="likewise, with the paraphrases")
    diversity: float | None = column(
        "Diversity", kind="share", digits=3, help="lexical, among the paraphrases of a segment"
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
    arm: str = _LABEL


class SegmentGainRow(AgreementGainRow):
    """Agreement over segments with and without the paraphrases of one method."""

    method: str = _METHOD
    paraphrases: int = _NUMBER
    arm: str = _LABEL


class GainDecisionRow(DecisionRow):
    """Which of two outputs is better: how often references decide as people do."""

    method: str = _METHOD
    paraphrases: int = _NUMBER
    arm: str = _LABEL


class AverageGainRow(Record):
    """Gains over several test sets."""

    metric: str = METRIC
    method: str = _METHOD
    paraphrases: int = _NUMBER
    average: float = column("Average", digits=3, better="higher", help="of r over the test sets")
    gain: float = column("Ave gain", digits=3, better="higher", help="mean over the test sets")
    gain_min: float = column("Min gain", digits=3, better="higher", help="the least of them")
    gain_max: float = column("Max gain", digits=3, better="higher", help="the greatest of them")
    test_sets: int = column("Test sets", help="with a gain")
    better: int = column("Better", help="test sets with p of at most .05")


GAIN_ROWS: Mapping[str, type[Record]] = {
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
        *("metric", "method", "paraphrases", "base", "value", "gain", "gain_low", "gain_high"),
        *("p", "repaired", "broken", "score", "diversity", "adequacy"),
    ),
    "segments": (
        *("metric", "method", "paraphrases", "statistic", "base", "value"),
        *("gain", "gain_low", "gain_high", "p", "n", "interval"),
    ),
    "decisions": (
        *("metric", "method", "paraphrases", "comparison", "pairs"),
        *("repaired_share", "repaired_low", "repaired_high"),
        *("broken_share", "broken_low", "broken_high"),
    ),
    "averages": column_names(AverageGainRow),
}
_SIGNIFICANT = 0.05


class GainRows(NamedTuple):
    """The rows of a study of gains, by the names of their tables."""

    gain: list[GainRow]
    segments: list[SegmentGainRow]
    decisions: list[GainDecisionRow]
    averages: list[AverageGainRow]


def tables(rows: GainRows, confidence: float | None) -> tuple[Table, ...]:
    """The tables that have rows; the first is always there."""
    return tuple(
        table(name, _TITLES[name], GAIN_ROWS[name], some, confidence=confidence)
        for name, some in rows._asdict().items()
        if some or name == "gain"
    )


def views(rows: GainRows) -> tuple[View, ...]:
    """Listings for text; curves, points and bars for the page."""
    sets = tuple(dict.fromkeys(row.test_set for row in rows.gain))
    return (*_listings(rows, sets), *(view for name in sets for view in _plots(rows, name)))


def average_rows(rows: Sequence[GainRow]) -> list[AverageGainRow]:
    """Mean, least and greatest gain over the test sets that have one, by metric, method, number."""
    groups: dict[tuple[str, str, int], list[tuple[float, float, float | None]]] = {}
    for row in rows:
        if row.gain is not None and row.value is not None:
            key = row.metric, row.method, row.paraphrases
            groups.setdefault(key, []).append((row.gain, row.value, row.p))
    return [
        AverageGainRow(
            metric=metric,
            method=made_by,
            paraphrases=number,
            average=sum(value for _, value, _ in some) / len(some),
            gain=sum(gain for gain, *_ in some) / len(some),
            gain_min=min(gain for gain, *_ in some),
            gain_max=max(gain for gain, *_ in some),
            test_sets=len(some),
            better=sum(p is not None and p <= _SIGNIFICANT for *_, p in some),
        )
        for (metric, made_by, number), some in groups.items()
    ]


def _listings(rows: GainRows, sets: Sequence[str]) -> Iterator[View]:
    if rows.averages:
        yield Listing("averages", _TITLES["averages"], _SHOWN["averages"])
    for name, every in rows._asdict().items():
        for test_set in sets if name != "averages" else ():
            some = [row for row in every if row.test_set == test_set]
            if some:
                judged = name != "gain" or any(row.value is not None for row in some)
                title = f"{_TITLES[name] if judged else 'Scores and paraphrases'}: {test_set}"
                yield Listing(
                    name, title, _shown(name, some, judged=judged), {"test_set": test_set}
                )


def _shown(name: str, rows: Sequence[Record], *, judged: bool) -> tuple[str, ...]:
    """Columns of a listing; without people's judgements, what scores and paraphrases are."""
    if not judged:
        scores = ("base_score", "score", "diversity", "change", "adequacy")
        return ("metric", "method", "paraphrases", *scores)
    cells = [row.cells() for row in rows]
    bare = {
        column
        for column in _SHOWN[name]
        if column.endswith(("_low", "_high")) and all(row.get(column) is None for row in cells)
    }
    return tuple(column for column in _SHOWN[name] if column not in bare)


def _plots(rows: GainRows, test_set: str) -> Iterator[View]:
    # the page offers the test set as a choice, so that no title names one
    gains = [row for row in rows.gain if row.test_set == test_set and row.gain is not None]
    where = {"test_set": test_set}
    if any(row.diversity is not None for row in gains):
        title = "Gain against diversity"
        yield Scatter("gain", title, "diversity", "gain", "arm", "method", "metric", where)
    if any(row.change is not None for row in gains):
        title = "Gain against distance from the reference"
        yield Scatter("gain", title, "change", "gain", "arm", "method", "metric", where)
    if gains and len({row.paraphrases for row in rows.gain if row.test_set == test_set}) > 1:
        title = "Gain against the number of paraphrases"
        ends = "gain_low", "gain_high"
        has_ends = any(None not in (row.intervals or {}).get("gain", (None,)) for row in gains)
        x, y, series, panels = "paraphrases", "gain", "method", "metric"
        yield Lines("gain", title, x, y, series, panels, where, *(ends if has_ends else ()))
    decided = [row for row in rows.decisions if row.test_set == test_set]
    for comparison in dict.fromkeys(row.comparison for row in decided):
        title = f"{_TITLES['decisions']}: {_COMPARED[comparison]}"
        selection = {**where, "comparison": comparison}
        yield StackedBars("decisions", title, "arm", "metric", _PARTS, selection)
    if any(row.test_set == test_set for row in rows.segments):
        title = "Gain over segments"
        yield Scatter(
            "segments", title, "base", "value", "arm", "method", "metric", where, identity=True
        )
