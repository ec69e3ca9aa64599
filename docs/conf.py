import argparse
import os
from pathlib import Path

os.environ["NO_COLOR"] = "1"
os.environ["COLUMNS"] = "96"

from collections.abc import Iterator

from gnomon import __version__, methods
from gnomon.cli._main import parser
from gnomon.cli._parser import Parser
from gnomon.options import Limits, describe
from gnomon.records import columns_of

project = "gnomon"
author = "The gnomon authors"
copyright = "The gnomon authors"
version = release = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.mathjax",
]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "_generated"]
html_theme = "furo"
html_title = "gnomon"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
napoleon_use_ivar = True  # fields are told in the docstring of their class, once


_GENERATED = Path(__file__).parent / "_generated"


def _commands(name: str, of: Parser) -> Iterator[str]:
    """A section for a command, then one for each of its commands."""
    yield f"## `{name}`\n\n```text\n{of.format_help()}```\n"
    for action in of._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command, inner in action.choices.items():
                yield from _commands(f"{name} {command}", inner)


def _options(method: methods.Method) -> Iterator[str]:
    """A table of a method's options."""
    yield "| option | takes | default | |\n|---|---|---|---|\n"
    for one in method.options.values():
        limits = one.mark(Limits)
        takes = describe(one.kind) + (f", {limits}" if limits else "")
        default = "" if one.required or one.default is None else f"`{one.default!r}`"
        cells = (f"`{one.name}`", takes or "see there", default, one.help)
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _fields() -> Iterator[str]:
    """A table of the fields of every method's rows."""
    yield "| command | table | fields |\n|---|---|---|\n"
    for name in methods.names():
        method = methods.find(name)
        for table, row in method.rows.items():
            fields = ", ".join(f"`{one.name}`" for one in columns_of(row, 0.95))
            yield f"| `{' '.join(method.command)}` | {table} | {fields} |\n"


# references are what commands and methods say of themselves
_GENERATED.mkdir(exist_ok=True)
(_GENERATED / "commands.md").write_text("\n".join(_commands("gnomon", parser())), encoding="utf-8")
(_GENERATED / "fields.md").write_text("".join(_fields()), encoding="utf-8")
for _name in methods.names():
    _text = "".join(_options(methods.find(_name)))
    (_GENERATED / f"options-{_name}.md").write_text(_text, encoding="utf-8")
