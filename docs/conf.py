import argparse
import os
from pathlib import Path

os.environ["NO_COLOR"] = "1"
os.environ["COLUMNS"] = "96"

from gnomon import __version__
from gnomon.cli._main import parser

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


def _write_help(name: str, of: argparse.ArgumentParser) -> None:
    folder = Path(__file__).parent / "_generated"
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.txt").write_text(of.format_help(), encoding="utf-8")
    for action in of._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command, inner in action.choices.items():
                _write_help(f"{name}-{command}", inner)


# the reference of commands is what the commands say of themselves
_write_help("gnomon", parser())
