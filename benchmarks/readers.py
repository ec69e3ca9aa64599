"""What reading 100,000 segments costs in each format, beside XLIFF 1.2.

``python benchmarks/readers.py`` prints a table and keeps it in ``benchmarks/readers.md``. A process
of its own reads each file; what reading ten segments costs (start-up) is taken off.
"""

from __future__ import annotations

import csv
import json
import random
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import openpyxl
import pyarrow as pa
from _measure import command, keep
from pyarrow import parquet

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_FEW, _SOME, _ALL = 10, 25_000, 100_000
_BASE, _NOISE = "XLIFF 1.2", 0.05  # seconds, below which nothing is said of growth
_TEXTS = "import sys, gnomon; gnomon.formats.read_systems(sys.argv[1:])"
_TABLE = (
    "import sys, gnomon;"
    " gnomon.formats.read_table(sys.argv[1], references=['reference'], systems=['a'])"
)


def sentences(count: int) -> list[str]:
    """Texts of 5 to 25 words, some with signs that formats have to escape."""
    draw = random.Random(1)  # noqa: S311  # texts need no secrets
    words = [f"w{number:x}" for number in range(5000)] + ["R&D", "<b>", '"so"']
    return [" ".join(draw.choices(words, k=draw.randint(5, 25))) for _ in range(count)]


def _lines(texts: Sequence[str], path: Path) -> None:
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")


def _n_best(texts: Sequence[str], path: Path) -> None:
    _lines([f"{n} ||| {t} ||| F= 1 ||| -1" for n, t in enumerate(texts) for _ in range(5)], path)


def _xliff(texts: Sequence[str], path: Path) -> None:
    units = (
        f'<trans-unit id="{n}"><source>{escape(t)}</source>'
        f'<target><g id="1">{escape(t)}</g></target></trans-unit>'
        for n, t in enumerate(texts)
    )
    about = '<file original="x" source-language="en" target-language="de">'
    _lines(['<xliff version="1.2">', about, "<body>", *units, "</body></file></xliff>"], path)


def _xliff_2(texts: Sequence[str], path: Path) -> None:
    units = (
        f'<unit id="{n}"><segment><source>{escape(t)}</source>'
        f"<target>{escape(t)}</target></segment></unit>"
        for n, t in enumerate(texts)
    )
    head = '<xliff version="2.0" srcLang="en" trgLang="de"><file id="f">'
    _lines([head, *units, "</file></xliff>"], path)


def _tmx(texts: Sequence[str], path: Path) -> None:
    units = (
        f'<tu tuid="{n}"><tuv xml:lang="en"><seg>{escape(t)}</seg></tuv>'
        f'<tuv xml:lang="de"><seg>{escape(t)}</seg></tuv></tu>'
        for n, t in enumerate(texts)
    )
    head = '<tmx version="1.4"><header srclang="en"/><body>'
    _lines([head, *units, "</body></tmx>"], path)


def _po(texts: Sequence[str], path: Path) -> None:
    quoted = (json.dumps(text, ensure_ascii=False) for text in texts)
    _lines([f'msgctxt "{n}"\nmsgid {t}\nmsgstr {t}\n' for n, t in enumerate(quoted)], path)


def _subtitles(texts: Sequence[str], path: Path) -> None:
    cues = (f"{n}\n00:00:01,000 --> 00:00:02,000\n{t}\n" for n, t in enumerate(texts, start=1))
    _lines([*cues], path)


def _harness(texts: Sequence[str], path: Path) -> None:
    samples = (
        {"doc_id": n, "doc": {"source": t}, "target": t, "resps": [[t]], "filtered_resps": [t]}
        for n, t in enumerate(texts)
    )
    _lines([json.dumps(sample | {"f1": 0.5}) for sample in samples], path)


def _inspected(texts: Sequence[str]) -> list[dict[str, object]]:
    return [
        {"id": n, "target": t, "output": {"choices": [{"message": {"content": t}}]}}
        for n, t in enumerate(texts)
    ]


def _inspect(texts: Sequence[str], path: Path) -> None:
    path.write_text(json.dumps({"samples": _inspected(texts)}), encoding="utf-8")


def _archive(texts: Sequence[str], path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for sample in _inspected(texts):
            packed.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))


def _batch(texts: Sequence[str], path: Path) -> None:
    choices = ({"choices": [{"message": {"content": text}}]} for text in texts)
    answers = ({"custom_id": str(n), "response": {"body": body}} for n, body in enumerate(choices))
    _lines([json.dumps(answer) for answer in answers], path)


def _lighteval(texts: Sequence[str], path: Path) -> None:
    rows = [
        {
            "doc": {"id": str(n), "choices": [text], "gold_index": 0},
            "model_response": {"text": [text]},
            "metric": {"f1": 0.5},
        }
        for n, text in enumerate(texts)
    ]
    parquet.write_table(pa.Table.from_pylist(rows), path)


def _separated(texts: Sequence[str], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("reference", "a"), *zip(texts, texts, strict=True)])


def _workbook(texts: Sequence[str], path: Path) -> None:
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in [("reference", "a"), *zip(texts, texts, strict=True)]:
        sheet.append(row)
    book.save(path)


_KINDS: dict[str, tuple[str, Callable[[Sequence[str], Path], None], str]] = {
    "lines": ("txt", _lines, _TEXTS),
    "n-best list, 5 each": ("nbest", _n_best, _TEXTS),
    "XLIFF 1.2": ("xlf", _xliff, _TEXTS),
    "XLIFF 2": ("xliff", _xliff_2, _TEXTS),
    "TMX": ("tmx", _tmx, _TEXTS),
    "PO": ("po", _po, _TEXTS),
    "SubRip": ("srt", _subtitles, _TEXTS),
    "lm-evaluation-harness": ("jsonl", _harness, _TEXTS),
    "inspect": ("json", _inspect, _TEXTS),
    "inspect, an archive": ("eval", _archive, _TEXTS),
    "OpenAI's batches": ("jsonl", _batch, _TEXTS),
    "lighteval": ("parquet", _lighteval, _TEXTS),
    "CSV, two columns": ("csv", _separated, _TABLE),
    "XLSX, two columns": ("xlsx", _workbook, _TABLE),
}


def main() -> None:
    """Measure, print, write the table."""
    texts = sentences(_ALL)
    lines = ["| format | time | memory | time of x4 | memory of x4 |", "|---|---|---|---|---|"]
    rows: dict[str, tuple[float, float, str, str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (suffix, write, code) in _KINDS.items():
            costs = []
            for count in (_FEW, _SOME, _ALL):
                path = Path(folder) / f"{count}.{suffix}"
                write(texts[:count], path)
                often = 5 if count == _FEW or name == "lines" else 1  # what takes little is noisy
                runs = [command([sys.executable, "-c", code, path]) for _ in range(often)]
                costs.append([min(cost) for cost in zip(*runs, strict=True)])
                path.unlink()
            few, some, every = costs
            time, size = every[0] - few[0], every[1] - few[1]
            shorter, smaller = some[0] - few[0], some[1] - few[1]
            slope = f"x{time / shorter:.1f}" if shorter > _NOISE else "-"
            rows[name] = time, size, slope, f"x{size / smaller:.1f}"
    base = rows[_BASE]
    for name, (time, size, *grown) in rows.items():
        beside = f"x{max(time, 0) / base[0]:.2f} | x{size / base[1]:.2f}"
        lines.append(f"| {name} | {beside} | {' | '.join(grown)} |")
    note = (
        f"100,000 segments: CPU time and peak memory of reading, beside {_BASE} (files of units"
        " hold sources and targets, tables two columns); x4: beside 25,000 segments."
    )
    keep("readers", [*lines, "", note])


if __name__ == "__main__":
    main()
