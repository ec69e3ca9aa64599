"""Test sets as their publishers distribute them, told by their names and headers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from gnomon.errors import FormatError, UnknownNameError, UsageError
from gnomon.formats._files import agree, bears_file, read_head
from gnomon.formats._lines import read_lines
from gnomon.formats._mqm import KNOWN_BY as MQM_KNOWN_BY
from gnomon.formats._mqm import pair_in_mqm, read_mqm_set
from gnomon.formats._quality_estimation import (
    KNOWN_BY,
    pair_of,
    read_quality_files,
    read_quality_table,
    read_rated_rows,
    stem_of,
    stems_of,
    table_of,
)
from gnomon.formats._sgml import is_sgml, read_sgml, sgml_sets
from gnomon.formats._summaries import read_realsumm, read_summeval
from gnomon.formats._wmt_package import (
    packages_in,
    read_package,
    read_sample,
    sample_of,
    samples_in,
)
from gnomon.formats._wmt_xml import is_wmt_xml, pair_in, read_wmt_xml

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from gnomon.testset import TestSet

PUBLISHED = {
    "mlqe-pe": "MLQE-PE and WMT 2020-23 quality estimation: *.df.short.tsv (index original"
    " translation scores mean z_scores z_mean), or STEM.src STEM.mt STEM.pe STEM.hter STEM.tags"
    " STEM.source_tags",
    "eval4nlp21": "Eval4NLP 2021: STEM.src STEM.mt STEM.da STEM.src-tags STEM.tgt-tags, or one"
    " table src hyp da src_tags hyp_tags",
    "wmt22-qe": "WMT 2022 quality estimation: STEM.src STEM.mt STEM.LP.da_score STEM.LP.tags, one"
    " table src hyp z, or the CSV ,system,doc,doc_id,seg_id,src,mt,ref,mqm,score,zscore",
    "wmt-package": "WMT's texts as submitted, sources/ references/ system-outputs/, with"
    " manual-evaluation/DA-seglevel.csv",
    "wmt-daseg": "WMT's sampled sentences:"
    " DAseg.newstest2016.{source,reference,mt-system,human}.LP",
    "wmt-xml": "WMT 2020 and later, XML: <dataset><doc><src>, <ref translator>, <hyp system>",
    "wmt-sgml": "NIST and WMT to 2020, SGML: srcset, refset, tstset; all files of a set, *.sgm",
    "wmt-mqm": "MQM with its texts, TSV: system doc doc_id seg_id rater source target category"
    " severity",
    "summeval": "SummEval, JSONL: id decoded model_id references expert_annotations"
    " turker_annotations",
    "realsumm": "RealSumm's scores, JSON: ref_summ system_summaries scores litepyramid_recall",
}
_HEAD = 1 << 17  # bytes; the longest first lines are SummEval's, of some 20,000
_TABLES = (".tsv", ".csv", ".jsonl", ".json", ".xml")
_SUMMEVAL = ("expert_annotations", "model_id")
_PICKLE = (
    "is a Python pickle; reading one can run any code, so gnomon does not. Where you trust it,"
    ' write it as JSON: python -c "import json, pickle, sys;'
    " json.dump(pickle.load(open(sys.argv[1], 'rb')), open(sys.argv[2], 'w'), default=float)\""
    " FILE.pkl FILE.json"
)


class Found(NamedTuple):
    """One set that is there.

    Attributes:
        format: a name in ``PUBLISHED``.
        place: what to give to ``-t`` for this set.
        pair: its language pair, if known.
        read: reads it.
        files: the files of sets that are made of several.
    """

    format: str
    place: str
    pair: str | None
    read: Callable[[], TestSet]
    files: tuple[Path, ...] = ()


def is_published(folder: Path) -> bool:
    """Whether a folder holds sets in a publisher's layout."""
    return folder.is_dir() and bool(in_folder(folder))


def is_package(folder: Path) -> bool:
    """Whether a folder is one of WMT's packages, whose folders have mt-metrics-eval's names."""
    return folder.is_dir() and bool(packages_in(folder))


def pairs_in(folder: Path) -> tuple[str, ...]:
    """The language pairs of the sets in a folder, sorted."""
    return tuple(sorted({found.pair for found in in_folder(folder) if found.pair is not None}))


def read_published(
    path: Path,
    *,
    language_pair: str | None,
    systems: Sequence[str] | None,
    references: Sequence[str] | None,
) -> TestSet:
    """Read a file or folder; see :func:`gnomon.formats.read_test_set`.

    Raises:
        FormatError: the format cannot be told, or a line is not what the format asks for.
        UsageError: several sets are there.
    """
    found = in_folder(path) if path.is_dir() else [of_file(path)]
    one = _chosen(path, found, language_pair)
    agree(one.pair, language_pair, path)
    testset = one.read()
    if testset.language_pair is None and language_pair is not None:
        testset = replace(testset, language_pair=language_pair)
    if systems is None and references is None:
        return testset
    return testset.select(systems=systems, references=references)


def _chosen(path: Path, found: Sequence[Found], wanted: str | None) -> Found:
    fitting = [one for one in found if wanted is None or one.pair is None or _is(one.pair, wanted)]
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        pairs = dict.fromkeys(one.pair for one in found if one.pair is not None)
        raise UnknownNameError(f"language pair of {path}", str(wanted), list(pairs))
    places = dict.fromkeys(f"{one.place} ({one.format})" for one in fitting)
    differ = len({one.pair for one in fitting} - {None}) == len(fitting)
    remedy = " (or a language pair with -l)" if differ else ""
    raise UsageError(
        f"{path} holds {len(fitting)} test sets; name one of them{remedy}: {', '.join(places)}"
    )


def _is(pair: str, wanted: str) -> bool:
    return wanted in (pair, pair.rpartition("-")[2])


def in_folder(folder: Path) -> list[Found]:
    """The sets whose files lie in a folder, subfolders apart."""
    found = [
        Found("wmt-package", str(folder / one.pair), one.pair, partial(read_package, one))
        for one in packages_in(folder)
    ]
    found += [
        Found("wmt-daseg", str(folder / one.pair), one.pair, partial(read_sample, one))
        for one in samples_in(folder)
    ]
    found += [
        Found("wmt-sgml", str(one.files[0]), one.pair, partial(read_sgml, one.files), one.files)
        for one in sgml_sets(folder)
    ]
    stems = stems_of(folder)
    found += [
        Found(one.format, str(one.files[".src"]), one.pair, partial(read_quality_files, one))
        for one in stems
    ]
    taken = {file for stem in stems for file in stem.files.values()}
    taken |= {file for one in found for file in one.files}
    for file in sorted(folder.iterdir()):
        plain = file.name.removesuffix(".gz")
        if plain.endswith(_TABLES) and not plain.endswith(".tags.tsv") and bears_file(file):
            one = None if file in taken else _told(file)
            found += [one] if one is not None else []
    return found


def mqm_in(folder: Path) -> list[Found]:
    """The MQM files of a folder; they are sets if named, and judgements of another set else."""
    tables = (f for f in sorted(folder.iterdir()) if f.name.removesuffix(".gz").endswith(".tsv"))
    return [_of_mqm(file) for file in tables if bears_file(file) and _is_mqm(file)]


def _is_mqm(path: Path) -> bool:
    return set(_first_line(path).split("\t")) >= MQM_KNOWN_BY


def _of_mqm(path: Path) -> Found:
    return Found("wmt-mqm", str(path), pair_in_mqm(path), partial(read_mqm_set, path))


def of_file(path: Path) -> Found:
    """The set of a file, by its first lines or its name.

    Raises:
        FormatError: it is of no known format.
    """
    found = _told(path)
    if found is not None:
        return found
    if is_sgml(_head(path).decode(errors="replace")):
        return _of_sgml(path)
    if _is_mqm(path):
        return _of_mqm(path)
    sample = sample_of(path)
    if sample is not None:
        return Found("wmt-daseg", str(path), sample.pair, partial(read_sample, sample))
    stem = stem_of(path)
    if stem is not None:
        return Found(stem.format, str(path), stem.pair, partial(read_quality_files, stem))
    read_lines(path)  # says so if it is no text at all
    raise FormatError(
        f"is of no known format of a test set ({', '.join(PUBLISHED)}); its first line is"
        f" {_first_line(path)[:80]!r}. The directory of a test set is named as a whole; a table of"
        " your own is read by its columns (--table FILE; gnomon.formats.read_table)",
        path=path,
    )


def _of_sgml(path: Path) -> Found:
    """A file with all others of its set, which lie beside it."""
    one = next((s for s in sgml_sets(path.parent) if path in s.files), None)
    files = (path,) if one is None else one.files
    pair = None if one is None else one.pair
    return Found("wmt-sgml", str(path), pair, partial(read_sgml, files), files)


def _told(path: Path) -> Found | None:
    """The format of a table or of a JSON file, by its first line."""
    head = _head(path)
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        raise FormatError(_PICKLE, path=path)
    if is_wmt_xml(head.decode(errors="replace")):
        pair = pair_in(head.decode(errors="replace"), path)
        return Found("wmt-xml", str(path), pair, partial(read_wmt_xml, [path]))
    first = _first_line(path)
    table = table_of(first)
    if table is not None:
        return Found(table.name, str(path), pair_of(path), partial(read_quality_table, path, table))
    if set(first.split(",")) >= KNOWN_BY:
        return Found("wmt22-qe", str(path), pair_of(path), partial(read_rated_rows, path))
    if first.startswith("{") and all(f'"{key}"' in first for key in _SUMMEVAL):
        return Found("summeval", str(path), "en", partial(read_summeval, path))
    if first.startswith("{") and b'"ref_summ' in head:
        return Found("realsumm", str(path), "en", partial(read_realsumm, path))
    return None


def _first_line(path: Path) -> str:
    return (
        _head(path).decode(errors="replace").removeprefix("\ufeff").partition("\n")[0].rstrip("\r")
    )


def _head(path: Path) -> bytes:
    return read_head(path, _HEAD)
