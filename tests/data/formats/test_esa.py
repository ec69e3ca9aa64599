from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.data.formats.judged_sets import SOURCES, SYSTEMS, judged_set, written

from gnomon import TestSet
from gnomon.cli import main
from gnomon.core.errors import FormatError, UsageError
from gnomon.data.formats import read_human

if TYPE_CHECKING:
    from pathlib import Path


def marked(testset: TestSet) -> list[tuple[str, str, str | None]]:
    return [
        (testset.systems[e.system][e.segment][e.start : e.end], e.severity, e.rater)
        for e in testset.errors
    ]


def span(start: object, last: object, severity: str = "minor") -> dict[str, object]:
    return {"start_i": start, "end_i": last, "category": None, "severity": severity}


def answer(score: object, *spans: dict[str, object]) -> dict[str, object]:
    return {"score": score, "error_spans": list(spans), "textfield": None}


def item(segment: int) -> dict[str, object]:
    texts = {name: texts[segment] for name, texts in SYSTEMS.items()}
    return {"item_id": f"de-en-{segment}", "src": SOURCES[segment], "tgt": texts}


def log(user: str, number: object, *answers: tuple[int, dict[str, object]]) -> str:
    record = {
        "annotation": [given for _, given in answers],
        "actions": [{"time": 1.5, "action": "load"}],
        "item": [item(segment) for segment, _ in answers],
        "user_id": user,
        "item_i": number,
    }
    return json.dumps(record)


PEARMUT = (
    log(
        "ann",
        0,
        (0, {"alpha": answer(80, span(4, 6)), "beta": answer(60, span(6, 7, "major"))}),
        (1, {"alpha": answer(90), "beta": answer(50, span(20, 20))}),
    ),
    log("bob", 0, (0, {"alpha": answer(40), "beta": answer(70, span(9, 10))})),
    log("ann", "welcome_0", (2, {"alpha": answer(1), "beta": answer(1)})),
    log("ann", 0, (0, {"alpha": answer(100)})),
)


def test_answers_are_averaged_and_the_last_one_counts(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    testset = judged_set().with_human(written(tmp_path, "esa.jsonl", *PEARMUT))
    np.testing.assert_array_equal(testset.human_scores("esa"), [[70, 90, np.nan], [65, 50, np.nan]])
    np.testing.assert_array_equal(testset.human_scores("esa", rater="ann")[0], [100, 90, np.nan])
    assert "1 annotations are tutorials or controls" in caplog.text
    assert "1 outputs were annotated again by the same person" in caplog.text


def test_inclusive_units_become_half_open_characters(tmp_path: Path) -> None:
    testset = judged_set().with_human(written(tmp_path, "esa.jsonl", *PEARMUT))
    assert marked(testset) == [
        ("🐕", "major", "ann"),
        ("", "minor", "ann"),
        ("is", "minor", "bob"),
    ]
    assert [error.category for error in testset.errors] == ["", "missing", ""]
    assert {error.kind for error in testset.errors} == {"esa"}


def test_items_with_validation_are_controls(tmp_path: Path) -> None:
    record = json.loads(PEARMUT[1])
    record["item"][0]["validation"] = {"alpha": {"score": [0, 10]}}
    file = written(tmp_path, "esa.jsonl", PEARMUT[0], json.dumps(record))
    assert judged_set().with_human(file).human_raters("esa") == ("ann",)


def test_answers_before_a_task_was_reset_do_not_count(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    reset = json.dumps({"user_id": "ann", "annotation": "__RESET__"})
    again = log("ann", 0, (1, {"alpha": answer(10), "beta": answer(20)}))
    file = written(tmp_path, "esa.jsonl", *PEARMUT, reset, again)
    testset = judged_set().with_human(file)
    ann = testset.human_scores("esa", rater="ann")
    np.testing.assert_array_equal(ann, [[np.nan, 10, np.nan], [np.nan, 20, np.nan]])
    assert testset.human_scores("esa", rater="bob")[0, 0] == 40
    assert "3 answers were withdrawn (the task was reset)" in caplog.text


def test_what_the_dashboard_downloads_is_read_as_its_logs(tmp_path: Path) -> None:
    logs = {"look1": [json.loads(line) for line in PEARMUT[:1]]}
    logs["look2"] = [json.loads(line) for line in PEARMUT[1:]]
    file = written(tmp_path, "annotations.json", json.dumps(logs))
    downloaded = judged_set().with_human(file)
    one_by_one = judged_set().with_human(written(tmp_path, "esa.jsonl", *PEARMUT))
    np.testing.assert_array_equal(downloaded.human_scores("esa"), one_by_one.human_scores("esa"))
    assert downloaded.errors == one_by_one.errors
    broken = written(tmp_path, "broken.json", '{"c": ["annotation", "item"]}')
    with pytest.raises(FormatError, match="log of the campaign 'c' must be a list of objects"):
        judged_set().with_human(broken)


def test_the_number_in_an_item_of_a_campaign_decides_between_equal_sources(tmp_path: Path) -> None:
    twice = judged_set(sources=["Ja.", "Nein.", "Ja."])
    record = json.loads(log("ann", 0, (2, {"alpha": answer(80)})))
    record["item"][0] |= {"src": "Ja.", "item_id": "d_#_3"}
    testset = twice.with_human(written(tmp_path, "esa.jsonl", json.dumps(record)))
    assert testset.human_scores("esa")[0].tolist()[2] == 80
    # a number that is another segment's gives way to the texts
    record["item"][0]["item_id"] = "d_#_2"
    testset = twice.with_human(written(tmp_path, "esa.jsonl", json.dumps(record)))
    assert testset.human_scores("esa")[0].tolist()[2] == 80


def wmt(system: str, segment: int, score: object, *spans: dict[str, object]) -> str:
    record = {
        "langs": "de-en",
        "line_id": segment,
        "src": SOURCES[segment],
        "tgt": SYSTEMS[system][segment],
        "doc_id": "d",
        "domain": "news",
        "esa_spans": list(spans),
        "esa_score": score,
        "times": ["1", "2"],
        "system": system,
        "annotator": "deueng7c05",
    }
    return json.dumps(record)


FLAT = (
    wmt("alpha", 0, "80", span(4, 6), span("missing", "missing", "major")),
    wmt("beta", 2, 55.5),
    wmt("beta", 2, 1).replace("de-en", "cs-en"),
)


def test_one_output_per_line_is_read(tmp_path: Path) -> None:
    testset = judged_set().with_human(written(tmp_path, "wmt24_esa.jsonl", *FLAT))
    np.testing.assert_array_equal(
        testset.human_scores("esa"), [[80, np.nan, np.nan], [np.nan, np.nan, 55.5]]
    )
    assert [text for text, *_ in marked(testset)] == ["dog", ""]


def humeval(segment: int, scores: dict[str, object], pair: str = "de-en_US") -> str:
    texts = {name: texts[segment] for name, texts in SYSTEMS.items()}
    record = {"scores": scores, "src_text": SOURCES[segment], "tgt_text": texts}
    return json.dumps(record | {"doc_id": f"{pair}_#_news_#_d_#_{segment}"})


def test_one_segment_per_line_with_rounds_is_read(tmp_path: Path) -> None:
    errors = [{"start_i": 4, "end_i": 6, "severity": "minor"}]
    rounds = {"human1": 90, "annotator1": "a", "errors1": errors, "human2": 70, "annotator2": "b"}
    file = written(
        tmp_path,
        "wmt25-genmt-humeval.jsonl",
        humeval(0, {"alpha": rounds, "beta": {"human1": 30, "annotator1": "a", "errors1": []}}),
        humeval(1, {}),
    )
    testset = judged_set(language_pair="de-en").with_human(file)
    np.testing.assert_array_equal(testset.human_scores("esa")[:, 0], [80, 30])
    assert marked(testset) == [("dog", "minor", "a")]
    listed = [{"human": 90, "annotator": "a", "errors": errors}, {"score": "70", "annotator": "b"}]
    again = written(tmp_path, "control.jsonl", humeval(0, {"alpha": listed}))
    found = judged_set().with_human(again)
    assert found.human_scores("esa")[0, 0] == 80
    assert found.errors == testset.errors


def csv_row(user: str, system: str, number: int, kind: str, score: int, spans: str) -> str:
    quoted = spans.replace('"', '""')
    return f'{user},{system},{number},{kind},deu,eng,{score},d{number},False,"{quoted}",1.5,2.5'


def test_spans_in_exports_of_appraise_are_read(tmp_path: Path) -> None:
    spans = json.dumps([span(4, 6), span("missing", "missing")])
    file = written(
        tmp_path,
        "esa_generalMT2024_wave0.csv",
        csv_row("u1", "alpha", 0, "TGT", 70, spans),
        csv_row("u1", "alpha", 0, "BAD", 10, "[]"),
        csv_row("u2", "beta", 2, "TGT", 90, "[]"),
    )
    testset = judged_set(documents=["d0", "d1", "d2"]).with_human(file)
    assert testset.human_kinds() == ("esa",)
    np.testing.assert_array_equal(
        testset.human_scores(), [[70, np.nan, np.nan], [np.nan, np.nan, 90]]
    )
    assert [text for text, *_ in marked(testset)] == ["dog", ""]


def test_judgements_that_published_scores_leave_out_are_kept_apart(tmp_path: Path) -> None:
    rows = [
        csv_row("u1", "alpha", 0, "TGT", 70, "[]"),
        csv_row("u1", "alpha", 0, "TGT", 60, "[]"),  # again: the last one counts
        csv_row("u1", "alpha", 0, "TGT", 40, "[]").replace(",d0,", ",d0#dup#dup,"),
        csv_row("u2", "beta", 2, "TGT", 50, "[]").replace(",d2,", ",d2#incomplete,"),
        csv_row("u2", "beta", 1, "TGT", 30, "[]").replace(",d1,", ",d1#bad,"),
    ]
    testset = judged_set(documents=["d0", "d1", "d2"]).with_human(
        written(tmp_path, "esa_generalMT2024_wave0.csv", *rows)
    )
    assert np.nanmax(testset.human_scores("esa")) == 60
    assert [
        (again.rater, again.system, again.segment, again.score) for again in testset.repeated
    ] == [
        ("u1", "alpha", 0, 70),
        ("u1", "alpha", 0, 40),
        ("u2", "beta", 2, 50),
    ]
    (kept,) = testset.select(segments=[2]).repeated
    assert (kept.segment, kept.score) == (0, 50)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (PEARMUT[1].replace('"score": 40', '"score": "good"'), "the score is 'good'"),
        (PEARMUT[1].replace('"score": 40', '"score": 1e999'), "the score is 'inf'"),
        (PEARMUT[1].replace('"score": 40', f'"score": {"9" * 400}'), "the score is '9999"),
        (PEARMUT[1].replace('"start_i": 9', '"start_i": 99'), "start_i 99 to end_i 10"),
        (PEARMUT[1].replace('"start_i": 9', '"start_i": null'), "start_i None to end_i 10"),
        (PEARMUT[1].replace("Der Hund", "Kein Hund").replace("dog", "cat"), "of no segment"),
        (PEARMUT[1].replace('"item": [{', '"item": [{}, {'), "2 items, but 1 annotations"),
        (PEARMUT[1].replace('"item"', '"text"'), "item and annotation must be lists"),
        (PEARMUT[1][:-5], "is not a JSON object"),
    ],
)
def test_damaged_logs_are_refused_with_file_and_line(
    tmp_path: Path, line: str, problem: str
) -> None:
    file = written(tmp_path, "esa.jsonl", PEARMUT[0], line)
    with pytest.raises(FormatError, match=rf"esa\.jsonl:2: .*{problem}"):
        read_human(file, judged_set())


def test_spans_that_are_no_json_are_refused_with_file_and_line(tmp_path: Path) -> None:
    file = written(tmp_path, "wave.csv", csv_row("u", "alpha", 0, "TGT", 70, "[{]"))
    with pytest.raises(FormatError, match=r"wave\.csv:1: the error spans are not JSON"):
        read_human(file, judged_set(), first_segment=0)


def worded_set(tmp_path: Path, *, behind: int) -> Path:
    """A set and its ESA file, whose spans are whole words; ends are last characters, or behind."""
    texts = [f"Dnes je pondělí {n} a venku prší" for n in range(30)]
    testset = TestSet.from_lists({"alpha": texts}, texts, language_pair="en-cs")
    testset.write(tmp_path / "set")
    records = []
    for n, text in enumerate(texts):
        venku = text.index("venku")
        spans = [span(8, 14 + behind), span(venku, venku + 4 + behind)]
        more = {"esa_score": 50, "annotator": "a", "esa_spans": spans}
        records.append({"system": "alpha", "line_id": n, "tgt": text, **more})
    return written(tmp_path, "esa.jsonl", *map(json.dumps, records))


def test_spans_that_end_within_words_are_told_with_what_would_mend_them(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = worded_set(tmp_path, behind=0)
    testset = TestSet.read(tmp_path / "set")
    words = {"pondělí", "venku"}
    right = testset.with_human(file)
    assert {text for text, _, _ in marked(right)} == words
    assert "error spans end" not in caplog.text
    wrong = testset.with_human(file, ends="behind")
    assert {text for text, _, _ in marked(wrong)} == {"ponděl", "venk"}
    assert "100% of 60 error spans end within a word, and 0% would" in caplog.text
    assert "last character (ends='last'" in caplog.text
    with pytest.raises(UsageError, match="unknown ends 'middle'"):
        testset.with_human(file, ends="middle")


def test_files_whose_ends_are_behind_spans_are_told_and_converted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = worded_set(tmp_path, behind=1)
    asked = ["data", "convert", str(tmp_path / "set"), "--human", str(file)]
    assert main([*asked, "-o", str(tmp_path / "a")]) == 0
    said = capsys.readouterr().err
    assert "100% of 60 error spans end with white space" in said
    assert "--span-ends behind" in said
    assert main([*asked, "--span-ends", "behind", "-o", str(tmp_path / "b")]) == 0
    assert "error spans end" not in capsys.readouterr().err
    read = [TestSet.read(tmp_path / name) for name in "ab"]
    told = [{text for text, _, _ in marked(one)} for one in read]
    assert told == [{"pondělí ", "venku "}, {"pondělí", "venku"}]


def test_tables_of_wmt_are_read_as_the_organisers_read_them_and_said_to_cut_words(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    worded_set(tmp_path, behind=0)
    testset = TestSet.read(tmp_path / "set")
    rows = ["system_id\ttarget\tstart_indices\tend_indices\terror_types"]
    rows += [f"alpha\t{text}\t8\t14\tminor" for text in testset.systems["alpha"]]
    file = written(tmp_path, "task.tsv", *rows)
    assert {text for text, _, _ in marked(testset.with_human(file))} == {"ponděl"}
    assert "ends='last'" in caplog.text
    own = testset.with_human(file, ends="last")
    assert {text for text, _, _ in marked(own)} == {"pondělí"}


def test_published_ends_are_last_characters(shared: Path, caplog: pytest.LogCaptureFixture) -> None:
    testset = TestSet.read(shared / "data/wmt24/en-cs")
    file = shared / "data/wmt24/en-cs/esa.csv"
    testset.with_human(file)
    assert "error spans end" not in caplog.text
    testset.with_human(file, ends="behind")
    assert "73% of 3,233 error spans end within a word, and 5% would" in caplog.text
