"""The whole way: drawn, written for pearmut, answered, read, weighed and compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gnomon as gn
from gnomon.cli import main
from gnomon.core.errors import DataError, UsageError
from gnomon.data.formats import read_sample

N, PER = 240, 2
DOCUMENTS = [f"d{n // PER}" for n in range(N)]


def apart(segment: int) -> bool:
    """The segments of every third document, where the systems differ."""
    return segment // PER % 3 == 0


def toy() -> gn.TestSet:
    """Of 120 documents 40 are those in which B is worse, by 30 points; a metric sees where."""
    references = [f"this is the sentence with the number {n} of the set" for n in range(N)]
    worse = [f"no {n}" if apart(n) else f"{text} !" for n, text in enumerate(references)]
    right = [f"{text} ." for text in references]
    return gn.TestSet("toy", {"A": references}, {"a": right, "b": worse}, documents=DOCUMENTS)


#: what people would say of every segment: b is worse by 10 in mean
TRUTH = 10.0


def score(system: str, segment: int) -> float:
    """What people say: noise of documents and segments, and 30 points where b is worse."""
    noise = (37 * (segment // PER) + 11 * segment) % 17 - 8
    gain = (13 * segment) % 11 - 5 if system == "b" else 0
    return 60 + noise + gain - (30 if system == "b" and apart(segment) else 0)


def answered(campaign: Path, log: Path) -> None:
    """pearmut's log of a campaign that everybody has answered."""
    given: dict[str, Any] = json.loads(campaign.read_text())
    with log.open("a") as file:
        for user, task in zip(given["info"]["users"], given["data"], strict=True):
            for number, document in enumerate(task):
                answers = [
                    {name: {"score": said(item, name), "error_spans": []} for name in item["tgt"]}
                    for item in document
                ]
                record = {"annotation": answers, "item": document, "user_id": user}
                file.write(json.dumps(record | {"item_i": number}) + "\n")


def said(item: dict[str, Any], name: str) -> float:
    return score(name, int(item["item_id"].rpartition("_#_")[2]) - 1)


def hajek(folder: Path) -> float:
    """The weighted mean difference by hand."""
    rows = read_sample(folder / "sample.tsv").rows
    weights = [1 / row.inclusion for row in rows]
    differences = [score("a", row.segment) - score("b", row.segment) for row in rows]
    return float(np.average(differences, weights=weights))


def difference(finding: gn.Finding) -> dict[str, Any]:
    (row,) = finding.table("pairs").rows
    sign = 1 if row["system"] == "a" else -1
    ends = sorted(sign * float(row[name] or 0) for name in ("low", "high"))
    return {**row, "difference": sign * float(row["difference"] or 0), "ends": ends}


def compared(folder: Path, **options: Any) -> dict[str, Any]:
    testset = toy().with_human(folder / "log.jsonl")
    return difference(gn.human.compare(testset, raters="ignore", **options))


def test_planned_analyses_are_taken_one_after_the_other(tmp_path: Path) -> None:
    gn.human.sample(
        toy(),
        documents=90,
        interim_analyses=3,
        raters=3,
        same_rater=True,
        save=tmp_path / "campaign.json",
    )
    sample = {"sample": tmp_path / "sample.tsv"}
    for analysis in (1, 2, 3):
        answered(tmp_path / f"campaign.analysis{analysis}.json", tmp_path / "log.jsonl")
        row = compared(tmp_path, interim=f"{analysis}/3", **sample)
        rows = read_sample(tmp_path / "sample.tsv").after(analysis).rows
        by_hand = np.mean([score("a", r.segment) - score("b", r.segment) for r in rows])
        assert row["difference"] == pytest.approx(by_hand, rel=1e-9)
    with pytest.raises(UsageError, match="plans 3 analyses"):
        compared(tmp_path, interim="2/4", **sample)


def test_judgements_outside_of_the_sample_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    gn.human.sample(toy(), documents=40, seed=1, save=tmp_path / "campaign.json")
    gn.human.sample(toy(), documents=40, seed=2, save=tmp_path / "other" / "campaign.json")
    answered(tmp_path / "campaign.json", tmp_path / "log.jsonl")
    with pytest.raises(DataError, match="judged segments are not in the sample"):
        compared(tmp_path, sample=tmp_path / "other" / "sample.tsv")


def test_the_way_back_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    toy().write(tmp_path / "toy")
    command = ["human", "sample", "-t", str(tmp_path / "toy")]
    save = ["--documents", "40", "--save", str(tmp_path / "campaign.json")]
    assert main([*command, *save]) == 0
    answered(tmp_path / "campaign.json", tmp_path / "log.jsonl")
    capsys.readouterr()
    sample = ["--sample", str(tmp_path / "sample.tsv")]
    human = ["--human", str(tmp_path / "log.jsonl")]
    assert main(["human", "compare", "-t", str(tmp_path / "toy"), *human, *sample]) == 0
    assert capsys.readouterr().out.startswith("People prefer a to b by ")
