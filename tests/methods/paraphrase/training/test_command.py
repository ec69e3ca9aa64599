import json
from pathlib import Path

import pytest

from gnomon.cli import main
from gnomon.methods.paraphrase import codes

_OPTIONS = [
    "--vocabulary",
    "44",
    "--dimensions",
    "16",
    "--encoder-layers",
    "1",
    "--decoder-layers",
    "1",
    "--heads",
    "2",
    "--feed-forward",
    "32",
    "--dev",
    "10",
    "--bleu-pairs",
    "1",
    "-f",
    "json",
    "-q",
]


@pytest.fixture
def file(tmp_path: Path, rows: list[tuple[str, str]], tiny: dict[str, object]) -> str:
    path = tmp_path / "pairs.tsv"
    lines = (f"{a}\t{b}\t{i % 3}\n" for i, (a, b) in enumerate(rows))
    path.write_text("".join(lines) + "same\tsame\t0\n", encoding="utf-8")
    return str(path)


def test_a_dry_run_counts_and_writes_nothing(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kind = ["--code-kind", "random"]
    assert (
        main(
            [
                "paraphrase",
                "train",
                "--pairs",
                file,
                "--save",
                f"{tmp_path}/m",
                "--dry-run",
                *kind,
                *_OPTIONS,
            ]
        )
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    (row,) = found["rows"]
    assert (row["pairs"], row["dev"], row["vocabulary"]) == (190, 10, 47)
    assert {"filter": "copies", "dropped": 1} in found["tables"]["filters"]
    assert not (tmp_path / "m").exists()


def test_the_command_trains_and_goes_on(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [
        "paraphrase",
        "train",
        "--pairs",
        file,
        "--save",
        f"{tmp_path}/m",
        "--code-kind",
        "random",
    ]
    assert main([*command, "--max-steps", "2", *_OPTIONS]) == 0
    assert main([*command, "--max-steps", "3", *_OPTIONS]) == 2
    assert "--resume" in capsys.readouterr().err
    assert main([*command, "--max-steps", "3", "--resume", *_OPTIONS]) == 0
    row = json.loads(capsys.readouterr().out)["rows"][0]
    assert (row["steps"], row["stopped"]) == (3, "steps")
    about = json.loads((tmp_path / "m" / "gnomon-paraphraser.json").read_text(encoding="utf-8"))
    assert about["codes"] == {"kind": "random", "count": 3, "identity": None}


def test_codes_without_a_kind_are_refused(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["paraphrase", "train", "--pairs", file, "--save", f"{tmp_path}/m", *_OPTIONS]) == 2
    assert "--code-kind" in capsys.readouterr().err


def _codes(folder: Path, k: int) -> str:
    """A folder of random codes, and the identity that it states."""
    made = codes.fit(["x"], encoder="random", k=k)
    made.save(folder)
    return made.identity


def test_codes_are_those_of_the_folder_that_they_lie_in(
    tmp_path: Path, rows: list[tuple[str, str]], tiny: dict[str, object]
) -> None:
    pairs, folder, model = tmp_path / "pairs.tsv", tmp_path / "codes", tmp_path / "m"
    pairs.write_text("".join(f"{a}\t{b}\n" for a, b in rows), encoding="utf-8")
    identity = _codes(folder, 5)
    file = folder / "pairs.codes.txt"
    codes.write_codes(file, [-1, *(i % 3 for i in range(1, len(rows)))])
    command = [
        "paraphrase",
        "train",
        "--pairs",
        str(pairs),
        "--codes",
        str(file),
        "--save",
        str(model),
    ]
    assert main([*command, "--max-steps", "1", *_OPTIONS]) == 0
    about = json.loads((model / "gnomon-paraphraser.json").read_text(encoding="utf-8"))
    assert about["codes"] == {"kind": "random", "count": 5, "identity": identity}
    assert about["data"]["pairs"] == len(rows) - 1


def test_the_folder_of_a_third_column_is_named(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _codes(tmp_path / "codes", 5)
    command = [
        "paraphrase",
        "train",
        "--pairs",
        file,
        "--save",
        f"{tmp_path}/m",
        "--dry-run",
        *_OPTIONS,
    ]
    named = [*command, "--codes-folder", f"{tmp_path}/codes"]
    assert main(named) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["vocabulary"] == 49
    assert main([*named, "--code-kind", "random", "--code-count", "5"]) == 0
    assert main([*named, "--code-kind", "semantic"]) == 2
    assert "--code-kind is semantic, and the codes in" in capsys.readouterr().err
    assert main([*named, "--code-count", "3"]) == 2


@pytest.mark.verify
def test_a_run_that_did_not_know_the_folder_of_its_codes_goes_on(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["paraphrase", "train", "--pairs", file, "--save", f"{tmp_path}/m", *_OPTIONS]
    assert main([*command, "--max-steps", "1", "--code-kind", "random"]) == 0
    _codes(tmp_path / "codes", 5)
    named = ["--max-steps", "2", "--resume", "--codes-folder", f"{tmp_path}/codes"]
    assert main([*command, *named]) == 0
    about = json.loads((tmp_path / "m" / "gnomon-paraphraser.json").read_text(encoding="utf-8"))
    assert about["codes"] == {"kind": "random", "count": 3, "identity": None}
    capsys.readouterr()


def test_a_folder_of_codes_without_codes_is_refused(
    tmp_path: Path, tiny: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("a\tb\n", encoding="utf-8")
    _codes(tmp_path / "codes", 5)
    command = ["paraphrase", "train", "--pairs", str(pairs), "--save", f"{tmp_path}/m"]
    assert main([*command, "--codes-folder", "x", *_OPTIONS]) == 1
    assert "x holds no codes.json" in capsys.readouterr().err
    assert main([*command, "--codes-folder", f"{tmp_path}/codes", *_OPTIONS]) == 2
    assert "need codes: a third column, or a file of them (--codes FILE)" in capsys.readouterr().err
