"""The formats of human judgements by name, and how a file is told to be of one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from gnomon.errors import FormatError
from gnomon.formats._layout import is_human_file
from gnomon.formats._lines import read_lines, shown
from gnomon.formats._rows import fields
from gnomon.formats._score_table import roles

if TYPE_CHECKING:
    from os import PathLike

HUMAN_FORMATS = {
    "mqm": "MQM errors, TSV: system doc doc_id seg_id rater source target category severity",
    "table": "scores with a header: system seg [rater] raw, z or any one column",
    "wmt-da": "WMT direct assessments: HITId WorkerId ... sys_id rid type sid score time",
    "wmt-da-seg": "WMT segment scores: SYS SID RAW.SCR Z.SCR N, or LP DATA SYSTEM SID HUMAN",
    "wmt-da-sys": "WMT system scores: RAW Z ASSESSED N SYSTEM without a header, or LP HUMAN SYSTEM",
    "appraise": "Appraise exports, CSV without a header: direct assessment or ESA",
    "pearmut": "pearmut logs, JSONL: user_id, item, annotation",
    "esa": "one annotated output per line, JSONL: system, tgt, esa_score, esa_spans",
    "wmt-humeval": "WMT 2024 and 2025, JSONL: src_text, tgt_text, scores",
    "darr": "pairs: seg better worse, or WMT's LP DATA SID BETTER WORSE",
    "rr": "WMT relative rankings, CSV: srclang,trglang,srcIndex,...,system1Id,system1rank,...",
    "mt-metrics-eval": "LP.NAME.{sys,seg,doc,domain}.score: SYSTEM SCORE in blocks",
    "ratings": "mt-metrics-eval's LP.NAME.seg.rating: SYSTEM JSON [RATER]",
    "ratings-json": "mt-metrics-eval's standalone ratings, JSONL: system_id, hypothesis, errors",
    "gnomon": "a file of gnomon's layout: KIND.{doc,domain,spans}.tsv",
}
_KEYS = (
    ("pearmut", {"annotation", "user_id"}),
    ("esa", {"esa_score", "system"}),
    ("wmt-humeval", {"scores", "tgt_text"}),
    ("ratings-json", {"errors", "system_id"}),
)
_HEADERS = (
    ("mqm", {"system", "target", "category", "severity"}),
    ("darr", {"better", "worse"}),
    ("rr", {"srclang", "system1id", "system1rank"}),
    ("wmt-da", {"hitid", "workerid", "sys_id"}),
    ("wmt-da-seg", {"sys", "sid", "raw.scr"}),
    ("wmt-da-seg", {"lp", "system", "sid", "human"}),
    ("wmt-da-sys", {"human", "system", "lp"}),
)


def detect(path: str | PathLike[str]) -> str:
    """The format of a file, by its suffix and its first line.

    Raises:
        FormatError: nothing tells; the formats are listed.
    """
    name = shown(path).removesuffix(".gz")
    if name.endswith(".score"):
        return "mt-metrics-eval"
    if name.endswith(".rating"):
        return "ratings"
    first = next((line for line in read_lines(path) if line.strip()), "")
    found = _by_keys(first) if first.startswith("{") else _by_header(name, first)
    if found is None:
        listed = "; ".join(f"{form}: {what}" for form, what in HUMAN_FORMATS.items())
        raise FormatError(
            f"is of no known format of human judgements; its first line is {first[:80]!r}. Name the"
            f" format if you know it (--human-format; format=...). There are: {listed}",
            path=path,
        )
    return found


def _by_keys(line: str) -> str | None:
    try:
        keys = set(json.loads(line))
    except (ValueError, RecursionError):
        return None
    return next((form for form, needed in _KEYS if needed <= keys), None)


def _by_header(name: str, line: str) -> str | None:
    if _is_appraise(line):
        return "appraise"
    separator = "\t" if "\t" in line else "," if "," in line else None
    columns = line.split(separator) if separator == "," else _columns(line)
    lower = {column.strip().lower() for column in columns}
    for form, needed in _HEADERS:
        if needed <= lower:
            return form
    if is_human_file(name.replace("\\", "/").rpartition("/")[2]) and "system" in lower:
        level = name.removesuffix(".tsv").rpartition(".")[2]
        if level in ("doc", "domain", "spans"):
            return "gnomon"
    if "system" in roles([column.strip() for column in columns]):
        return "table"
    return "wmt-da-sys" if _is_ranking(columns) else None


def _columns(line: str) -> list[str]:
    """Fields between tabs, or between white space if those hold several names."""
    parts = line.split("\t")
    return parts if len(parts) > 2 or not any(" " in part for part in parts) else fields(line)


def _is_appraise(line: str) -> bool:
    parts = line.split(",")
    return len(parts) >= 9 and parts[3] in ("TGT", "BAD", "REF", "CHK", "BAD.REF")


def _is_ranking(columns: list[str]) -> bool:
    return len(columns) == 5 and all(_is_number(part) for part in columns[:4])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
