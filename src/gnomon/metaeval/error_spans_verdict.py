"""What marks beside people's say, in sentences: how much is found, who finds more, the ceiling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.verdicts import LEAST, amount, counted, listed, metric_title, number, p_value, said

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.findings import Cell, Finding, Statement

_ALPHA = 0.05
_Row = tuple[int, "Mapping[str, Cell]"]


def error_spans_verdict(finding: Finding) -> Iterator[Statement]:
    """How many of people's characters each marker finds, beside the ceiling; then who is better.

    Args:
        finding: marks beside those of people.
    """
    every = [
        (at, row)
        for at, row in enumerate(finding.rows)
        if row["system"] is None and row["unit"] == "characters" and row["average"] == "pooled"
    ]
    few = [one for one in every if int(number(one[1]["judgements"]) or 0) < LEAST]
    sound = [one for one in every if one not in few]
    ceiling = next((one for one in sound if one[1]["ceiling"]), None)
    markers = [one for one in sound if not one[1]["ceiling"]]
    markers.sort(key=lambda one: -(number(one[1]["f1"]) or 0.0))
    table = finding.tables[0].name
    for at, row in markers:
        some = not _empty(row) and (number(row.get("f1_low")) or 0.0) > 0
        yield said("better" if some else "undecided", _found(row), {table: [at]})
    yield from _ceiling(table, ceiling, markers)
    yield from _contests(finding)
    yield from _free(finding)
    if few:
        names = listed([_title(row) for _, row in few])
        text = f"{names}: fewer than {LEAST} judgements are too few to be read as a finding"
        yield said("caution", text, {table: [at for at, _ in few]})


def _title(row: Mapping[str, Cell]) -> str:
    return metric_title(str(row["marks"]))


def _empty(row: Mapping[str, Cell]) -> bool:
    return not number(row["marked"]) or not number(row["gold"])


def _figure(row: Mapping[str, Cell], name: str) -> str:
    value = number(row[name])
    if value is None:
        return "an undefined share"
    return amount(
        value, number(row.get(f"{name}_low")), number(row.get(f"{name}_high")), share=True
    )


def _found(row: Mapping[str, Cell]) -> str:
    n = counted(int(number(row["judgements"]) or 0), "judgement")
    if not number(row["marked"]):
        return f"{_title(row)} marks nothing in the outputs of {n}"
    if not number(row["gold"]):
        return f"people marked nothing in the outputs of {n} that {_title(row)} checked"
    return (
        f"{_title(row)} marks {_figure(row, 'recall')} of the characters that people marked, and"
        f" {_figure(row, 'precision')} of what it marks is theirs (F1 {_figure(row, 'f1')}, {n})"
    )


def _ceiling(table: str, ceiling: _Row | None, markers: Sequence[_Row]) -> Iterator[Statement]:
    """What people reach beside each other, and how near the best marker comes."""
    if ceiling is None:
        return
    at, row = ceiling
    text = f"People beside each other reach F1 {_figure(row, 'f1')} of characters"
    n = counted(int(number(row["judgements"]) or 0), "judgement")
    if not markers:
        yield said(
            "undecided", f"{text} ({n}): more than that nobody can ask of a metric", {table: [at]}
        )
        return
    best = markers[0]
    high, low = number(best[1].get("f1_high")), number(row.get("f1_low"))
    if low is not None and high is not None and high < low:
        yield said(
            "worse", f"{text} ({n}), which {_title(best[1])} does not", {table: [at, best[0]]}
        )
    else:
        yield said(
            "undecided",
            f"{text} ({n}); {_title(best[1])} may reach that, too",
            {table: [at, best[0]]},
        )


def _contests(finding: Finding) -> Iterator[Statement]:
    if all(table.name != "contests" for table in finding.tables):
        return
    for at, row in enumerate(finding.table("contests").rows):
        difference, p = number(row["difference"]), number(row["p_holm"])
        if difference is None or p is None:
            continue
        first, second = str(row["first"]), str(row["second"])
        low, high = number(row["low"]), number(row["high"])
        if difference < 0:
            first, second = second, first
            low, high = (None if end is None else -end for end in (high, low))
        names = metric_title(first), metric_title(second)
        size = amount(abs(difference), low, high, share=True)
        if p <= _ALPHA:
            text = f"{names[0]} marks people's errors better than {names[1]}, by F1 {size}"
            yield said("better", f"{text} (corrected {p_value(p)})", {"contests": [at]})
        else:
            text = f"{names[0]} is ahead of {names[1]} by F1 {size}, which may be chance"
            yield said("undecided", f"{text} (corrected {p_value(p)})", {"contests": [at]})


def _free(finding: Finding) -> Iterator[Statement]:
    """The marker that tells best which outputs are free of errors, at the first threshold."""
    if all(table.name != "error_free" for table in finding.tables):
        return
    every = list(enumerate(finding.table("error_free").rows))
    first = every[0][1]["threshold"] if every else None
    rows = [
        one
        for one in every
        if one[1]["threshold"] == first
        and not one[1]["ceiling"]
        and number(one[1]["mcc"]) is not None
        and (number(one[1]["outputs"]) or 0) >= LEAST
    ]
    if not rows:
        return
    at, row = max(rows, key=lambda one: number(one[1]["mcc"]) or 0.0)
    low = number(row.get("mcc_low"))
    free = amount(100 * (number(row["people"]) or 0.0))
    text = (
        f"Of {counted(int(number(row['outputs']) or 0), 'judgement')} people found {free} % free of"
        f" errors; {_title(row)} tells these best, by its {row['decided_by']}"
        f" (MCC {_figure(row, 'mcc')})"
    )
    yield said("better" if low is not None and low > 0 else "undecided", text, {"error_free": [at]})
