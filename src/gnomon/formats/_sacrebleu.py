"""Test sets that sacreBLEU knows by name and downloads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon.errors import DataError, MissingFileError, UnknownNameError, UsageError
from gnomon.formats._lines import read_lines, report_empty
from gnomon.formats._plain import check_parallel, read_systems
from gnomon.testset import TestSet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike


_FIELDS = ("src", "docid", "domain")


def is_sacrebleu_set(name: str) -> bool:
    """Whether sacreBLEU knows a test set of this name; nothing is downloaded."""
    return name in _known()


def read_sacrebleu_set(
    name: str,
    *,
    language_pair: str | None = None,
    systems: Sequence[str | PathLike[str]] = (),
) -> TestSet:
    """Read sources and references of a test set of sacreBLEU, which downloads them once.

    Args:
        name: sacreBLEU's name ("wmt19").
        language_pair: the pair ("de-en").
        systems: plain text files with the outputs of systems.

    Raises:
        UnknownNameError: sacreBLEU knows no such test set or pair.
        UsageError: no pair is named.
        MissingFileError: the test set cannot be downloaded.
        LengthMismatchError: an output has another number of lines.
    """
    known = _known()
    if name not in known:
        raise UnknownNameError("test set of sacreBLEU", name, known)
    pairs = tuple(known[name].langpairs)
    if language_pair is None:
        raise UsageError(f"name the language pair of {name} with -l; there are: {', '.join(pairs)}")
    if language_pair not in pairs:
        raise UnknownNameError(f"language pair of {name}", language_pair, pairs)
    files = _files(known[name], language_pair)
    lines = {field: read_lines(path) for field, path in files.items()}
    texts = read_systems(systems) if systems else {}
    check_parallel(
        {f"{name} {language_pair} {field}": len(part) for field, part in lines.items()}
        | {f"the output of {system}": len(part) for system, part in texts.items()}
    )
    references = {reference_name(f): part for f, part in lines.items() if f not in _FIELDS}
    if not references:
        raise DataError(f"sacreBLEU's test set {name} has no references for {language_pair}")
    for reference, part in references.items():
        report_empty(f"{name}, reference {reference}", "reference", part)
    return TestSet(
        name=name,
        references=references,
        systems=texts,
        sources=lines.get("src"),
        language_pair=language_pair,
        documents=lines.get("docid"),
        domains=lines.get("domain"),
    )


def _known() -> dict[str, Any]:
    from sacrebleu.dataset import DATASETS

    return dict(DATASETS)


def _files(dataset: Any, language_pair: str) -> dict[str, str]:
    """Field -> file; of the references those that sacreBLEU itself scores against."""
    try:
        names = dataset.fieldnames(language_pair)
        paths = [str(path) for path in dataset.get_files(language_pair)]
        usual = {str(path) for path in dataset.get_reference_files(language_pair)}
    except OSError as error:
        raise MissingFileError(
            f"sacreBLEU cannot download {dataset.name} ({error}); without a connection, fetch it on"
            " another machine and copy its folder ~/.sacrebleu, or only its archive ('gnomon data"
            f" fetch {dataset.name} --from FILE'), or name plain text files"
        ) from error
    return {
        field: path
        for field, path in zip(names, paths, strict=True)
        if field in _FIELDS or path in usual
    }


def reference_name(field: str) -> str:
    """The name of a reference, from that of sacreBLEU's field.

    >>> reference_name("ref:B"), reference_name("ref")
    ('B', 'A')
    """
    return field.removeprefix("ref").strip(":-") or "A"
