"""Tables 2 to 4 and 11 to 15 of Karidi et al. (2023), laid out as the paper has them.

python papers/muler/tables.py range wmt19/de-en --systems A B --features pos:NOUN pos:VERB
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from gnomon import TestSet
from gnomon.muler.validate import validate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gnomon import Finding
    from gnomon.core.findings import Cell

    Rows = Sequence[Mapping[str, Cell]]


def main(given: Sequence[str] | None = None) -> None:
    """Print a table as tab-separated columns."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("table", choices=_TABLES)
    parser.add_argument("testset")
    parser.add_argument("--metric", default="bleu(variant='authors')")
    parser.add_argument("--features", nargs="+", default=["pos:NOUN", "pos:VERB"])
    parser.add_argument("--systems", nargs="+")
    parser.add_argument("--first", type=int, help="segments; all by default")
    parser.add_argument("--shares", nargs="+", type=float, default=[0.25, 0.5, 0.75])
    parser.add_argument("--groups", nargs="+", type=int, default=[2, 3, 4, 5, 6])
    parser.add_argument("--draws", type=int, default=1000)
    args = parser.parse_args(given)
    testset = TestSet.read(args.testset, systems=args.systems)
    if args.first is not None:
        testset = testset.select(segments=range(min(args.first, testset.segments)))
    found = validate(
        testset,
        args.metric,
        args.features,
        experiments=[args.table],
        shares=args.shares,
        groups=args.groups,
        draws=args.draws,
        vocabulary="content",
    )
    _TABLES[args.table](found)


def show_range(found: Finding) -> None:
    """Tables 4 and 11 to 13: scores between the oracles, a line per system and feature."""
    rows = found.table("range").rows
    shares = list(dict.fromkeys(row["alpha"] for row in rows))
    names = ("min", *(f"{share:.0%}" for share in shares), "max", "base", "MuLER")
    print("feature", "system", *names, sep="\t")
    for key, lines in _by(rows, "feature", "system").items():
        first = lines[0]
        hybrids = [line["hybrid"] for line in lines]
        ends = (first["oracle"], first["base"], first["muler"])
        print(*key, *map(_figure, (first["anti_oracle"], *hybrids, *ends)), sep="\t")


def show_frequency(found: Finding) -> None:
    """Tables 3 and 15: MuLER and max - base of parts of a feature, as the authors average them."""
    rows = [row for row in found.table("frequency").rows if row["variant"] == "segment-clipped"]
    shares = list(dict.fromkeys(f"{row['alpha']:.0%}" for row in rows))
    figures = {"MuLER": "muler", "max - base": "gain"}
    print(
        "feature", "system", *(f"{name}, {share}" for name in figures for share in shares), sep="\t"
    )
    for key, lines in _by(rows, "feature", "system").items():
        cells = [line[column] for column in figures.values() for line in lines]
        print(*key, *map(_figure, cells), sep="\t")


def show_random(found: Finding) -> None:
    """Tables 2 and 14: features, and random words in p groups."""
    columns = (
        "muler",
        "groups",
        "random_reference_share",
        "random_output_share",
        "mean",
        "variance",
    )
    print("system", "feature", *columns, sep="\t")
    for row in found.table("random").rows:
        cells = (row[name] for name in columns)
        print(row["system"], row["feature"], *map(_figure, cells), sep="\t")


def _by(rows: Rows, *names: str) -> dict[tuple[Cell, ...], list[Mapping[str, Cell]]]:
    groups: dict[tuple[Cell, ...], list[Mapping[str, Cell]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups


def _figure(value: Cell) -> str:
    return f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)


_TABLES: Mapping[str, Callable[[Finding], None]] = {
    "range": show_range,
    "frequency": show_frequency,
    "random": show_random,
}

if __name__ == "__main__":
    main()
