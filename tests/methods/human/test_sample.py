"""``gnomon human sample``: what is written, how often each segment is in it, what comes back."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gnomon as gn
from gnomon.cli import main
from gnomon.core.errors import GnomonError, UsageError
from gnomon.data.formats import read_sample
from gnomon.human.sampling import design_of, units_of

SIZES = [1 + n % 4 for n in range(40)]
DOCUMENTS = [f"news.{n}" for n, size in enumerate(SIZES) for _ in range(size)]
N = len(DOCUMENTS)
SYSTEMS = ("good", "poor", "other")


def toy(**parts: Any) -> gn.TestSet:
    """40 documents of 1 to 4 segments, three systems; one source comes in every document."""
    words = [f"word{n} and word{n + 1} stand here" for n in range(N)]
    sources = ["Hallo." if DOCUMENTS[n] != DOCUMENTS[n - 1] else f"Satz {n}." for n in range(N)]
    outputs = {
        "good": words,
        "poor": [text if n % 3 else f"=wrong, {n}" for n, text in enumerate(words)],
        "other": [text.replace("stand", "stands") for text in words],
    }
    fixed: dict[str, Any] = {
        "name": "toy",
        "references": {"A": [f"{text} ." for text in words]},
        "systems": outputs,
        "sources": sources,
        "language_pair": "de-en",
        "documents": DOCUMENTS,
        "domains": ["news" if n < 25 else "talk" for n in range(N)],
    }
    return gn.TestSet(**(fixed | parts))


def draw(folder: Path, *, name: str = "c.json", **options: Any) -> gn.Finding:
    given = options.pop("testset", None) or toy()
    return gn.human.sample(given, save=folder / name, **options)


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_the_same_command_writes_the_same_bytes_and_another_seed_does_not(tmp_path: Path) -> None:
    options: dict[str, Any] = {"documents": 20, "raters": 3, "design": "stratified"}
    for name, seed in (("one", 1), ("two", 1), ("three", 2)):
        (tmp_path / name).mkdir()
        draw(tmp_path / name, seed=seed, **options)
    one, two, three = (files(tmp_path / name) for name in ("one", "two", "three"))
    assert sorted(one) == ["c.json", "sample.tsv"]
    assert one == two
    assert one != three


def test_which_segments_are_drawn_hangs_on_neither_analyses_nor_raters_nor_the_tool(
    tmp_path: Path,
) -> None:
    drawn = set()
    for n, more in enumerate(
        (
            {},
            {"raters": 5},
            {"raters": 2, "same_rater": True},
            {"interim_analyses": 1, "export": "appraise"},
            {"export": "tsv", "name": "c.tsv"},
        )
    ):
        (tmp_path / str(n)).mkdir()
        draw(tmp_path / str(n), documents=25, **more)
        sample = read_sample(tmp_path / str(n) / "sample.tsv", toy())
        drawn.add(tuple((row.segment, row.inclusion) for row in sample.rows))
    assert len(drawn) == 1


def test_analyses_are_nested_and_each_has_its_campaign(tmp_path: Path) -> None:
    texts = [f"text {n}" for n in range(120)]
    testset = gn.TestSet("flat", {"A": texts}, {"a": texts, "b": texts})
    finding = draw(tmp_path, testset=testset, segments=100, interim_analyses=3)
    assert sorted(files(tmp_path)) == [
        "c.analysis1.json", "c.analysis2.json", "c.analysis3.json", "sample.tsv",
    ]  # fmt: skip
    sample = read_sample(tmp_path / "sample.tsv", testset)
    held = [{row.segment for row in sample.after(analysis).rows} for analysis in (1, 2, 3)]
    assert held[0] < held[1] < held[2]
    assert [len(segments) for segments in held] == [34, 67, 100]
    assert [row["documents"] for row in finding.table("analyses").rows] == [34, 33, 33]
    before: set[int] = set()
    for analysis, segments in enumerate(held, start=1):
        campaign = json.loads((tmp_path / f"c.analysis{analysis}.json").read_text())
        numbers = {
            int(item["item_id"].rpartition("_#_")[2]) - 1
            for task in campaign["data"]
            for document in task
            for item in document
        }
        assert numbers == segments - before
        before = segments


@pytest.mark.parametrize(
    ("options", "seeds"),
    [({"documents": 12}, 100), ({"segments": 30, "design": "stratified"}, 120)],
)
def test_over_seeds_each_segment_is_in_the_sample_as_often_as_the_sample_says(
    options: dict[str, Any], seeds: int, tmp_path: Path
) -> None:
    counts, expected = np.zeros(N), np.full(N, np.nan)
    for seed in range(seeds):
        (tmp_path / "sample.tsv").unlink(missing_ok=True)
        draw(tmp_path, seed=seed, export="tsv", name="c.tsv", **options)
        inclusion = np.full(N, np.nan)
        for row in read_sample(tmp_path / "sample.tsv").rows:
            inclusion[row.segment] = row.inclusion
        there = ~np.isnan(inclusion)
        counts += there
        same = np.isnan(expected[there]) | (expected[there] == inclusion[there])
        assert same.all()  # the probability does not hang on the draw
        expected[there] = inclusion[there]
    assert np.isfinite(expected).all()
    errors = np.sqrt(expected * (1 - expected) / seeds)
    assert (abs(counts / seeds - expected) <= 4.2 * errors + 1e-12).all()


def test_judgements_are_as_many_as_asked_for_in_mean_over_draws(tmp_path: Path) -> None:
    finding = draw(tmp_path, judgements=150)
    (row,) = finding.table("strata").rows
    # 40 documents of 2.5 segments and three systems: 7.5 outputs a document in mean, 150 / 7.5
    assert row["drawn"] == 20
    inclusion = read_sample(tmp_path / "sample.tsv").rows[0].inclusion
    assert inclusion == 20 / 40


@pytest.mark.parametrize("how", ["random", "stratified"])
def test_one_more_unit_would_be_more_judgements_than_asked_for(how: str, tmp_path: Path) -> None:
    means = []
    finding = draw(tmp_path, judgements=150, design=how)
    count = sum(int(row["drawn"] or 0) for row in finding.table("strata").rows)
    for number in (count, count + 1):
        (tmp_path / "sample.tsv").unlink()
        again = draw(tmp_path, documents=number, design=how)
        assert sum(int(row["drawn"] or 0) for row in again.table("strata").rows) == number
        design = design_of(units_of(toy(), "document"), how, number, toy())
        means.append(3 * float(design.inclusion @ SIZES))
    assert means[0] <= 150 + 1e-9 < means[1]


# What tools are given, and what comes back


def scored(name: str, segment: int) -> int:
    """What the people of these tests say."""
    return (17 * segment + 29 * SYSTEMS.index(name)) % 101


def came_back(folder: Path, answers: Path) -> None:
    """All drawn outputs are judged by those of the sample, and nothing else is."""
    testset = toy().with_human(answers, kind="esa")
    sample = read_sample(folder / "sample.tsv", testset)
    expected = np.full((3, N), np.nan)
    for row in sample.rows:
        expected[:, row.segment] = [scored(name, row.segment) for name in SYSTEMS]
    np.testing.assert_array_equal(testset.human_scores("esa"), expected)
    raters = {
        (name, row.segment): rater
        for row in sample.rows
        for name, rater in zip(SYSTEMS, row.raters * (3 // len(row.raters)), strict=True)
    }
    judged = {
        (human.systems[k], int(n)): human.rater
        for human in testset.human
        if human.rater is not None and human.kind == "esa"
        for k, n in np.argwhere(~np.isnan(human.values)).tolist()
    }
    assert judged == raters


def pearmut_log(campaign: dict[str, Any]) -> list[str]:
    """What pearmut logs when everybody answers (its version 1.1.6)."""
    lines = []
    for user, task in zip(campaign["info"]["users"], campaign["data"], strict=True):
        for number, document in enumerate(task):
            answers = [
                {name: {"score": answer_to(item, name), "error_spans": []} for name in item["tgt"]}
                for item in document
            ]
            loaded = [{"time": 1.0, "action": "load"}]
            said = {"annotation": answers, "actions": loaded, "item": document}
            lines.append(json.dumps({**said, "user_id": user, "item_i": number}))
    return lines


def answer_to(item: dict[str, Any], name: str) -> int:
    return scored(name, int(item["item_id"].rpartition("_#_")[2]) - 1)


@pytest.mark.parametrize("same_rater", [False, True])
def test_what_pearmut_logs_comes_back_segment_by_segment(same_rater: bool, tmp_path: Path) -> None:
    """Also segments of the same source: their number decides."""
    draw(tmp_path, documents=20, raters=4, same_rater=same_rater)
    campaign = json.loads((tmp_path / "c.json").read_text())
    log = tmp_path / "log.jsonl"
    log.write_text("".join(f"{line}\n" for line in pearmut_log(campaign)))
    came_back(tmp_path, log)
    downloaded = tmp_path / "annotations.json"
    downloaded.write_text(json.dumps({"c": [json.loads(x) for x in pearmut_log(campaign)]}))
    came_back(tmp_path, downloaded)


def test_a_campaign_is_what_pearmut_takes(tmp_path: Path) -> None:
    """What ``pearmut add`` (1.1.6) checks of a campaign; the next test asks pearmut itself."""
    draw(tmp_path, documents=20, raters=4, same_rater=True)
    campaign = json.loads((tmp_path / "c.json").read_text())
    assert set(campaign) == {"campaign_id", "info", "data"}
    info = campaign["info"]
    assert (info["assignment"], info["protocol"]) == ("task-based", "cESA")
    assert info["users"] == [f"rater{n}" for n in (1, 2, 3, 4)]
    assert len(campaign["data"]) == len(info["users"])
    orders = Counter()
    for document in (document for task in campaign["data"] for document in task):
        assert document
        names = [tuple(item["tgt"]) for item in document]
        assert len(set(names)) == 1  # shuffled document by document
        orders[names[0]] += 1
        for item in document:
            assert set(item) == {"item_id", "src", "tgt"}
            assert all(isinstance(text, str) for text in (item["src"], *item["tgt"].values()))
    assert set(map(frozenset, orders)) == {frozenset(SYSTEMS)}
    assert len(orders) > 1


_PLAY = """
import asyncio, json, sys
from pearmut import app

def scored(name, item):
    segment = int(item["item_id"].rpartition("_#_")[2]) - 1
    return (17 * segment + 29 * ("good", "poor", "other").index(name)) % 101

campaign, *users = sys.argv[1:]
for user in users:
    while True:
        asked = app.NextItemRequest(campaign_id=campaign, user_id=user)
        given = json.loads(asyncio.run(app._get_next_item(asked)).body)
        if given["status"] == "goodbye":
            break
        document = given["payload"]
        answers = [
            {name: {"score": scored(name, item), "error_spans": []} for name in item["tgt"]}
            for item in document
        ]
        loaded = [{"time": 1.0, "action": "load"}]
        payload = {"annotation": answers, "actions": loaded, "item": document}
        number = given["info"]["item_i"]
        asyncio.run(app._log_response(app.LogResponseRequest(
            campaign_id=campaign, user_id=user, item_i=number, payload=payload)))
"""


@pytest.mark.parametrize("same_rater", [False, True])
def test_pearmut_itself_takes_the_campaign_and_its_log_comes_back(
    same_rater: bool, tmp_path: Path
) -> None:
    found = os.environ.get("GNOMON_PEARMUT") or shutil.which("pearmut")
    if not found:
        pytest.skip("pearmut, of Python 3.12 or newer, is not installed (GNOMON_PEARMUT=PROGRAM)")
    draw(tmp_path, documents=15, raters=3, same_rater=same_rater)
    home = tmp_path / "home"
    (home / "data").mkdir(parents=True)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    environment["PEARMUT_ROOT"] = str(home)

    def run(*command: str) -> None:
        done = subprocess.run(
            command, env=environment, cwd=home, capture_output=True, text=True, timeout=300,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr

    run(found, "add", str(tmp_path / "c.json"))
    python = str(Path(found).with_name("python"))
    run(python, "-c", _PLAY, "c", "rater1", "rater2", "rater3")
    came_back(tmp_path, home / "data" / "annotations" / "c.jsonl")


def test_what_appraise_exports_comes_back_segment_by_segment(tmp_path: Path) -> None:
    """Its rows, as its command ExportSystemScoresToCSV writes them (WMT 2024)."""
    draw(tmp_path, documents=20, raters=4, export="appraise")
    batches = json.loads((tmp_path / "c.json").read_text())
    assert [batch["task"]["batchNo"] for batch in batches] == [1, 2, 3, 4]
    assert {batch["task"]["sourceLanguage"] for batch in batches} == {"deu"}
    assert {batch["task"]["targetLanguage"] for batch in batches} == {"eng"}
    rows = []
    for batch in batches:
        for item in batch["items"]:
            assert set(item) == {
                "mqm", "documentID", "sourceID", "targetID", "sourceText", "targetText", "itemType",
                "itemID", "_item", "isCompleteDocument",
            }  # fmt: skip
            system, segment = item["targetID"], item["itemID"]
            assert item["targetText"] == toy().systems[system][segment]
            score, rater = scored(system, segment), f"rater{batch['task']['batchNo']}"
            head = f"{rater},{system},{segment},TGT,deu,eng,{score}.0,{item['documentID']}"
            rows.append(f"{head},False,[],1.0,2.0")
    export = tmp_path / "export.csv"
    export.write_text("".join(f"{row}\n" for row in rows))
    came_back(tmp_path, export)


def test_a_table_that_is_filled_in_comes_back_segment_by_segment(tmp_path: Path) -> None:
    draw(tmp_path, name="c.tsv", documents=20, raters=4, export="tsv")
    head, *rows = (tmp_path / "c.tsv").read_text().splitlines()
    assert head == "rater\tdocument\tsegment\tsystem\tshown\toutput\tscore"
    assert any("\t'=wrong" in row for row in rows)  # no formula in a spreadsheet
    filled = [head]
    for row in rows:
        cells = row.split("\t")
        filled.append(row + str(scored(cells[3], int(cells[2]) - 1)))
    (tmp_path / "filled.tsv").write_text("".join(f"{row}\n" for row in filled))
    came_back(tmp_path, tmp_path / "filled.tsv")


@pytest.mark.parametrize("form", ["pearmut", "tsv"])
def test_texts_of_any_kind_come_back_by_their_segments(form: str, tmp_path: Path) -> None:
    """Controls, quotes, formulas, markup, no text at all; names with the sign of item ids."""
    texts = ["=1+1", '"quoted', "a\tb", "two\nlines", "\\n", "<b>x</b>", "", "\u202eabc", "🐕", " "]
    sources = [texts[n % len(texts)] for n in range(N)]
    outputs = {
        name: [texts[(n + k) % len(texts)] for n in range(N)] for k, name in enumerate(SYSTEMS)
    }
    documents = [f"{name}_#_x" for name in DOCUMENTS]
    testset = toy(sources=sources, systems=outputs, documents=documents)
    name = "c.json" if form == "pearmut" else "c.tsv"
    draw(tmp_path, testset=testset, name=name, documents=20, raters=2, export=form)
    if form == "pearmut":
        campaign = json.loads((tmp_path / name).read_text())
        lines = pearmut_log(campaign)
    else:
        head, *rows = (tmp_path / name).read_text().split("\n")[:-1]
        cells = [row.split("\t") for row in rows]
        lines = [head, *("\t".join(c) + f"{scored(c[3], int(c[2]) - 1)}" for c in cells)]
    answers = tmp_path / ("log.jsonl" if form == "pearmut" else "filled.tsv")
    answers.write_text("".join(f"{line}\n" for line in lines))
    judged = testset.with_human(answers, kind="esa").human_scores("esa")
    drawn = [row.segment for row in read_sample(tmp_path / "sample.tsv", testset).rows]
    expected = np.full((3, N), np.nan)
    expected[:, drawn] = [[scored(name, segment) for segment in drawn] for name in SYSTEMS]
    np.testing.assert_array_equal(judged, expected)


def test_without_sources_raters_see_the_reference(tmp_path: Path) -> None:
    draw(tmp_path, testset=toy(sources=None), documents=5)
    campaign = json.loads((tmp_path / "c.json").read_text())
    assert set(campaign["data"][0][0][0]) == {"item_id", "ref", "tgt"}


# What is refused


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "one of documents, segments and judgements; got none of them"),
        ({"documents": 3, "segments": 3}, "got documents and segments"),
        ({"documents": 41}, "41 documents cannot be drawn: the set has 40"),
        ({"segments": 101}, "101 segments cannot be drawn: the set has 100"),
        ({"judgements": 301}, "301 judgements are more than the set's 300 outputs"),
        ({"judgements": 2}, "2 judgements do not reach for one document of 3 systems"),
        (
            {"judgements": 9, "design": "stratified"},
            "do not reach for one document of each stratum",
        ),
        (
            {"documents": 40, "interim_analyses": 2},
            "the first of 2 analyses would have 20 documents",
        ),
        ({"documents": 3, "raters": 10}, "10 raters are more than there is to share"),
        ({"documents": 3, "name": "c.tsv"}, "save must be a file name in .json for pearmut"),
        ({"documents": 3, "export": "tsv", "name": "sample.tsv"}, "not sample.tsv; got sample.tsv"),
        ({"segments": 1, "design": "stratified"}, "there are 2 strata, and 1 units"),
        (
            {"documents": 5, "testset": toy(documents=None)},
            "does not tell which segments belong to which document",
        ),
        (
            {"segments": 5, "design": "stratified", "testset": toy(domains=None)},
            "has no domains to draw from",
        ),
        (
            {"documents": 5, "export": "appraise", "testset": toy(sources=None)},
            "Appraise shows sources",
        ),
        (
            {"documents": 5, "testset": toy(systems={"1": ["x"] * N, "b": ["y"] * N})},
            "pearmut takes no system whose name is a number, and one is called '1'",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused_and_nothing_is_written(
    options: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(GnomonError) as refused:
        draw(tmp_path, **options)
    assert said in str(refused.value)
    assert not list(tmp_path.iterdir())


def test_the_sample_of_another_draw_is_never_written_over(tmp_path: Path) -> None:
    draw(tmp_path, documents=5)
    before = files(tmp_path)
    with pytest.raises(UsageError, match=r"sample\.tsv holds another draw"):
        draw(tmp_path, name="d.json", documents=6)
    assert files(tmp_path) == before
    draw(tmp_path, documents=5)  # the same draw may be written again
    assert files(tmp_path) == before


def test_the_command_says_what_was_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    toy().write(tmp_path / "toy")
    arguments = ["human", "sample", "-t", str(tmp_path / "toy"), "--documents", "20"]
    save = ["--raters", "2", "--same-rater", "--save", str(tmp_path / "c.json")]
    assert main([*arguments, *save]) == 0
    said = capsys.readouterr().out
    assert said.startswith(
        "20 of 40 documents are drawn at random, each with the same chance (0.5):"
    )
