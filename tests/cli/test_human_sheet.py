"""``gnomon human sheet`` as a user meets it: sheet, form, key, answers, refusals."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

import pytest

WORD = [
    "--features",
    "re:number",
    "re:word",
    "--pattern",
    r"number=\d+",
    "--pattern",
    r"word=[a-z]+",
]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """Two systems of near-equal score: "counts" errs in words, "talks" in numbers."""
    rng = random.Random(5)
    columns: dict[str, list[str]] = {"ref": [], "counts": [], "talks": []}
    for _ in range(40):
        tokens = [rng.choice(["red", "new", "=cold"]) if i % 2 else str(i * 7) for i in range(12)]
        broken = rng.sample(range(0, 12, 2), 3)
        columns["ref"].append(" ".join(tokens))
        columns["talks"].append(" ".join("0" if i in broken else t for i, t in enumerate(tokens)))
        columns["counts"].append(
            " ".join("thing" if i - 1 in broken else t for i, t in enumerate(tokens))
        )
    for name, lines in columns.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def _make(gnomon, texts: Path, *more: object):
    return gnomon(
        "human", "sheet", texts / "ref.txt", "-i", texts / "counts.txt", texts / "talks.txt",
        "--from", "muler", *WORD, "--max-score-gap", "20", "--items", "30", "-q", *more,
    )  # fmt: skip


def _files(texts: Path) -> list[object]:
    return [
        "--save",
        texts / "sheet.tsv",
        "--form",
        texts / "sheet.html",
        "--key",
        texts / "key.tsv",
    ]


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def _fill(texts: Path, name: str, choose) -> Path:
    """A sheet filled by somebody who knows the key: agree, disagree, tie, or leave open."""
    key = {row["item"]: row for row in _rows(texts / "key.tsv")}
    rows = _rows(texts / "sheet.tsv")
    for number, row in enumerate(rows):
        known = key[row["item"]]
        right, wrong = ("A", "B") if known["expected"] == known["a"] else ("B", "A")
        row["answer"] = {"agree": right, "disagree": wrong}.get(choose(number), choose(number))
    path = texts / f"{name}.tsv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter="\t", lineterminator="\r\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_pairs_sheet_form_and_key_are_written_in_one_run(gnomon, texts: Path) -> None:
    answer = _make(gnomon, texts, *_files(texts), "-f", "json")
    assert answer.code == 0
    found = answer.json()
    assert found["command"] == "human sheet"
    assert {row["feature"] for row in found["rows"]} == {"re:number", "re:word"}
    assert sum(row["drawn"] for row in found["rows"]) == 30
    assert "seed:12345" in found["signatures"]["bleu"]
    assert len(_rows(texts / "sheet.tsv")) == len(_rows(texts / "key.tsv")) == 30


def test_neither_sheet_nor_form_names_a_system_or_the_seed(gnomon, texts: Path) -> None:
    _make(gnomon, texts, *_files(texts), "--seed", "987654")
    for name in ("sheet.tsv", "sheet.html"):
        text = (texts / name).read_text(encoding="utf-8")
        assert "counts" not in text
        assert "talks" not in text
        assert "987654" not in text
    assert "counts" in (texts / "key.tsv").read_text(encoding="utf-8")


def test_filled_sheets_come_back_as_the_table_of_the_paper(gnomon, texts: Path) -> None:
    _make(gnomon, texts, *_files(texts))
    anna = _fill(texts, "anna", lambda n: ["agree", "agree", "agree", "disagree", "tie", ""][n % 6])
    answer = gnomon("human", "sheet", "--read", anna, "--key", texts / "key.tsv", "-f", "json")
    assert answer.code == 0
    whole, *rest = answer.json()["rows"]
    # four pairs of outputs stand there under both features, which expect different systems
    counts = ("preferred", "other_preferred", "ties", "open")
    assert [whole[name] for name in counts] == [12, 4, 4, 2]
    assert [sum(row[name] for row in rest) for name in counts] == [15, 5, 5, 5]
    assert whole["share"] == 0.75
    assert whole["low"] < 0.75 < whole["high"]
    assert whole["p"] == pytest.approx(0.076812744140625)  # scipy.stats.binomtest(12, 16)
    assert sum(row["preferred"] for row in rest) == 15


def test_several_annotators_and_a_page(gnomon, texts: Path) -> None:
    _make(gnomon, texts, *_files(texts))
    sheets = [_fill(texts, name, lambda _: "agree") for name in ("anna", "ben")]
    answer = gnomon(
        "human", "sheet", "--read", *sheets, "--key", texts / "key.tsv",
        "--html", texts / "result.html", "-f", "tsv",
    )  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(answer.out), delimiter="\t"))
    assert [row["annotator"] for row in rows] == ["majority"] * 3 + ["anna"] * 3 + ["ben"] * 3
    page = (texts / "result.html").read_text(encoding="utf-8")
    assert "Agreement among annotators" in page


def test_a_wrong_answer_is_named_with_its_file_and_line(gnomon, texts: Path) -> None:
    _make(gnomon, texts, *_files(texts))
    anna = _fill(texts, "anna", lambda n: "maybe" if n == 3 else "agree")
    answer = gnomon("human", "sheet", "--read", anna, "--key", texts / "key.tsv")
    assert answer.code == 1
    assert f"{anna}:5: the answer is 'maybe'; allowed are A, B, tie" in answer.err


def test_answers_do_not_fit_another_key(gnomon, texts: Path) -> None:
    _make(gnomon, texts, *_files(texts))
    anna = _fill(texts, "anna", lambda _: "agree")
    again = _make(gnomon, texts, *_files(texts), "--seed", "1")
    assert "key.tsv exists" in again.err  # nothing is written over
    for file in _files(texts):
        if isinstance(file, Path):
            file.unlink()
    _make(gnomon, texts, *_files(texts), "--seed", "1")
    answer = gnomon("human", "sheet", "--read", anna, "--key", texts / "key.tsv")
    assert answer.code == 1
    assert "is not in the key" in answer.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--save", "s.tsv"], "missing: --key"),
        (["--key", "k.tsv"], "either write a sheet"),
        (["--save", "s.tsv", "--read", "a.tsv", "--key", "k.tsv"], "either write a sheet"),
        (["--read", "a.tsv", "--key", "k.tsv"], "leave the test set out"),
        (["--save", "k.tsv", "--key", "k.tsv"], "named twice"),
        (["--save", "s.txt", "--key", "k.tsv"], "--save must be a file name in .tsv"),
        (["--form", "s.tsv", "--key", "k.tsv"], "--form must be a file name in .html"),
        (["-m", "bleu", "chrf", "--save", "s.tsv", "--key", "k.tsv"], "one metric"),
        (["--items", "0", "--save", "s.tsv", "--key", "k.tsv"], "--items: it must be"),
        (["--min-muler-gap", "-1", "--save", "s.tsv", "--key", "k.tsv"], "--min-muler-gap"),
    ],
)
def test_requests_that_make_no_sense_are_refused(
    gnomon, texts: Path, monkeypatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(texts)
    answer = _make(gnomon, texts, *arguments)
    assert answer.code == 2
    assert said in answer.err


def test_answers_without_a_key_and_results_over_an_input_are_refused(gnomon, texts: Path) -> None:
    _make(gnomon, texts, *_files(texts))
    anna = _fill(texts, "anna", lambda _: "agree")
    assert "missing: --key" in gnomon("human", "sheet", "--read", anna).err
    key = texts / "key.tsv"
    answer = gnomon("human", "sheet", "--read", anna, "--key", key, "-o", key)
    assert (answer.code, "named twice" in answer.err) == (2, True)
    assert len(_rows(key)) == 30


def test_without_a_fitting_pair_nothing_is_written(gnomon, texts: Path) -> None:
    answer = _make(gnomon, texts, *_files(texts), "--min-muler-gap", "0.99")
    assert answer.code == 1
    assert "widest gap" in answer.err
    assert not (texts / "key.tsv").exists()


@pytest.mark.parametrize("bad", ["save", "form", "key"])
def test_where_one_file_cannot_be_written_none_is(gnomon, texts: Path, bad: str) -> None:
    files = {"save": texts / "s.tsv", "form": texts / "s.html", "key": texts / "k.tsv"}
    files[bad] = texts / "nowhere" / files[bad].name
    answer = _make(gnomon, texts, *(a for name, path in files.items() for a in (f"--{name}", path)))
    assert answer.code in {1, 2}
    assert "nowhere" in answer.err
    assert not any(path.exists() for path in files.values())
    assert not list(texts.glob("*.tmp"))


def test_the_table_fits_a_terminal(gnomon, texts: Path) -> None:
    answer = _make(gnomon, texts, *_files(texts))
    assert answer.code == 0
    for word in ("re:number", "counts", "talks", "seed:12345"):
        assert word in answer.out
