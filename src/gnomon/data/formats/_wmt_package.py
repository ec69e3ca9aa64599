"""WMT's own packages: texts as submitted, and the sampled sentences of direct assessment.

The texts (``wmt17-submitted-data/txt``, and the metrics task packages that hold them)::

    sources/newstest2017-csen-src.cs
    references/newstest2017-csen-ref.en
    system-outputs/newstest2017/cs-en/newstest2017.NAME.cs-en
    manual-evaluation/DA-seglevel.csv  DA-syslevel.csv  RR-seglevel.csv    in the package

The sentences of segment-level direct assessment, outputs of many systems without their names
(``DAseg-wmt-newstest2016``, Graham et al. 2015)::

    DAseg.newstest2016.source.cs-en      .reference.cs-en  .mt-system.cs-en  .human.cs-en
"""

from __future__ import annotations

import os
import re
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from gnomon.core.errors import DataError, FormatError, MissingFileError, UnknownNameError
from gnomon.core.testset import TestSet
from gnomon.data.formats._files import LOGGER, is_pair, natural
from gnomon.data.formats._human import read_human
from gnomon.data.formats._judgements import judgements_of
from gnomon.data.formats._lines import check_parallel, read_lines, report_empty
from gnomon.data.formats._quality_estimation import estimated_set, scores_in_lines
from gnomon.data.formats._registry import FoundSet, SetFormat

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from gnomon.data.formats._rows import FileHead

_TEXT = re.compile(r"(?P<set>.+)-(?P<from>[a-z]{2})(?P<to>[a-z]{2})-(?P<part>src|ref)\.[a-z]{2}")
_PART = re.compile(
    r"(?P<set>(?:DAseg[.-])?newstest\d{4})\.(?P<part>source|reference|mt-system|human)"
    r"\.(?P<pair>[a-z]{2}-[a-z]{2})"
)
_PARTS = ("source", "reference", "mt-system", "human")
_JUDGEMENTS = ("DA-seglevel.csv", "DA-syslevel.csv", "RR-seglevel.csv", "DArr-seglevel.csv")
_PLACES = (".", "txt", "*/txt", "input/*/txt", "input/*/*/txt")


class Package(NamedTuple):
    """The texts of one set and language pair, and the folder where judgements may lie."""

    root: Path
    texts: Path
    name: str
    pair: str


class SampledSentences(NamedTuple):
    """The files of one language pair, by their part."""

    name: str
    pair: str
    files: Mapping[str, Path]


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
    files = [source, reference, *outputs.values()]
    lines = {file: read_lines(file) for file in files}
    check_parallel({str(file): len(texts) for file, texts in lines.items()})
    report_empty(str(source), "source", lines[source])
    report_empty(str(reference), "reference", lines[reference])
    for file in outputs.values():
        report_empty(str(file), "candidate", lines[file])
    testset = TestSet(
        name=package.name,
        references={"A": lines[reference]},
        systems={name: lines[file] for name, file in outputs.items()},
        sources=lines[source],
        language_pair=package.pair,
        path=str(package.texts),
    )
    return _with_judgements(testset, package)


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


def _with_judgements(testset: TestSet, package: Package) -> TestSet:
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


def samples_in(folder: Path) -> list[SampledSentences]:
    """The language pairs of a folder of sampled sentences."""
    files_of_pair: dict[tuple[str, str], dict[str, Path]] = {}
    for file in sorted(folder.iterdir()):
        match = _PART.fullmatch(file.name)
        if match and is_pair(match["pair"]):
            files_of_pair.setdefault((match["set"], match["pair"]), {})[match["part"]] = file
    return [SampledSentences(name, pair, files) for (name, pair), files in files_of_pair.items()]


def sample_of(path: Path) -> SampledSentences | None:
    """The sentences to which a file belongs."""
    if not _PART.fullmatch(path.name):
        return None
    return next((s for s in samples_in(path.parent) if path in s.files.values()), None)


def read_sample(sample: SampledSentences) -> TestSet:
    """Read sampled sentences; the scores are of the kind ``da-z``."""
    first = next(iter(sample.files.values()))
    for role in _PARTS:
        if role not in sample.files:
            raise MissingFileError(
                f"there is no file {sample.name}.{role}.{sample.pair} beside {first}; all of"
                f" {', '.join(_PARTS)} are needed"
            )
    lines = {role: read_lines(sample.files[role]) for role in _PARTS}
    check_parallel({str(sample.files[role]): len(texts) for role, texts in lines.items()})
    return estimated_set(
        str(first.parent),
        name=sample.name,
        language_pair=sample.pair,
        sources=lines["source"],
        outputs=lines["mt-system"],
        scores={"da-z": scores_in_lines(sample.files["human"], lines["human"], "da-z")},
        references={"A": lines["reference"]},
    )


def _packages(folder: Path) -> list[FoundSet]:
    return [
        FoundSet(folder / package.pair, partial(read_package, package), package.pair)
        for package in packages_in(folder)
    ]


def _samples(folder: Path) -> list[FoundSet]:
    return [
        FoundSet(folder / sample.pair, partial(read_sample, sample), sample.pair)
        for sample in samples_in(folder)
    ]


def _sample_of_file(head: FileHead) -> FoundSet | None:
    sample = sample_of(head.path)
    if sample is None:
        return None
    return FoundSet(head.path, partial(read_sample, sample), sample.pair)


FORMATS = (
    SetFormat(
        name="wmt-package",
        title="WMT's texts as submitted, sources/ references/ system-outputs/, with"
        " manual-evaluation/DA-seglevel.csv",
        in_folder=_packages,
        whole_folder=True,
        after=("gnomon",),
    ),
    SetFormat(
        name="wmt-daseg",
        title="WMT's sampled sentences: DAseg.newstest2016.{source,reference,mt-system,human}.LP",
        of_file=_sample_of_file,
        in_folder=_samples,
    ),
)
