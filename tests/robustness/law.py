"""What has to hold whatever happens to a file, and how it is checked."""

from __future__ import annotations

import contextlib
import io
import json
import re
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gnomon.cli import main
from gnomon.core.errors import GnomonError
from gnomon.core.human import HumanScores

ALL = ("",)


@dataclass(frozen=True)
class Example:
    """Files that are read together.

    Attributes:
        name: of the example.
        covers: what of the registries it stands for.
        folder: where its files lie; those outside are never damaged.
        command: reads them; "OUT" stands for a place to write.
        content: what they say, read again or from what was written.
        open_ended: how the names of files begin whose records are as many as there happen to be.
        leave: fields whose number is what the file says, as spans that tags of words stand for.
    """

    name: str
    covers: tuple[str, ...]
    folder: Path
    command: tuple[str, ...]
    content: Callable[[Path], object]
    open_ended: tuple[str, ...] = ()
    leave: tuple[str, ...] = ()

    @property
    def files(self) -> list[Path]:
        """The files that may be damaged."""
        return sorted(file for file in self.folder.rglob("*") if file.is_file())


LIMIT = 600  # seconds, of a busy machine


class Slow(BaseException):
    """A command does not end."""


class Answer(NamedTuple):
    """How a command ended.

    Attributes:
        code: the exit code.
        said: notices and errors.
        content: what was accepted.
    """

    code: int
    said: tuple[str, ...]
    content: object


def shape(  # noqa: PLR0911  # one line per kind of content
    content: Any, place: str = "", leave: tuple[str, ...] = ("path",)
) -> Counter[str]:
    """What a content holds, without saying what: how many of what kind, which of them missing.

    Args:
        content: anything that was read.
        place: where it stands in what was read.
        leave: names of fields that are left out.
    """
    match content:
        case None:
            return Counter([f"{place}: nothing"])
        case str():
            return Counter([f"{place}: text" if content.strip() else f"{place}: empty"])
        case bool() | bytes() | Path():
            return Counter([f"{place}: {type(content).__name__}"])
        case int() | float() | np.generic():
            known = content == content  # noqa: PLR0124  # NaN alone differs
            return Counter([f"{place}: number" if known else f"{place}: nothing"])
        case np.ndarray():
            return shape(content.tolist(), place, leave)
        case Mapping():
            return _together(f"{place}/*", content.values(), leave)
        case [HumanScores(), *_]:
            return _scored_places(content)
        case list() | tuple() | set() | frozenset():
            return _together(f"{place}/*", content, leave)
    fields = {name: one for name, one in vars(content).items() if name not in leave}
    found: Counter[str] = Counter()
    for name, one in fields.items():
        found += shape(one, f"{place}/{name}", leave)
    return found


def _scored_places(scores: Iterable[HumanScores]) -> Counter[str]:
    """How many outputs people scored, rater by rater; z-scores that follow from those are none."""
    places = {
        (one.level, one.systems[k], i, one.rater)
        for one in scores
        for k, i in np.argwhere(np.isfinite(one.values)).tolist()
    }
    return Counter(f"scores of a {level}" for level, *_ in places)


def _together(place: str, parts: Iterable[Any], leave: tuple[str, ...]) -> Counter[str]:
    """What parts hold; those that hold the same in the same way are counted together."""
    shapes = [shape(one, "", leave) for one in parts]
    said = ["; ".join(f"{n} {what}" for what, n in sorted(one.items())) for one in shapes]
    return Counter(f"{place}{one}" for one in said)


def ask(example: Example, out: Path) -> Answer:
    """Run the command of an example; check all of the law that needs no comparison."""
    before = _there(example.folder.parent)
    printed, said = io.StringIO(), io.StringIO()
    with (
        _limited(example.name),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(said),
    ):
        code = _main_of(example, out)
    lines = [line for line in said.getvalue().split("\n") if line and "gnomon: time:" not in line]
    assert code in (0, 1, 2, 3)
    assert not re.search(r"Traceback|has no attribute|<class |object at 0x", said.getvalue()), lines
    errors = [line for line in lines if line.startswith("gnomon: error: ")]
    assert len(errors) == (code in (1, 2)), (code, lines)
    if code in (1, 2) and printed.getvalue():  # JSON was asked for: the same as data, no rows
        told = json.loads(printed.getvalue(), parse_constant=_none)
        assert told["rows"] == []
        assert {one["level"] for one in told["messages"]} == {"error"}
    there = out.exists() if "OUT" in example.command else code == 0
    assert there == (code in (0, 3)), f"exit code {code}, and the target is there: {there}"
    content = None
    if code in (0, 3):
        content = example.content(out)
        if out.is_file():
            text = out.read_text(encoding="utf-8")
            told = json.loads(text, parse_constant=_none).get("messages", [])
            lines += [one["text"] for one in told if one["code"] == "note"]
    shutil.rmtree(out, ignore_errors=True)
    out.unlink(missing_ok=True)
    assert _there(example.folder.parent) == before
    return Answer(code, tuple(lines), content)


def _none(text: str) -> float:
    raise AssertionError(f"{text} is not JSON")


def _main_of(example: Example, out: Path) -> int:
    if example.command == ("python",):
        try:
            example.content(out)
        except GnomonError as error:
            sys.stderr.write(f"gnomon: error: {error}\n")
            return error.exit_code
        return 0
    try:
        return main([str(out) if word == "OUT" else word for word in example.command])
    except SystemExit as stop:
        return int(stop.code or 0)


def _there(folder: Path) -> set[str]:
    return {str(file) for file in folder.rglob("*")}


@contextlib.contextmanager
def _limited(what: str) -> Iterator[None]:
    def late(*_: object) -> None:
        raise Slow(what)

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(LIMIT)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
