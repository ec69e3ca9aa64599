"""``gnomon --cite``: the papers behind the methods."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CiteAction"]


class CiteAction(argparse.Action):
    """Print the papers and stop."""

    def __init__(self, option_strings: list[str], dest: str, help: str | None = None) -> None:  # noqa: A002  # argparse's name
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,  # noqa: ARG002  # argparse's signature
        values: str | Sequence[object] | None,  # noqa: ARG002  # likewise
        option_string: str | None = None,  # noqa: ARG002  # likewise
    ) -> None:
        """Print, then exit with 0."""
        sys.stdout.write(Path(__file__).with_name("papers.bib").read_text("utf-8"))
        parser.exit()
