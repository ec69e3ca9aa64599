"""``gnomon.human.sheet`` of outputs and paraphrases: what is drawn, shown, hidden and read back."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.told import notes

import gnomon as gn
from gnomon.cli import main
from gnomon.core.errors import DataError, FormatError, OutputError, UsageError
from gnomon.core.testset import Paraphrase

REFERENCES = ["the cat sat", "a dog ran off", "it rained"]
SYSTEMS = {
    "one": [f"one {n}" for n in range(40)],
    "two": [f"two {n}" for n in range(40)],
    "same": [f"one {n}" if n else "other" for n in range(40)],
}


def outputs() -> gn.TestSet:
    references = [f"reference {n}" for n in range(40)]
    return gn.TestSet.from_lists(SYSTEMS, references, sources=[f"source {n}" for n in range(40)])


def paraphrased() -> gn.TestSet:
    made = [
        *(Paraphrase(i, text.upper(), "copy") for i, text in enumerate(REFERENCES, start=1)),
        Paraphrase(1, "the cat lay", "other"),
        Paraphrase(1, "=the cat", "other"),
    ]
    return gn.TestSet.from_lists({}, REFERENCES).with_paraphrases(made)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def written(folder: Path, testset: gn.TestSet, **options: Any) -> tuple[gn.Finding, Any, Any]:
    key = folder / "key.tsv"
    found = gn.human.sheet(testset, save=folder / "s.tsv", key=key, **options)
    return found, rows_of(folder / "s.tsv"), rows_of(key)


def read(folder: Path, **answers: dict[str, str]) -> gn.Finding:
    files = []
    for name, said in answers.items():
        lines = "".join(f"{item}\t{answer}\n" for item, answer in said.items())
        files.append(folder / f"{name}.tsv")
        files[-1].write_text(f"item\tanswer\n{lines}", encoding="utf-8")
    return gn.human.sheet(read=files, key=folder / "key.tsv")


def test_two_outputs_stand_side_by_side_evenly_over_pairs_where_they_differ(tmp_path: Path) -> None:
    testset = outputs()
    found, sheet, key = written(tmp_path, testset, items=21)
    assert list(sheet[0]) == ["item", "source", "reference A", "A", "B", "answer", "comment"]
    pairs = Counter(tuple(sorted((row["a"], row["b"]))) for row in key)
    assert pairs == {("one", "two"): 10, ("same", "two"): 10, ("one", "same"): 1}
    assert {(row["system"], row["other"]): row["drawn"] for row in found} == {
        ("one", "two"): 10, ("one", "same"): 1, ("two", "same"): 10,
    }  # fmt: skip
    for shown, told in zip(sheet, key, strict=True):
        at = int(told["segment"]) - 1
        assert (shown["A"], shown["B"]) == tuple(SYSTEMS[told[side]][at] for side in "ab")
        assert shown["source"] == f"source {at}"
    assert 0 < sum(row["a"] < row["b"] for row in key) < 21


def test_a_sheet_of_more_than_there_is_is_smaller_and_says_so(tmp_path: Path) -> None:
    found, sheet, _ = written(tmp_path, outputs(), items=100)
    assert len(sheet) == 81
    (said,) = found.verdict
    assert said.level == "note"
    assert "81 items where 100 were asked for" in str(said)


def test_preferences_are_counted_by_pair_of_systems(tmp_path: Path) -> None:
    _, _, key = written(tmp_path, outputs(), items=100)
    answers = {row["item"]: "A" if row["a"] == "two" else "B" for row in key}
    found = read(tmp_path, anna=answers)
    rows = {(row["system"], row["other"]): row for row in found}
    assert rows["same", "two"]["other_preferred"] == rows["one", "two"]["other_preferred"] == 40
    assert rows["one", "same"]["preferred"] + rows["one", "same"]["other_preferred"] == 1
    first, second, few = found.verdict
    assert str(first).startswith("People prefer two to one: in 1.00 [")
    assert str(second).startswith("People prefer two to same: in 1.00 [")
    assert few.level == "caution"
    assert "one against same" in str(few)


def test_single_outputs_are_scored_and_read_as_judgements(tmp_path: Path) -> None:
    testset = outputs()
    found, sheet, key = written(tmp_path, testset, scalar=True, items=35)
    assert list(sheet[0]) == ["item", "source", "reference A", "output", "answer", "comment"]
    assert {row["system"]: row["drawn"] for row in found} == dict.fromkeys(SYSTEMS, 35)
    assert len({row["segment"] for row in key}) == 35  # of the same segments
    better = {
        row["item"]: str(50 + 40 * (row["a"] == "two") + int(row["segment"]) % 7) for row in key
    }
    judged = read(tmp_path, anna=better, ben={**better, key[0]["item"]: ""})
    assert str(judged.verdict[0]).startswith("People score two highest: mean scores two 93.1 [")
    assert judged.facts["Krippendorff's alpha"] == "1.000"
    assert notes(judged.notices) == ("ben answered 104 of 105 items",)
    file = tmp_path / "esa.tsv"
    names = ("item", "segment", "annotator", "system", "score")
    lines = ["\t".join(str(row[name]) for name in names) for row in judged.table("answers").rows]
    file.write_text("\n".join(["\t".join(names), *lines]) + "\n", encoding="utf-8")
    (best, *_) = gn.human.compare(testset, human=f"esa={file}").table("systems").rows
    assert best["system"] == "two"
    assert best["mean"] == pytest.approx(next(r["score"] for r in judged if r["system"] == "two"))


def test_paraphrases_are_mixed_and_scored_without_their_methods(tmp_path: Path) -> None:
    _, sheet, key = written(tmp_path, paraphrased(), origin="paraphrases", items=2, seed=3)
    assert Counter(row["a"] for row in key) == {"copy": 2, "other": 1}
    assert list(sheet[0]) == ["item", "reference A", "output", "answer", "comment"]
    text = (tmp_path / "s.tsv").read_text(encoding="utf-8")
    assert "copy" not in text
    assert "\t=" not in text
    again = written(tmp_path, paraphrased(), origin="paraphrases", items=2, seed=3)
    assert again[1:] == (sheet, key)


def test_scores_of_several_people_are_averaged_item_by_item(tmp_path: Path) -> None:
    _, _, key = written(tmp_path, paraphrased(), origin="paraphrases")
    copies = [row["item"] for row in key if row["a"] == "copy"]
    found = read(
        tmp_path, anna={copies[0]: "100", copies[1]: "80,0", copies[2]: ""}, ben={copies[0]: "50"}
    )
    (row,) = found.rows
    assert (row["system"], row["score"], row["items"]) == ("copy", 77.5, 2)
    assert [one["annotator"] for one in found.table("answers").rows] == ["anna", "anna", "ben"]
    assert "copy: 2 segments are too few" in str(found.verdict[0])


@pytest.mark.parametrize("score", ["101", "-1", "good", "nan"])
def test_what_is_no_score_is_refused_where_it_stands(tmp_path: Path, score: str) -> None:
    _, _, key = written(tmp_path, paraphrased(), origin="paraphrases")
    with pytest.raises(FormatError, match=r"a\.tsv:3: .*0 to 100"):
        read(tmp_path, a={key[0]["item"]: "5", key[1]["item"]: score})


def test_what_cannot_be_drawn_is_refused(tmp_path: Path) -> None:
    files = {"save": tmp_path / "s.tsv", "key": tmp_path / "k.tsv"}
    alone = gn.TestSet.from_lists({"a": ["x"]}, ["x"])
    with pytest.raises(DataError, match="takes 2 systems at least"):
        gn.human.sheet(alone, **files)
    with pytest.raises(DataError, match="outputs of all systems are equal"):
        gn.human.sheet(gn.TestSet.from_lists({"a": ["x"], "b": ["x"]}, ["x"]), **files)
    with pytest.raises(DataError, match="no paraphrases to judge; name files"):
        gn.human.sheet(alone, origin="paraphrases", **files)
    with pytest.raises(UsageError, match="name one"):
        gn.human.sheet(**files)
    bare = gn.TestSet.from_lists({}, ["x"]).with_paraphrases([Paraphrase(1, "y")], original=False)
    with pytest.raises(DataError, match="beside references"):
        gn.human.sheet(bare, origin="paraphrases", **files)
    assert not list(tmp_path.iterdir())


def test_the_command_writes_a_sheet_of_paraphrases_and_reads_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ref, file, key = tmp_path / "ref.txt", tmp_path / "p.jsonl", tmp_path / "k.tsv"
    ref.write_text("".join(line + "\n" for line in REFERENCES), encoding="utf-8")
    made = [{"segment": n, "text": f"p {n}", "method": "m"} for n in (1, 2, 3)]
    file.write_text("".join(json.dumps(one) + "\n" for one in made), encoding="utf-8")
    sheet = tmp_path / "s.tsv"
    line = ["human", "sheet", str(ref), "--paraphrases", str(file), "--from", "paraphrases"]
    assert main([*line, "--save", str(sheet), "--key", str(key), "-q"]) == 0
    capsys.readouterr()
    filled = [{**row, "answer": "90"} for row in rows_of(sheet)]
    text = "".join("\t".join(row.values()) + "\n" for row in filled)
    sheet.write_text("\t".join(filled[0]) + "\n" + text, encoding="utf-8")
    assert main(["human", "sheet", "--read", str(sheet), "--key", str(key), "-f", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["system"], row["score"], row["items"]) == ("m", 90.0, 3)


@pytest.mark.parametrize("with_outputs", [True, False])
def test_pseudo_references_of_systems_go_onto_a_sheet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], with_outputs: bool
) -> None:
    ref, made, key = tmp_path / "ref.txt", tmp_path / "pseudo.jsonl", tmp_path / "k.tsv"
    ref.write_text("".join(line + "\n" for line in REFERENCES), encoding="utf-8")
    systems = ["-i"]
    for name in "abc":
        systems.append(str(tmp_path / f"{name}.txt"))
        text = "".join(f"{line} {name}\n" for line in REFERENCES)
        Path(systems[-1]).write_text(text, encoding="utf-8")
    generate = ["paraphrase", "generate", str(ref), *systems, "--method", "pseudo"]
    assert main([*generate, "--save", str(made), "-q"]) == 0
    line = ["human", "sheet", str(ref), "--paraphrases", str(made), "--from", "paraphrases"]
    files = ["--save", str(tmp_path / "s.tsv"), "--key", str(key)]
    capsys.readouterr()
    assert main([*line, *(systems if with_outputs else []), *files, "-f", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["system"], row["drawn"]) == ("pseudo", len(REFERENCES))


def test_a_sheet_with_answers_is_not_written_over(tmp_path: Path) -> None:
    written(tmp_path, outputs(), items=6)
    sheet = tmp_path / "s.tsv"
    written(tmp_path, outputs(), items=6)  # the same bytes
    filled = sheet.read_text(encoding="utf-8") + "x\ty\n"
    sheet.write_text(filled, encoding="utf-8")
    with pytest.raises(OutputError, match=r"s\.tsv exists"):
        written(tmp_path, outputs(), items=6)
    assert sheet.read_text(encoding="utf-8") == filled


def test_single_scores_are_not_asked_of_pairs_that_muler_tells_apart(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="scalar"):
        written(tmp_path, outputs(), origin="muler", scalar=True)


def test_outputs_that_say_nothing_are_scored_and_spaces_alone_are_no_choice(tmp_path: Path) -> None:
    texts = [f"text {n}" for n in range(9)]
    silent = ["" if n % 3 else text for n, text in enumerate(texts)]
    testset = gn.TestSet.from_lists({"a": [f"{t} " for t in texts], "b": silent}, texts)
    found, sheet, _ = written(tmp_path, testset, scalar=True, items=9)
    assert {row["system"]: row["drawn"] for row in found} == {"a": 9, "b": 9}
    assert sum(not row["output"].strip() for row in sheet) == 6
    (tmp_path / "pairs").mkdir()
    _, _, key = written(tmp_path / "pairs", testset, items=9)
    assert {int(row["segment"]) % 3 for row in key} == {0, 2}


def test_a_key_that_is_the_sheet_or_a_folder_is_refused(tmp_path: Path) -> None:
    both = tmp_path / "both.tsv"
    with pytest.raises(UsageError, match=r"two files; .*both.tsv is both"):
        gn.human.sheet(outputs(), save=tmp_path / "." / ".." / tmp_path.name / "both.tsv", key=both)
    with pytest.raises(OutputError, match="is a folder"):
        gn.human.sheet(outputs(), save=both, key=tmp_path)
    assert not both.exists()
