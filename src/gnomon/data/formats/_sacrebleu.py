"""Test sets that sacreBLEU knows by name and downloads."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from gnomon.core.errors import DataError, MissingFileError, UnknownNameError, UsageError
from gnomon.core.testset import SystemInfo, TestSet
from gnomon.data.formats._files import LOGGER
from gnomon.data.formats._lines import check_parallel, read_lines, report_empty
from gnomon.data.formats._plain import read_systems
from gnomon.data.formats._registry import Format

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike


def is_sacrebleu_set(name: str) -> bool:
    """True if sacreBLEU knows a test set of this name; nothing is downloaded."""
    return name in _datasets()


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
    datasets = _datasets()
    if name not in datasets:
        raise UnknownNameError("test set of sacreBLEU", name, datasets)
    pairs = tuple(datasets[name].langpairs)
    if language_pair is None:
        raise UsageError(f"name the language pair of {name} with -l; there are: {', '.join(pairs)}")
    if language_pair not in pairs:
        raise UnknownNameError(f"language pair of {name}", language_pair, pairs)
    try:
        whole, usual = read_sacrebleu_files(datasets[name], language_pair)
    except OSError as error:
        raise MissingFileError(
            f"sacreBLEU cannot download {name} ({error}); without a connection, fetch it on"
            " another machine and copy its folder ~/.sacrebleu, or only its archive ('gnomon data"
            f" fetch {name} --from FILE'), or name plain text files"
        ) from error
    if not whole.references:
        raise DataError(f"sacreBLEU's test set {name} has no references for {language_pair}")
    texts = read_systems(systems) if systems else {}
    counts = {f"the output of {system}": len(segments) for system, segments in texts.items()}
    check_parallel({f"{name} {language_pair}": whole.segments} | counts)
    references = {name: whole.references[name] for name in usual or whole.references}
    return replace(whole, references=references, systems=texts, info={})


def _datasets() -> dict[str, Any]:
    from sacrebleu.dataset import DATASETS

    return dict(DATASETS)


def reference_name(field: str) -> str:
    """The name of a reference, from that of sacreBLEU's field.

    >>> reference_name("ref:B"), reference_name("ref")
    ('B', 'A')
    """
    return field.removeprefix("ref").strip(":-") or "A"


# All that sacreBLEU has of a test set once its files are here: every reference, and outputs.


_ABOUT = ("docid", "genre", "domain", "origlang")


class SacrebleuSet(NamedTuple):
    """A test set, and the references that sacreBLEU itself scores against."""

    testset: TestSet
    usual: tuple[str, ...]


def read_sacrebleu_files(dataset: Any, language_pair: str) -> SacrebleuSet:
    """Read the plain text files that sacreBLEU makes of a test set.

    Args:
        dataset: an entry of ``sacrebleu.dataset.DATASETS`` whose archives are here: nothing is
            fetched.
        language_pair: one of its pairs.

    Raises:
        DataError: sacreBLEU cannot make sense of its own files, or was interrupted earlier.
    """
    try:
        names = dataset.fieldnames(language_pair)
        files = dict(zip(names, map(str, dataset.get_files(language_pair)), strict=True))
        usual = {str(file) for file in dataset.get_reference_files(language_pair)}
    except (KeyError, TypeError, ValueError, AssertionError, IndexError) as error:
        raise DataError(
            f"sacreBLEU cannot read its own files of {dataset.name} {language_pair}"
            f" ({type(error).__name__}: {error}); convert them with 'gnomon data convert', which"
            " says what is wrong"
        ) from error
    lines = _parallel({field: read_lines(file) for field, file in files.items()}, files)
    refs = sorted((f for f in lines if _is_reference(f)), key=lambda f: (files[f] not in usual, f))
    others = [field for field in lines if field not in (*refs, "src", *_ABOUT)]
    for field in refs:
        report_empty(files[field], "reference", lines[field])
    testset = TestSet(
        name=dataset.name,
        references={reference_name(field): _texts(lines[field], refs) for field in refs},
        systems={field: lines[field] for field in others},
        sources=lines["src"],
        language_pair=language_pair,
        info={f: SystemInfo(human=True) for f in others if f in map(reference_name, refs)},
        documents=_column_of_names(lines, "docid"),
        domains=_column_of_names(lines, "domain") or _column_of_names(lines, "genre"),
        labels={n: column for n in ("origlang",) if (column := _column_of_names(lines, n))},
    )
    chosen = tuple(reference_name(field) for field in refs if files[field] in usual)
    return SacrebleuSet(testset, chosen if len(chosen) < len(refs) else ())


def _parallel(lines: dict[str, list[str]], files: Mapping[str, str]) -> dict[str, list[str]]:
    """The fields that have a line per segment; outputs that have not are left out aloud."""
    count = len(lines["src"])
    uneven = [field for field, texts in lines.items() if len(texts) != count]
    for field in uneven:
        if field in _ABOUT or _is_reference(field):
            raise DataError(
                f"{files[field]} has {len(lines[field])} lines, {files['src']} has {count};"
                " sacreBLEU was interrupted when it made them: delete both and try again"
            )
        LOGGER.warning(
            "%s has %d lines for %d segments; this system is left out",
            files[field],
            len(lines[field]),
            count,
        )
    return {field: texts for field, texts in lines.items() if field not in uneven}


def _is_reference(field: str) -> bool:
    return field == "ref" or field.startswith("ref:")


def _texts(lines: Sequence[str], references: Sequence[str]) -> list[str | None]:
    """SacreBLEU writes an empty line where a segment lacks one of several references."""
    return [text or None for text in lines] if len(references) > 1 else list(lines)


def _column_of_names(lines: Mapping[str, list[str]], field: str) -> list[str] | None:
    column = lines.get(field, [])
    return [text or "unknown" for text in column] if any(column) else None


FORMATS = (
    Format(
        name="sacrebleu",
        title="a test set by sacreBLEU's name, such as wmt19 with -l de-en",
        holds="test set",
        read=read_sacrebleu_set,
    ),
)
