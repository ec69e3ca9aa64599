"""Several annotators: what most of them say, and how far they agree."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from gnomon.findings import Column, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.findings import Cell

    Answers: TypeAlias = Mapping[str, str]

__all__ = ["Answers", "alpha", "annotator_table", "kappa", "majority"]


def majority(given: Mapping[str, Answers]) -> dict[str, str]:
    """For each item what more annotators prefer, A or B; a tie where equally many do.

    >>> majority({"x": {"1": "A"}, "y": {"1": "tie"}, "z": {"1": "A", "2": "B"}})
    {'1': 'A', '2': 'B'}
    """
    votes: dict[str, Counter[str]] = {}
    for answers in given.values():
        for item, answer in answers.items():
            votes.setdefault(item, Counter())[answer] += 1
    return {
        item: "tie" if count["A"] == count["B"] else max("AB", key=count.__getitem__)
        for item, count in votes.items()
    }


def kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Cohen's kappa (1960) of two annotators: agreement beyond what their habits bring by chance.

    Args:
        pairs: both answers to each item.

    Returns:
        At most 1; ``None`` without items, or where both always give one and the same answer.

    >>> kappa([("A", "A"), ("B", "B"), ("A", "B"), ("B", "B")])
    0.5
    """
    if not pairs:
        return None
    size = len(pairs)
    first, second = (Counter(pair[side] for pair in pairs) for side in (0, 1))
    chance = sum(first[name] * second[name] for name in first) / size**2
    same = sum(a == b for a, b in pairs) / size
    return None if chance == 1 else (same - chance) / (1 - chance)


def alpha(given: Mapping[str, Answers]) -> float | None:
    """Krippendorff's alpha for nominal answers: several annotators, items may be left open.

    Returns:
        1 for perfect agreement, 0 for chance; ``None`` where no item has two answers, or all
        answers are the same.
    """
    items = {item for answers in given.values() for item in answers}
    units = [[a[item] for a in given.values() if item in a] for item in sorted(items)]
    units = [unit for unit in units if len(unit) > 1]
    totals = Counter(answer for unit in units for answer in unit)
    size = totals.total()
    expected = size * size - sum(count**2 for count in totals.values())
    if not expected:
        return None
    observed = sum(
        (len(unit) ** 2 - sum(count**2 for count in Counter(unit).values())) / (len(unit) - 1)
        for unit in units
    )
    return 1 - (size - 1) * observed / expected


_COLUMNS = (
    Column("annotator", "Annotator"),
    Column("other", "Other annotator"),
    Column("items", "Items", "count", help="items that both answered"),
    Column("same", "Same", "count", help="items with the same answer: A, B or tie"),
    Column("agreement", "Agreement", "share", 3),
    Column("kappa", "Cohen's kappa", "number", 3),
    Column("opposite", "Opposite", "count", help="one says A, the other B"),
)


def annotator_table(given: Mapping[str, Answers]) -> Table:
    """How far every two annotators agree."""
    rows: list[dict[str, Cell]] = []
    for (name, mine), (other, theirs) in combinations(given.items(), 2):
        pairs = [(mine[item], theirs[item]) for item in mine if item in theirs]
        same = sum(a == b for a, b in pairs)
        rows.append(
            {
                "annotator": name,
                "other": other,
                "items": len(pairs),
                "same": same,
                "agreement": same / len(pairs) if pairs else None,
                "kappa": kappa(pairs),
                "opposite": sum({a, b} == {"A", "B"} for a, b in pairs),
            }
        )
    return Table("annotators", "Agreement among annotators", _COLUMNS, tuple(rows))
