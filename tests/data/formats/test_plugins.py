"""Formats that a package offers by an entry point reach as far as gnomon's own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import gnomon as gn
from gnomon import official
from gnomon.cli import main
from gnomon.core.errors import UnknownNameError
from gnomon.data.formats import (
    describe,
    find_scores,
    language_pairs,
    output_files,
    read_scores,
    sets_in,
    write_human,
    write_segment_scores,
)

if TYPE_CHECKING:
    from pathlib import Path

MODULE = """
from functools import partial
from pathlib import Path
import numpy as np
import gnomon as gn
from gnomon.data.formats import FolderFormat, FoundSet, JudgementFormat, ScoreFormat, SetFormat
from gnomon.core.human import HumanScores, Judgements


def read_bars(files, *, language_pair=None):
    rows = [line.split("|") for file in files for line in Path(file).read_text().splitlines()[1:]]
    return gn.TestSet.from_lists(
        {"bar": [row[1] for row in rows]}, [row[0] for row in rows], language_pair=language_pair
    )


def bars_in(head):
    if head.first_line == "BARS":
        return FoundSet(head.path, partial(read_bars, [head.path], language_pair="de-en"), "de-en")


def read_room(folder, *, language_pair, systems, references):
    return read_bars([folder / "bars.txt"], language_pair=language_pair or "de-en")


def write_room(testset, folder, *, compress):
    reference = next(iter(testset.references.values()))
    rows = zip(reference, testset.systems["bar"])
    (folder / "bars.txt").write_text("BARS\\n" + "".join(f"{r}|{s}\\n" for r, s in rows))
    (folder / "room").write_text("")


def read_stars(file):
    values = [[len(line) - 2 for line in Path(file.path).read_text().splitlines()[1:]]]
    scores = HumanScores(file.kind, "segment", ("bar",), np.array(values, dtype=float))
    return Judgements((scores,))


def write_stars(path, testset, kind, level):
    values = testset.human_scores(kind, "segment")[0]
    Path(path).write_text("STARS\\n" + "".join("* " + "*" * int(v) + "\\n" for v in values))


def read_marks(path, *, segments):
    rows = [line.split("=") for line in Path(path).read_text().splitlines()[1:]]
    return {"m": {("bar", i): float(value) for i, (_, value) in enumerate(rows, 1)}}


def write_marks(path, scores, testset):
    lines = [f"{i}={value!r}" for i, value in enumerate(scores[0].segments[0].tolist())]
    Path(path).write_text("\\n".join(["MARKS", *lines]))


FORMATS = (
    SetFormat(
        name="bars", title="fields between bars", of_file=bars_in, suffixes=(".bars",),
        read=read_bars, together=True,
    ),
    FolderFormat(
        name="room", title="a folder with a room", pair_of=lambda _: "de-en",
        recognise=lambda folder: (folder / "room").exists(), read=read_room, write=write_room,
        outputs=lambda folder, _: {"bar": folder / "bars.txt"}, expected="a room holds bars.txt",
    ),
    JudgementFormat(
        name="stars", title="stars", recognise=lambda head: head.first_line == "STARS",
        read=read_stars, write=write_stars, suffix=".stars", defaults={"kind": "stars"},
    ),
    ScoreFormat(
        name="marks", title="marks", suffixes=(".marks",), read=read_marks, write=write_marks,
        recognise=lambda head: head.first_line == "MARKS",
    ),
)
TAKEN = SetFormat(name="wmt-xml", title="not this one")
"""


def install(place: Path, name: str, entries: str) -> None:
    """Lay down what an installer would."""
    info = place / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[gnomon.formats]\n{entries}\n")


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A package that is installed, and a folder with a file of its format."""
    place = tmp_path / "installed"
    install(place, "bars", "bars = bars_of_a_package:FORMATS")
    (place / "bars_of_a_package.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(place))
    files = tmp_path / "files"
    files.mkdir()
    (files / "a.bars").write_text("BARS\na dog|a god\nsun|sun\n")
    return files


def test_sets_of_an_offered_format_are_read_found_and_converted(package: Path) -> None:
    found = gn.TestSet.read(package / "a.bars")
    assert found.systems["bar"] == ("a god", "sun")
    assert gn.TestSet.read(package).language_pair == "de-en"
    assert [(one.format, one.language_pair) for one in sets_in(package)] == [("bars", "de-en")]
    (written,) = official.convert([package / "a.bars"], package / "new", format="bars")
    assert gn.TestSet.read(written.path).systems == found.systems
    convert = ["data", "convert", str(package / "a.bars"), "--layout"]
    assert main([*convert, "room", "-o", str(package / "own")]) == 0
    assert (package / "own" / "bars.txt").exists()
    assert main([*convert, "rooom", "-o", str(package / "other")]) == 2


def test_an_offered_layout_is_read_and_written(package: Path) -> None:
    testset = gn.TestSet.read(package / "a.bars")
    gn.formats.write_test_set(testset, package / "one", layout="room")
    again = gn.TestSet.read(package / "one")
    assert again.systems == testset.systems
    assert output_files(package / "one") == {"bar": package / "one" / "bars.txt"}
    assert [one.format for one in sets_in(package / "one")] == ["room"]
    (package / "de-en").mkdir()
    (package / "one").rename(package / "de-en" / "en-fr")
    assert language_pairs(package / "de-en") == ("en-fr",)


def test_offered_formats_of_judgements_and_scores_are_recognised_by_what_they_hold(
    package: Path,
) -> None:
    testset = gn.TestSet.read(package / "a.bars")
    (package / "people.txt").write_text("STARS\n* ***\n* *\n")
    judged = testset.with_human(package / "people.txt")
    assert judged.human_scores("stars").tolist() == [[3.0, 1.0]]
    write_human(package / "again.stars", judged)
    assert testset.with_human(package / "again.stars").human == judged.human
    scores = gn.score(testset, "chrf")
    write_segment_scores(package / "s.marks", [scores], testset)
    read = read_scores(package / "s.marks")["m"]
    assert np.array_equal([read["bar", 1], read["bar", 2]], scores.segments[0])
    (package / "s.marks").rename(package / "s.txt")
    assert find_scores(package / "s.txt", language_pair=None, test_set="x")["m"] == read


def test_offered_formats_are_listed_and_broken_ones_are_said(
    package: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    install(
        package.parent / "installed",
        "worse",
        "broken = bars_of_a_package:nothing\ntaken = bars_of_a_package:TAKEN",
    )
    with caplog.at_level("WARNING", "gnomon.formats"):
        listed = {one.name: (one.reads, one.writes) for one in describe()}
    assert listed["bars"] == ("yes", "no")
    assert listed["room"] == ("yes", "yes")
    assert listed["stars"] == ("judgements", "judgements")
    assert listed["marks"] == ("scores", "scores")
    assert "format 'broken' of the package worse" in caplog.text
    assert "there is a format 'wmt-xml' of test sets already" in caplog.text
    assert main(["list", "formats", "-f", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {"bars", "room", "stars", "marks"} <= {row["name"] for row in rows}
    with pytest.raises(UnknownNameError, match=r"unknown layout 'rooom'.*room"):
        gn.formats.write_test_set(gn.TestSet.read(package), package / "x", layout="rooom")
