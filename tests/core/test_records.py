"""Rows that derive their columns and their values from other rows."""

from __future__ import annotations

from gnomon.core.records import SYSTEM, Record, column, column_of, columns_of


class _Score(Record):
    system: str = SYSTEM
    score: float | None = column("Score", digits=3, better="higher", help="of all", interval=True)
    n: int = column("n", help="segments")


class _Part(Record):
    score: float | None = column_of(_Score, "score", help="of a part", interval=False)
    first: bool = column("First", help="whether it is the first part")


def test_a_column_derived_from_another_row_differs_in_what_is_said_of_it() -> None:
    whole, part = columns_of(_Score)[1], columns_of(_Part)[0]
    assert (part.name, part.title, part.digits, part.better) == ("score", "Score", 3, "higher")
    assert (whole.help, part.help) == ("of all", "of a part")
    assert [one.name for one in columns_of(_Score, 0.95)][1:4] == [
        "score",
        "score_low",
        "score_high",
    ]
    assert [one.name for one in columns_of(_Part, 0.95)] == ["score", "first"]


def test_a_row_takes_the_values_that_it_has_columns_for() -> None:
    row = _Score(system="a", score=1.5, n=3, intervals={"score": (1.0, 2.0)})
    assert _Part.derive(row, first=True).cells() == {"score": 1.5, "first": True}
    assert _Score.derive(row, n=4) == _Score(
        system="a", score=1.5, n=4, intervals={"score": (1.0, 2.0)}
    )
