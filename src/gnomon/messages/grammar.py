"""Grammar of sentences: figures with intervals, counts, p-values and lists."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = [
    "FIGURES",
    "amount",
    "counted",
    "listed",
    "p_value",
    "percent",
    "rounded",
    "unsigned_amount",
]

#: what templates name of a figure: its grammar, then the parameters of its ends, unit or least p
FIGURES = frozenset({"amount", "share", "size", "size-share", "percent", "p"})
#: names in a list
_NAMED = 3
#: half-widths of intervals below this share of a figure are rounding
_ROUNDING = 1e-12


def amount(
    value: float,
    low: float | None = None,
    high: float | None = None,
    *,
    unit: str = "",
    share: bool = False,
    decided: bool = False,
) -> str:
    """A figure with its interval, as many digits as the interval bears.

    Args:
        value: the figure.
        low: lower end of its interval; None where there is none.
        high: its upper end.
        unit: what it counts, said after the figure.
        share: it lies between 0 and 1 as a rule, and is written without the 0 before the point.
        decided: a test shows that it is not 0; an end that is 0 is open.

    An end that is not 0 is never written as 0, nor is the figure: an interval that holds 0 shows
    it, and so does one that leaves it out.

    >>> amount(1.312, 0.41, 2.23, unit="BLEU")
    '1.3 BLEU [0.4, 2.2]'
    >>> amount(-0.116, -0.19, -0.04, share=True)
    '-.12 [-.19, -.04]'
    >>> amount(0.6, -0.046, 0.906, share=True)
    '.6 [-.05, .91]'
    >>> amount(1.0, 0.0, 2.03, decided=True)
    '1.0 (above 0, up to 2.0)'
    """
    ends = [end for end in (low, high) if end is not None and math.isfinite(end)]
    half = (ends[1] - ends[0]) / 2 if len(ends) == 2 else None
    digits, least = _digits(value, half), _ROUNDING * max(map(abs, (value, *ends)))
    figure = _number(value, _nonzero(digits, [value], least), share=share)
    interval = ""
    if half is not None:
        digits = _nonzero(digits, ends, least)
        low_end, high_end = (_number(end, digits, share=share) for end in ends)
        interval = f" [{low_end}, {high_end}]"
        if decided and not ends[0] and ends[1]:
            interval = f" (above 0, up to {high_end})"
        elif decided and not ends[1] and ends[0]:
            interval = f" (below 0, down to {low_end})"
    return f"{figure}{f' {unit}' if unit else ''}{interval}"


def unsigned_amount(
    value: float,
    low: float | None = None,
    high: float | None = None,
    *,
    unit: str = "",
    share: bool = False,
    decided: bool = False,
) -> str:
    """Size of a figure, without its sign, with its interval.

    >>> unsigned_amount(-1.25, -2.0, -0.5)
    '1.2 [0.5, 2.0]'
    """
    if value < 0:
        low, high = (None if end is None else -end for end in (high, low))
    return amount(abs(value), low, high, unit=unit, share=share, decided=decided)


def percent(share: float, low: float | None = None, high: float | None = None) -> str:
    """A share in percent, with its interval if there is one.

    Neither is written as 0 where it is not.

    >>> percent(0.953, 0.921, 0.978), percent(0.5), percent(0.002, 0.0006, 0.0073)
    ('95 % [92, 98]', '50 %', '0.2 % [0.1, 0.7]')
    """
    values = [100 * end for end in (share, low, high) if end is not None]
    digits = _nonzero(0, values, _ROUNDING * max(map(abs, values)))
    first, *ends = (f"{value:z.{digits}f}" for value in values)
    interval = f" [{', '.join(ends)}]" if len(ends) == 2 else ""
    return f"{first} %{interval}"


def _digits(value: float, half: float | None) -> int:
    """Digits after the point: one or two that the half-width of an interval bears, else three."""
    if half is None or half <= _ROUNDING * max(abs(value), 1):
        size = math.floor(math.log10(abs(value)) + _ROUNDING) if value else 0
        return min(max(2 - size, 0), 6)
    size = math.floor(math.log10(half))
    first_two = half / 10.0 ** (size - 1)
    return min(max(-size + (first_two < 35), 0), 6)  # a small first digit needs a second one


def _nonzero(digits: int, values: Iterable[float], least: float) -> int:
    """As many digits, or more: all values that are larger than rounding show a digit besides 0."""
    sizes = [abs(value) for value in values if abs(value) > least]
    while any(float(f"{size:.{digits}f}") == 0 for size in sizes):
        digits += 1
    return digits


def _number(value: float, digits: int, *, share: bool) -> str:
    text = f"{value:z,.{digits}f}"
    return text.replace("0.", ".", 1) if share and text.lstrip("-").startswith("0.") else text


def p_value(p: float, least: float = 0.0, *, most: bool = False, typeset: bool = False) -> str:
    """Result of a test.

    Args:
        p: its p-value.
        least: the smallest one that its draws can show, corrected as ``p`` is: 2 / (draws + 1) for
            a two-sided bootstrap, 1 / (draws + 1) for a randomisation; 0 where it has no draws.
        most: it is the largest of several.
        typeset: with the sign of a page for <=, and spaces that no line ends at.

    >>> p_value(0.0042), p_value(0.0001), p_value(0.37)
    ('p = .004', 'p < .001', 'p = .37')
    >>> p_value(2 / 1001, least=2 / 1001), p_value(0.0, least=1 / 10001)
    ('p <= .002', 'p <= .0001')
    >>> p_value(0.0042, most=True), p_value(0.0001, most=True)
    ('p = .004 or less', 'p < .001')
    """
    if least and p <= least * (1 + _ROUNDING) and least < 1:
        digits = 3 if least >= 0.001 else -math.floor(math.log10(least))
        bound = math.ceil(round(least * 10**digits, 6)) / 10**digits  # never below it
        sign, text = ("<=", f"{bound:.{digits}f}".strip("0")) if bound < 1 else ("=", "1")
    elif p < 0.001:
        sign, text = "<", ".001"
    else:
        text = f"{p:.2f}" if p >= 0.1 else f"{p:.3f}"
        text = f"{text.removeprefix('0') if p < 1 else '1'}{' or less' if most else ''}"
        sign = "="
    if typeset:
        return f"p\u00a0{sign.replace('<=', chr(0x2264))}\u00a0{text}"
    return f"p {sign} {text}"


def counted(n: int, what: str = "segment") -> str:
    """A number of things.

    >>> counted(1948), counted(1)
    ('1,948 segments', '1 segment')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def listed(items: Sequence[str], *, most: int = _NAMED) -> str:
    """Items in a sentence; of many the first, and how many more there are.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c", "d", "e"])
    ('a', 'a and b', 'a, b, c and 2 more')
    """
    if len(items) > most + 1:  # naming the last one is no longer than counting it
        return f"{', '.join(items[:most])} and {len(items) - most} more"
    *before, last = items
    return f"{', '.join(before)} and {last}" if before else last


def rounded(value: float) -> int:
    """A number with three leading digits, and no more than tens from a hundred on.

    >>> rounded(747), rounded(2620.6), rounded(88.2), rounded(12345)
    (750, 2620, 88, 12300)
    """
    step = 10 ** max(0, math.floor(math.log10(max(value, 1))) - 2)
    step = max(step, 10) if value >= 100 else step
    return int(step * round(value / step))
