"""Progress on a terminal: bars of what is counted, and a sign of life for what is not."""

import io
import sys
from collections.abc import Callable

import numpy as np
import pytest

import gnomon as gn
from gnomon.cli import progress as _progress
from gnomon.cli.entry import main
from gnomon.cli.progress import stages


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def screen(monkeypatch) -> Callable[[], Terminal]:
    """Puts a terminal in the place of stderr: in the test itself, since pytest resets it before."""

    def opened() -> Terminal:
        stream = Terminal()
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", "80")
        return stream

    return opened


def test_a_short_command_draws_nothing(screen):
    shown = screen()
    with stages("reading", quiet=False) as progress:
        assert list(progress.bars.get_renderables()) == []
        progress.bars.refresh()
    assert "reading" not in shown.getvalue()


def test_what_takes_longer_without_a_count_shows_that_it_goes_on(screen, monkeypatch):
    monkeypatch.setattr(_progress, "_PATIENCE", -1)
    shown = screen()
    with stages("reading", quiet=False) as progress:
        progress.bars.refresh()
        progress.begin("gnomon score")
        progress.bars.refresh()
    assert "reading" in shown.getvalue()
    assert "gnomon score" in shown.getvalue()


def test_a_counted_stage_stands_in_its_place(screen, monkeypatch):
    monkeypatch.setattr(_progress, "_PATIENCE", -1)
    shown = screen()
    with stages("reading", quiet=False) as progress:
        progress("tagging", 1, 4)
        (table,) = progress.bars.get_renderables()
        assert table.row_count == 1
    assert "tagging: 1 of 4 sentences" in shown.getvalue()


def test_a_share_is_written_with_its_unit_and_what_follows_a_stage_is_named(screen, monkeypatch):
    monkeypatch.setattr(_progress, "_PATIENCE", -1)
    shown = screen()
    with stages("reading", quiet=False) as progress:
        progress.begin("compare")
        progress("tagging", 400, 1948)
        progress.bars.refresh()
        assert "compare" not in shown.getvalue()
        progress("tagging", 1948, 1948)
        progress.bars.refresh()
    assert "tagging: 400 of 1,948 sentences" in shown.getvalue()
    assert "compare, after tagging" in shown.getvalue()


def test_a_stage_of_which_nothing_is_done_waits_for_its_bar(screen):
    screen()
    with stages("reading", quiet=False) as progress:
        progress("scoring", 0, 1)
        assert list(progress.bars.get_renderables()) == []


def test_a_command_says_what_it_does_from_the_first_metric_on(screen, monkeypatch):
    monkeypatch.setattr(_progress, "_PATIENCE", -1)
    shown = screen()
    assert main(["compare", "-t", "es-en", "-m", "chrf", "--resamples", "100"]) == 0
    said = shown.getvalue()
    assert "working" not in said
    assert "scoring: 1 of 1 metrics" in said
    assert "tests" in said


def test_nothing_is_drawn_where_nobody_looks(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with stages("reading", quiet=False) as progress:
        assert progress.bars is None


def test_scoring_tells_how_many_metrics_are_done():
    told = []
    testset = gn.TestSet.from_lists({"a": ["the cat"]}, ["the cat"])
    found = gn.score(testset, ["bleu", "chrf"], progress=lambda *said: told.append(said))
    assert told == [("scoring", 0, 2), ("scoring", 1, 2), ("scoring", 2, 2)]
    told.clear()
    gn.score(testset, "bleu", progress=lambda *said: told.append(said))
    assert told == [("scoring", 0, 1), ("scoring", 1, 1)]
    assert np.array_equal(found[1].system, gn.score(testset, "chrf").system)
