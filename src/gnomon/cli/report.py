"""``gnomon report``: the pages of a study."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.cli._options import add_command, add_store
from gnomon.errors import UsageError

if TYPE_CHECKING:
    import argparse
    from os import PathLike

    from gnomon.cli._options import Subparsers
    from gnomon.study import Store

__all__ = ["add", "run", "write_report"]

_log = logging.getLogger(__name__)

#: above this many megabytes one file is slow to open
_LARGE = 40

_MORE = """\
examples:
  gnomon report wmt.store -o report.html
  gnomon report wmt.store -o report       (a folder: open report/index.html)
  gnomon report wmt.store -o report.html --no-spans
"""


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "report",
        answers="what a study found, as pages to look around in",
        more=_MORE,
    )
    add_store(parser)
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE.html|FOLDER",
        help="one file that holds everything, or a folder, which opens faster when there is much",
    )
    parser.add_argument(
        "--no-texts", action="store_true", help="show numbers alone, no texts of the test sets"
    )
    parser.add_argument(
        "--no-spans", action="store_true", help="do not mark features in texts (no tagging)"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read the store, write the pages."""
    from gnomon.study import Store

    store = Store.open(args.store)
    write_report(
        store, args.output, texts=not args.no_texts, spans=not args.no_spans, quiet=args.quiet
    )
    return 0


def write_report(
    store: Store,
    output: str | PathLike[str],
    *,
    texts: bool = True,
    spans: bool = True,
    quiet: bool = False,
) -> None:
    """The pages of a store, and where they are.

    Raises:
        UsageError: the store is empty.
    """
    from gnomon.cache import Cache, default_path
    from gnomon.cli._progress import stages
    from gnomon.report.site import write_site
    from gnomon.study import pages

    if not store.files():
        raise UsageError(f"nothing is in the store {store.path} yet; run the study: gnomon run")
    with stages(quiet=quiet) as progress:
        content = pages(
            store, texts=texts, spans=spans, cache=Cache(default_path()), progress=progress
        )
        write_site(output, content, progress=progress)
    _told(Path(output))


def _told(place: Path) -> None:
    if place.is_dir():
        _log.info("open %s", place / "index.html")
        return
    _log.info("open %s", place)
    size = place.stat().st_size / 1e6
    if size > _LARGE:
        _log.warning(
            "%s has %.0f MB, which browsers open slowly; a folder opens at once: -o %s",
            place, size, place.with_suffix(""),
        )  # fmt: skip
