"""Paraphrases without a model: pseudo-references, filters, and the command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import gnomon
from gnomon.cli import main
from gnomon.core.errors import DataError, UsageError
from gnomon.core.testset import Paraphrase, TestSet
from gnomon.data.formats import read_paraphrases
from gnomon.paraphrase import Constraint, filtered, pseudo_references, select_outputs


@pytest.fixture
def testset() -> TestSet:
    systems = {"x": ["the cat sat", "no"], "y": ["the cat lay", "no"], "z": ["a dog", "it rains"]}
    return TestSet.from_lists(systems, ["the cat sat down", "it rains"])


def test_no_system_is_its_own_reference(testset: TestSet) -> None:
    made = pseudo_references(testset, n=3)
    for one in made:
        assert one.system is not None
        others = [t[one.segment - 1] for n, t in testset.systems.items() if n != one.system]
        assert one.text in others
    assert [(p.system, p.text) for p in made if p.segment == 1] == [
        ("x", "the cat lay"),
        ("x", "a dog"),
        ("y", "the cat sat"),
        ("y", "a dog"),
        ("z", "the cat sat"),
        ("z", "the cat lay"),
    ]


def test_copies_of_the_reference_and_poor_outputs_are_no_pseudo_references(
    testset: TestSet,
) -> None:
    assert {p.text for p in pseudo_references(testset, n=3) if p.segment == 2} == {"no"}
    scores = gnomon.score(testset, "chrf").segments
    made = pseudo_references(testset, n=3, least=50)
    assert made
    assert all(p.score is not None and p.score >= 50 for p in made)
    assert scores[0, 0] == max(p.score for p in made if p.score is not None)


def test_for_error_rates_less_is_better(testset: TestSet) -> None:
    made = [p for p in pseudo_references(testset, "ter") if p.segment == 1]
    assert [(p.system, p.text) for p in made] == [
        ("x", "the cat lay"),
        ("y", "the cat sat"),
        ("z", "the cat sat"),
    ]
    kept = filtered(testset, made, metric="ter", least=30).kept
    assert [p.system for p in kept] == ["y", "z"]


def test_shared_pseudo_references_serve_all_systems(testset: TestSet) -> None:
    made = pseudo_references(testset, shared=True)
    assert [(p.segment, p.system, p.text) for p in made] == [
        (1, None, "the cat sat"),
        (2, None, "no"),
    ]


def test_one_system_has_no_others() -> None:
    with pytest.raises(DataError, match="two systems"):
        pseudo_references(TestSet.from_lists({"x": ["a"]}, ["b"]))


def test_filters_count_what_they_drop(testset: TestSet) -> None:
    texts = ["the cat  sat down", "a cat sat", "a cat sat", " ", "nothing alike"]
    made = [Paraphrase(1, text) for text in texts]
    found = filtered(testset, made, metric="chrf", least=20)
    assert [one.text for one in found.kept] == ["a cat sat"]
    assert found[1:] == (1, 1, 1, 1)
    every = filtered(testset, made, copies=False, duplicates=False)
    assert [one.text for one in every.kept] == [t for t in texts if t.strip()]
    with pytest.raises(UsageError, match="both"):
        filtered(testset, made, metric="chrf")


def test_outputs_that_hold_a_constraint_are_its_paraphrases() -> None:
    ts = TestSet.from_lists({"x": ["a b x"], "y": ["a b c y"], "z": ["q"]}, ["a c y"])
    made = select_outputs(ts, [Constraint(1, ("a", "b"), "a b"), Constraint(1, ("no",), "no")])
    assert [(p.segment, p.text, p.method) for p in made] == [(1, "a b c y", "constrained")]


def _file(path: Path, *lines: str) -> str:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return str(path)


def test_a_file_made_with_other_settings_is_not_gone_on_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ref, saved = _file(tmp_path / "ref.txt", "the U.S. is here"), str(tmp_path / "p.jsonl")
    first, second = (
        _file(tmp_path / f"{name}.txt", f"U.S. / {name}") for name in ("USA", "America")
    )
    base = ["paraphrase", "generate", ref, "--save", saved, "--method"]
    assert main([*base, f"variants('{first}')"]) == 0
    assert main([*base, f"variants('{first}')", "--resume"]) == 0
    assert [p.text for p in read_paraphrases([saved])] == ["the USA is here"]
    assert main([*base, f"variants('{second}')", "--resume"]) == 2
    assert "was made with other settings: variants" in capsys.readouterr().err
    assert [p.text for p in read_paraphrases([saved])] == ["the USA is here"]
    assert main([*base, f"variants('{second}')"]) == 0
    assert [p.text for p in read_paraphrases([saved])] == ["the America is here"]


def test_the_command_makes_pseudo_references_that_scoring_takes(
    tmp_path: Path, testset: TestSet, capsys: pytest.CaptureFixture[str]
) -> None:
    testset.write(tmp_path / "set")
    saved = str(tmp_path / "p.jsonl")
    base = ["-t", str(tmp_path / "set"), "-f", "json"]
    assert main(["paraphrase", "generate", *base, "--method", "pseudo", "--save", saved]) == 0
    capsys.readouterr()
    assert main(["score", *base, "--paraphrases", saved]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    wide = testset.with_paraphrases(pseudo_references(testset))
    wanted = gnomon.score(wide, "bleu").system
    assert np.allclose([row["score"] for row in rows], wanted)
    assert (wanted >= gnomon.score(testset, "bleu").system).any()


@pytest.mark.parametrize(
    "options",
    [
        ["--method", "round-trip", "--save", "p.jsonl"],
        ["--method", "variants", "--save", "p.jsonl"],
        ["--method", "pseudo", "--save", "p.txt"],
        ["--method", "pseudo(forward='cat')", "--save", "p.jsonl"],
        ["--method", "pseudo", "--save", "p.jsonl", "--filter", "chrf"],
    ],
)
def test_what_a_method_needs_is_said(options: list[str]) -> None:
    assert main(["paraphrase", "generate", *options]) == 2
