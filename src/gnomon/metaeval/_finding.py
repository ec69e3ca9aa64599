"""Results of a meta-evaluation as a finding."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from gnomon.findings import Finding
from gnomon.metaeval._across import gain_rows, grouped, joined
from gnomon.metaeval._details import (
    curve_rows,
    decision_pair_rows,
    decision_rows,
    point_rows,
    win_rows,
)
from gnomon.metaeval._notices import notices
from gnomon.metaeval._rows import agreement_rows
from gnomon.metaeval._tables import table
from gnomon.metaeval._views import views
from gnomon.signature import Signature

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.findings import Cell, Table
    from gnomon.metaeval._across import Joined
    from gnomon.metaeval._choices import Correction
    from gnomon.metaeval._contest import Contest
    from gnomon.metaeval._judge import Judging, Result

    Row = Mapping[str, Cell]

__all__ = ["Asked", "finding"]


class Asked(NamedTuple):
    """What was asked for, beside the scores.

    Attributes:
        judging: what is measured and how it is tested.
        baseline: the metric that others are tested against.
        correction: of p-values.
        says: the formulas of a preset, in words.
    """

    judging: Judging
    baseline: str | None
    correction: Correction | None
    says: str | None


def finding(contests: Sequence[Contest], results: Sequence[Result], asked: Asked) -> Finding:
    """Tables, views, notices and signatures of what was measured."""
    places = _places(contests)
    over = list(joined(results, asked.judging))
    tables = _tables(contests, results, over, places, asked)
    measured = list(grouped(results))
    return Finding(
        method="metaeval",
        title="Meta-evaluation: do people agree with the metrics?",
        tables=tuple(tables.values()),
        signatures=_signatures(contests, places, asked),
        views=views(
            tables,
            measured,
            list(places.values()),
            asked.baseline,
            alternative=asked.judging.testing.alternative,
        ),
        notices=notices(contests, results, asked.judging, baseline=asked.baseline, says=asked.says),
        facts=_facts(contests),
    )


def _places(contests: Sequence[Contest]) -> dict[int, str]:
    """What each test set is called, by identity: its language pair, if that tells it apart."""
    pairs = Counter(one.pair for one in contests)
    names = Counter(one.name for one in contests)
    found: dict[int, str] = {}
    for number, one in enumerate(contests, start=1):
        name = one.pair if pairs[one.pair] == 1 else one.name
        found[id(one)] = (
            name if pairs[one.pair] == 1 or names[one.name] == 1 else f"{name} ({number})"
        )
    return found


def _tables(
    contests: Sequence[Contest],
    results: Sequence[Result],
    over: Sequence[Joined],
    places: Mapping[int, str],
    asked: Asked,
) -> dict[str, Table]:
    how, baseline = asked.judging.testing, asked.baseline
    all_of: list[tuple[str, Result | Joined]] = [(places[id(r.contest)], r) for r in results]
    all_of += [(one.place, one) for one in over]
    rows: dict[str, list[Row]] = {
        "metaeval": [
            row
            for place, one in all_of
            for row in agreement_rows(one, place, how, baseline, asked.correction)
        ],
        "gains": [],
        "wins": [row for place, one in all_of for row in win_rows(place, one, how)],
        "systems": [row for one in contests for row in point_rows(places[id(one)], one)],
        "top_k": list(_curves(contests, results, places)),
        "decisions": [],
        "decision_pairs": [],
    }
    if baseline is not None:
        rows["gains"] = list(gain_rows(results, baseline, how))
        for one in contests:
            place = places[id(one)]
            rows["decisions"] += decision_rows(place, one, baseline)
            rows["decision_pairs"] += decision_pair_rows(place, one, baseline)
    return {name: table(name, some) for name, some in rows.items()}


def _curves(
    contests: Sequence[Contest], results: Sequence[Result], places: Mapping[int, str]
) -> Iterator[Row]:
    for one in contests:
        yield from curve_rows(places[id(one)], [r for r in results if r.contest is one])


def _signatures(
    contests: Sequence[Contest], places: Mapping[int, str], asked: Asked
) -> dict[str, str]:
    """One per metric where all test sets agree, else one for each; and that of the judging."""
    found: dict[str, str] = {}
    for name in dict.fromkeys(name for one in contests for name in one.signatures):
        own = {places[id(o)]: o.signatures[name] for o in contests if name in o.signatures}
        if len(set(own.values())) == 1:
            found[name] = next(iter(own.values()))
        else:
            found |= {f"{name} on {place}": text for place, text in own.items()}
    how = asked.judging.testing
    said = Signature("metaeval").adding(
        test=how.test,
        alternative=how.alternative,
        draws=how.resamples,
        confidence=how.confidence,
        seed=how.seed,
    )
    return found | {"metaeval": str(said)}


def _facts(contests: Sequence[Contest]) -> dict[str, str]:
    sizes = [f"{c.name} ({len(c.systems)} x {c.testset.segments})" for c in contests]
    kinds = dict.fromkeys(f"{kind} ({level})" for c in contests for level, kind in c.kinds.items())
    metrics = dict.fromkeys(entry.metric for c in contests for entry in c.entries)
    return {
        "test sets (systems x segments)": ", ".join(sizes),
        "human scores": ", ".join(kinds),
        "metrics": ", ".join(metrics),
    }
