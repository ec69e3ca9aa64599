"""Long forms run in parts, and what passed does not run again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from scripts import verify

_TESTS = """
from pathlib import Path
import pytest

@pytest.mark.verify
@pytest.mark.parametrize("number", range(3))
def test_a_file_does_not_say_so(number):
    with (Path(__file__).parent / "ran.txt").open("a") as file:
        file.write(f"{number} ")
    assert (Path(__file__).parent / "mended").is_file() or number != 1

def test_short():
    raise AssertionError("it is no long form")
"""


@pytest.fixture
def part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A part of three tests, of which the second fails, and where what passed of it is kept."""
    (tmp_path / "test_few.py").write_text(_TESTS)
    argv = ("-m", "pytest", str(tmp_path), "-m", "verify", "-p", "no:cacheprovider")
    monkeypatch.setitem(verify.PROGRAMS, "few", argv)
    monkeypatch.setattr(verify, "WORKERS", ("-n", "0"))
    return tmp_path


def _ran(part: Path) -> list[str]:
    file = part / "ran.txt"
    numbers = file.read_text().split() if file.is_file() else []
    file.unlink(missing_ok=True)
    return numbers


@pytest.mark.verify
def test_a_part_goes_on_with_what_has_not_passed(
    part: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    kept = part / "kept"
    kept.mkdir()
    assert not verify.run("few", kept, None)
    assert _ran(part) == ["0", "1", "2"]
    assert "few: failed" in capfd.readouterr().out
    (part / "mended").touch()
    assert verify.run("few", kept, None)
    assert _ran(part) == ["1"]
    assert "now: 3 tests passed" in capfd.readouterr().out
    assert verify.run("few", kept, None)
    assert _ran(part) == []
    assert "few: passed before (3 tests passed" in capfd.readouterr().out


def test_a_part_ends_at_its_limit_and_says_how_to_go_on(
    part: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert not verify.run("few", part, 0)
    said = capfd.readouterr().out
    assert "few: stopped" in said
    assert "to go on: make verify PART=few" in said


def test_every_test_is_in_one_part() -> None:
    root = verify.ROOT
    files = [path.relative_to(root) for path in (root / "tests").rglob("test_*.py")]
    found = dict.fromkeys(files, 0)
    for part in verify.PARTS:
        own = [one for one in verify.arguments(part) if one.startswith(("tests", "src"))]
        ignored = [one[9:] for one in verify.arguments(part) if one.startswith("--ignore=")]
        for file in files:
            chosen = any(file.is_relative_to(one) for one in own)
            found[file] += chosen and not any(file.is_relative_to(one) for one in ignored)
    assert {file: count for file, count in found.items() if count != 1} == {}


def test_a_changed_file_or_package_is_another_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify, "files", lambda: [tmp_path / "a.py"])
    (tmp_path / "a.py").write_text("1")
    first = verify.state()
    assert verify.state() == first
    (tmp_path / "a.py").write_text("2")
    assert verify.state() != first
    monkeypatch.setattr(sys, "version", "3.99")
    assert verify.state() != first


def test_a_part_that_is_not_there_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["verify.py", "paper"])
    with pytest.raises(SystemExit):
        verify.main()
    said = "no part is called paper; there are sanitize, pythons, oldest, papers"
    assert said in capsys.readouterr().err
