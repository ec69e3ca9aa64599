"""gnomon bmx explain and gnomon bmx score, as a user runs them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gnomon as gn
from gnomon import bmx

REFERENCE = ["the cat sat on the mat .", "a dog ran", "it rains today", "good night"]
SYSTEMS = {
    "a": ["the cat sat on a hat .", "a dog ran", "rain it", "good evening"],
    "b": ["cats", "the dog runs fast", "it rains today", ""],
}
ROWS = {"system", "segment", "side", "token", "position", "importance"}


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "ref.txt").write_text("\n".join(REFERENCE) + "\n", encoding="utf-8")
    for name, texts in SYSTEMS.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    names = [str(tmp_path / f"{name}.txt") for name in SYSTEMS]
    return [str(tmp_path / "ref.txt"), "-i", *names, "-l", "en"]


@pytest.fixture
def tagged(tmp_path: Path) -> Path:
    """A table of quality estimation with tagged words, made up."""
    rows = [
        ("kass istus matil .", "the cat sat elephant .", "0.3", "0 0 0 0", "0 0 0 1 0"),
        ("koer jooksis", "a dog ran", "0.9", "0 0", "0 0 0"),
        ("vihma sajab täna", "zebra zebra", "-1.0", "1 1 1", "1 1"),
    ]
    path = tmp_path / "et-en.test.tsv"
    lines = ["src\thyp\tda\tsrc_tags\thyp_tags", *("\t".join(row) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_rows_are_those_of_the_contract(gnomon: Callable, files: list[str]) -> None:
    answer = gnomon("bmx", "explain", *files, "-m", "chrf", "-f", "json", "-q")
    assert answer.code == 0, answer.err
    found = answer.json()
    assert found["command"] == "bmx explain"
    assert set(found["rows"][0]) >= ROWS
    testset = gn.TestSet.from_lists(SYSTEMS, REFERENCE, language_pair="en")
    expected = bmx.explanations(testset, "chrf", "erasure").rows()
    assert [{key: row[key] for key in ROWS} for row in found["rows"]] == expected


def test_segments_and_systems_can_be_chosen(gnomon: Callable, files: list[str]) -> None:
    answer = gnomon("bmx", "explain", *files, "--segments", "3", "1-2", "-f", "json", "-q")
    rows = answer.json()["rows"]
    assert {row["segment"] for row in rows} == {1, 2, 3}
    sampled = [
        gnomon("bmx", "explain", *files, "--sample", "2", "--seed", seed, "-f", "json").json()
        for seed in (1, 1, 2)
    ]
    assert sampled[0]["rows"] == sampled[1]["rows"]
    assert len({row["segment"] for row in sampled[2]["rows"]}) == 2


@pytest.mark.parametrize("wrong", ["0", "3-2", "x", "-1"])
def test_segments_that_are_none_are_refused(gnomon: Callable, files: list[str], wrong: str) -> None:
    answer = gnomon("bmx", "explain", *files, f"--segments={wrong}")
    assert answer.code == 2
    assert gnomon("bmx", "explain", *files, "--segments", "9").code == 2
    far = gnomon("bmx", "explain", *files, "--segments", "1-99999999999")
    assert (far.code, "99999999999" in far.err) == (2, True)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [*((one, "strictly between 0 and 1") for one in ("2", "0", "1")), ("nan", "is not a number")],
)
def test_a_confidence_that_is_none_is_refused_before_the_work(
    gnomon: Callable, files: list[str], wrong: str, said: str
) -> None:
    answer = gnomon("bmx", "explain", *files, "--faithfulness", "--confidence", wrong)
    assert answer.code == 2
    assert said in answer.err


def test_text_colours_the_worst_outputs_and_lists_what_hurts(
    gnomon: Callable, files: list[str]
) -> None:
    answer = gnomon("bmx", "explain", *files, "-q", "-m", "chrf", "--examples", "1")
    assert answer.code == 0, answer.err
    assert "Segment 4: chrf by erasure" in answer.out
    assert "Words that most often hurt" in answer.out
    assert "Segment 1" not in answer.out


def test_what_is_exported_is_what_was_explained(
    gnomon: Callable, files: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "words.jsonl"
    answer = gnomon(
        "bmx",
        "explain",
        *files,
        "-m",
        "chrf",
        "--save-explanations",
        path,
        "-q",
        "--sides",
        "candidate",
    )
    assert answer.code == 0, answer.err
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
    assert all(ROWS | {"score", "metric", "explainer"} <= set(line) for line in lines)
    testset = gn.TestSet.from_lists(SYSTEMS, REFERENCE, language_pair="en", name="made up")
    read, found = (
        bmx.explanations(testset, "chrf", explainer, sides="candidate")
        for explainer in (f"file({str(path)!r})", "erasure")
    )
    np.testing.assert_array_equal(read.both().values, found.both().values)
    np.testing.assert_array_equal(read.scores, found.scores)


def test_an_export_is_of_one_explainer(gnomon: Callable, files: list[str], tmp_path: Path) -> None:
    answer = gnomon(
        "bmx",
        "explain",
        *files,
        "--explainers",
        "erasure",
        "lime",
        "--save-explanations",
        tmp_path / "x",
    )
    assert answer.code == 2
    assert "name one of each" in answer.err


def test_explanations_are_judged_beside_random_ones(gnomon: Callable, tagged: Path) -> None:
    answer = gnomon(
        *("bmx", "explain", "-t", tagged, "-m", "python('tests.cli.test_bmx_explain:short')"),
        *("--allow-code", "--errors", "--faithfulness", "-f", "json", "-q"),
    )
    assert answer.code == 0, answer.err
    tables = answer.json()["tables"]
    auc, source = (row for row in tables["errors"] if row["measure"] == "auc")
    assert (auc["side"], auc["value"], auc["sentences"]) == ("candidate", 1.0, 1)
    assert (source["side"], source["value"], source["sentences"]) == ("source", None, 0)
    assert auc["gain"] == pytest.approx(1.0 - auc["random"])
    assert [row["measure"] for row in tables["faithfulness"]] == ["deletion", "insertion"]


def short(candidate: str, source: str) -> float:
    """Long words make a candidate worse."""
    return -sum(len(word) ** 2 for word in candidate.split()) / (1 + len(source))


def test_without_marked_errors_there_is_nothing_to_judge_by(
    gnomon: Callable, files: list[str]
) -> None:
    answer = gnomon("bmx", "explain", *files, "--errors", "--max-calls", "1")
    assert answer.code == 1  # told before the cost is
    assert "no marked errors" in answer.err


def test_the_page_holds_coloured_words(gnomon: Callable, files: list[str], tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    assert gnomon("bmx", "explain", *files, "--html", path, "-q").code == 0
    assert "Segments behind the numbers" in path.read_text(encoding="utf-8")


def test_too_many_calls_are_refused_before_any(gnomon: Callable, files: list[str]) -> None:
    answer = gnomon("bmx", "explain", *files, "--max-calls", "5")
    assert answer.code == 2
    assert "--max-calls" in answer.err


def test_a_second_run_knows_what_the_first_found(gnomon: Callable, files: list[str]) -> None:
    command = ("bmx", "explain", *files, "-m", "chrf", "-q")
    first, second = (gnomon(*command).out for _ in range(2))
    assert "known before: 0" in first
    assert "metric calls: 0 | known before: 8" in second


def test_boosted_scores_stand_beside_the_metric(gnomon: Callable, files: list[str]) -> None:
    answer = gnomon(
        *("bmx", "score", *files, "-m", "bmx(chrf, explainer='erasure', p=1, w=0.5)"),
        *("-f", "json", "-q"),
    )
    assert answer.code == 0, answer.err
    rows = {row["system"]: row for row in answer.json()["rows"]}
    testset = gn.TestSet.from_lists(SYSTEMS, REFERENCE, language_pair="en")
    base = gn.score(testset, "chrf")
    boosted = gn.score(testset, "bmx(chrf, explainer='erasure', p=1, w=0.5)")
    for k, name in enumerate(SYSTEMS):
        assert rows[name]["score"] == pytest.approx(boosted.system[k])
        assert rows[name]["base_score"] == pytest.approx(base.segments[k].mean())
        assert rows[name]["rank"] == rows[name]["base_rank"] == k + 1


def test_an_unknown_explainer_is_answered_with_those_there_are(
    gnomon: Callable, files: list[str]
) -> None:
    for command, option in (("explain", "--explainers"), ("score", "--explainer")):
        answer = gnomon("bmx", command, *files, option, "limes")
        assert answer.code == 2
        assert "lime" in answer.err


def test_equal_scores_share_the_better_rank() -> None:
    testset = gn.TestSet.from_lists({"a": ["x"], "b": ["x"], "c": ["y"]}, ["x"])
    found = gn.bmx(testset, "bmx(chrf, explainer='erasure', p=1, w=1)")
    assert [row["rank"] for row in found.rows] == [1, 1, 3]


def test_explainers_are_listed_with_their_options(gnomon: Callable) -> None:
    answer = gnomon("list", "explainers", "-f", "json")
    options = {row["name"]: row["options"] for row in answer.json()["rows"]}
    assert options["lime"] == "samples=100, seed=12345"
    assert {"erasure", "gradient", "marginalisation", "random"} <= set(options)


@pytest.mark.parametrize("p", ["-inf", "inf", "-1e3", "-.5", "-0.3"])
def test_any_exponent_is_an_exponent(gnomon: Callable, files: list[str], p: str) -> None:
    for values in (p, f"[{p}, 1]"):
        spec = f"bmx(bleu, explainer='erasure', p={values}, w=0.5)"
        answer = gnomon("bmx", "score", *files, "-f", "json", "-q", "-m", spec)
        assert answer.code == 0, answer.err
        assert f"p={float(p)}" in answer.json()["rows"][0]["metric"].replace("[", "")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (("--examples", "-3"), "it must be a whole number, 0 or more; got -3"),
    ],
)
def test_less_than_nothing_cannot_be_shown(
    gnomon: Callable, files: list[str], wrong: tuple[str, str], said: str
) -> None:
    answer = gnomon("bmx", "explain", *files, *wrong)
    assert answer.code == 2
    assert said in answer.err
