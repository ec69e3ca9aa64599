"""Scripts of paraphrasing: gains over halves of the systems, and different trees by depth."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from gnomon.core.human import HumanScores
from gnomon.core.testset import TestSet

_SCRIPTS = Path(__file__).resolve().parents[2] / "papers" / "paraphrase"


def printed(capsys: pytest.CaptureFixture[str], name: str, *given: str) -> list[list[str]]:
    """The rows that a script prints."""
    runpy.run_path(str(_SCRIPTS / name))["main"](given)
    return [line.split("\t") for line in capsys.readouterr().out.rstrip("\n").split("\n")]


def _judged(systems: int = 8, segments: int = 6) -> TestSet:
    """Systems that write z in the place of more and more words."""
    rng = np.random.default_rng(1)
    references = [" ".join(rng.choice(list("abcdefgh"), 8)) for _ in range(segments)]
    outputs = {}
    for k in range(systems):
        rows = [list(text.split()) for text in references]
        for row in rows:
            for place in rng.choice(8, k, replace=False):
                row[place] = "z"
        outputs[f"s{k}"] = [" ".join(row) for row in rows]
    values = np.arange(systems, 0, -1, dtype=np.float64).reshape(-1, 1)
    return TestSet(
        name="t",
        references={"A": references},
        systems=outputs,
        human=(HumanScores("da", "system", tuple(outputs), values),),
    )


def test_a_gain_per_split_comes_before_their_mean(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _judged().write(tmp_path / "set")
    header, *splits, last = printed(
        capsys, "half_splits.py", str(tmp_path / "set"), "bleu", "--splits", "3"
    )
    assert header[-3:] == ["base", "with", "gain"]
    assert [row[0] for row in splits] == ["1", "2", "3"]
    gains = [float(row[-1]) for row in splits]
    assert gains == pytest.approx([float(r[-2]) - float(r[-3]) for r in splits], abs=2e-4)
    assert float(last[0].split()[1].rstrip(",")) == pytest.approx(np.mean(gains), abs=1e-4)


def test_halves_are_disjoint_and_the_better_ones_give() -> None:
    halves = runpy.run_path(str(_SCRIPTS / "half_splits.py"))["halves"]
    testset = _judged()
    people = {f"s{k}": -float(k) for k in range(8)}
    for seed in range(20):
        giving, judged = halves(testset, people, np.random.default_rng(seed))
        assert (len(giving.systems), len(judged.systems)) == (2, 4)
        rest = set(people) - {*giving.systems, *judged.systems}
        worst = min(people[name] for name in giving.systems)
        assert all(people[name] < worst for name in rest)


def test_a_model_is_asked_for_what_systems_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from tests.models.tiny_seq2seq import build

    model = build(tmp_path / "model", seed=1)
    outputs = {
        f"s{k}": ["the cat lay", "a dog sat"][: 2 - k % 2] + ["a cat"] * (k % 2) for k in range(8)
    }
    values = np.array([[float(k * k % 7)] for k in range(8)])
    human = (HumanScores("da", "system", tuple(outputs), values),)
    references = {"A": ["the cat sat", "the dog sat"]}
    TestSet(name="t", references=references, systems=outputs, human=human).write(tmp_path / "set")
    rows = printed(
        *(capsys, "half_splits.py", str(tmp_path / "set"), "bleu", "--splits", "2"),
        *("--model", str(model)),
    )
    assert any(int(row[2]) for row in rows[1:3])


def test_different_trees_are_counted_by_depth(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trees = tmp_path / "x.ptb"
    lines = ["(S (NP (NN a)) (VP (VB b)))", "(S (NP (NN c)) (VP (VB d)))"]
    lines += ["(S (NP (DT a)) (VP (VB b)))", "(())"]
    trees.write_text("\n".join(lines) + "\n", encoding="utf-8")
    _, *rows = printed(capsys, "tree_stats.py", str(trees), "--depths", "1", "2", "3")
    assert [[*row[:1], *map(int, row[1:])] for row in rows] == [
        ["1", 3, 1, 0, 3],
        ["2", 3, 1, 0, 3],
        ["3", 3, 2, 1, 2],
        ["whole", 3, 2, 1, 2],
    ]
