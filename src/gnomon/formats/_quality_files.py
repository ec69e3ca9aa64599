"""Quality-estimation sets in parallel files: MLQE-PE, Eval4NLP 2021, WMT's quality estimation.

One line per segment; ``STEM`` is ``train``, ``dev``, ``test20``, ``test.2022``, ...::

    STEM.src  STEM.mt                      sources and outputs
    STEM.src_tok  STEM.mt_tok              the same, tokenised: the tokens that are tagged
    STEM.pe                                post-edits
    STEM.da  STEM.hter                     scores
    STEM.LP.da_score  STEM.LP.mqm_score.mqm  STEM.LP.mqm_z_score
    STEM.src-tags  STEM.tgt-tags           Eval4NLP: 0 or 1 for each token
    STEM.source_tags  STEM[.LP].tags       MLQE-PE and WMT: OK or BAD, gaps included
    STEM.LP.df.short.tsv                   direct assessments of the same segments
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gnomon.formats._estimated import POST_EDIT, SYSTEM, estimated_set, gain, pair_of
from gnomon.formats._files import LOGGER
from gnomon.formats._judged import in_scale
from gnomon.formats._lines import read_lines
from gnomon.formats._plain import check_parallel
from gnomon.formats._quality_tables import direct_assessments
from gnomon.formats._tsv import parse_number
from gnomon.formats._word_tags import Tagged, tagged_errors

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from gnomon.human import ErrorSpan
    from gnomon.testset import TestSet

SOURCE, OUTPUT = ".src", ".mt"
_SCORES = {
    ".da": "da",
    ".da_score": "da-z",
    ".mqm_score.mqm": "mqm",
    ".mqm_z_score": "mqm-z",
    ".hter": "hter",
}
_COSTS = ("hter",)
_TAGS = {
    ".tgt-tags": "candidate",
    ".tags": "candidate",
    ".src-tags": "source",
    ".source_tags": "source",
    ".src_tags": "source",
}
_TOKENISED = {"candidate": ".mt_tok", "source": ".src_tok"}
_TABLE = ".df.short.tsv"
_LEFT_OUT = ".src-mt.alignments"
SUFFIXES = (SOURCE, OUTPUT, ".pe", *_SCORES, *_TAGS, *_TOKENISED.values(), _LEFT_OUT)


class Stem(NamedTuple):
    """The files of one split.

    Attributes:
        name: "dev", "test.2022", ...
        files: suffix -> file.
    """

    name: str
    files: Mapping[str, Path]

    @property
    def pair(self) -> str | None:
        """The language pair, from the names."""
        found = (pair_of(file) for file in self.files.values())
        return next((pair for pair in found if pair is not None), None)

    @property
    def format(self) -> str:
        """Whose files these are."""
        if {".tgt-tags", ".src-tags", ".da"} & set(self.files):
            return "eval4nlp21"
        mlqe = {".pe", ".hter", ".source_tags", ".src_tags", _TABLE} & set(self.files)
        return "mlqe-pe" if mlqe else "wmt22-qe"


def stems_of(folder: Path) -> list[Stem]:
    """The splits in a folder: each has sources and outputs."""
    names = sorted(file.name for file in folder.iterdir())  # the readers judge what is no file
    plain = {name.removesuffix(".gz"): folder / name for name in names if name[0] != "."}
    sources = [name.removesuffix(SOURCE) for name in plain if name.endswith(SOURCE)]
    stems = [stem for stem in sources if f"{stem}{OUTPUT}" in plain]
    return [Stem(stem, _files(stem, stems, plain)) for stem in stems]


def stem_of(path: Path) -> Stem | None:
    """The split to which a file belongs."""
    if not path.parent.is_dir():
        return None
    return next((s for s in stems_of(path.parent) if path in s.files.values()), None)


def _files(stem: str, stems: list[str], names: Mapping[str, Path]) -> dict[str, Path]:
    """Suffix -> file; where a folder holds one split, every file is its own."""
    mine = {
        name: file for name, file in names.items() if len(stems) == 1 or name.startswith(f"{stem}.")
    }
    found: dict[str, Path] = {}
    for suffix in (*SUFFIXES, _TABLE):
        exact = [f"{stem}{suffix}"] if f"{stem}{suffix}" in mine else []
        fitting = exact or [name for name in mine if name.endswith(suffix)]
        if len(fitting) == 1 and mine[fitting[0]] not in found.values():
            found[suffix] = mine[fitting[0]]
    return found


def read_quality_files(stem: Stem) -> TestSet:
    """Read the files of one split.

    Raises:
        FormatError: a line of scores is no number, or tags do not fit the tokens.
        LengthMismatchError: two files have unequal numbers of lines.
    """
    files = {suffix: file for suffix, file in stem.files.items() if suffix not in _NO_LINES}
    lines = {suffix: read_lines(file) for suffix, file in files.items()}
    check_parallel({str(files[suffix]): len(texts) for suffix, texts in lines.items()})
    if _LEFT_OUT in stem.files:
        LOGGER.info("%s: word alignments are left out", stem.files[_LEFT_OUT])
    scores = {
        kind: _numbers(files[suffix], lines[suffix], kind)
        for suffix, kind in _SCORES.items()
        if suffix in lines
    }
    if _TABLE in stem.files:
        scores |= direct_assessments(stem.files[_TABLE], lines[SOURCE])
    source = stem.files[SOURCE]
    return estimated_set(
        str(source),
        name=stem.name if stem.pair is None else f"{stem.pair}.{stem.name}",
        language_pair=stem.pair,
        sources=lines[SOURCE],
        outputs=lines[OUTPUT],
        scores=scores,
        references={POST_EDIT: lines[".pe"]} if ".pe" in lines else {},
        errors=_errors(files, lines),
    )


_NO_LINES = (_TABLE, _LEFT_OUT)


def _numbers(file: Path, lines: list[str], kind: str) -> list[float]:
    name = str(file)
    values = [(parse_number(text.strip(), name, i), i) for i, text in enumerate(lines, start=1)]
    if kind in _COSTS:
        return [gain(value, name, i) for value, i in values]
    return [in_scale(kind, value, name, i) for value, i in values]


def _errors(files: Mapping[str, Path], lines: Mapping[str, list[str]]) -> list[ErrorSpan]:
    found: list[ErrorSpan] = []
    for suffix, side in _TAGS.items():
        if suffix not in lines:
            continue
        texts = lines[OUTPUT if side == "candidate" else SOURCE]
        tokenised = lines.get(_TOKENISED[side], texts)
        rows = [
            Tagged(tags, tokens, text, str(files[suffix]), number)
            for number, (tags, tokens, text) in enumerate(
                zip(lines[suffix], tokenised, texts, strict=True), start=1
            )
        ]
        found += tagged_errors(rows, SYSTEM, side, gaps=suffix == ".tags")
    return found
