"""Minimal pairs: counts equal to sacreBLEU's, figures by hand, readers and errors."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gnomon as gn
from gnomon.cli import main
from gnomon.core.errors import DataError, UsageError
from gnomon.core.minimal_pairs import Pair
from gnomon.stress.detection import Detection, stress_pairs
from gnomon.stress.examples import StressExampleRow
from gnomon.stress.figures import StressOverallRow, StressRow
from gnomon.stress.outcomes import Outcomes, is_worded


def pair(good: str, bad: str, *references: str, phenomenon: str = "error") -> Pair:
    return Pair(good=good, bad=bad, references=references, phenomenon=phenomenon)


def known(texts: dict[str, float]) -> Callable[[str, str], float]:
    def metric(candidate: str, reference: str) -> float:  # a metric takes both
        return texts[candidate]

    return metric


def test_figures_of_four_pairs_by_hand() -> None:
    scores = {"a": 0.5, "b": 0.4, "c": 0.3, "d": 0.3 + 1e-8, "e": 0.2, "f": 0.6}
    pairs = [pair("a", "b", "r"), pair("c", "d", "r"), pair("e", "f", "r"), pair("f", "a", "r")]
    finding = stress_pairs(pairs, known(scores))
    row = finding.records(StressRow)[0]
    assert (row.pairs, row.detected, row.ties) == (4, 0.5, 0.25)
    assert row.status == "few"
    assert row.ends("detected") == pytest.approx((0.1500, 0.8500), abs=1e-4)  # Wilson, 2 of 4
    (overall, *controls) = finding.records(StressOverallRow)
    assert (overall.detected, overall.pairs, overall.phenomena) == (0.5, 4, 1)
    assert [row.control for row in controls] == [True] * 3


def test_an_error_rate_is_turned_and_shown_as_it_is() -> None:
    pairs = [pair("the cat sat", "the dog sat", "the cat sat")] * 2
    finding = stress_pairs([*pairs, pair("no", "the cat", "the cat sat")], "ter")
    assert finding.records(StressRow)[0].detected == pytest.approx(2 / 3)
    assert [row.wrong for row in finding.records(StressExampleRow)] == ["", "", "ter"]
    good, bad = (dict(text.values)["ter"] for text in finding.exhibits[-1].texts[-2:])
    assert good > bad > 0  # more edits are worse


@pytest.mark.parametrize(
    ("good", "bad", "reference", "answer"),
    [
        ("a red cat", "a cat", "the red one", True),
        ("a red cat", "a cat", "the cat", False),
        ("a big red cat", "a cat", "the red cat", None),  # one word of two
        ("a cat", "a red cat", "the cat", None),  # nothing is lost
        ("one cat", "a very red cat", "one cat", None),  # more words than before
        ("12 cats", "13 cats", "12 cats", True),
    ],
)
def test_words_of_the_reference(good: str, bad: str, reference: str, *, answer: bool) -> None:
    assert is_worded(pair(good, bad, reference)) is answer
    assert is_worded(pair(good, bad)) is None


def test_status_holds_for_all_rows_together() -> None:
    """Pairs without any order are misses, those that a metric always detects are detected."""
    draw = np.random.default_rng(3)
    texts = [f"{name}{n}" for name in ("good", "bad") for n in range(400)]
    scores = dict(zip(texts, draw.random(800), strict=True))
    chance = [pair(f"good{n}", f"bad{n}", "r", phenomenon="chance") for n in range(400)]
    sure = [pair(f"x{n}", f"y{n}", "r", phenomenon="sure") for n in range(400)]
    equal = [pair(f"y{n}", f"y{n}.", "r", phenomenon="equal") for n in range(400)]
    scores |= {f"x{n}": 2.0 for n in range(400)} | {f"y{n}": 1.0 for n in range(400)}
    scores |= {f"y{n}.": 1.0 for n in range(400)}
    rows = stress_pairs([*chance, *sure, *equal], known(scores)).records(StressRow)
    status = {row.phenomenon: row.status for row in rows if not row.control}
    assert status == {"chance": "misses", "sure": "detects", "equal": "blind"}
    # errors that are detected least come first
    assert [row.phenomenon for row in rows[:3]] == ["equal", "chance", "sure"]


def test_scores_that_are_as_close_as_runs_of_an_encoder_are_ties() -> None:
    outcomes = Outcomes(np.array([0.9, 1.0, np.nan]), np.array([0.9 - 1e-7, 0.9, 1.0]), 1e-6)
    assert outcomes.tied.tolist() == [True, False, False]
    assert outcomes.detected.tolist() == [False, True, False]
    assert outcomes.scored.tolist() == [True, True, False]


def test_pairs_are_written_and_read_again(tmp_path: Path) -> None:
    pairs = (
        Pair(good='"He" said', bad="He", phenomenon="quote", references=("a", "b"), source="s"),
        Pair(good="x", bad="y", phenomenon="p", kind="harmless", severity="minor"),
        Pair(good="1", bad="2", phenomenon="number", references=("1",), language_pair="de-en"),
    )
    gn.formats.write_pairs(tmp_path / "p.tsv", pairs)
    assert gn.formats.read_pairs(tmp_path / "p.tsv") == pairs
    with pytest.raises(DataError, match="pair 1 is 'a\\\\tb'"):
        gn.formats.write_pairs(tmp_path / "q.tsv", [pair("a\tb", "c")])


def test_the_header_of_aces_may_repeat_a_column(tmp_path: Path) -> None:
    file = tmp_path / "aces.tsv"
    file.write_text(
        "source\tgood-translation\tincorrect-translation\treference\tphenomena\tsource\n"
        'Quelle\tgood "so"\tbad\tref\tnonsense\tQuelle\n'
    )
    (found,) = gn.formats.read_pairs(file)
    assert (found.good, found.source, found.phenomenon) == ('good "so"', "Quelle", "nonsense")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("source\tphenomena\n", "p.tsv:1: has no column good-translation"),
        (
            "good-translation\tincorrect-translation\tphenomena\tkind\na\tb\tc\twrong\n",
            "p.tsv:2: kind is 'wrong'; it is one of error, harmless, crossed, sanity",
        ),
        ("good-translation\tincorrect-translation\tphenomena\na\tb\n", "p.tsv:2: 2 fields; 3"),
    ],
)
def test_wrong_tables_are_refused_with_their_line(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "p.tsv").write_text(content)
    with pytest.raises(gn.GnomonError, match=said.replace("(", "\\(")):
        gn.formats.read_pairs(tmp_path / "p.tsv")


def test_without_pairs_the_command_says_what_to_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DataError, match="there are no pairs to score"):
        stress_pairs([])
    with pytest.raises(UsageError, match="or files of minimal pairs"):
        gn.stress()
    assert main(["stress"]) == 2
    assert "--pairs FILE" in capsys.readouterr().err


def test_pairs_of_several_languages() -> None:
    """Each language pair is scored as one, Japanese by characters."""
    japanese = Pair(
        good="猫が座った。", bad="犬が座った。", phenomenon="noun", references=("猫が座った。",),
        language_pair="en-ja",
    )  # fmt: skip
    english = pair("the cat sat on the mat", "the dog sat on the mat", "the cat sat on a mat")
    rows = stress_pairs([japanese, english], "bleu").records(StressRow)
    assert {row.phenomenon: row.detected for row in rows if not row.control} == {
        "noun": 1,
        "error": 1,
    }
    assert main(["stress", "--pairs", "none.tsv"]) == 1


def test_the_command_gives_every_table_and_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [pair(f"a cat {n}", f"a dog {n}", f"a cat {n}") for n in range(30)]
    gn.formats.write_pairs(tmp_path / "p.tsv", given)
    page = tmp_path / "page.html"
    command = ["stress", "--pairs", str(tmp_path / "p.tsv"), "-m", "bleu", "chrf"]
    assert main([*command, "-f", "json", "--html", str(page)]) == 0
    content = json.loads(capsys.readouterr().out)
    assert set(content["tables"]) == {"overall", "examples"}
    assert content["rows"][0]["detected"] == 1
    assert content["messages"][0]["code"] == "stress.detects"
    assert "Errors that the metrics detect" in page.read_text()


@pytest.mark.verify
def test_counts_of_demetr_are_those_of_sacrebleu(shared: Path) -> None:
    """Wins, ties and losses of BLEU and chrF in all 70 rows; macro accuracies; blind spots."""
    files = sorted((shared / "data" / "demetr").glob("*.json"))
    finding = gn.stress(None, ["bleu", "chrf", "ter", "rougeL"], pairs=files, examples=0)
    rows = {(row.metric.split("(")[0], row.phenomenon): row for row in finding.records(StressRow)}
    with (shared / "oracles" / "stress" / "demetr_sacrebleu_counts.tsv").open() as lines:
        expected = list(csv.DictReader(lines, delimiter="\t"))
    assert len(expected) >= 70
    compared = 0
    for one in expected:
        row = rows.get((one["metric"], one["file"]))
        if row is None:
            continue
        compared += 1
        share = row.detected if row.lowered is None else row.lowered
        counts = [round((share or 0.0) * row.pairs), round((row.ties or 0.0) * row.pairs)]
        assert counts == [int(one[name]) for name in ("wins", "ties")], one
        assert row.pairs == int(one["n"])
    assert compared >= 70
    overall = {row.metric: row.detected for row in finding.records(StressOverallRow)}
    assert overall["bleu"] == pytest.approx(0.7734, abs=5e-5)
    assert overall["chrf"] == pytest.approx(0.8676, abs=5e-5)
    assert overall["ter"] == pytest.approx(0.6665, abs=5e-5)
    blind = [("ter", "full_lower"), ("chrf", "tokenized"), ("rougeL", "final_punc_removed")]
    for metric, name in blind:
        (row,) = [row for (m, p), row in rows.items() if m == metric and p.endswith(name)]
        assert (row.pairs, row.ties) == (1000, 1.0)
    claims = {one.code for one in finding.verdict}
    assert {"stress.detects", "stress.wording", "stress.blind"} <= claims


@pytest.mark.verify
def test_the_words_of_the_reference_split_demetr(shared: Path) -> None:
    files = sorted((shared / "data" / "demetr").glob("*.json"))
    pairs = [one for file in files for one in gn.formats.read_pairs(file) if one.kind == "error"]
    assert len(pairs) == 28320
    rows = [
        row
        for row in stress_pairs(pairs, "bleu", how=Detection(examples=0)).records(StressRow)
        if not row.control
    ]
    worded = sum((row.detected_worded or 0) * row.worded_pairs for row in rows)
    unworded = sum((row.detected_unworded or 0) * row.unworded_pairs for row in rows)
    assert worded / sum(row.worded_pairs for row in rows) == pytest.approx(0.933, abs=0.01)
    assert unworded / sum(row.unworded_pairs for row in rows) == pytest.approx(0.104, abs=0.01)
