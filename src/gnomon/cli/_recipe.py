"""Recipes: the options of a method that its command reads from a file in TOML."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import UsageError
from gnomon.core.option_files import Problems, parsed_toml, typed_options
from gnomon.core.options import file_option, misfits, refusal
from gnomon.core.registry import plain_help

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.registry import Method

_ENDING = ".toml"
_WIDTH = 98


def add_recipe(parser: argparse.ArgumentParser, method: Method) -> None:
    """The file of a command line, before all others, and how to get one."""
    parser.usage = "%(prog)s [RECIPE.toml] [OPTIONS]"  # argparse takes it before options alone
    parser.add_argument(
        "recipe",
        nargs="?",
        metavar="RECIPE.toml",
        help="how it is trained, a setting a line; what is left out is as by default",
    )
    parser.add_argument(
        "--write-recipe",
        metavar="FILE",
        action=_Write,
        method=method,
        help="write a recipe of all settings and their defaults, to start from; nothing else",
    )


class _Write(argparse.Action):
    """Writes the recipe and ends."""

    def __init__(self, *args: Any, method: Method, **more: Any) -> None:
        super().__init__(*args, **(more | {"dest": argparse.SUPPRESS}))
        self.method = method

    def __call__(self, parser: argparse.ArgumentParser, _: Any, values: Any, *__: Any) -> None:
        """Write it and end."""
        from gnomon.data.formats import atomic_write

        text = "\n".join(_lines(self.method))
        if values == "-":
            sys.stdout.write(text)
        else:
            with atomic_write(values) as file:
                file.write(text)
        parser.exit()


def _lines(method: Method) -> Iterator[str]:
    """The recipe of the defaults, with what help says of each."""
    yield f"# gnomon {' '.join(method.command)} RECIPE.toml: what stands here is the default"
    yield ""
    for name in method.recipe:
        option = method.options[name]
        yield from textwrap.wrap(plain_help(option), _WIDTH, initial_indent="# ",
                                 subsequent_indent="# ")  # fmt: skip
        if option.choices:
            yield f"# one of: {', '.join(map(str, option.choices))}"
        value = option.default
        listed = list(value) if isinstance(value, tuple) else value
        yield f"# {name} =" if value is None else f"{name} = {json.dumps(listed)}"
        yield ""


def read_recipe(method: Method, args: argparse.Namespace) -> dict[str, object]:
    """The options that the recipe of a command line sets, checked one by one.

    A file of another kind is the first one of references, where the command takes some.
    """
    path = args.recipe
    if path is None:
        return {}
    if not path.endswith(_ENDING):
        if not hasattr(args, "refs"):
            raise UsageError(f"a recipe is a file in {_ENDING}; got {path!r}")
        args.refs = [path, *args.refs]
        return {}
    from gnomon.data.formats import read_text

    declared = {name: method.options[name] for name in method.recipe}
    problems = Problems()
    options = typed_options(declared, parsed_toml(read_text(path), Path(path)), "", problems)
    for name, value in options.items():
        for misfit in misfits(file_option(declared[name]), value):
            problems.add("", refusal(declared[name], misfit))
    problems.refuse(path)
    return options
