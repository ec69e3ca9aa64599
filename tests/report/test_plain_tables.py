"""What is written where nobody looks on is what rich writes there."""

from __future__ import annotations

import io
import random

import pytest
from tests.told import told

from gnomon.core.tabular import Grid, GridCell, GridColumn, GridRow
from gnomon.report import print_grid, print_verdict

_WORDS = (
    *("a", "System", "Facebook_FAIR.6750", "bleu", "a name / with: many - breaks", "x" * 50),
    *(
        "大きい",
        "é",
        "e\u0301",
        "👩‍🚀",
        "ـعربي",
        "\u202e",
        "\ud800",
        "\x1b[31m",
        "\t",
        "two\nlines",
    ),
    *("[bold]x[/bold]", ":smile:", "12.50", "-0.1", "", " ", "a ", "https://example.org"),
)


def grid(draw: random.Random) -> Grid:
    """A grid of any texts, of any size."""

    def text() -> str:
        return " ".join(draw.choices(_WORDS, k=draw.choice((1, 1, 1, 2, 4))))

    def cell() -> GridCell:
        flags = [draw.random() < 0.2 for _ in range(3)]
        return GridCell(None, text(), *flags, under=draw.choice(("", "", "5")))

    columns = [GridColumn(text(), numeric=draw.random() < 0.6) for _ in range(draw.randint(1, 9))]
    rows = [
        GridRow(tuple(cell() for _ in columns), draw.choice("ab"))
        for _ in range(draw.choice((0, 1, 3, 8)))
    ]
    return Grid(
        text(),
        tuple(columns),
        tuple(sorted(rows, key=lambda row: row.group)),
        stub=draw.randint(0, min(2, len(columns))),
        notes=tuple(text() for _ in range(draw.randint(0, 2))),
        signatures={"bleu": text()},
    )


def rich_and_plain(write) -> tuple[str, str]:
    """What is written to a file, by rich, and to a text, without it."""
    plain, data = io.StringIO(), io.BytesIO()
    file = io.TextIOWrapper(data, encoding="utf-8", newline="\n")
    write(plain)
    write(file)
    file.flush()
    return data.getvalue().decode(), plain.getvalue()


@pytest.mark.parametrize("width", [40, 57, 100, 300])
def test_tables_in_a_text_are_those_that_rich_draws(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    for seed in range(60):
        made = grid(random.Random(seed))
        drawn, written = rich_and_plain(
            lambda file, it=made: print_grid(it, width=width, file=file)
        )
        assert written == drawn, f"grid {seed}"


def test_sentences_in_a_text_are_those_that_rich_writes() -> None:
    for seed in range(40):
        words = random.Random(seed).choices(_WORDS, k=30)
        said = [told(" ".join(words), level) for level in ("finding", "caution", "undecided")]
        drawn, written = rich_and_plain(lambda file, it=said: print_verdict("Found", it, file=file))
        assert written == drawn


def test_colours_that_are_asked_for_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    file = io.StringIO()
    print_grid(Grid("Title", (GridColumn("a"),), ()), file=file)
    assert "\x1b[1m" in file.getvalue()
