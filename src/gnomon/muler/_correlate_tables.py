"""The tables of many systems and test sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.findings import Column, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.findings import Cell

    Rows = Sequence[Mapping[str, Cell]]

#: what the correlations are of, for the reader of a finding
MEANING = (
    "-MuLER (of a sentence scorer: minus its mean absolute difference) is correlated with the"
    " corpus score, with the mean sentence score over I (indices) and with max - min (spread);"
    " error rates are turned, so that higher is better throughout"
)
POOLING = (
    "'all systems' takes the systems of all test sets as they are, 'centred' takes the mean of its"
    " test set off each side first"
)

__all__ = [
    "MEANING",
    "POOLING",
    "contrast_table",
    "correlation_table",
    "frequency_table",
    "group_table",
    "negative_table",
    "point_table",
]

_SET = Column("test_set", "Test set")
_METRIC = Column("metric", "Metric")
_VARIANT = Column("variant", "Variant", help="ratio of means, or mean of clipped segment ratios")
_FEATURE = Column("feature", "Feature")
_SLICE = Column("slice", "Slice", help="the segments looked at; empty for all of them")
_SYSTEM = Column("system", "System")
_MULER = Column("muler", "MuLER", "share", better="lower", help="share of the gain not earned")


def correlation_table(rows: Rows, few: int) -> Table:
    """The table of the contract: r of -MuLER over systems."""
    columns = (
        _SET,
        Column("pooling", "Pooling", help="none: one test set; all, centred: over all of them"),
        _METRIC,
        _VARIANT,
        _FEATURE,
        _SLICE,
        Column("with", "Correlated with"),
        Column("r", "r", "number", help="Pearson's r of -MuLER over systems"),
        Column("n", "n", "count", help="systems where both are defined"),
        Column("faint", "few systems", "truth", help=f"fewer than {few}"),
        Column("segments", "|I|", "count", help="median over the systems"),
    )
    note = "Pearson's r over systems; undefined under 3 of them, or where all are alike on a side."
    return Table("correlations", "Correlations of -MuLER", columns, tuple(rows), note)


def point_table(rows: Rows) -> Table:
    """MuLER and scores of every system."""
    columns = (
        _SET,
        Column("language_pair", "Language pair"),
        _SYSTEM,
        Column("year", "Year"),
        Column("architecture", "Architecture"),
        Column("constrained", "Constrained"),
        _METRIC,
        _VARIANT,
        _FEATURE,
        _SLICE,
        Column("segments", "|I|", "count", help="segments where both sides have the feature"),
        _MULER,
        Column("score", "Corpus score", "number"),
        Column("indices", "base (I)", "number", help="mean sentence score over I"),
        Column("spread", "max - min", "number", help="what the feature can move"),
    )
    return Table("systems", "MuLER and scores of every system", columns, tuple(rows))


def group_table(rows: Rows) -> Table:
    """Systems by year, architecture, constraint."""
    columns = (
        Column("language_pair", "Language pair"),
        Column("kind", "By"),
        Column("group", "Group"),
        _METRIC,
        _VARIANT,
        _FEATURE,
        Column("systems", "Systems", "count", help="whose MuLER is defined"),
        Column("muler", "Mean MuLER", "share", better="lower"),
        Column("low", "Smallest", "share"),
        Column("high", "Largest", "share"),
        Column("score", "Mean score", "number"),
    )
    return Table("groups", "Systems by year, architecture and constraint", columns, tuple(rows))


def frequency_table(rows: Rows) -> Table:
    """How often the best system uses a feature, in how many forms."""
    columns = (
        _SET,
        _METRIC,
        _VARIANT,
        _FEATURE,
        _SYSTEM,
        Column("occurrences", "Occurrences", "count"),
        Column("forms", "Distinct forms", "count"),
        Column("per_hundred", "Per 100 words", "number"),
        Column("uniqueness", "Uniqueness", "share", help="distinct forms / occurrences"),
        _MULER,
    )
    note = "Counted in the output that scores best on the test set, case kept."
    return Table("frequency", "Frequency and uniqueness", columns, tuple(rows), note)


def contrast_table(rows: Rows, near: float, far: float) -> Table:
    """Segments where two systems score alike and differ on a feature."""
    columns = (
        _SET,
        _METRIC,
        _FEATURE,
        Column("segment", "Segment", "count", help="1-based"),
        _SYSTEM,
        Column("other", "Other system"),
        Column("score", "Score", "number", help="of the segment"),
        Column("other_score", "Other score", "number"),
        Column("muler", "MuLER", "share", help="of the segment"),
        Column("other_muler", "Other MuLER", "share"),
        Column("difference", "Difference", "share"),
    )
    note = f"Scores at most {near:g} apart, MuLER of the segment at least {far:g} apart."
    return Table("contrasts", "Alike in score, apart on a feature", columns, tuple(rows), note)


def negative_table(rows: Rows) -> Table:
    """The segments that score farthest above their oracle."""
    columns = (
        _SET,
        _METRIC,
        _FEATURE,
        _SYSTEM,
        Column("segment", "Segment", "count", help="1-based"),
        Column("base", "base", "number"),
        Column("oracle", "max", "number"),
        Column("anti_oracle", "min", "number"),
    )
    note = (
        "The largest per feature and test set, over all systems; the two sides are tagged"
        " differently here. `gnomon muler score` lists them for every system."
    )
    return Table("negative", "Segments scored above their oracle", columns, tuple(rows), note)
