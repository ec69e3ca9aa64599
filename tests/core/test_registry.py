"""What is declared once, by looping over the registry of methods."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import pytest

import gnomon as gn
from gnomon.cli.entry import parser
from gnomon.core import registry as methods
from gnomon.core.errors import UnknownNameError, UsageError, WrongTypeError
from gnomon.core.manifest import imported
from gnomon.core.options import (
    SEED,
    BoundOptions,
    Group,
    Help,
    Limits,
    Seed,
    Segments,
    check_fields,
    expand_fields,
    help_texts,
    misfits,
    options_of,
    read_text,
    type_hints,
)
from gnomon.core.validation import Problem

if TYPE_CHECKING:
    from gnomon.cli.parser import Parser

_EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "plugin-method"


def command(name: str) -> Parser:
    """The parser of a method's command."""
    found: Parser = parser()  # type: ignore[assignment]  # it is one
    for word in name.replace("_", "-").split("."):
        inner = next(a for a in found.built()._actions if isinstance(a.choices, dict) and a.choices)
        found = inner.choices[word]  # type: ignore[index]  # a mapping
    return found.built()


@pytest.mark.parametrize("name", methods.names())
def test_every_option_has_one_name_in_python_on_the_command_line_and_in_studies(name: str) -> None:
    found = methods.find(name)
    flags = {flag: one.dest for one in command(name)._actions for flag in one.option_strings}
    for option in found.options.values():
        if option.name not in found.recipe:
            assert flags.get(option.flag) == option.name


@pytest.mark.parametrize("name", methods.names())
def test_every_option_has_help(name: str) -> None:
    without = [one.name for one in methods.find(name).options.values() if not one.help]
    assert without == []


@pytest.mark.parametrize("name", methods.names())
def test_a_method_is_found_in_python_by_its_name(name: str) -> None:
    found: object = gn
    # gnomon.errors are the exceptions
    for part in {"errors": "muler.errors"}.get(name, name).split("."):
        found = getattr(found, part)
    assert callable(found)
    assert inspect.signature(found) == inspect.signature(methods.find(name).function)


@pytest.mark.parametrize("name", methods.names())
def test_what_a_method_answers_is_read_without_loading_it(name: str) -> None:
    assert methods.purpose_of(name) == methods.find(name).purpose != ""
    assert methods.title_of(name) == methods.find(name).title


@pytest.mark.parametrize("name", methods.names())
def test_seeds_intervals_and_resamples_have_the_same_defaults_everywhere(name: str) -> None:
    usual = {"seed": SEED, "confidence": 0.95, "resamples": 1000, "examples": 3}
    options = methods.find(name).options
    if name == "compare":  # 1000 of a bootstrap, and 10000 exchanges
        usual["resamples"] = None
    assert {k: v.default for k, v in options.items() if k in usual} == {
        k: v for k, v in usual.items() if k in options
    }


@pytest.mark.parametrize("name", methods.BUILT_IN)
def test_a_docstring_says_of_shared_options_only_what_differs(name: str) -> None:
    module, function = methods.BUILT_IN[name].home.split(":")
    source = ast.parse(inspect.getsource(importlib.import_module(module)))
    written = next(
        ast.get_docstring(node) or ""
        for node in source.body
        if isinstance(node, ast.FunctionDef) and node.name == function and node.decorator_list
    )
    shared = dict(methods.OF_THE_RUN)
    for option in options_of(methods.find(name).function).values():
        if help_of_type := option.mark(Help):
            shared[option.name] = help_of_type.text
    said = help_texts(written)
    assert [one for one, text in shared.items() if said.get(one) == text] == []


def test_the_docstring_of_a_method_holds_the_help_of_its_types() -> None:
    assert help_texts(inspect.getdoc(gn.muler.score) or "")["pattern"] == (
        "regular expressions for ``re:NAME``."
    )
    assert (
        help_texts(inspect.getdoc(gn.score) or "")["allow_code"] == methods.OF_THE_RUN["allow_code"]
    )


#: methods without a verdict, and why
_SAYS_NOTHING = {
    "score": "its results are scores; verdicts.summarise_scores speaks of these",
}


@pytest.mark.parametrize("name", methods.names())
def test_every_method_declares_what_it_says_of_its_findings(name: str) -> None:
    assert (methods.find(name).verdict is None) == (name in _SAYS_NOTHING)


def test_every_step_of_a_study_has_a_page_of_its_own_name() -> None:
    titles = [methods.title_of(name) for name in methods.steps()]
    assert len(set(titles)) == len(titles)
    assert methods.title_of("not.installed_here") == "Not installed here"


def test_built_in_methods_are_where_the_registry_says() -> None:
    for name, place in methods.BUILT_IN.items():
        assert imported(place.home).method is methods.find(name)


def counted(*, seed: Seed = SEED, share: Annotated[float, Limits(0, 1)] = 0.5) -> float:
    """Nothing but options.

    Args:
        seed: of the draws.
        share: of something.
    """
    return seed * share


def declared() -> methods.Method:
    def check(_outline: object, options: BoundOptions) -> list[Problem]:
        return [Problem("share", UsageError("half is too much"))] if options.share == 0.5 else []

    made = methods.method("counted", purpose="how it is counted", data=(), check=check)(counted)
    return made.method  # type: ignore[attr-defined,no-any-return]  # set by the decorator


def test_an_option_is_checked_at_the_door_alone_then_together() -> None:
    found = declared()
    assert [one.option for one in found.problems(None, {"seed": -1, "share": 2})] == [
        "seed",
        "share",
    ]
    assert [str(one.error) for one in found.problems(None, {"share": 0.5})] == ["half is too much"]
    assert not list(found.problems(None, {"share": 0.25}))
    with pytest.raises(UsageError, match="share must be a number, from 0 to 1; got 3"):
        found.function(share=3)
    with pytest.raises(WrongTypeError, match="seed must be a whole number, 0 or more; got '1'"):
        found.function(seed="1")


@dataclass(frozen=True)
class Sizes:
    """Sizes of something.

    Attributes:
        width: from left to right.
    """

    width: Annotated[int, Limits(1)] = 2

    def __post_init__(self) -> None:
        check_fields(self)


def test_fields_of_a_dataclass_are_options_of_the_function_that_takes_it() -> None:
    @expand_fields(sizes=Sizes)
    def drawn(*, seed: Seed = SEED, sizes: Sizes) -> int:
        """Draw.

        Args:
            seed: of the draws.
            sizes: how large.
        """
        return seed * sizes.width

    assert str(inspect.signature(drawn)).startswith("(*, seed: 'Seed' = 12345, width: ")
    assert {k: v.help for k, v in options_of(drawn).items()} == {
        "seed": "of the draws.",
        "width": "from left to right.",
    }
    assert options_of(drawn)["width"].mark(Group) == Group("sizes")
    assert (drawn(seed=3), drawn(seed=3, width=5)) == (6, 15)
    with pytest.raises(UsageError, match="width must be a whole number, 1 or more; got 0"):
        drawn(width=0)
    with pytest.raises(TypeError, match="height"):
        drawn(height=1)


def test_texts_of_the_command_line_are_read_by_the_type_of_the_option() -> None:
    def asked(segments: Segments = None, seed: Seed = 1) -> None: ...

    options = options_of(asked)
    assert read_text(options["segments"], "4-6") == [4, 5, 6]
    assert read_text(options["seed"], "7") == 7
    for text in ("x", "1.5"):
        with pytest.raises(UsageError, match="is not a whole number"):
            read_text(options["seed"], text)
    with pytest.raises(UsageError, match="0 or more; got -3"):
        read_text(options["seed"], "-3")


@pytest.mark.parametrize(
    "group",
    sorted({name.partition(".")[0] for name in methods.BUILT_IN if "." in name} - {"paraphrase"}),
)
def test_a_group_of_methods_is_callable_as_one_of_them(group: str) -> None:
    called = getattr(gn, group)
    every = (methods.find(name) for name in methods.BUILT_IN)
    inside = [one for one in every if one.name.startswith(group)]
    assert inspect.signature(called) in [inspect.signature(one.function) for one in inside]


def test_an_unknown_method_is_answered_with_those_that_exist() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'compare'"):
        methods.find("compar")


def test_a_package_that_cannot_be_loaded_stops_no_other_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    point = EntryPoint("broken", "there_is_no_such_module:broken", "gnomon.methods")
    monkeypatch.setattr(methods, "_offered", lambda: {"broken": point})
    monkeypatch.setattr(methods, "package_of", lambda _: "broken-package")
    assert "no_such_module" in methods.purpose_of("broken")
    assert parser().parse_args(["list", "methods"])
    with pytest.raises(UsageError, match="of the package broken-package cannot be loaded"):
        methods.find("broken")


def test_a_package_whose_entry_point_has_another_name_than_its_method_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    point = EntryPoint("contrast", "gnomon.comparison.systems:compare", "gnomon.methods")
    monkeypatch.setattr(methods, "_offered", lambda: {"contrast": point})
    monkeypatch.setattr(methods, "package_of", lambda _: "some-package")
    with pytest.raises(UsageError, match="offers the method 'compare' as the entry point"):
        methods.find("contrast")


@pytest.mark.parametrize("name", methods.BUILT_IN)
def test_built_in_methods_are_called_as_the_registry_calls_them(name: str) -> None:
    assert methods.find(name).name == name


def test_numbers_of_any_size_are_compared_with_their_limits() -> None:
    seed = options_of(counted)["seed"]
    assert read_text(seed, "9" * 400) == 10**400 - 1
    assert not list(misfits(seed, 10**400))
    assert list(misfits(seed, -(10**400)))


def test_a_misfit_is_of_the_option_as_the_surface_at_hand_names_it() -> None:
    (problem,) = methods.find("compare").problems(None, {"min_drop": -1})
    assert problem.error.written("python").startswith("min_drop must be a number")
    assert problem.error.written("shell").startswith("--min-drop must be a number")


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which the example package is installed."""
    site = tmp_path_factory.mktemp("site")
    info = site / "gnomon_repetitions-1.0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: gnomon-repetitions\nVersion: 1.0.0\n")
    points = _EXAMPLE.joinpath("pyproject.toml").read_text(encoding="utf-8")
    said = points.partition('[project.entry-points."gnomon.methods"]')[2].replace('"', "")
    (info / "entry_points.txt").write_text("[gnomon.methods]" + said)
    places = [str(_EXAMPLE / "src"), str(site), *sys.path]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(places)}


def test_a_package_adds_a_command_with_a_page_and_a_row_of_the_list(
    plugin: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "ref.txt").write_text("a cat sat\nthe dog ran\n")
    (tmp_path / "sys.txt").write_text("a cat cat sat\nthe dog the dog ran\n")
    program = (
        "import gnomon.cli as c;"
        "c.main(['list', 'methods', '-f', 'json', '-o', 'list.json']);"
        "c.main(['repetitions', 'ref.txt', '-i', 'sys.txt', '-q', '--longest', '1', '-f', 'json',"
        " '--html', 'page.html', '-o', 'found.json']);"
        "raise SystemExit(c.main(['repetitions', 'ref.txt', '-i', 'sys.txt', '--longest', '0']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=plugin, cwd=tmp_path, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "--longest: it must be a whole number, 1 or more; got 0" in done.stderr
    rows = json.loads((tmp_path / "list.json").read_text())["rows"]
    assert {
        "name": "repetitions",
        "command": "gnomon repetitions",
        "purpose": "find words that systems say twice in a row",
        "reaches": "",
        "source": "gnomon-repetitions",
    } in rows
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["rows"] == [
        {"system": "sys", "length": 1, "segments": 1, "share": 0.5, "reference": 0.0}
    ]
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Words said twice in a row" in page


def test_annotations_are_read_and_not_run():
    home = {"Limits": Limits, "np": np, "Annotated": Annotated, "Sequence": Sequence}
    read = type_hints(
        {
            "plain": "Sequence[int] | None",
            "marked": "Annotated[float, Limits(-1, 2**3 - 1, words='few')]",
            "unseen": "IO[str] | there.Unknown",
            "array": "np.ndarray[tuple[int, ...], np.dtype[np.float64]]",
        },
        home,
    )
    assert read["plain"] == Sequence[int] | None
    assert read["marked"].__metadata__ == (Limits(-1, 7, words="few"),)
    assert read["unseen"].__args__[1].__name__ == "Unknown"
    assert read["array"] == np.ndarray[tuple[int, ...], np.dtype[np.float64]]
    with pytest.raises(TypeError, match="annotations hold no Lambda: lambda: 1"):
        type_hints({"wrong": "lambda: 1"}, home)
