"""Frequency of features in outputs and references: too few, equal, too many (figure 8)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.findings import HeatMap, Listing, StackedBars
from gnomon.core.signature import Signature
from gnomon.linguistics import gloss
from gnomon.linguistics.forms import RARE
from gnomon.messages import message
from gnomon.metrics.base import BoundMetric
from gnomon.muler.differences import OmissionRow
from gnomon.muler.figures import MulerRow
from gnomon.stats.holm import step_down

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.findings import Cell, Finding, View
    from gnomon.messages import Message
    from gnomon.metrics.masking import MaskPlan
    from gnomon.stats.holm import Stepped
    from gnomon.stats.student import Mean

__all__ = [
    "COUNTED",
    "Unscored",
    "decided_counts",
    "discrepancy_verdict",
    "discrepancy_views",
    "stacked_counts",
]


class Unscored(BoundMetric):
    """No metric (``-m none``): all scores are undefined, and features are counted alone."""

    name = "none"
    signature = Signature("none")

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """No sentence has a score."""
        return np.full(batch.shape, np.nan)

    def system(self, batch: Batch) -> NDArray[np.float64]:
        """Nor has a system."""
        return np.full(batch.shape[0], np.nan)

    def masked(self, batch: Batch, plan: MaskPlan) -> NDArray[np.float64]:
        """Nor has anything that is masked a score."""
        return np.full((plan.variants, *batch.shape), np.nan)


def decided_counts(rows: Sequence[tuple[MulerRow, Mean]], confidence: float) -> list[MulerRow]:
    """Rows with Holm's p of counts, over the systems and features of their family.

    Rare words are not tested: those of an output that the references lack are not counted.
    """
    tested = [(row, mean) for row, mean in rows if row.feature != RARE]
    families = [row.family for row, _ in tested]
    tests = [mean.test for _, mean in tested]
    steps = iter(step_down(tests, round(1 - confidence, 12), families))
    return [row if row.feature == RARE else _add_step(row, next(steps)) for row, _ in rows]


def _add_step(row: MulerRow, step: Stepped) -> MulerRow:
    ends = row.intervals and {**row.intervals, "surplus": (step.low, step.high)}
    return replace(row, p_counts=step.p, decided=step.decided, intervals=ends)


# Views of counts where there are no scores.


_PARTS = ("miss", "hit", "add")
#: columns of rows without scores
COUNTED = (
    *("system", "feature", "slice", "segments", *_PARTS),
    *("surplus", "p_counts", "decided", "absent"),
)
_SIDE_BY_SIDE = 2  # systems that text lists one below the other; more go into heat maps
_LISTED = ("feature", "segments", *_PARTS)
_TITLES = {"miss": "Outputs have too few of", "add": "Outputs have too many of"}


def discrepancy_views(
    systems: Sequence[str], slice_names: Sequence[str | None]
) -> tuple[View, ...]:
    """Stacked bars; in text a listing of one or two systems, or heat maps of more."""
    views: list[View] = []
    for slice_name in slice_names:
        slice_label = "" if slice_name is None else f", {slice_name}"
        if len(systems) > _SIDE_BY_SIDE:
            views += [_heat_map(name, slice_name, slice_label) for name in _TITLES]
        else:
            views += [
                Listing(
                    "muler",
                    f"Discrepancy of {s}{slice_label}",
                    _LISTED,
                    {"system": s, "slice": slice_name},
                )
                for s in systems
            ]
    return (*views, *(stacked_counts({"slice": slice_name}) for slice_name in slice_names))


def stacked_counts(where: dict[str, Cell]) -> StackedBars:
    """Bars of the segments with too few, equally many and too many."""
    return StackedBars(
        table="muler",
        title="Too few, equally many, too many: discrepancy of counts",
        category="feature",
        series="system",
        parts=_PARTS,
        where=where,
    )


def _heat_map(name: str, slice_name: Cell, slice_label: str) -> HeatMap:
    return HeatMap(
        table="muler",
        title=f"{_TITLES[name]} ({name}), share of the segments{slice_label}",
        rows="feature",
        columns="system",
        value=name,
        where={"slice": slice_name},
        low=0.0,
    )


# Sentences.


#: systems with a sentence each
_ONE_BY_ONE = 2


def discrepancy_verdict(finding: Finding) -> Iterator[Message]:
    """Say which features systems have too few and too many of."""
    every = finding.records(MulerRow)
    rows = [row for row in every if row.family == (*every[0].family[:2], None)]
    alone = bool(rows) and rows[0].metric == Unscored.name
    tested = [row for row in rows if row.decided is not None]
    if alone and not tested:
        yield message("muler.few-counted", finding.positions(rows))
    rows = tested
    decided = [row for row in rows if row.decided]
    systems = list(dict.fromkeys(row.system for row in rows))
    for what in ("few", "many"):
        some = [row for row in decided if ((row.surplus or 0.0) < 0) == (what == "few")]
        some.sort(key=lambda row: -abs(row.surplus or 0.0))
        if len(systems) > _ONE_BY_ONE and some:
            often = Counter(row.feature for row in some)
            worst = {row.feature: row for row in reversed(some)}
            phrases = [
                {**_surplus(worst[feature]), "system": worst[feature].system, "n": n}
                for feature, n in often.most_common()
            ]
            yield _uneven(finding, some, what, systems=len(systems), worst=phrases)
            continue
        for system in systems:
            of_system = [row for row in some if row.system == system]
            if of_system:
                phrases = [_surplus(row) for row in of_system]
                phrases[0] |= {"of": True, "having": True}
                yield _uneven(finding, of_system, what, one=True, system=system, features=phrases)
    yield from _omissions(finding)
    if alone:
        yield from _say_balanced([row for row in rows if not row.decided], len(systems))


def _omissions(finding: Finding) -> Iterator[Message]:
    """Of what some systems have too few in more segments than others."""
    every = [row for row in finding.records(OmissionRow) if row.slice is None]
    decided = [row for row in every if row.decided]
    decided.sort(key=lambda row: -abs(row.difference or 0.0))
    told = [_omission(row) for row in decided]
    if decided and len({(row.system_a, row.system_b) for row in every}) > 1:
        often = Counter(one["kind"] for one in told)
        widest = {one["kind"]: one for one in reversed(told)}
        pairs = [{**widest[kind], "n": n} for kind, n in often.most_common()]
        sides: dict[str, Any] = {"one": False, "system": None, "other": None, "features": []}
        yield message("muler.omits", finding.positions(decided), several=True, pairs=pairs, **sides)
        return
    for system in dict.fromkeys(one["system"] for one in told):
        own = [one for one in told if one["system"] == system]
        rows = [row for row, one in zip(decided, told, strict=True) if one in own]
        sides = {"one": True, "system": system, "other": own[0]["other"], "features": own}
        yield message("muler.omits", finding.positions(rows), several=False, pairs=[], **sides)


def _omission(row: OmissionRow) -> dict[str, Any]:
    """Who has too few of a kind of words more often than whom, and how much more."""
    ends = sorted(abs(end or 0.0) for end in row.ends("difference"))
    sides = (row.system_a, row.system_b)
    system, other = sides if (row.difference or 0.0) > 0 else reversed(sides)
    told = {"system": system, "other": other, "kind": gloss(row.feature)}
    figures = {"share": abs(row.difference or 0.0), "low": ends[0], "high": ends[1]}
    return {**told, **figures, "decided": True}  # an end that is 0 is open


def _say_balanced(rows: Sequence[MulerRow], systems: int) -> Iterator[Message]:
    """Say how many balance as far as the data can tell, and how many in every segment."""
    differ = [row for row in rows if row.miss or row.add]
    alike = [row for row in rows if row not in differ and row.hit]
    for what, some in (("unknown", differ), ("alike", alike)):
        if some:
            n, single = len(some), systems == 1
            counted = {"kinds": n if single else None, "combinations": None if single else n}
            yield message("muler.even", what=what, **counted)


def _uneven(finding: Finding, rows: Sequence[MulerRow], what: str, **params: Any) -> Message:
    every: dict[str, Any] = {
        "one": False,
        "several": "systems" in params,
        "opposite": "many" if what == "few" else "few",
        "features": [],
        "worst": [],
    }
    return message("muler.uneven", finding.positions(rows), what=what, **{**every, **params})


def _surplus(row: MulerRow) -> dict[str, Any]:
    """A kind of words, the shares of the segments with too few and too many, and what is between.

    The interval of that decides.
    """
    low, high = row.ends("surplus")
    shares = sorted([row.miss, row.add], key=lambda share: -(share or 0.0))
    figures = {"share": shares[0], "other": shares[1], "surplus": row.surplus}
    first = {"of": False, "having": False}
    return {"kind": gloss(row.feature), **figures, "low": low, "high": high, **first}
