import json
from pathlib import Path

import pytest

from gnomon.cli import main

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
            ["paraphrase", "train", file, "--save", f"{tmp_path}/m", "--dry-run", *kind, *_OPTIONS]
        )
        == 0
    )
    row = json.loads(capsys.readouterr().out)["rows"][0]
    assert (row["copies"], row["pairs"], row["dev"], row["vocabulary"]) == (1, 190, 10, 47)
    assert not (tmp_path / "m").exists()


def test_the_command_trains_and_goes_on(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["paraphrase", "train", file, "--save", f"{tmp_path}/m", "--code-kind", "random"]
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
    assert main(["paraphrase", "train", file, "--save", f"{tmp_path}/m", *_OPTIONS]) == 2
    assert "--code-kind" in capsys.readouterr().err
