"""Agreement of difficulty with people on whole test sets, in every variant.

    python scripts/difficulty_evidence.py DATA OUT --model MODEL --layer N [--embeddings FOLDER]
    python scripts/difficulty_evidence.py --table OUT
    python scripts/difficulty_evidence.py --corrected papers/difficulty/evidence.md

scores the six into-English sets of WMT18 and WMT19 that lie under DATA (folders such as
``wmt19/de-en`` in gnomon's own layout) under BERTScore with and without weights, and writes one
file per set to OUT; sets whose file is there are not done again. ``--embeddings`` keeps the
vectors, ``--every N`` takes every N-th segment alone. The second form prints the tables, in
Markdown; papers/difficulty/evidence.md tells what they mean. The third form reads these
tables and prints what is left of each column's differences when p is corrected for their number.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import false_discovery_control

import gnomon as gn
from gnomon.messages import Message, noted
from gnomon.stats import holm

SETS = ("wmt18/cs-en", "wmt18/de-en", "wmt18/fi-en", "wmt19/de-en", "wmt19/kk-en", "wmt19/lt-en")
#: the best systems by human score that are judged apart
TOPS = ("6", "4")
README = "variant='authors', ref_diff=True, softmax_norm=True, range_one=True"
#: variant -> its spec, with the options of the model in place of M
VARIANTS = {
    "unrescaled": "difficulty(bertscore(M), rescale=False)",
    "rescaled": "difficulty(bertscore(M, rescale='estimate'))",
    "README": f"difficulty(bertscore(M, rescale='estimate'), {README})",
    "precision, unrescaled": "difficulty(bertscore(M, score='precision'), rescale=False)",
    "precision, rescaled": "difficulty(bertscore(M, score='precision', rescale='estimate'))",
    "recall, unrescaled": "difficulty(bertscore(M, score='recall'), rescale=False)",
    "recall, rescaled": "difficulty(bertscore(M, score='recall', rescale='estimate'))",
}


def main() -> None:
    """Score, or print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--model", default="roberta-large")
    parser.add_argument("--layer", type=int)
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--name", help="of the model, in file names")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--embeddings", type=Path)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--table", type=Path, metavar="OUT")
    parser.add_argument("--corrected", type=Path, metavar="PAGE")
    args = parser.parse_args()
    if args.corrected is not None:
        correct(args.corrected)
        return
    if args.table is not None:
        show(args.table)
        return
    if args.data is None or args.out is None:
        parser.error("DATA and OUT are needed")
    args.out.mkdir(parents=True, exist_ok=True)
    name = args.name or args.model.replace("/", "_")
    for name_of_set in args.sets:
        file = args.out / f"{name}.{name_of_set.replace('/', '.')}.json"
        if file.is_file():
            continue
        judgements = judged(name_of_set, args)
        unfinished = file.with_suffix(".part")
        unfinished.write_text(
            json.dumps({"set": name_of_set, "model": name, **judgements}), encoding="utf-8"
        )
        unfinished.replace(file)
        sys.stderr.write(f"{file}\n")


def judged(one: str, args: argparse.Namespace) -> dict[str, Any]:
    """Gains in agreement on one set, for every variant and number of best systems."""
    testset = gn.TestSet.read(args.data / one)
    if args.every > 1:
        testset = testset.select(segments=range(0, testset.segments, args.every))
    model = f"model={args.model!r}"
    model += f", layer={args.layer}" if args.layer is not None else ""
    model += f", precision={args.precision!r}" if args.precision != "fp32" else ""
    model += f", embeddings={str(args.embeddings)!r}" if args.embeddings else ""
    specs = {name: spec.replace("(M", f"({model}") for name, spec in VARIANTS.items()}
    rows: list[dict[str, Any]] = []
    notices: list[Message] = []
    for variant, spec in specs.items():
        base = f"{spec[:-1]}, weighted=False)"
        finding = gn.metaeval.metaeval(
            testset,
            [base, spec],
            human="da-z",
            top=TOPS,
            baseline=base,
            levels=["system"],
            statistics=["pearson", "kendall_b"],
            alternative="two-sided",
            resamples=args.resamples,
        )
        rows += [{**row, "variant": variant} for row in finding.table("gains").rows]
        notices += finding.notices
    size = {"systems": len(testset.systems), "segments": testset.segments}
    return {**size, "rows": rows, "notices": list(dict.fromkeys(map(noted, notices)))}


def show(out: Path) -> None:
    """Print what was found: the tables of papers/difficulty/evidence.md."""
    results = [json.loads(file.read_text(encoding="utf-8")) for file in out.glob("*.json")]
    results.sort(key=lambda result: (result["model"] != "MiniLM", SETS.index(result["set"])))
    for start, label in SUBSETS.items():
        _head(f"{label}, Pearson's r", "model", "base", *SHOWN)
        for result in results:
            rows = [_row(result, "pearson", start, variant) for variant in SHOWN]
            if rows[0] is not None:
                cells = map(_difference, rows)
                _line(result["set"], result["model"], f"{rows[0]['base']:.3f}", *cells)
    for statistic in ("pearson", "kendall_b"):
        _head(f"{statistic}: mean (intervals above 0 / below 0, of sets)", *VARIANTS)
        for model in dict.fromkeys(result["model"] for result in results):
            of_model = [result for result in results if result["model"] == model]
            for start, label in SUBSETS.items():
                means = [_mean(of_model, statistic, start, variant) for variant in VARIANTS]
                _line(f"{model}, {label}", *means)
    _head("r of the weighted score, all systems", "model", *VARIANTS)
    for result in results:
        rows = [_row(result, "pearson", "all", variant) for variant in VARIANTS]
        _line(
            result["set"],
            result["model"],
            *(f"{row['weighted']:.3f}" if row else "" for row in rows),
        )
    for result in results:
        signs = [notice for notice in result["notices"] if "different signs" in notice]
        print("\n".join(f"- {result['set']}, {result['model']}: {notice}" for notice in signs))


_CELL = re.compile(r"([+-]\d*\.\d+) \[([+-]\d*\.\d+), ([+-]\d*\.\d+)\]")


def correct(page: Path) -> None:
    """Print which differences of a page's tables are left after Holm, and Benjamini-Hochberg.

    p is that of the normal distribution whose 95 % interval is the printed one. Figures are rounded
    to .01: a difference counts as .005 nearer to 0, and its interval as .01 wider.
    """
    cells: dict[str, list[tuple[str, float, float]]] = {}
    subset = ""
    columns: list[str] = []
    for line in page.read_text(encoding="utf-8").split("\n"):
        parts = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(parts) > 4 and parts[1:4] == ["model", "segments", "base r"]:
            subset, columns = parts[0], parts[4:]
        elif len(parts) == 4 + len(columns) and parts[0].startswith("WMT"):
            for column, text in zip(columns, parts[4:], strict=True):
                value, low, high = map(float, _CELL.fullmatch(text).groups())  # type: ignore[union-attr]  # a cell of a table
                error = (high - low + 0.01) / (2 * 1.959964)
                p = math.erfc(max(abs(value) - 0.005, 0.0) / error / math.sqrt(2))
                name = f"{subset}, {parts[0]}, {parts[1]}"
                cells.setdefault(column, []).append((name, value, p))
    for column, tested in cells.items():
        ps = [one[2] for one in tested]
        corrected = {"none": np.array(ps), "Holm": holm(ps)}
        corrected["Benjamini-Hochberg"] = false_discovery_control(ps)
        for name, values in corrected.items():
            left = [one for one, q in zip(tested, values.tolist(), strict=True) if q <= 0.05]
            up = [one[0] for one in left if one[1] > 0]
            down = [one[0] for one in left if one[1] < 0]
            print(f"{column}, {name}: {len(up)} above 0, {len(down)} below, of {len(tested)}")
            if name == "Holm":
                print("", *(f"above: {one}" for one in up), sep="\n  ")
                print("", *(f"below: {one}" for one in down if "all" not in one), sep="\n  ")


#: the variants whose differences are shown set by set
SHOWN = ("unrescaled", "rescaled", "README", "recall, rescaled")


def _head(*cells: str) -> None:
    print()
    _line(*cells)
    _line(*("---" for _ in cells))


def _line(*cells: str) -> None:
    print("|", " | ".join(cells), "|")


#: how the rows of a subset begin -> what it is called
SUBSETS = {"all": "all systems", "top 6": "the best six", "top 4": "the best four"}


def _row(one: dict[str, Any], statistic: str, start: str, variant: str) -> dict[str, Any] | None:
    for row in one["rows"]:
        key = row["variant"], row["statistic"], row["subset"].startswith(start)
        if key == (variant, statistic, True):
            return dict(row)
    return None


def _difference(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    low, high = row["gain_low"], row["gain_high"]
    return f"{row['gain']:+.2f} [{low:+.2f}, {high:+.2f}]"


def _mean(own: list[dict[str, Any]], statistic: str, start: str, variant: str) -> str:
    rows = [row for member in own if (row := _row(member, statistic, start, variant)) is not None]
    if not rows:
        return ""
    mean = sum(row["gain"] for row in rows) / len(rows)
    above = sum(row["gain_low"] > 0 for row in rows)
    below = sum(row["gain_high"] < 0 for row in rows)
    return f"{mean:+.3f} ({above} / {below} of {len(rows)})"


if __name__ == "__main__":
    main()
