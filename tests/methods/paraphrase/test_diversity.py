"""The diversity of sets as a finding and as a command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.told import notes

from gnomon.cli import main
from gnomon.core.errors import DataError, FormatError, UsageError
from gnomon.core.testset import Paraphrase, TestSet
from gnomon.data.formats import parse_tree
from gnomon.paraphrase import diversity, first_of, sets_of, tree_sets, wordings_of


def _file(path: Path, *lines: str) -> str:
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return str(path)


def test_methods_references_and_outputs_are_sets() -> None:
    ts = TestSet.from_lists({"x": ["a"], "y": ["b"]}, [["r", "s"]])
    sets = sets_of(ts, [Paraphrase(1, "p", "beam"), Paraphrase(1, "q", "beam")])
    assert {name: [list(group) for group in groups] for name, groups in sets.items()} == {
        "beam": [["p", "q"]],
        "ref": [["r", "s"]],
        "systems": [["a", "b"]],
    }
    alone = TestSet.from_lists({"x": ["a"]}, ["r"])
    assert sets_of(alone) == {}


def test_a_row_tells_set_measure_value_and_what_was_skipped() -> None:
    trees = [[parse_tree("(A a)"), parse_tree("(B b)")], [parse_tree("(A a)"), None]]
    found = diversity({"p": [["a b", "a c"], ["a", "a"]]}, trees={"p": trees})
    assert [(row["measure"], row["value"], row["n"], row["skipped"]) for row in found] == [
        ("lexical", pytest.approx(0.25), 2, None),
        ("lexical-tokens", pytest.approx(0.25), 2, None),
        ("syntactic", pytest.approx(0.5), 1, 1),
    ]
    assert notes(found.notices) == (
        "p: 1 segment with fewer than two trees counts 0; without them the value is 1.0000",
    )
    first = found.exhibits[0]
    assert [text.text for text in first.texts] == ["a b", "a c"]
    assert [mark.start for text in first.texts for mark in text.highlights] == [2, 2]


def test_the_order_of_systems_does_not_matter() -> None:
    texts = {"x": ["a b c"], "y": ["a b"], "z": ["c d"]}
    values = [
        [row["value"] for row in diversity(sets_of(TestSet.from_lists(s, ["r"])))]
        for s in (texts, dict(reversed(texts.items())))
    ]
    assert values[0] == pytest.approx(values[1])


def test_nothing_to_compare_is_an_error() -> None:
    with pytest.raises(DataError, match="two wordings"):
        diversity({"p": [["a"], ["b"]]})


def test_the_first_paraphrases_of_a_method_are_taken() -> None:
    made = [Paraphrase(s, f"{m}{s}{k}", m) for m in "ab" for s in (1, 2) for k in (1, 2)]
    assert [p.text for p in first_of(made, n=1, methods=["b"])] == ["b11", "b21"]
    assert wordings_of(first_of(made, n=1))["a"] == [["a11"], ["a21"]]
    with pytest.raises(UsageError, match="at least 1"):
        first_of(made, n=0)


def test_trees_of_one_set_must_be_parallel(tmp_path: Path) -> None:
    one = _file(tmp_path / "ref.p1.ptb", "(A a)", "(A a)")
    two = _file(tmp_path / "ref.p2.ptb", "(A a)")
    assert list(tree_sets([one])) == ["p"]
    with pytest.raises(FormatError, match=r"p2\.ptb:2: .*parallel"):
        tree_sets([one, two])


def test_the_command_prints_the_rows_of_the_contract(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [_file(tmp_path / f"ref.p{k}.txt", "a b", f"c {k}") for k in (1, 2)]
    systems = [_file(tmp_path / f"s{k}.txt", "a", "b") for k in (1, 2)]
    page = tmp_path / "page.html"
    code = main(
        ["paraphrase", "diversity", *files, "-i", *systems, "-f", "json", "--html", str(page)]
    )
    shown = json.loads(capsys.readouterr().out)
    assert code == 0
    assert shown["command"] == "paraphrase diversity"
    assert [(row["set"], row["measure"], row["value"]) for row in shown["rows"]] == [
        ("p", "lexical", pytest.approx(0.25)),
        ("p", "lexical-tokens", pytest.approx(0.25)),
        ("systems", "lexical", 0.0),
        ("systems", "lexical-tokens", 0.0),
    ]
    assert "most different words" in page.read_text(encoding="utf-8")


def test_the_command_measures_human_paraphrases(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = shared / "data/paraphrases/wmt19-de-en-500"
    texts = [str(folder / f"ref.human{k}.txt") for k in range(1, 6)]
    trees = [str(folder / f"parses/ref.human{k}.ptb") for k in range(1, 6)]
    assert main(["paraphrase", "diversity", *texts, "--trees", *trees, "-f", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [round(row["value"], 4) for row in rows] == [0.4625, 0.5031, 0.6829]


@pytest.mark.parametrize("options", [[], ["--parse", "ref.p1.txt"]])
def test_the_command_says_what_it_lacks(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["paraphrase", "diversity", *options]) == 2
    assert "name files" in capsys.readouterr().err or options


def test_nothing_that_could_differ_is_refused_as_such() -> None:
    alone = TestSet.from_lists({"x": ["a"]}, ["r"])
    for nothing in (alone, [Paraphrase(1, "p", "beam")]):
        with pytest.raises(DataError, match="no segment has two wordings in any set"):
            diversity(nothing)
