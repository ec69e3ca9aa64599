from __future__ import annotations

import ast
import inspect
import pickle
import re
from pathlib import Path

import pytest

import gnomon
from gnomon import errors
from gnomon.core.errors import (
    DataError,
    FormatError,
    GateError,
    GnomonError,
    MissingDependencyError,
    MissingFileError,
    OutputError,
    ScoringError,
    SpecError,
    UndecidedGateError,
    UnknownNameError,
    UsageError,
)
from gnomon.messages.audiences import flag, written_for


def test_every_error_derives_from_the_one_base() -> None:
    classes = [
        c
        for _, c in inspect.getmembers(errors, inspect.isclass)
        if c.__module__ == errors.__name__ and issubclass(c, BaseException)
    ]
    assert {c.__name__ for c in classes} == set(errors.__all__)
    assert all(issubclass(c, GnomonError) for c in classes)


@pytest.mark.parametrize(
    "error",
    [
        UnknownNameError("metric", "bleo", ["bleu"]),
        FormatError("a score is a number", path="scores.tsv", line=3),
        MissingFileError("there is no file"),
        GateError("it is worse"),
    ],
)
def test_errors_come_from_other_processes_whole(error: GnomonError) -> None:
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301  # of this test
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (DataError, ValueError),
        (MissingFileError, FileNotFoundError),
        (OutputError, OSError),
        (ScoringError, RuntimeError),
        (UsageError, ValueError),
        (UnknownNameError, LookupError),
        (MissingDependencyError, ImportError),
    ],
)
def test_errors_derive_from_the_fitting_builtin_too(
    error: type[Exception], builtin: type[Exception]
) -> None:
    assert issubclass(error, builtin)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (DataError("x"), 1),
        (MissingFileError("x"), 1),
        (OutputError("x"), 1),
        (ScoringError("x"), 1),
        (UsageError("x"), 2),
        (SpecError("x"), 2),
        (UnknownNameError("metric", "x", []), 2),
        (MissingDependencyError("x"), 2),
        (GateError("x"), 3),
        (UndecidedGateError("x"), 4),
    ],
)
def test_bad_data_exit_with_1_and_bad_usage_with_2(error: GnomonError, code: int) -> None:
    assert error.exit_code == code


@pytest.mark.parametrize(
    ("path", "line", "text"),
    [(None, None, "odd"), ("a.txt", None, "a.txt: odd"), ("a.txt", 3, "a.txt:3: odd")],
)
def test_a_format_error_names_file_and_line(path: str | None, line: int | None, text: str) -> None:
    error = FormatError("odd", path=path, line=line)
    assert str(error) == text
    assert (error.path, error.line) == (path, line)


def test_an_unknown_name_is_answered_with_the_nearest_and_with_all() -> None:
    error = UnknownNameError("metric", "blue", ["bleu", "chrf"], remedy="see the list")
    assert str(error) == (
        "unknown metric 'blue'; did you mean 'bleu'?; there are: bleu, chrf; see the list"
    )


def test_a_name_far_from_all_has_no_nearest() -> None:
    assert "did you mean" not in str(UnknownNameError("metric", "zzz", ["bleu"]))


def test_a_long_list_of_names_is_cut_and_counted() -> None:
    names = [f"n{i}" for i in range(20)]
    assert str(UnknownNameError("name", "?", names)).endswith("n11 and 8 more")


def test_where_nothing_exists_that_is_said() -> None:
    assert (
        str(UnknownNameError("tagger", "x", [])) == "unknown tagger 'x'; there is no tagger at all"
    )


def test_no_error_names_an_option_of_one_surface_alone() -> None:
    """A text that people read in Python and at a command line holds no flag; commands have some."""
    commands = re.compile(r"`[^`]*`|\b(?:gnomon|pip|python3?|apt|git|hf) [^;()]*")
    flags = re.compile(r"(?<![\w-])--(?!from)[a-z]|; \w+=[^;()]*\)")
    flag_like = re.compile(r"--[a-z]")
    home = Path(gnomon.__file__).parent
    for file in sorted(home.rglob("*.py")):
        if "cli" in file.relative_to(home).parts:
            continue
        text = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if flag_like.search(text) else ():
            for inner in ast.walk(node) if isinstance(node, ast.Raise) else ():
                if isinstance(inner, ast.Call) and getattr(inner.func, "id", "") == "Named":
                    break
                if isinstance(inner, ast.JoinedStr):
                    parts = [p.value if isinstance(p, ast.Constant) else "{}" for p in inner.values]
                    text = commands.sub("", "".join(map(str, parts)))
                    assert not flags.search(text), f"{file.name}:{inner.lineno}"


def test_options_are_keywords_in_python_and_flags_in_the_shell() -> None:
    error = FormatError("go on (", flag("resume"), "); gnomon a --b", path="a/b.tsv", line=2)
    assert str(error) == "a/b.tsv:2: go on (resume=); gnomon a --b"
    assert error.written("shell") == "a/b.tsv:2: go on (--resume); gnomon a --b"
    assert error.written("page") == "b.tsv:2: go on (resume=); gnomon a --b"
    assert error.message.subjects == {"files": ("a/b.tsv",)}
    with written_for("shell"):
        assert str(error) == error.written("shell")
    unknown = UnknownNameError(("slice (", flag("by"), ")"), "x", ["y"])
    assert str(unknown) == "unknown slice (by=) 'x'; there are: y"
