"""What blind sheets may say: pairs that MuLER tells apart, and what people answered."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.truth.worlds import world
from tests.truth.worlds_muler import PATTERN, lines, moved

import gnomon as gn
from gnomon.human.sheets import Key, KeyRow, key_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.core.findings import Finding

_ALL = "human.sheet.*"


def written(testset: gn.TestSet, **options: Any) -> Finding:
    with tempfile.TemporaryDirectory() as folder:
        files = {"save": Path(folder, "s.tsv"), "key": Path(folder, "k.tsv")}
        return gn.human.sheet(testset, **files, **options)


def answered(
    rows: Sequence[KeyRow], *annotators: Sequence[str], confidence: float = 0.95
) -> Finding:
    """What people answered, item by item."""
    with tempfile.TemporaryDirectory() as folder:
        key = Path(folder, "k.tsv")
        key.write_text(key_text(Key("s", {r.item: r for r in rows}, "muler", "")), encoding="utf-8")
        files = []
        for number, answers in enumerate(annotators):
            files.append(Path(folder, f"{number}.tsv"))
            filled = [f"{row.item}\t{said}" for row, said in zip(rows, answers, strict=True)]
            files[-1].write_text("\n".join(["item\tanswer", *filled, ""]), encoding="utf-8")
        return gn.human.sheet(read=files, key=key, confidence=confidence)


def preferring(agree: int, items: int = 100, confidence: float = 0.95) -> Finding:
    """Nouns, of which people prefer those of the system that MuLER calls better so often."""
    rows = [KeyRow(f"s-{n}", "pos:NOUN", n + 1, "x", "y", "x") for n in range(items)]
    return answered(rows, "A" * agree + "B" * (items - agree), confidence=confidence)


def scoring(mean_of_a: int, segments: int = 60) -> Finding:
    """Two systems scored by one person, B 50 points in the mean."""
    rows = [KeyRow(f"s-{n}{s}", "", n + 1, s, "", "") for n in range(segments) for s in "ab"]
    means = {"a": mean_of_a, "b": 50}
    return answered(rows, [str(means[row.a] + row.segment % 21 - 10) for row in rows])


def _pairs(readable: bool) -> Finding:
    made = lines({"A": {"animal": 0.1, "place": 0.6}, "B": {"animal": 0.6}})
    testset = gn.TestSet.from_lists(*(made if readable else moved()))
    features = ["re:animal" if readable else "re:after"]
    given = {"origin": "muler", "features": features, "pattern": PATTERN, "items": 20}
    return written(testset, max_score_gap=100.0, **given)


@world("a pair far apart on animals", says=["human.sheet.found"], silent=[_ALL])
def pair() -> Finding:
    return _pairs(readable=True)


@world("a pair whose figures cannot be read", says=["human.sheet.unreadable"], silent=[_ALL])
def unreadable_pair() -> Finding:
    return _pairs(readable=False)


@world(
    "fewer outputs than are asked for",
    says=["note.human.sheet.smaller"],
    silent=[_ALL, "human.sample.*"],
)
def small_sheet() -> Finding:
    systems = {"A": ["one", "two"], "B": ["one", "three"]}
    return written(gn.TestSet.from_lists(systems, ["one", "two"]), items=2)


@world(
    "people agree with MuLER in 70 of 100 items",
    says=["human.sheet.preferred"],
    silent=[_ALL],
    without=["cannot tell"],
)
def people_agree() -> Finding:
    return preferring(70)


@world(
    "people agree with MuLER in 52 of 100 items",
    says=["human.sheet.preferred"],
    without=["People prefer"],
)
def people_toss() -> Finding:
    return preferring(52)


@world(
    "people agree with MuLER in 63 of 100 items",
    says=["human.sheet.preferred"],
    without=["cannot tell"],
)
def people_lean() -> Finding:
    return preferring(63)


@world(
    "people agree with MuLER in 63 of 100 items, where one error in 100 is allowed",
    says=["human.sheet.preferred"],
    without=["People prefer"],
)
def people_lean_at_another_level() -> Finding:
    return preferring(63, confidence=0.99)


@world(
    "people prefer one system throughout, of which two features expect the opposite",
    says=["human.sheet.preferred"],
    silent=["data.few"],
)
def people_against_one_feature() -> Finding:
    rows = [
        KeyRow(f"{feature}-{n}", f"pos:{feature}", n + 1, "x", "y", expected)
        for feature, expected in (("NOUN", "x"), ("VERB", "y"))
        for n in range(40)
    ]
    return answered(rows, ["A"] * 80)


@world("people answered 12 items", says=["data.few"], silent=[_ALL])
def few_answers() -> Finding:
    return preferring(12, 12)


@world("people call all items ties", says=["data.few"], silent=[_ALL])
def ties() -> Finding:
    rows = [KeyRow(f"s-{n}", "", n + 1, "अ", "ب", "") for n in range(100)]
    return answered(rows, ["tie"] * 100)


@world(
    "one system is a little better in every segment",
    says=["human.sheet.scored"],
    silent=[_ALL],
    without=["cannot tell"],
)
def scored_in_pairs() -> Finding:
    rows = [KeyRow(f"s-{n}{s}", "", n + 1, s, "", "") for n in range(60) for s in "ab"]
    return answered(rows, [str(37 * row.segment % 90 + 5 * (row.a == "a")) for row in rows])


@world(
    "two systems are scored everywhere, and a third in ten segments",
    says=["human.sheet.scored", "data.few"],
    silent=[_ALL],
    without=["different segments"],
)
def scored_sparsely() -> Finding:
    rows = [
        KeyRow(f"s-{n}{s}", "", n + 1, s, "", "")
        for n in range(60)
        for s in ("甲", "乙", *(["丙"] if n < 10 else []))
    ]
    means = {"甲": 60, "乙": 40, "丙": 90}
    return answered(rows, [str(means[row.a] + row.segment % 9) for row in rows])


@world("people score one system 20 points higher", says=["human.sheet.scored"], silent=[_ALL])
def scored_apart() -> Finding:
    return scoring(70)


@world(
    "people score two systems alike",
    says=["human.sheet.scored"],
    silent=[_ALL],
    without=["People score"],
)
def scored_alike() -> Finding:
    return scoring(50)
