"""All that sacreBLEU has of a test set once its files are here: every reference, and outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gnomon.errors import DataError
from gnomon.formats._files import LOGGER
from gnomon.formats._lines import read_lines, report_empty
from gnomon.formats._sacrebleu import reference_name
from gnomon.testset import SystemInfo, TestSet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
        documents=_known(lines, "docid"),
        domains=_known(lines, "domain") or _known(lines, "genre"),
        labels={n: column for n in ("origlang",) if (column := _known(lines, n))},
    )
    chosen = tuple(reference_name(field) for field in refs if files[field] in usual)
    return SacrebleuSet(testset, chosen if len(chosen) < len(refs) else ())


def _parallel(lines: dict[str, list[str]], files: Mapping[str, str]) -> dict[str, list[str]]:
    """The fields that have a line per segment; outputs that have not are left out aloud.

    Raises:
        DataError: the sources or the references have not.
    """
    count = len(lines["src"])
    uneven = [field for field, part in lines.items() if len(part) != count]
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
    return {field: part for field, part in lines.items() if field not in uneven}


def _is_reference(field: str) -> bool:
    return field == "ref" or field.startswith("ref:")


def _texts(lines: Sequence[str], references: Sequence[str]) -> list[str | None]:
    """SacreBLEU writes an empty line where a segment lacks one of several references."""
    return [text or None for text in lines] if len(references) > 1 else list(lines)


def _known(lines: Mapping[str, list[str]], field: str) -> list[str] | None:
    column = lines.get(field, [])
    return [text or "unknown" for text in column] if any(column) else None
