"""The formats by name."""

from __future__ import annotations

from typing import NamedTuple

from gnomon.formats._human_formats import HUMAN_FORMATS
from gnomon.formats._human_write import WRITTEN
from gnomon.formats._published import PUBLISHED


class FormatInfo(NamedTuple):
    """One format, as ``gnomon list formats`` shows it."""

    name: str
    reads: str
    writes: str
    sentence: str


_FORMATS = (
    FormatInfo(
        "plain text",
        "yes",
        "yes",
        "one segment per line in UTF-8; .gz and standard input (-) too; named after the file",
    ),
    FormatInfo(
        "gnomon",
        "yes",
        "yes",
        "a test set directory: src.txt, ref.NAME.txt, systems/NAME.txt, human/KIND.LEVEL.tsv,"
        " systems.tsv, documents.tsv",
    ),
    FormatInfo(
        "mt-metrics-eval",
        "yes",
        "yes",
        "test set directories and score files as in google-research/mt-metrics-eval",
    ),
    FormatInfo(
        "tsv", "yes", "scores", "a table with a header and no quoting; you name the columns"
    ),
    FormatInfo("jsonl", "yes", "scores", "one JSON object per line; you name the keys"),
    FormatInfo("wmt", "scores", "scores", "METRIC LP TESTSET SYSTEM [SEGMENT] SCORE"),
    FormatInfo(
        "sacrebleu", "yes", "no", "a test set by sacreBLEU's name, such as wmt19 with -l de-en"
    ),
    FormatInfo(
        "paraphrases",
        "yes",
        "yes",
        "paraphrases of references: parallel ref.NAME.txt, or JSONL with segment text method system"
        " score seed model",
    ),
    FormatInfo(
        "ptb",
        "trees",
        "trees",
        "a constituency tree in brackets per line; (()) where there is none",
    ),
)


def _judgements() -> list[FormatInfo]:
    written = {"wmt-darr": "darr"}
    names = {written.get(name, name) for name in WRITTEN}
    known = {info.name for info in _FORMATS}
    return [
        FormatInfo(name, "judgements", "judgements" if name in names else "no", sentence)
        for name, sentence in HUMAN_FORMATS.items()
        if name not in known
    ]


def describe() -> list[FormatInfo]:
    """The formats: name, whether it is read, whether it is written, and what it is."""
    published = (FormatInfo(name, "yes", "no", what) for name, what in PUBLISHED.items())
    return [*_FORMATS, *published, *_judgements()]
