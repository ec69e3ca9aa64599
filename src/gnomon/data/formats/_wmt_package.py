"""WMT's own packages: texts as submitted (``wmt17-submitted-data/txt``), with judgements.

::

    sources/newstest2017-csen-src.cs
    references/newstest2017-csen-ref.en
    system-outputs/newstest2017/cs-en/newstest2017.NAME.cs-en
    manual-evaluation/DA-seglevel.csv  DA-syslevel.csv  RR-seglevel.csv    in the package
"""

from __future__ import annotations

import os
import re
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from gnomon.core.errors import DataError, FormatError, MissingFileError, UnknownNameError
from gnomon.core.testset import TestSet
from gnomon.data.formats._files import LOGGER, natural
from gnomon.data.formats._judged_file import judgements_of
from gnomon.data.formats._judgement_files import read_human
from gnomon.data.formats._plain import read_parallel
from gnomon.data.formats._registry import FoundSet, SetFormat

if TYPE_CHECKING:
    from pathlib import Path

_TEXT = re.compile(r"(?P<set>.+)-(?P<from>[a-z]{2})(?P<to>[a-z]{2})-(?P<part>src|ref)\.[a-z]{2}")
_JUDGEMENTS = ("DA-seglevel.csv", "DA-syslevel.csv", "RR-seglevel.csv", "DArr-seglevel.csv")
_PLACES = (".", "txt", "*/txt", "input/*/txt", "input/*/*/txt")


class Package(NamedTuple):
    """The texts of one set and language pair, and the folder where judgements may lie."""

    root: Path
    texts: Path
    name: str
    pair: str


def packages_in(folder: Path) -> list[Package]:
    """The sets in a package or in its folder of texts; the outputs must be there."""
    packages: dict[tuple[str, str], Package] = {}
    for pattern in _PLACES:
        for texts in [folder] if pattern == "." else sorted(folder.glob(pattern)):
            for package in _sets_in(folder, texts):
                packages.setdefault((package.name, package.pair), package)
    return list(packages.values())


def _sets_in(root: Path, texts: Path) -> list[Package]:
    sources = texts / "sources"
    if not sources.is_dir():
        return []
    matches = (_TEXT.fullmatch(file.name) for file in sorted(sources.iterdir()))
    named = [(m["set"], f"{m['from']}-{m['to']}") for m in matches if m and m["part"] == "src"]
    outputs = texts / "system-outputs"
    return [Package(root, texts, s, pair) for s, pair in named if (outputs / s / pair).is_dir()]


def read_package(package: Package) -> TestSet:
    """Read the texts of one language pair and the judgements of the package."""
    start, end = package.pair.split("-")
    stem = f"{package.name}-{start}{end}"
    source = package.texts / "sources" / f"{stem}-src.{start}"
    reference = package.texts / "references" / f"{stem}-ref.{end}"
    outputs = _outputs(package)
    kinds = {source: "source", reference: "reference"}
    lines = read_parallel(kinds | dict.fromkeys(outputs.values(), "candidate"), drop=True)
    testset = TestSet(
        name=package.name,
        references={"A": lines[reference]},
        systems={name: lines[file] for name, file in outputs.items() if file in lines},
        sources=lines[source],
        language_pair=package.pair,
        path=str(package.texts),
    )
    return _add_judgements(testset, package)


def _outputs(package: Package) -> dict[str, Path]:
    folder = package.texts / "system-outputs" / package.name / package.pair
    start, end = f"{package.name}.", f".{package.pair}"
    named = {
        file.name[len(start) : -len(end)]: file
        for file in folder.iterdir()
        if file.name.startswith(start) and file.name.endswith(end)
    }
    if not named:
        raise MissingFileError(
            f"{folder} holds no outputs; they are called {start}NAME{end} in this package"
        )
    return {name: named[name] for name in sorted(named, key=natural)}


def _add_judgements(testset: TestSet, package: Package) -> TestSet:
    folder = package.root / "manual-evaluation"
    for name in _JUDGEMENTS:
        file = folder / name
        if not os.path.lexists(file):
            continue
        with judgements_of(file):
            try:
                testset = testset.with_human(read_human(file, testset))
            except (UnknownNameError, DataError) as error:
                if isinstance(error, FormatError):
                    raise
                LOGGER.info("%s is left out: %s", file, error)
    return testset


def _packages(folder: Path) -> list[FoundSet]:
    return [
        FoundSet(folder / package.pair, partial(read_package, package), package.pair)
        for package in packages_in(folder)
    ]


FORMATS = (
    SetFormat(
        name="wmt-package",
        title="WMT's texts as submitted, sources/ references/ system-outputs/, with"
        " manual-evaluation/DA-seglevel.csv",
        in_folder=_packages,
        whole_folder=True,
        after=("gnomon",),
    ),
)
