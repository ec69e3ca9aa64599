import argparse
import gc
import os
import re
from pathlib import Path

gc.disable()  # trees of pages stay to the end: a quarter of the time goes by looking through them
os.environ["NO_COLOR"] = "1"
os.environ["COLUMNS"] = "80"

import shutil
import tomllib
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

from gnomon import __version__
from gnomon.cli.entry import parser
from gnomon.cli.parser import Parser
from gnomon.core import registry as methods
from gnomon.core.options import Limits, Option, describe, fields_of
from gnomon.core.records import columns_of
from gnomon.paraphrase.generation import generator_classes
from gnomon.serve.schema import openapi

project = "gnomon"
author = "The gnomon authors"
copyright = "The gnomon authors"
version = release = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
]
html_math_renderer = "mathml"
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "gnomon"
html_static_path = ["_static"]
html_css_files = ["site.css"]
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
napoleon_use_ivar = True  # fields are told in the docstring of their class, once


_ROOT = Path(__file__).parents[1]
_GENERATED = _ROOT / "docs" / "_build" / "generated"
_URLS = tomllib.loads((_ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]
_METHODS = {" ".join(one.command): one for one in map(methods.find, methods.names())}


def _commands(name: str, of: Parser) -> Iterator[str]:
    """A section for a command with the columns of its tables, then one for each of its commands."""
    yield f"## `{name}`\n\n```text\n{of.format_help(full=True)}```\n"
    if method := _METHODS.get(name.removeprefix("gnomon ")):
        yield from _tables(method)
    for action in of._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command, inner in action.choices.items():
                yield from _commands(f"{name} {command}", inner)


def _cells(*cells: str) -> str:
    """A row of a table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _tables(method: methods.Method) -> Iterator[str]:
    """The columns of the tables of a method."""
    for table, row in method.rows.items():
        yield f"\nTable {table or 'of results'}:\n\n" + _cells("column", "title", "")
        yield "|---|---|---|\n"
        for column in columns_of(row, 0.95):
            yield _cells(f"`{column.name}`", column.title, column.help)
    yield "\n"


def _row(one: Option, *before: str) -> str:
    """What an option takes, its default and its help, as cells of a table."""
    limits = one.mark(Limits)
    takes = describe(one.kind) + (f", {limits}" if limits else "")
    default = "" if one.required or one.default is None else f"`{one.default!r}`"
    help_text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", one.help).replace("``", "`")
    return _cells(*before, f"`{one.name}`", takes or "see there", default, help_text)


def _generators() -> Iterator[str]:
    """A table of the options of generators of paraphrases."""
    yield "| method | option | takes | default | |\n|---|---|---|---|---|\n"
    for name, kind in generator_classes().items():
        for one in fields_of(kind).values():
            yield _row(one, f"`{name}`")


_VERBS = ("get", "post", "delete")


def _api() -> Iterator[str]:
    """The addresses of the API, what each takes and answers, then the structures."""
    document = openapi()
    for path, address in document["paths"].items():
        for verb in _VERBS:
            if verb in address:
                yield f"## `{verb.upper()} {path}`\n\n{address[verb]['summary']}.\n\n"
                yield from _operation(address[verb], address.get("parameters", []))
    for name, schema in document["components"]["schemas"].items():
        yield f"## {name}\n\n{schema.get('description', '')}\n\n"
        yield _cells("field", "is", "") + "|---|---|---|\n"
        for field, one in schema["properties"].items():
            needed = field in schema.get("required", ())
            said = one.get("description", "") + (" Required." if needed else "")
            yield _cells(f"`{field}`", _schema_words(one), said.strip())
        yield "\n"


def _operation(operation: dict[str, Any], shared: list[dict[str, Any]]) -> Iterator[str]:
    given = [*shared, *operation.get("parameters", [])]
    if given:
        yield _cells("parameter", "in", "is", "") + "|---|---|---|---|\n"
        for one in given:
            words = _schema_words(one["schema"])
            yield _cells(f"`{one['name']}`", one["in"], words, one.get("description", ""))
        yield "\n"
    bodies = operation.get("requestBody", {}).get("content", {})
    for media, body in bodies.items():
        yield f"Body, `{media}`: {_schema_words(body['schema'])}\n\n"
    yield _cells("answer", "") + "|---|---|\n"
    for status, answer in operation["responses"].items():
        content = [body["schema"] for body in answer.get("content", {}).values()]
        words = ", ".join(map(_schema_words, content))
        yield _cells(f"`{status}`", f"{answer['description']}" + (f" ({words})" * bool(words)))
    yield "\n"


def _schema_words(schema: dict[str, Any]) -> str:
    """What a value is, in words."""
    if "$ref" in schema:
        return f"`{schema['$ref'].rpartition('/')[2]}`"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(_schema_words, schema["anyOf"])))
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_schema_words(schema.get('items', {}))}"
    if "properties" in schema:
        return "fields " + ", ".join(
            f"`{name}` ({_schema_words(one)})" for name, one in schema["properties"].items()
        )
    limits = [
        f"{word} {schema[key]:,}"
        for key, word in (("minimum", "at least"), ("maximum", "at most"))
        if key in schema
    ]
    return " ".join([str(schema.get("type", "anything")), *limits])


# references are what commands and methods say of themselves
_GENERATED.mkdir(parents=True, exist_ok=True)
(_GENERATED / "commands.md").write_text("\n".join(_commands("gnomon", parser())), encoding="utf-8")
(_GENERATED / "api.md").write_text("".join(_api()), encoding="utf-8")
(_GENERATED / "generators.md").write_text("".join(_generators()), encoding="utf-8")


def _plain_types(*event: Any) -> None:
    """Types of fields hold text, in which a final underscore would be a link (``np.bool_``)."""
    lines: list[str] = event[-1]
    lines[:] = [
        line.replace("bool_", r"bool\_") if line.startswith(":vartype") else line for line in lines
    ]


def _mathml(translator: Any, node: Any) -> None:
    """A formula as MathML, which browsers show by themselves: nothing is loaded for it."""
    block = isinstance(node, nodes.math_block)
    try:
        formula = tex2mathml(node.astext().strip(), as_block=block)
    except MathError as error:
        logging.getLogger(__name__).warning("formula: %s", error, location=node)
        formula = ""
    tag = "div" if block else "span"
    translator.body.append(f'<{tag} class="math notranslate">{formula}</{tag}>')
    raise nodes.SkipNode


def _with_pictures(app: Any, error: Exception | None) -> None:
    """Pictures for a light and a dark page stand in HTML, of which Sphinx copies no files."""
    if error is None:
        shutil.copytree(Path(app.srcdir, "images"), Path(app.outdir, "images"), dirs_exist_ok=True)


def _to_repository(app: Any, page: str, source: list[str]) -> None:
    """Links to files beside the documentation lead to the repository, or name it where it is."""
    folder = Path(app.srcdir, page).parent
    repository = _URLS.get("Repository")

    def moved(link: re.Match[str]) -> str:
        text, goal, anchor = link.groups(default="")
        path = Path(os.path.normpath(folder / goal)).relative_to(_ROOT).as_posix()
        if repository:
            return f"[{text}]({repository}/blob/main/{path}{anchor})"
        return f"{text} (`{path}`)"

    up = "../" * (page.count("/") + 1)
    source[0] = re.sub(rf"\[([^]]*)\]\(({re.escape(up)}[^)#]+)(#[^)]*)?\)", moved, source[0])


_SECTION = re.compile(r'<p class="caption"[^>]*><span class="caption-text">(.*?)</span></p>')


def _fold(*event: Any) -> None:
    """Sections of the sidebar are folded but for the one of the page that is shown."""
    context: dict[str, Any] = event[3]
    head, *parts = _SECTION.split(context.get("furo_navigation_tree", ""))
    folded = [head]
    for title, pages in zip(parts[::2], parts[1::2], strict=True):
        inside, end, behind = pages.rpartition("</ul>")
        state = " open" if "current-page" in pages else ""
        folded.append(
            f'<details class="section"{state}><summary class="caption">{title}</summary>'
            f"{inside}{end}</details>{behind}"
        )
    context["furo_navigation_tree"] = "".join(folded)


def setup(app: Any) -> None:
    """What Sphinx calls: after napoleon, which writes the types of fields."""
    app.connect("autodoc-process-docstring", _plain_types, priority=900)
    app.connect("source-read", _to_repository)
    app.connect("html-page-context", _fold, priority=900)
    app.connect("build-finished", _with_pictures)
    app.add_html_math_renderer("mathml", (_mathml, None), (_mathml, None))
