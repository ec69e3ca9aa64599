"""What holds for every command: parsing, exit codes, streams."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import gnomon as gn
from gnomon.cli.entry import parser
from gnomon.core import registry as methods


def test_references_come_first_and_a_system_never_becomes_a_reference() -> None:
    args = parser().parse_args(
        ["score", "ref.txt", "-i", "sysA.txt", "sysB.txt", "-m", "bleu", "chrf"]
    )
    assert args.refs == ["ref.txt"]
    assert args.input == ["sysA.txt", "sysB.txt"]
    assert args.metrics == ["bleu", "chrf"]


def test_several_references_and_sacrebleus_short_names_are_understood() -> None:
    args = parser().parse_args(
        [
            *("score", "r1.txt", "r2.txt", "-i", "a.txt", "-m", "bleu", "-tok", "intl", "-lc"),
            *("-w", "3", "-b", "-sl", "-l", "de-en", "-q"),
        ]
    )
    assert args.refs == ["r1.txt", "r2.txt"]
    assert (args.tokenize, args.lowercase, args.digits) == ("intl", True, 3)
    assert (args.score_only, args.sentence_level, args.quiet) == (True, True, True)


def test_a_file_among_the_metrics_is_explained(gnomon, files) -> None:
    answer = gnomon("score", "-i", files / "a.txt", "-m", "bleu", files / "ref.txt")
    assert answer.code == 2
    assert answer.out == ""
    assert "first" in answer.err


@pytest.mark.parametrize("arguments", [["nonsense"], ["score", "--nonsense"], ["list", "cats"]])
def test_bad_usage_exits_with_two(gnomon, arguments: list[str]) -> None:
    answer = gnomon(*arguments)
    assert answer.code == 2
    assert answer.out == ""


def test_methods_whose_names_share_a_beginning_are_commands_of_one_command(
    gnomon, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = {f"{name}compare": methods.BUILT_IN["compare"] for name in ("", "a.", "a.b_c.")}
    monkeypatch.setattr(methods, "BUILT_IN", {**methods.BUILT_IN, **known})
    monkeypatch.setattr(methods, "group_purpose", lambda group: f"what {group} answers")
    purpose = methods.purpose_of("compare")
    assert "what a answers" in gnomon("--help").out
    shown = " ".join(gnomon("a", "--help").out.split())
    assert f"compare {purpose}" in shown
    assert "b-c what a.b_c answers" in shown
    assert "gnomon a b-c compare" in gnomon("a", "b-c", "compare", "--help").out
    assert "missing: COMMAND; see: gnomon a b-c --help" in gnomon("a", "b-c").err


def test_version_and_citations_go_to_standard_output(gnomon) -> None:
    assert gnomon("--version").out == f"gnomon {gn.__version__}\n"
    assert "MuLER" in gnomon("--cite").out


@pytest.mark.parametrize(
    "command",
    [
        "",
        "score",
        "muler",
        "muler validate",
        "errors",
        "info",
        "list",
        "setup",
        "demo",
    ],
)
def test_every_command_says_what_it_answers(gnomon, command: str) -> None:
    answer = gnomon(*command.split(), "--help")
    assert answer.code == 0
    assert answer.out.startswith(f"Usage: gnomon {command}")


def test_help_imports_no_heavy_library() -> None:
    heavy = ["numpy", "spacy", "sacrebleu", "jinja2", "scipy", "torch", "polars", "nltk"]
    code = (
        "import sys; from gnomon.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        f"print([m for m in {heavy!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == "[]\n"


def test_a_mistake_gives_one_line_and_debug_gives_the_traceback(gnomon, files) -> None:
    answer = gnomon("score", files / "missing.txt", "-i", files / "a.txt")
    assert answer.code == 1
    assert "missing.txt" in answer.err
    assert "Traceback" not in answer.err
    with pytest.raises(gn.GnomonError):
        gnomon("score", files / "missing.txt", "-i", files / "a.txt", "--debug")


def test_a_closed_pipe_is_no_error(files) -> None:
    command = [sys.executable, "-m", "gnomon", "score", "ref.txt", "-i", "a.txt", "-sl"]
    done = subprocess.run(
        ["sh", "-c", '"$@" | true', "sh", *command],
        cwd=files,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert "rror" not in done.stderr


@pytest.mark.parametrize("said", [SystemError("an exception set"), RuntimeError("interrupted")])
def test_what_compiled_loops_and_databases_make_of_a_signal_is_an_interruption(
    gnomon, files, monkeypatch, said: Exception
) -> None:
    def interrupted(*_: object) -> int:
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        raise said

    monkeypatch.setattr("gnomon.cli._options.load_outputs", interrupted)
    answer = gnomon("score", files / "ref.txt", "-i", files / "a.txt")
    assert answer.code == 128 + signal.SIGTERM
    assert "interrupted by SIGTERM" in answer.err
    assert "Traceback" not in answer.err
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_command_that_does_not_look_up_from_its_work_ends_all_the_same(files) -> None:
    program = """
import signal, sys, threading
from gnomon.cli import entry as _main, _options
_main._GRACE = 0.1
def deaf(*_):
    threading.Timer(0.1, signal.raise_signal, [signal.SIGTERM]).start()
    while True:
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            pass
_options.load_outputs = deaf
sys.exit(_main.main(["score", "ref.txt", "-i", "a.txt"]))
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, cwd=files, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 128 + signal.SIGTERM
    assert done.stderr.startswith("\ngnomon: interrupted by SIGTERM; what was tagged")


def test_any_other_fault_inside_a_compiled_loop_is_not_hidden(gnomon, files, monkeypatch) -> None:
    def broken(*_: object) -> int:
        raise SystemError("out of bounds")

    monkeypatch.setattr("gnomon.cli._options.load_outputs", broken)
    with pytest.raises(SystemError):
        gnomon("score", files / "ref.txt", "-i", files / "a.txt")


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="needs /dev/full, a full disk")
def test_a_full_disk_below_standard_output_is_said_in_words(files) -> None:
    command = [sys.executable, "-m", "gnomon", "score", "ref.txt", "-i", "a.txt", "-q"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, cwd=files, stdout=full, stderr=-1, text=True, check=False)
    assert done.returncode == 1
    assert "the disk is full" in done.stderr
    assert "-o FILE" in done.stderr
    assert "Errno" not in done.stderr


def test_a_command_leaves_the_logging_of_its_process_as_it_was(gnomon, files) -> None:
    logger = logging.getLogger("gnomon")
    before = (logger.handlers[:], logger.propagate, logger.level)
    gnomon("score", files / "ref.txt", "-i", files / "a.txt", "-q")
    gnomon("score", files / "missing.txt", "-i", files / "a.txt")
    assert (logger.handlers, logger.propagate, logger.level) == before


def test_an_error_of_several_lines_stays_one_of_several_lines(gnomon, tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text('metrics = ["bleu"]\ncats = 1\n"\\u001b[31mdogs" = 2\n')
    answer = gnomon("run", file)
    assert answer.code != 0
    lines = answer.err.split("\n")
    assert lines[0].startswith("gnomon: error: ")
    assert [line[:6] for line in lines[1:3]] == ["  cats", r"  \x1b"]
    assert "\x1b" not in answer.err


def test_one_option_of_every_command_says_how_large_an_input_may_be(
    gnomon, files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GNOMON_MAX_INPUT", "1GB")
    score = ("score", files / "ref.txt", "-i", files / "a.txt", "-m", "bleu")
    answer = gnomon(*score, "--max-input", "2")
    assert answer.code == 1
    assert "ref.txt: has more than 2 bytes" in answer.err
    assert "--max-input 8GB" in answer.err
    assert os.environ["GNOMON_MAX_INPUT"] == "1GB"
    assert gnomon(*score, "--max-input", "2KB").code == 0
    assert gnomon(*score, "--max-input", "much").code == 2


def test_too_little_memory_is_told_in_words(gnomon, files, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("gnomon.formats.read_plain", fail)
    answer = gnomon("score", files / "ref.txt", "-i", files / "a.txt", "-m", "bleu")
    assert answer.code == 1
    assert "there is not enough memory for this" in answer.err
    assert "Traceback" not in answer.err


def test_a_small_command_loads_little(tmp_path: Path) -> None:
    """Loading is most of its time: what it needs not load is counted, and what it loads."""
    for name, text in (("ref", "the cat sat on the mat"), ("sys", "a cat sat on a mat, there")):
        (tmp_path / f"{name}.txt").write_text(f"{text}\n" * 20)
    program = (
        "import sys; from gnomon.cli import main\n"
        f"main(['score', {str(tmp_path / 'ref.txt')!r}, '-i', {str(tmp_path / 'sys.txt')!r}])\n"
        "print('modules:', *sys.modules)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    loaded = answer.stdout.partition("modules:")[2].split()
    dear = {"sacrebleu", "scipy", "importlib.metadata", "email", "gnomon.cli.studies"}
    dear |= {"rich.console", "importlib.resources", "gnomon.report.html"}
    assert not dear.intersection(loaded)
    assert len(loaded) <= 345
    assert sum(name.startswith("gnomon") for name in loaded) <= 95
