"""The tables and views of a study of gains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.findings import Column, Lines, Listing, Scatter, StackedBars, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.findings import Cell, View

    Row = Mapping[str, Cell]

__all__ = ["TITLE", "average_rows", "tables", "views"]

TITLE = "What paraphrased references bring"
_SET = Column("test_set", "Test set", help="its language pair, if that tells")
_METRIC = Column("metric", "Metric")
_METHOD = Column("method", "Paraphrases", help="the method that made them")
_N = Column("n", "n", "count", help="paraphrases of each segment, at most")
_LABEL = Column("arm", "Paraphrases and n")
_GAIN = Column("gain", "Gain", "number", 3, "higher", "with less without", ends=("low", "high"))
_LOW = Column("low", "Low", "number", 3, help="lower end of the gain's confidence interval")
_HIGH = Column("high", "High", "number", 3, help="upper end of the gain's confidence interval")
_DECIDED = (
    Column("repaired", "Repaired", "count", help="pairs of systems, wrong without them, now right"),
    Column("broken", "Broken", "count", help="right without them, now wrong"),
)
_COLUMNS: Mapping[str, tuple[Column, ...]] = {
    "gain": (
        _SET,
        _METRIC,
        _METHOD,
        _N,
        Column("base", "r before", "number", 4, "higher", "Pearson's r of system scores"),
        Column("value", "r after", "number", 4, "higher", "with the paraphrases, too"),
        _GAIN,
        _LOW,
        _HIGH,
        Column("p", "p", "number", 4, help="Williams's test: r after is greater"),
        *_DECIDED,
        Column("pairs", "Pairs", "count", help="pairs of systems that people tell apart"),
        Column("base_score", "Mean before", "number", 2, help="mean score of the systems"),
        Column("score", "Mean after", "number", 2, help="likewise, with the paraphrases"),
        Column("diversity", "Diversity", "share", 3, help="lexical, among the n paraphrases"),
        Column("syntactic", "Syntactic", "share", 3, help="diversity of their trees"),
        Column("change", "Change", "share", 3, help="lexical distance from the reference"),
        Column("adequacy", "Adequacy", "number", 2, help="a metric of them against the reference"),
        Column("wordings", "Per segment", "number", 2, help="mean number of paraphrases"),
        Column("segments", "Segments", "count", help="that have a paraphrase"),
        Column("systems", "Systems", "count", help="behind r"),
        _LABEL,
    ),
    "segments": (
        _SET,
        _METRIC,
        _METHOD,
        _N,
        Column(
            "statistic", "Statistic", help="darr: rankings; pearson, kendall: scores, ungrouped"
        ),
        Column("base", "Before", "number", 4, "higher"),
        Column("value", "After", "number", 4, "higher"),
        _GAIN,
        _LOW,
        _HIGH,
        Column("judgements", "n", "count", help="judged pairs, or scores"),
        _LABEL,
    ),
    "decisions": (
        _SET,
        _METRIC,
        _METHOD,
        _N,
        Column("pairs", "Pairs", "count", help="pairs of systems that people tell apart"),
        Column("right", "Both right", "count"),
        *_DECIDED,
        Column("wrong", "Both wrong", "count"),
        Column("right_share", "Both right", "share", 3),
        Column("repaired_share", "Repaired", "share", 3),
        Column("broken_share", "Broken", "share", 3),
        Column("wrong_share", "Both wrong", "share", 3),
        _LABEL,
    ),
    "averages": (
        _METRIC,
        _METHOD,
        _N,
        Column("average", "Ave r", "number", 3, "higher", "mean over the test sets"),
        Column("gain", "Ave gain", "number", 3, "higher"),
        Column("gain_min", "Min gain", "number", 3, "higher"),
        Column("gain_max", "Max gain", "number", 3, "higher"),
        Column("sets", "Test sets", "count"),
        Column("better", "Better", "count", help="test sets with p of at most .05"),
    ),
}
_TITLES = {
    "gain": "Agreement over systems",
    "segments": "Agreement over segments",
    "decisions": "Decisions repaired and broken",
    "averages": "Gains over the test sets",
}
_PARTS = ("right_share", "repaired_share", "broken_share", "wrong_share")
_SHOWN = {
    "gain": (
        *("metric", "method", "n", "base", "value", "gain", "low", "high", "p"),
        *("repaired", "broken", "score", "diversity", "adequacy"),
    ),
    "segments": (
        *("metric", "method", "n", "statistic", "base", "value", "gain", "low", "high"),
        "judgements",
    ),
    "averages": tuple(column.name for column in _COLUMNS["averages"]),
}
_SIGNIFICANT = 0.05


def tables(rows: Mapping[str, Sequence[Row]]) -> tuple[Table, ...]:
    """The tables that have rows; the first is always there."""
    return tuple(
        Table(name, _TITLES[name], _COLUMNS[name], tuple(found))
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
    for (metric, method, n), own in groups.items():
        gains, values = ([float(str(row[key])) for row in own] for key in ("gain", "value"))
        found.append(
            {
                "metric": metric,
                "method": method,
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
    for name in ("gain", "segments"):
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
    bare = {column for column in ("low", "high") if all(row[column] is None for row in rows)}
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
    if any(row["test_set"] == place for row in rows["decisions"]):
        title = _TITLES["decisions"]
        yield StackedBars("decisions", title, "arm", "metric", _PARTS, where)
    if any(row["test_set"] == place for row in rows["segments"]):
        title = "Gain over segments"
        yield Scatter(
            "segments", title, "base", "value", "arm", "method", "metric", where, identity=True
        )


def _significant(p: Cell) -> bool:
    return isinstance(p, float) and p <= _SIGNIFICANT
