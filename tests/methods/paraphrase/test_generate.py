"""Paraphrases without a model: pseudo-references, round trips, filters, and the command."""

from __future__ import annotations

import contextlib
import json
import shlex
import shutil
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import gnomon
from gnomon.cli import main
from gnomon.core.errors import DataError, MissingDependencyError, UsageError
from gnomon.core.testset import Paraphrase, TestSet
from gnomon.data.formats import read_paraphrases
from gnomon.methods.paraphrase import filtered, pseudo_references, round_trip, translate
from gnomon.metrics.spec import format_literal

_UPPER = [sys.executable, "-c", "import sys; sys.stdout.write(sys.stdin.read().upper())"]
_LOWER = [sys.executable, "-c", "import sys; sys.stdout.write(sys.stdin.read().lower())"]


def _python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


@pytest.fixture
def testset() -> TestSet:
    systems = {"x": ["the cat sat", "no"], "y": ["the cat lay", "no"], "z": ["a dog", "it rains"]}
    return TestSet.from_lists(systems, ["the cat sat down", "it rains"])


def test_no_system_is_its_own_reference(testset: TestSet) -> None:
    made = pseudo_references(testset, n=3)
    for one in made:
        assert one.system is not None
        others = [t[one.segment - 1] for n, t in testset.systems.items() if n != one.system]
        assert one.text in others
    assert [(p.system, p.text) for p in made if p.segment == 1] == [
        ("x", "the cat lay"),
        ("x", "a dog"),
        ("y", "the cat sat"),
        ("y", "a dog"),
        ("z", "the cat sat"),
        ("z", "the cat lay"),
    ]


def test_copies_of_the_reference_and_poor_outputs_are_no_pseudo_references(
    testset: TestSet,
) -> None:
    assert {p.text for p in pseudo_references(testset, n=3) if p.segment == 2} == {"no"}
    scores = gnomon.score(testset, "chrf").segments
    made = pseudo_references(testset, n=3, least=50)
    assert made
    assert all(p.score is not None and p.score >= 50 for p in made)
    assert scores[0, 0] == max(p.score for p in made if p.score is not None)


def test_for_error_rates_less_is_better(testset: TestSet) -> None:
    made = [p for p in pseudo_references(testset, "ter") if p.segment == 1]
    assert [(p.system, p.text) for p in made] == [
        ("x", "the cat lay"),
        ("y", "the cat sat"),
        ("z", "the cat sat"),
    ]
    kept = filtered(testset, made, metric="ter", least=30).kept
    assert [p.system for p in kept] == ["y", "z"]


def test_shared_pseudo_references_serve_all_systems(testset: TestSet) -> None:
    made = pseudo_references(testset, shared=True)
    assert [(p.segment, p.system, p.text) for p in made] == [
        (1, None, "the cat sat"),
        (2, None, "no"),
    ]


def test_one_system_has_no_others() -> None:
    with pytest.raises(DataError, match="two systems"):
        pseudo_references(TestSet.from_lists({"x": ["a"]}, ["b"]))


def test_filters_count_what_they_drop(testset: TestSet) -> None:
    texts = ["the cat  sat down", "a cat sat", "a cat sat", " ", "nothing alike"]
    made = [Paraphrase(1, text) for text in texts]
    found = filtered(testset, made, metric="chrf", least=20)
    assert [one.text for one in found.kept] == ["a cat sat"]
    assert found[1:] == (1, 1, 1, 1)
    every = filtered(testset, made, copies=False, duplicates=False)
    assert [one.text for one in every.kept] == [t for t in texts if t.strip()]
    with pytest.raises(UsageError, match="both"):
        filtered(testset, made, metric="chrf")


def test_references_go_there_and_back_in_batches() -> None:
    ts = TestSet.from_lists({}, [["One"], ["", "Two\u2028b"], ["Three"]])
    batches = list(round_trip(ts, _UPPER, _LOWER, batch=2))
    assert [[(p.segment, p.text) for p in batch] for batch in batches] == [
        [(1, "one"), (2, "two\u2028b")],
        [(3, "three")],
    ]
    assert list(round_trip(ts, _UPPER, _LOWER, skip={1, 2, 3})) == []


def test_an_empty_translation_gives_no_paraphrase() -> None:
    ts = TestSet.from_lists({}, ["a", "b"])
    swallow = _python("import sys; [print('' if l == 'a\\n' else l.strip()) for l in sys.stdin]")
    (batch,) = round_trip(ts, swallow, _UPPER)
    assert [(p.segment, p.text) for p in batch] == [(2, "B")]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys; sys.exit('no dictionary')", "exit code 1: no dictionary"),
        ("print('one')", r"gave 1 lines for 2"),
        ("print('1\\n2\\n3')", r"gave 3 lines for 2"),
        ("pass", r"gave 0 lines for 2"),
        ("import sys; sys.stdout.buffer.write(b'\\xff\\n\\n')", "UTF-8"),
    ],
)
def test_a_command_that_fails_is_an_error(code: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        translate(["a", "b"], _python(code))


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
def test_a_command_that_hangs_is_stopped_with_what_it_started(tmp_path: Path) -> None:
    number = tmp_path / "child"
    code = (
        "import subprocess, sys, time;"
        " child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(3600)']);"
        f" open({str(number)!r}, 'w').write(str(child.pid)); time.sleep(3600)"
    )
    for patience in (2, 20, 200):  # a busy machine starts programs slowly
        with pytest.raises(DataError, match=f"longer than {patience} seconds"):
            translate(["a"], _python(code), timeout=patience)
        if number.exists() and number.read_text(encoding="utf-8"):
            break
    state = Path("/proc") / number.read_text(encoding="utf-8") / "stat"
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it is gone
        for _ in range(600):  # a killed process may wait for its parent to notice
            if state.read_text(encoding="utf-8").rpartition(") ")[2][0] == "Z":
                return
            time.sleep(0.1)
        pytest.fail("what the command started is still running")


def test_commands_are_not_given_to_a_shell() -> None:
    echo = "python-that-is-not-there; echo a"
    with pytest.raises(MissingDependencyError, match="python-that-is-not-there;"):
        translate(["a"], echo)
    with pytest.raises(UsageError, match="empty"):
        translate(["a"], "")
    with pytest.raises(UsageError, match="cannot be read"):
        translate(["a"], "cat 'x")
    with pytest.raises(DataError, match="line feed"):
        translate(["a\nb"], "cat")


def _file(path: Path, *lines: str) -> str:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return str(path)


def _round_trip(forward: list[str], back: list[str]) -> str:
    """The spec of a round trip through two commands."""
    there, again = (format_literal(shlex.join(words)) for words in (forward, back))
    return f"round-trip(forward={there}, back={again})"


def test_the_command_makes_round_trips_and_goes_on_where_it_stopped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ref, saved = _file(tmp_path / "ref.txt", "One", "two", "Three"), tmp_path / "p.jsonl"
    broken = tmp_path / "broken"
    upper = _python(
        "import os, sys; t = sys.stdin.read();"
        f" sys.exit('broken') if 'Three' in t and os.path.exists({str(broken)!r})"
        " else print(t.upper(), end='')"
    )
    base = ["paraphrase", "generate", ref, "--save", str(saved), "-f", "json"]
    base += ["--method", _round_trip(upper, _LOWER)]
    assert main(base) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["paraphrases"], row["copies"]) == (2, 1)
    whole = saved.read_bytes()
    assert [p.segment for p in read_paraphrases([saved])] == [1, 3]
    broken.touch()
    assert main([*base, "--batch", "1"]) == 1
    assert [p.segment for p in read_paraphrases([saved])] == [1]
    broken.unlink()
    with saved.open("a", encoding="utf-8") as file:
        file.write('{"torn')
    capsys.readouterr()
    assert main([*base, "--resume"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == [row]
    assert saved.read_bytes() == whole


def test_a_file_made_with_other_settings_is_not_gone_on_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ref, saved = _file(tmp_path / "ref.txt", "the U.S. is here"), str(tmp_path / "p.jsonl")
    first, second = (
        _file(tmp_path / f"{name}.txt", f"U.S. / {name}") for name in ("USA", "America")
    )
    base = ["paraphrase", "generate", ref, "--save", saved, "--method"]
    assert main([*base, f"variants('{first}')"]) == 0
    assert main([*base, f"variants('{first}')", "--resume"]) == 0
    assert [p.text for p in read_paraphrases([saved])] == ["the USA is here"]
    assert main([*base, f"variants('{second}')", "--resume"]) == 2
    assert "was made with other settings: variants" in capsys.readouterr().err
    assert [p.text for p in read_paraphrases([saved])] == ["the USA is here"]
    assert main([*base, f"variants('{second}')"]) == 0
    assert [p.text for p in read_paraphrases([saved])] == ["the America is here"]


def test_a_failure_keeps_what_earlier_batches_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ref, saved = _file(tmp_path / "ref.txt", "One", "Bad"), tmp_path / "p.jsonl"
    picky = _python(
        "import sys; t = sys.stdin.read();"
        " sys.exit('bad') if 'Bad' in t else print(t.upper(), end='')"
    )
    code = main(
        [
            *("paraphrase", "generate", ref, "--save", str(saved), "--batch", "1"),
            *("--method", _round_trip(picky, _LOWER)),
        ]
    )
    assert code == 1
    assert "bad" in capsys.readouterr().err
    assert [p.text for p in read_paraphrases([saved])] == ["one"]


def test_the_command_makes_pseudo_references_that_scoring_takes(
    tmp_path: Path, testset: TestSet, capsys: pytest.CaptureFixture[str]
) -> None:
    testset.write(tmp_path / "set")
    saved = str(tmp_path / "p.jsonl")
    base = ["-t", str(tmp_path / "set"), "-f", "json"]
    assert main(["paraphrase", "generate", *base, "--method", "pseudo", "--save", saved]) == 0
    capsys.readouterr()
    assert main(["score", *base, "--paraphrases", saved]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    wide = testset.with_paraphrases(pseudo_references(testset))
    wanted = gnomon.score(wide, "bleu").system
    assert np.allclose([row["score"] for row in rows], wanted)
    assert (wanted >= gnomon.score(testset, "bleu").system).any()


@pytest.mark.parametrize(
    "options",
    [
        ["--method", "round-trip", "--save", "p.jsonl"],
        ["--method", "variants", "--save", "p.jsonl"],
        ["--method", "pseudo", "--save", "p.txt"],
        ["--method", "pseudo(forward='cat')", "--save", "p.jsonl"],
        ["--method", "pseudo", "--save", "p.jsonl", "--filter", "chrf"],
    ],
)
def test_what_a_method_needs_is_said(options: list[str]) -> None:
    assert main(["paraphrase", "generate", *options]) == 2


@pytest.mark.skipif(shutil.which("apertium") is None, reason="Apertium is not installed")
def test_apertium_takes_a_reference_to_spanish_and_back() -> None:
    ts = TestSet.from_lists({}, ["The house is red.", "I see a black cat."])
    try:
        (made,) = round_trip(
            ts, "apertium -u -f line eng-spa", "apertium -u -f line spa-eng", timeout=600
        )
    except DataError as error:
        pytest.skip(f"no English-Spanish pair: {error}")
    assert [p.segment for p in made] == [1, 2]
    assert "house" in made[0].text
    assert made[0].model == "apertium -u -f line eng-spa > apertium -u -f line spa-eng"
