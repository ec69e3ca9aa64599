"""What is said of judges, in sentences: how certain they are, what moves them, whom they prefer."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gnomon import stats
from gnomon.verdicts import LEAST, amount, counted, listed, number, p_value, said

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.findings import Cell, Finding, Level, Statement

    _Row = tuple[int, Mapping[str, Cell]]

_ALPHA = 0.05
#: the share of preferences for one place that is told of, at least
_BIASED = 0.6
#: gains of fewer candidates are no evidence: scores are coarse, and a few that are equal look sure
_FEW_CANDIDATES = 10


def _by_metric(finding: Finding) -> dict[str, list[_Row]]:
    found: dict[str, list[_Row]] = {}
    for at, row in enumerate(finding.rows):
        found.setdefault(str(row["metric"]), []).append((at, row))
    return found


def _cell(row: Mapping[str, Cell], name: str) -> float:
    value = number(row[name])
    return math.nan if value is None else value


def spread_verdict(finding: Finding) -> Iterator[Statement]:
    """Whose score is known best, and how much of the uncertainty is the judge's own."""
    for metric, rows in _by_metric(finding).items():
        places = [at for at, _ in rows]
        noisy = [(at, row) for at, row in rows if not math.isnan(_cell(row, "noise"))]
        if not noisy:
            text = f"{metric}: the judge was asked once, so that its noise is not known"
            yield said("caution", f"{text}; take repeats=3 or more", {"spread": places})
            continue
        at, row = max(noisy, key=lambda one: _cell(one[1], "noise"))
        if not _cell(row, "noise"):
            text = f"{metric}: all repetitions gave equal scores; its noise cannot be told so"
            yield said("caution", text, {"spread": places})
            continue
        share = _cell(row, "noise") ** 2 / max(_cell(row, "error") ** 2, 1e-300)
        text = (
            f"{metric}: asked again, the score of {row['system']} is"
            f" {amount(_cell(row, 'score'), _cell(row, 'low'), _cell(row, 'high'))}; the judge's"
            f" own noise is {min(share, 1.0):.0%} of the variance that other segments would bring"
        )
        yield said("undecided", text, {"spread": [at]})
    few = [at for at, row in enumerate(finding.rows) if _cell(row, "segments") < LEAST]
    if few:
        text = f"fewer than {LEAST} segments have a score, too few to be read as a finding"
        yield said("caution", text, {"spread": few})


def probe_verdict(finding: Finding) -> Iterator[Statement]:
    """Which injections move a judge; p-values are Holm's over the injections of a judge."""
    for metric, rows in _by_metric(finding).items():
        corrected = stats.holm([_cell(row, "p") for _, row in rows])
        raised = [
            (at, row)
            for (at, row), p in zip(rows, corrected, strict=True)
            if p <= _ALPHA and _cell(row, "gain") > 0
        ]
        places = {"probe": [at for at, _ in rows]}
        few = min(_cell(row, "items") for _, row in rows) < _FEW_CANDIDATES
        if raised and not few:
            _, row = max(raised, key=lambda one: _cell(one[1], "gain"))
            gain = amount(*(_cell(row, name) for name in ("gain", "low", "high")))
            names = listed([str(one["injection"]) for _, one in raised])
            text = (
                f"{metric} can be talked into higher scores: by {names}, at most by {gain}"
                f" ({row['injection']}), beyond harmless words in that place"
            )
            yield said("worse", text, {"probe": [at for at, _ in raised]})
        elif all(math.isnan(_cell(row, "p")) for _, row in rows):
            yield said("caution", f"{metric}: too few candidates have scores to tell", places)
        elif few:
            n = counted(int(_cell(rows[0][1], "items")), "candidate")
            text = f"{metric}: {n} are too few to tell whether it can be talked into higher scores"
            yield said("caution", text, places)
        else:
            text = (
                f"whether {metric} can be talked into higher scores: none of"
                f" {counted(len(rows), 'injection')} gained anything on"
                f" {counted(int(_cell(rows[0][1], 'items')), 'candidate')}"
            )
            yield said("undecided", text, places)


def pairwise_verdict(finding: Finding) -> Iterator[Statement]:
    """Who is preferred, by how much, and whether the place moved the judge."""
    for metric, rows in _by_metric(finding).items():
        corrected = stats.holm([_cell(row, "p") for _, row in rows])
        for (at, row), p in zip(rows, corrected, strict=True):
            if not math.isnan(_cell(row, "share")) and _cell(row, "segments") >= LEAST:
                yield _preferred(metric, at, row, float(p), several=len(rows) > 1)
    yield from _cautions([*enumerate(finding.rows)])


def _preferred(
    metric: str, at: int, row: Mapping[str, Cell], p: float, *, several: bool
) -> Statement:
    share, low, high = (_cell(row, name) for name in ("share", "low", "high"))
    a, b = row["a"], row["b"]
    if share < 0.5:
        a, b, share, low, high = b, a, 1 - share, 1 - high, 1 - low
    tested = "" if math.isnan(p) else f", {'corrected ' if several else ''}{p_value(p)}"
    segments = counted(int(_cell(row, "segments")))
    facts = f"{amount(share, low, high, share=True)} of {segments}{tested}"
    if p <= _ALPHA and low > 0.5:
        return said("better", f"{metric} prefers {a} to {b} ({facts})", {"pairs": [at]})
    text = f"whether {metric} prefers {a} to {b} ({facts})"
    return said("undecided", text, {"pairs": [at]})


def calibration_verdict(finding: Finding) -> Iterator[Statement]:
    """Whether a calibrated judge is nearer to people than their mean; p-values are Holm's.

    Args:
        finding: judges beside people.
    """
    rows = list(enumerate(finding.rows))
    corrected = stats.holm([_cell(row, "p") for _, row in rows])
    for (at, row), p in zip(rows, corrected, strict=True):
        yield _carried_over(at, row, float(p), several=len(rows) > 1)


def _carried_over(at: int, row: Mapping[str, Cell], p: float, *, several: bool) -> Statement:
    metric, people = row["metric"], f"people ({row['kind']})"
    n, places = counted(int(_cell(row, "outputs")), "output"), {"calibration": [at]}
    if math.isnan(p):
        text = f"{metric} cannot be carried over to the scale of {people} by {n}"
        return said("caution", f"{text}; a notice says why", places)
    gain, low, high = (_cell(row, name) for name in ("gain", "low", "high"))
    if gain < 0:
        low, high = -high, -low
    side: Level = "better" if gain > 0 else "worse"
    way = "nearer to" if gain > 0 else "farther from"
    facts = (
        f"{amount(_cell(row, 'calibrated'))} against {amount(_cell(row, 'by_mean'))} on average,"
        f" {n} left out one by one, {'corrected ' if several else ''}{p_value(p)}"
    )
    size = amount(abs(gain), low, high)
    text = f"{metric} on people's scale is {way} {people} than their mean, by {size} ({facts})"
    if _cell(row, "outputs") < LEAST:
        return said("caution", f"{text}; so few outputs say little", places)
    if p <= _ALPHA:
        return said(side, text, places)
    return said("undecided", f"whether {text}", places)


def _cautions(rows: Sequence[_Row]) -> Iterator[Statement]:
    biased = [
        (at, row)
        for at, row in rows
        if (share := _cell(row, "first")) >= _BIASED or share <= 1 - _BIASED
    ]
    if biased:
        row = max(biased, key=lambda one: abs(_cell(one[1], "first") - 0.5))[1]
        share = _cell(row, "first")
        place = "first" if share > 0.5 else "second"
        text = (
            f"the text that stands {place} is preferred in {max(share, 1 - share):.0%} of"
            f" preferences between {row['a']} and {row['b']}; both orders are averaged, so that"
            " this decides nothing, but costs certainty"
        )
        yield said("caution", text, {"pairs": [one for one, _ in biased]})
    few = [at for at, row in rows if _cell(row, "segments") < LEAST]
    if few:
        text = f"fewer than {LEAST} segments were compared, too few to be read as a finding"
        yield said("caution", text, {"pairs": few})
