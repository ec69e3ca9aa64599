"""Lines are checked before anything is compared: shifted, shuffled, doubled, not translated."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from scripts.look_recall import recall
from tests.told import notes
from tests.truth.scripts import SCRIPTS, damaged, sentences
from tests.truth.worlds import bundled, noised, outputs, planted, references

import gnomon as gn
from gnomon import study
from gnomon.core.data_cautions import doubtful_systems
from gnomon.core.verdicts import summarise_scores
from gnomon.data.formats import misplaced_lines, sets_in
from gnomon.data.formats.line_sample import SomeLines

ROOT = Path(__file__).resolve().parents[2]
Damage = Callable[[Sequence[str]], list[str]]


def _dropped(texts: Sequence[str], at: int) -> list[str]:
    """One line is missing, and the last line stands there twice in return."""
    return [*texts[:at], *texts[at + 1 :], texts[-1]]


def _doubled(texts: Sequence[str], at: int) -> list[str]:
    """One line stands there twice, and the last line is gone."""
    return [*texts[: at + 1], *texts[at:-1]]


def _shuffled(texts: Sequence[str]) -> list[str]:
    return random.Random(1).sample(list(texts), len(texts))


def _quarter(texts: Sequence[str]) -> list[str]:
    """A quarter of the lines, here and there, in another order."""
    draw, moved = random.Random(2), list(texts)
    some = draw.sample(range(len(texts)), len(texts) // 4)
    for place, line in zip(some, draw.sample(some, len(some)), strict=True):
        moved[place] = texts[line]
    return moved


def _blocks(texts: Sequence[str]) -> list[str]:
    """Two blocks of a tenth of the lines each stand in each other's place."""
    size, second = len(texts) // 10, len(texts) // 2
    first = [*texts[second : second + size], *texts[size:second], *texts[:size]]
    return [*first, *texts[second + size :]]


def _exchanged(texts: Sequence[str]) -> list[str]:
    pairs = zip(texts[1::2], texts[::2], strict=False)
    return [line for pair in pairs for line in pair] + list(texts[len(texts) // 2 * 2 :])


#: what is done to an output, and what is said of it
DAMAGES: dict[str, tuple[Damage, str]] = {
    "one line up": (lambda t: [*t[1:], t[0]], "shifted by 1 line "),
    "one line down": (lambda t: [t[-1], *t[:-1]], "shifted by 1 line "),
    "two lines up": (lambda t: [*t[2:], *t[:2]], "shifted by 2 lines "),
    "three lines down": (lambda t: [*t[-3:], *t[:-3]], "shifted by 3 lines "),
    "a line dropped in the middle": (lambda t: _dropped(t, len(t) // 2), "shifted by 1 line "),
    "a line doubled in the middle": (lambda t: _doubled(t, len(t) // 2), "shifted by 1 line "),
    "shuffled": (_shuffled, "in another order"),
    "a quarter shuffled": (_quarter, "in another order"),
    "two blocks exchanged": (_blocks, "in another order"),
    "turned round": (lambda t: list(t[::-1]), "in another order"),
    "neighbours exchanged": (_exchanged, "neighbouring lines"),
    "neighbours exchanged in the second half": (
        lambda t: [*t[: len(t) // 2], *_exchanged(t[len(t) // 2 :])],
        "neighbouring lines",
    ),
    "each text twice in its line": (
        lambda t: [f"{line} {line}" for line in t],
        "hold their text twice",
    ),
    "a third of the texts twice": (
        lambda t: [line if n % 3 else f"{line}{line}" for n, line in enumerate(t)],
        "hold their text twice",
    ),
    "each line twice": (
        lambda t: [line for line in t for _ in "ab"][: len(t)],
        "repeat the line before",
    ),
    "the first half twice": (
        lambda t: [*t[: len(t) // 2], *t[: len(t) - len(t) // 2]],
        "repeat the line",
    ),
}


@pytest.mark.parametrize("segments", [30, 209])
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_named_with_what_is_wrong(damage: str, segments: int) -> None:
    own, (change, said) = outputs()[:segments], DAMAGES[damage]
    ts = planted({"fine": outputs("apertium-galician"), "wrong": change(own)}, segments=segments)
    (one,) = ts.anomalies
    assert said in str(one)
    assert doubtful_systems([one]) == ("wrong",)


@pytest.mark.parametrize("language", ["zh", "ja", "th"])
@pytest.mark.parametrize("damage", ["one line up", "a line dropped in the middle", "shuffled"])
def test_they_are_named_where_spaces_part_no_words(damage: str, language: str) -> None:
    own = sentences(language, 60)
    fine = damaged(own, language, 0.3, 2)
    change, said = DAMAGES[damage]
    ts = gn.TestSet.from_lists({"fine": fine, "wrong": change(fine)}, own)
    (one,) = ts.anomalies
    assert said in str(one)
    assert doubtful_systems([one]) == ("wrong",)


@pytest.mark.parametrize("language", ["zh", "th"])
def test_poor_lines_of_texts_of_one_pattern_are_in_order(language: str) -> None:
    """Where lines differ in a phrase or two, a wrong phrase makes of one line nearly another."""
    draw = random.Random(3)
    letters = SCRIPTS[language][0]
    slots = [["".join(draw.choices(letters, k=4)) for _ in range(7)] for _ in range(5)]
    lines = [[draw.choice(slot) for slot in slots] for _ in range(200)]
    wrong = [
        [
            draw.choice(slot) if draw.random() < 0.5 else part
            for slot, part in zip(slots, line, strict=True)
        ]
        for line in lines
    ]
    own, poor = (["".join(line) for line in texts] for texts in (lines, wrong))
    systems = {"poor": poor, "shifted": [*own[1:], own[0]]}
    testset = gn.TestSet.from_lists(systems, own)
    assert set(misplaced_lines(SomeLines(testset), systems)) == {"shifted"}


def test_lines_of_one_pattern_at_the_end_of_a_long_file_are_in_order() -> None:
    draw = random.Random(4)
    words = ["".join(draw.choices("abcdefgh", k=6)) for _ in range(3000)]
    slots = [words[60 * n : 60 * n + 60] for n in range(4)]
    prose = [" ".join(draw.choices(words[240:], k=8)) for _ in range(1600)]
    lines = [[draw.choice(slot) for slot in slots] for _ in range(1000)]
    wrong = [
        [
            part if draw.random() < 0.3 else draw.choice(slot)
            for part, slot in zip(line, slots, strict=True)
        ]
        for line in lines
    ]
    own, poor = ([*prose, *map(" ".join, some)] for some in (lines, wrong))
    systems = {"poor": poor, "turned": own[::-1]}
    testset = gn.TestSet.from_lists(systems, own)
    assert set(misplaced_lines(SomeLines(testset), systems)) == {"turned"}


def test_the_place_where_a_shift_begins_is_told() -> None:
    ts = planted({"wrong": _dropped(outputs(), 150)})
    (one,) = ts.anomalies
    first = int(str(one).split("from segment ")[1].split(" ")[0])
    assert 145 <= first <= 156
    assert f"output {first} fits reference {first + 1}" in str(one)


def test_texts_that_are_not_translated_are_named() -> None:
    source, own = list(bundled().sources or ()), outputs()
    n = len(own)
    some = set(random.Random(2).sample(range(n), n // 2))
    half = [source[i] if i in some else own[i] for i in range(n)]

    def found(**systems: list[str]) -> list[str]:
        ts = gn.TestSet.from_lists(systems, references(), sources=source)
        return [str(one) for one in ts.anomalies if doubtful_systems([one])]

    assert "segments untranslated" in found(half=half, fine=own)[0]
    assert "copy leaves" in found(copy=source, fine=own)[0]
    assert found(fine=own) == []
    unknown = planted({"half": half, "fine": own})  # the sources are not given
    (one,) = unknown.anomalies
    assert "half looks like a different language" in str(one)


@pytest.mark.parametrize("share", [1.0, 0.5, 0.25])
def test_outputs_in_a_third_language_are_named(share: float) -> None:
    """Spanish in place of English, of which the test set knows no source; Greek letters, too."""
    source, own = list(bundled().sources or ()), outputs()
    for other in (
        source,
        [f"{'αυτο ειναι το κειμενο με αριθμο ' * 3}{n}" for n in range(len(own))],
    ):
        draw = random.Random(3)
        mixed = [o if draw.random() < share else e for o, e in zip(other, own, strict=True)]
        ts = planted({"mixed": mixed, "fine": outputs("apertium-galician")})
        assert [doubtful_systems([one]) for one in ts.anomalies] == [("mixed",)]


@pytest.mark.parametrize("given", [True, False])
def test_a_quarter_that_is_not_translated_is_named(given: bool) -> None:
    source, own = list(bundled().sources or ()), outputs()
    some = set(random.Random(2).sample(range(len(own)), len(own) // 4))
    texts = [source[i] if i in some else own[i] for i in range(len(own))]
    ts = gn.TestSet.from_lists({"a": texts}, references(), sources=source if given else None)
    (one,) = ts.anomalies
    assert doubtful_systems([one]) == ("a",)
    assert ("52 of 209 segments untranslated" if given else "a different language") in str(one)


def test_few_lines_of_another_language_or_twice_are_no_reason_for_doubt() -> None:
    source, own = list(bundled().sources or ()), outputs()
    some = [source[i] if i % 14 == 0 else text for i, text in enumerate(own)]
    twice = [f"{text} {text}" if i % 14 == 0 else text for i, text in enumerate(own)]
    ts = gn.TestSet.from_lists({"some": some, "twice": twice}, references())
    assert ts.anomalies == ()
    doubled = [f"{text} {text}" for text in references()]
    same = gn.TestSet.from_lists({"a": [f"{text} {text}" for text in own]}, doubled)
    assert same.anomalies == ()


def test_names_numbers_and_code_are_no_other_language() -> None:
    own = [f"{text} torch.nn.Linear(512, 512)" for text in outputs()]
    codes = [f"{text} torch.nn.Linear(512, 512)" for text in references()]
    assert planted({"a": own}, against=codes).anomalies == ()
    ja = sentences("ja", 120)
    mixed = [f"{text} GPU London" for text in ja]
    assert gn.TestSet.from_lists({"a": mixed}, ja).anomalies == ()


@pytest.mark.parametrize("damage", ["one line up", "shuffled", "each line twice"])
def test_no_sentence_judges_a_system_whose_lines_are_wrong(damage: str) -> None:
    wrong = DAMAGES[damage][0](outputs())
    ts = planted({"fine": outputs(), "other": outputs("apertium-french"), "wrong": wrong})
    finding = gn.compare(ts, "bleu", resamples=100)
    first, *rest = finding.verdict
    assert first.code == "data.doubtful"
    assert "no comparison with wrong can be trusted" in str(first)
    assert not any("wrong" in str(one) for one in rest if one.level != "caution")
    assert any("other" in str(one) and "fine" in str(one) for one in rest)
    assert doubtful_systems(finding.notices)
    (scores,) = gn.score(ts, ["bleu"])
    assert summarise_scores([scores])[0].code == "data.doubtful"
    fine = gn.compare(planted({"fine": outputs(), "other": outputs("apertium-french")}), "bleu")
    assert not doubtful_systems(fine.notices)
    assert fine.verdict[0].code != "data.doubtful"


def test_the_family_of_comparisons_is_counted_without_a_system_whose_lines_are_wrong() -> None:
    own = outputs()
    some = {str(n): noised(own, n / 10, n) for n in range(1, 4)}
    found = gn.compare(planted({**some, "shifted": [*own[1:], own[0]]}), resamples=99)
    (said,) = (str(one) for one in found.verdict if one.code == "compare.best")
    assert "all 3 pairs" in said
    assert "all 3 pairs" in found.tables[0].note


def test_the_home_page_of_a_study_judges_no_system_whose_lines_are_wrong(tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
    own = outputs()
    lines = {"fine": own, "poor": noised(own, 0.3, 1), "shifted": [*own[1:], own[0]]}
    lines |= {"holes": ["" if n % 3 == 0 else text for n, text in enumerate(own)]}
    planted(lines).write(tmp_path / "set")
    (tmp_path / "study.toml").write_text(
        'metrics = ["bleu"]\n[[testsets]]\npath = "set"\n[methods.score]\n'
    )
    made = study.plan(study.read_study(tmp_path / "study.toml"))
    assert study.run(made, study.open_engine("here")).failed == {}
    (page,) = study.verdicts(study.Store.open(made.study.store))
    one = list(page.verdict)
    claims = [said.code for said in one]
    assert claims == ["data.doubtful", "score.first", "score.not_tested", "data.empty"]
    assert "the lines of shifted are shifted by 1 line" in str(one[0])
    assert str(one[3]) == "Caution: holes leaves 70 of 209 outputs empty."
    assert str(one[1]).startswith("fine has the highest BLEU")
    assert "shifted" not in str(one[1])


@pytest.mark.parametrize("metric", ["bleu", "chrf"])
def test_a_gate_judges_no_system_whose_lines_are_wrong(metric: str) -> None:
    own = outputs()
    ts = planted({"fine": own, "poor": noised(own, 0.3, 1), "shifted": [*own[1:], own[0]]})
    with pytest.raises(gn.errors.DataError, match="shifted by 1 line against the references"):
        gn.compare(ts, metric, baseline="fine", fail_if_worse=[metric], resamples=199)
    found = gn.compare(ts, metric, baseline="fine", resamples=199)
    assert [row["verdict"] for row in found.rows] == ["baseline", "worse", None]
    assert found.rows[2]["caveat"] == "lines"
    with pytest.raises(gn.errors.DataError, match="cannot be decided: the lines of shifted"):
        gn.metaeval.fail_if_worse(found, [metric])
    sound = gn.compare(
        planted({"fine": own, "poor": noised(own, 0.3, 1)}), metric, fail_if_worse=[metric]
    )
    assert "poor is worse than fine" in sound.failure


def test_a_gate_judges_nothing_by_a_metric_that_does_not_read_the_texts() -> None:
    own = sentences("zh", 60)
    ts = gn.TestSet.from_lists({"a": own, "b": damaged(own, "zh", 0.5, 1)}, own)
    with pytest.raises(gn.errors.DataError, match=r"under rougeL cannot be decided.*counts runs"):
        gn.compare(ts, ["rougeL", "bleu"], fail_if_worse=["rougeL"], resamples=199)
    found = gn.compare(ts, ["rougeL", "bleu"], fail_if_worse=["bleu"], resamples=199)
    assert "b is worse than a under bleu" in found.failure


@pytest.mark.parametrize("damage", ["one line up", "a line dropped in the middle", "shuffled"])
def test_references_that_stand_apart_are_named(damage: str) -> None:
    change, _ = DAMAGES[damage]
    own, other, systems = references(), noised(references(), 0.2, 1), {"a": outputs()}
    fine, apart = (
        gn.TestSet(name="two", references={"A": own, "B": texts}, systems=systems)
        for texts in (other, change(other))
    )
    assert fine.anomalies == ()
    (one,) = apart.anomalies
    assert "the reference 'B' do not stand where those of 'A' do" in str(one)
    assert doubtful_systems([one]) == ("a",)


def test_equal_outputs_are_named_and_compared() -> None:
    ts = planted({"a": outputs(), "b": outputs()})
    (one,) = ts.anomalies
    assert "a and b are the same text" in str(one)
    assert doubtful_systems([one]) == ()


@pytest.mark.verify
@pytest.mark.slow
def test_published_sets_are_in_order(shared: Path) -> None:
    """No system of any set is suspected, nor are 30 segments of it; each that is shifted is.

    One is, for 40 lines of DLUT-GTCOM's Japanese stand 50 lines behind their place.
    """
    looked_at = missed = 0
    for folder in sorted((shared / "data").iterdir()):
        try:
            there = sets_in(folder)
        except gn.GnomonError:
            continue
        for one in there:
            ts = gn.TestSet.read(one.place, language_pair=one.language_pair, human="readable")
            wrong = [said for said in notes(ts.anomalies) if "DLUT-GTCOM" not in said]
            assert wrong == [], one.place
            for first in range(0, ts.segments - 30, max(30, ts.segments // 4)):
                some = ts.select(segments=list(range(first, first + 30)))
                wrong = [said for said in notes(some.anomalies) if "DLUT-GTCOM" not in said]
                assert wrong == [], (one.place, first)
            looked_at += len(ts.systems)
            for name in list(ts.systems)[:4] if ts.references else ():
                moved = {name: [*ts.systems[name][1:], ts.systems[name][0]]}
                alone = gn.TestSet.from_lists(moved, list(next(iter(ts.references.values()))))
                missed += not alone.anomalies
    assert looked_at > 200
    assert missed == 0


@pytest.mark.verify
def test_wrong_files_are_found_as_often_as_the_docs_say(shared: Path) -> None:
    sets = "wmt17/de-en wmt18/fi-en wmt19/kk-en wmt21/en-de wmt24/en-cs wmt24/en-ja"
    found, tried = recall([str(shared / "data" / name) for name in sets.split()])
    lines = (ROOT / "benchmarks/wrong-files.md").read_text("utf-8").splitlines()
    start = lines.index("| planted | 5 % | 10 % | 20 % | 30 % | 60 % |") + 2
    told = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[start : start + 5]]
    assert found == {what: list(map(int, counts)) for what, *counts in told}
    assert f"How many of {tried} systems are found" in "\n".join(lines)
