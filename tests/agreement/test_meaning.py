"""What differences meant: classes, curve, years and file, by hand and by SciPy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from gnomon.agreement.meaning import (
    Meaning,
    SetPairs,
    make_meaning,
    meaning_years,
    promised,
    read_meanings,
    signature_differences,
    write_meanings,
    year_in,
)
from gnomon.agreement.thresholds import published_share
from gnomon.core.errors import DataError, FormatError
from gnomon.core.options import DrawOptions
from gnomon.core.signature import Signature
from gnomon.stats.binomial import wilson_interval

BLEU = "bleu|refs:1|case:mixed|eff:segments|tok:13a|smooth:exp|gnomon:1.0.0"
CHRF = "chrf|refs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|gnomon:1.0.0"
FEW = DrawOptions(100, 0.95, 1)


def planted(
    sets: int = 5,
    pairs: int = 60,
    *,
    year: int = 2019,
    largest: float = 10.0,
    chance: bool = False,
    seed: int = 1,
) -> list[SetPairs]:
    """Sets in which people agree with large differences, and with small ones by chance."""
    draw = np.random.default_rng([seed, year])
    made = []
    for number in range(sets):
        differences = draw.uniform(0.01, largest, size=pairs)
        share = np.full(pairs, 0.5) if chance else 0.5 + 0.5 * differences / largest
        made.append(
            SetPairs(
                f"wmt{year % 100} {'abcdefghij'[number]}{'abcdefghij'[number]}-en",
                f"{'abcdefghij'[number] * 2}-en",
                year,
                "da-z",
                12,
                differences,
                draw.random(pairs) < share,
            )
        )
    return made


def meaning(sets: list[SetPairs] | None = None) -> Meaning:
    return make_meaning("bleu", BLEU, planted() if sets is None else sets, FEW)


def test_classes_hold_every_pair_once_and_each_has_enough() -> None:
    sets = planted()
    made = meaning(sets)
    assert sum(each.pairs for each in made.classes) == made.pairs == 300
    assert [each.low for each in made.classes] == [0, *(c.high for c in made.classes[:-1])]
    for each in made.classes:
        assert each.pairs >= 30
        assert each.sets >= 3
        assert str(each.low).rstrip("0.").lstrip("0.") in ("", "1", "2", "5")
        differences = np.concatenate([s.differences for s in sets])
        agree = np.concatenate([s.agree for s in sets])
        inside = (differences >= each.low) & (differences < each.high)
        inside |= differences == made.largest if each.high == made.largest else False
        assert (each.pairs, each.agree) == (inside.sum(), agree[inside].sum())
        assert each.share_low <= each.share <= each.share_high
        wilson = wilson_interval(each.agree, each.pairs)
        assert each.share_low <= wilson.low
        assert each.share_high >= wilson.high
    assert made.largest == max(s.differences.max() for s in sets)


def test_a_class_by_hand() -> None:
    sets = [
        SetPairs(name, name, None, "da", 5, np.full(40, size), np.arange(40) < right)
        for name, size, right in (("a", 0.5, 20), ("b", 0.5, 30), ("c", 0.5, 10))
    ]
    (only,) = meaning(sets).classes
    assert (only.low, only.high, only.pairs, only.agree, only.sets) == (0, 0.5, 120, 60, 3)
    # of three sets redrawn, all three may be the third or the second
    assert (only.share_low, only.share_high) == (0.25, 0.75)


def test_the_curve_is_scipys_isotonic_regression() -> None:
    sets = planted()
    made = meaning(sets)
    differences = np.concatenate([s.differences for s in sets])
    agree = np.concatenate([s.agree for s in sets]).astype(float)
    order = np.argsort(differences)
    fitted = isotonic_regression(agree[order]).x
    for size, share in zip(differences[order][::7], fitted[::7], strict=True):
        assert made.share_at(size) == pytest.approx(share)
        assert made.share_at(-size) == pytest.approx(share)
    assert made.share_at(made.largest * 1.01) is None
    assert made.class_of(made.largest * 1.01) is None
    assert made.class_of(made.largest) == made.classes[-1]
    for point in made.curve:
        assert point.low <= point.share <= point.high


def test_sets_redrawn_make_wider_intervals_than_pairs_where_sets_differ() -> None:
    draw = np.random.default_rng(5)
    unlike = [
        SetPairs(str(k), None, None, "da", 10, draw.uniform(1, 2, 100), np.arange(100) < 30 + 9 * k)
        for k in range(8)
    ]
    (only,) = make_meaning("bleu", BLEU, unlike, DrawOptions(500, 0.95, 1)).classes
    wilson = wilson_interval(only.agree, only.pairs)
    assert only.share_high - only.share_low > 2 * (wilson.high - wilson.low)


def test_too_few_sets_or_pairs_make_no_meaning() -> None:
    with pytest.raises(DataError, match=r"2 test sets with 120 pairs .* takes 3 test sets and 100"):
        meaning(planted(2))
    with pytest.raises(DataError, match="3 test sets with 90 pairs"):
        meaning(planted(3, 30))
    assert meaning(planted(3, 34)).pairs == 102


def test_a_newer_year_is_set_beside_what_older_sets_promise() -> None:
    older = planted(6)
    newer = planted(2, year=2024, chance=True)
    (year,) = meaning_years([*older, *newer])
    assert (year.year, year.sets, year.pairs) == (2024, 2, 120)
    assert year.promised == pytest.approx(promised(newer, older))
    assert year.share < year.promised
    assert year.p is not None
    assert year.p < 0.05
    (alike,) = meaning_years([*older, *planted(2, year=2024, seed=3)])
    assert alike.p is not None
    assert alike.p > 0.05
    assert not [*meaning_years(older)]
    # two older sets promise nothing
    assert not [*meaning_years([*planted(2), *newer])]


@pytest.mark.parametrize("sets", [5, 10])
def test_years_that_are_alike_are_seldom_called_unlike(sets: int) -> None:
    wrong = 0
    for seed in range(100):
        (year,) = meaning_years(
            [*planted(sets, 40, year=2018, seed=seed), *planted(2, 40, year=2024, seed=seed)]
        )
        wrong += year.p is not None and year.p <= 0.05
    assert wrong <= 11  # of 100 at 5 %, the chance of more is below .005


def test_intervals_cover_the_share_of_all_sets() -> None:
    """Sets with shares of their own: of 100 draws of ten sets, 90 or more cover their mean."""
    covered = 0
    for seed in range(100):
        draw = np.random.default_rng(seed)
        sets = [
            SetPairs(str(k), None, None, "da", 9, np.full(40, 1.0), draw.random(40) < share)
            for k, share in enumerate(draw.uniform(0.5, 0.9, size=10))
        ]
        (only,) = make_meaning("m", "m", sets, DrawOptions(200, 0.95, seed)).classes
        covered += only.share_low <= 0.7 <= only.share_high
    assert covered >= 90


def test_labels_name_sets_and_judgements() -> None:
    made = meaning([*planted(3, year=2017), *planted(3, year=2019), *planted(2, year=2018)])
    assert made.label == "WMT17-19"
    assert made.judgements == "direct assessment"
    other = [each._replace(name=f"flores {n}") for n, each in enumerate(planted(3))]
    assert meaning(other).label == "flores 0, flores 1 and flores 2"


@pytest.mark.parametrize(
    ("name", "year"),
    [("wmt19", 2019), ("WMT-24", 2024), ("newstest2014", 2014), ("wmt190", None), ("a12", None)],
)
def test_years_are_read_off_names(name: str, year: int | None) -> None:
    assert year_in(name) == year


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    file = tmp_path / "bleu.delta-accuracy.json"
    made = meaning([*planted(6), *planted(2, year=2024)])
    write_meanings(file, [made], FEW)
    assert read_meanings(file) == (made,)
    assert json.loads(file.read_text())["format"] == "gnomon.meaning"


def _changed(data: dict[str, Any], *path: Any, value: Any) -> None:
    for key in path[:-1]:
        data = data[key]
    data[path[-1]] = value


FAULTS: dict[str, tuple[tuple[Any, ...], Any, str]] = {
    "another format": (("format",), "x", '"format" must be "gnomon.meaning"'),
    "another version": (("version",), 2, "is of version 2, and this gnomon reads version 1"),
    "no version": (("version",), None, "is of version None"),
    "a field of another type": (
        ("meanings", 0, "classes", 1, "pairs"),
        "many",
        r"Expected `int`, got `str` - at `\$.meanings\[0\].classes\[1\].pairs`",
    ),
    "a field that is not known": (("meanings", 0, "further"), 1, "unknown field `further`"),
    "no metric": (("meanings",), [], "holds no metric"),
    "too few sets": (("meanings", 0, "sets"), [], r"\$.meanings\[0\].sets: 0 sets and 0 pairs"),
    "more that agree than pairs": (
        ("meanings", 0, "sets", 0, "agree"),
        1000,
        r"\$.meanings\[0\].sets: 1000 of 60 pairs agree",
    ),
    "a class that begins elsewhere": (
        ("meanings", 0, "classes", 1, "low"),
        7.7,
        r"classes\[1\]: classes must begin at 0",
    ),
    "a curve that falls": (("meanings", 0, "curve", 0, "share"), 1.0, "must rise"),
    "a share above one": (("meanings", 0, "classes", 0, "share_high"), 1.5, "outside 0 to 1"),
    "a signature that is none": (
        ("meanings", 0, "signature"),
        "bleu|x",
        r"\$.meanings\[0\].signature: .*is not key:value",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_file_is_refused_with_its_place(fault: str, tmp_path: Path) -> None:
    file = tmp_path / "wrong.json"
    write_meanings(file, [meaning()], FEW)
    data = json.loads(file.read_text())
    path, value, said = FAULTS[fault]
    _changed(data, *path, value=value)
    file.write_text(json.dumps(data))
    with pytest.raises(FormatError, match=said) as error:
        read_meanings(file)
    assert str(error.value).startswith(f"{file}: ")


@pytest.mark.parametrize("text", ["", "no JSON", "[1]", '"text"', "{", "[" * 5000, "\x00"])
def test_what_is_no_such_json_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "wrong.json"
    file.write_text(text)
    with pytest.raises(FormatError, match="gnomon metaeval delta-accuracy makes such a file"):
        read_meanings(file)


def test_signatures_differ_by_fields_and_not_by_version() -> None:
    bleu = Signature.parse(BLEU)
    assert signature_differences(bleu, Signature.parse(BLEU.replace("1.0.0", "9.9"))) == ""
    other = BLEU.replace("tok:13a", "tok:char").replace("refs:1|", "")
    said = signature_differences(bleu, Signature.parse(other))
    assert said == "refs:none in place of refs:1 and tok:char in place of tok:13a"


@pytest.mark.parametrize(
    ("signature", "difference", "share"),
    [
        # the paper's table of thresholds, which its constants must give
        *((BLEU, d, s) for d, s in ((0.52, 0.55), (1.06, 0.65), (1.79, 0.75), (3.35, 0.85))),
        *((CHRF, d, s) for d, s in ((0.33, 0.55), (1.0, 0.7), (1.63, 0.8), (3.05, 0.9))),
        *(
            (BLEU.replace("13a", "flores200"), d, s)
            for d, s in ((0.52, 0.55), (1.49, 0.7), (3.28, 0.85), (5.57, 0.9))
        ),
        *(
            (BLEU.replace("13a", "flores101"), d, s)
            for d, s in ((0.49, 0.55), (0.95, 0.65), (2.26, 0.8))
        ),
    ],
)
def test_published_constants_give_the_published_thresholds(
    signature: str, difference: float, share: float
) -> None:
    found = published_share(Signature.parse(signature), difference)
    assert found == pytest.approx(share, abs=0.0025)
    assert published_share(Signature.parse(signature), -difference) == found


@pytest.mark.parametrize(
    "signature",
    [
        BLEU.replace("refs:1", "refs:2"),
        BLEU.replace("mixed", "lower"),
        BLEU.replace("13a", "char"),
        BLEU.replace("bleu", "bleu(max_order=2)", 1),
        CHRF.replace("nw:0", "nw:2"),
        "ter|refs:1",
        "m",
    ],
)
def test_other_metrics_have_no_published_constants(signature: str) -> None:
    assert published_share(Signature.parse(signature), 2.0) is None
