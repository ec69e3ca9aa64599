"""COMET's JSON, in and out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import gnomon as gn
from gnomon.core.errors import DataError, FormatError
from gnomon.data.formats import read_scores, sets_in, write_segment_scores

FED = [{"src": "eins", "mt": "one", "ref": "one"}, {"src": "zwei", "mt": "too", "ref": "two"}]


def said(*systems: str) -> dict[str, list[dict[str, object]]]:
    return {
        name: [{**row, "COMET": 0.5 + i, "variance": 0.1} for i, row in enumerate(FED)]
        for name in systems
    }


def written(folder: Path, name: str, content: object) -> Path:
    (folder / name).write_text(json.dumps(content, indent=4), encoding="utf-8")
    return folder / name


def test_what_comet_is_given_is_a_test_set(tmp_path: Path) -> None:
    lines = "".join(json.dumps(row) + "\n" for row in FED)
    (tmp_path / "c.jsonl").write_text(lines, encoding="utf-8")
    for file in (written(tmp_path, "c.json", FED), tmp_path / "c.jsonl"):
        testset = gn.TestSet.read(file, language_pair="de-en")
        assert (testset.name, testset.sources) == ("c", ("eins", "zwei"))
        assert testset.systems == {"mt": ("one", "too")}
        assert testset.references == {"ref": ("one", "two")}
        assert [one.format for one in sets_in(file)] == ["comet"]


def test_what_comet_wrote_is_a_test_set_and_its_scores(tmp_path: Path) -> None:
    file = written(tmp_path, "out.json", said("out/sysA.txt", "sysB.txt"))
    testset = gn.TestSet.read(file)
    assert list(testset.systems) == ["sysA", "sysB"]
    scores = read_scores(file)
    assert list(scores) == ["COMET"]
    assert scores["COMET"]["sysB", 2] == 1.5
    found = gn.score(testset, f"scores('{file}')")
    assert found.system.tolist() == [1.0, 1.0]


def test_a_folder_of_comets_files_is_a_test_set_of_their_systems(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    written(folder, "sys.v1.json", FED)
    written(folder, "other.json", [{**row, "mt": "one"} for row in FED])
    written(folder, "told.json", said("sysA.txt"))
    testset = gn.TestSet.read(folder)
    assert testset.name == "runs"
    assert testset.systems == {
        "other": ("one", "one"),
        "sys.v1": ("one", "too"),
        "sysA": ("one", "too"),
    }
    assert testset.references == {"ref": ("one", "two")}
    assert [one.format for one in sets_in(folder)] == ["comet"]
    written(folder, "twice.json", said("sysA.txt"))
    with pytest.raises(DataError, match=r"twice\.json: another file has a system 'sysA', too"):
        gn.TestSet.read(folder)
    (folder / "twice.json").unlink()
    written(folder, "far.json", [{**row, "src": "drei"} for row in FED])
    with pytest.raises(FormatError, match="outputs of different test sets"):
        gn.TestSet.read(folder)


def test_without_references_there_are_none(tmp_path: Path) -> None:
    fed = [{"src": row["src"], "mt": row["mt"]} for row in FED]
    assert not gn.TestSet.read(written(tmp_path, "c.json", fed)).references


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"a.txt": said("a.txt")["a.txt"], "x/a.txt": said("a.txt")["a.txt"]}, "two files of a"),
        ({"a.txt": said("a.txt")["a.txt"], "b.txt": [1]}, "'b.txt' has no list of objects"),
        ({"a.txt": FED, "b.txt": FED[:1]}, "a has 2 segments, b has 1"),
        ({"a.txt": FED, "b.txt": [{**FED[0], "ref": "x"}, FED[1]]}, "ref of segment 1 differs"),
        ([{**FED[0], "mt": 5}], "mt is 5; a string is expected"),
    ],
)
def test_files_that_contradict_themselves_are_refused(
    content: object, problem: str, tmp_path: Path
) -> None:
    with pytest.raises((FormatError, DataError), match=problem):
        gn.TestSet.read(written(tmp_path, "c.json", content))


def test_scores_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    file = written(tmp_path, "c.json", said("a.txt"))
    with pytest.raises(FormatError, match="has 2 segments of a; there are 3"):
        read_scores(file, segments=3)


def test_what_numbers_labels_or_is_never_there_is_no_score(tmp_path: Path) -> None:
    beside = {"id": 70, "segId": 5, "n": 1, "COMET": 0.5, "da": 80, "ok": True, "none": None}
    rows = [{**row, **beside, "n": i + 1, "da": 80 - i} for i, row in enumerate(FED)]
    rows[1]["COMET"] = None
    scores = read_scores(written(tmp_path, "c.json", {"a.txt": rows, "b.txt": rows}))
    assert list(scores) == ["COMET", "da"]
    assert scores["da"]["b", 2] == 79
    assert np.isnan(scores["COMET"]["a", 2])
    rows[1]["COMET"] = True
    with pytest.raises(FormatError, match=r"c\.json, row 2: COMET is 'True'; a number is expected"):
        read_scores(written(tmp_path, "c.json", {"a.txt": rows}))


@pytest.mark.parametrize("name", ["c.v1.json", "c.v1.jsonl", "c.v1.ndjson"])
def test_a_test_set_is_called_as_its_file(tmp_path: Path, name: str) -> None:
    text = json.dumps(FED) if name.endswith(".json") else "\n".join(map(json.dumps, FED))
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert gn.TestSet.read(tmp_path / name).name == "c.v1"


def test_missing_scores_in_parquet_are_missing(tmp_path: Path) -> None:
    import pandas as pd

    rows = {"system": ["a", "a"], "segment": [1, 2], "score": [0.5, float("nan")]}
    pd.DataFrame(rows).to_parquet(tmp_path / "s.parquet")
    (scores,) = read_scores(tmp_path / "s.parquet").values()
    assert scores["a", 1] == 0.5
    assert np.isnan(scores["a", 2])


def test_rows_of_what_has_no_lines_are_called_rows(tmp_path: Path) -> None:
    import pandas as pd

    rows = {"system": ["a", "a"], "segment": [1, 1], "score": [0.5, 0.6]}
    pd.DataFrame(rows).to_parquet(tmp_path / "s.parquet")
    (tmp_path / "s.json").write_text(json.dumps(rows), encoding="utf-8")
    for name in ("s.parquet", "s.json"):
        with pytest.raises(FormatError, match=rf"{name}, row 2: a second score of a, segment 1"):
            read_scores(tmp_path / name)


def test_tables_of_scores_in_csv_json_and_parquet_are_read(tmp_path: Path) -> None:
    import pandas as pd

    testset = gn.TestSet.from_lists({"a, b": ["one", "too"]}, ["one", "two"])
    scores = gn.score(testset, "chrf")
    write_segment_scores(tmp_path / "s.csv", [scores], testset)
    (tmp_path / "s.json").write_text(json.dumps(scores.segment_rows()), encoding="utf-8")
    pd.DataFrame(scores.segment_rows()).to_parquet(tmp_path / "s.parquet")
    expected = {"chrf": {("a, b", i + 1): float(scores.segments[0, i]) for i in range(2)}}
    for name in ("s.csv", "s.json", "s.parquet"):
        assert read_scores(tmp_path / name) == expected
        found = gn.score(testset, f"scores('{tmp_path / name}')")
        assert np.array_equal(found.segments, scores.segments)
