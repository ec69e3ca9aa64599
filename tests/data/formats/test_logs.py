"""Logs of evaluations stand where files of outputs do."""

from __future__ import annotations

import json
import struct
import tracemalloc
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

import pytest

import gnomon as gn
from gnomon.core.errors import DataError, FormatError, UsageError
from gnomon.metrics import parse

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_SOURCES = ("犬が吠える", "猫")
_REFERENCES = ("the dog barks", "a cat")


def _harness(number: int, output: str) -> dict[str, Any]:
    return {
        "doc_id": number,
        "doc": {"source": _SOURCES[number], "reference": _REFERENCES[number]},
        "target": _REFERENCES[number],
        "resps": [[f"Sure! {output}"]],
        "filtered_resps": [output],
        "chrf": 0.5,
    }


def _inspected(number: int, output: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": [{"type": "text", "text": output}]}
    return {
        "id": number,
        "target": [_REFERENCES[number]],
        "output": {"choices": [{"message": message}]},
    }


def _batch(number: int, output: str) -> dict[str, Any]:
    choices = [{"message": {"role": "assistant", "content": output}}]
    return {"custom_id": str(number), "response": {"body": {"choices": choices}}, "error": None}


def _lines(path: Path, make: Callable[[int, str], dict[str, Any]], *outputs: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    # in another order in each file
    rows = [json.dumps(make(n, text)) for n, text in enumerate(outputs)]
    path.write_text("\n".join(rows if "a" in path.parent.name else rows[::-1]) + "\n")
    return path


def test_samples_are_paired_by_their_ids(tmp_path: Path) -> None:
    a = _lines(tmp_path / "model-a" / "samples_t.jsonl", _harness, "a dog", "cat")
    b = _lines(tmp_path / "other" / "samples_t.jsonl", _harness, "dogs", "cats")
    testset = gn.TestSet.from_files(references=[a], systems=[a, b])
    assert testset.sources == _SOURCES
    assert testset.references == {"samples_t": _REFERENCES}
    assert testset.systems == {"model-a": ("a dog", "cat"), "other": ("dogs", "cats")}


def test_logs_of_other_tools_stand_beside_a_file_of_lines(tmp_path: Path) -> None:
    reference = tmp_path / "ref.txt"
    reference.write_text("the dog barks\na cat\n")
    samples = [_inspected(n, text) for n, text in enumerate(("x", "y"))]
    (tmp_path / "one.json").write_text(json.dumps({"version": 2, "samples": samples}, indent=1))
    with zipfile.ZipFile(tmp_path / "two.eval", "w") as packed:
        packed.writestr("header.json", "{}")
        for sample in samples:
            packed.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
    three = _lines(tmp_path / "a" / "three.jsonl", _batch, "x", "y")
    outputs = [tmp_path / "one.json", tmp_path / "two.eval", three]
    testset = gn.TestSet.from_files(references=[reference], systems=outputs)
    assert testset.systems == dict.fromkeys(("one", "two", "three"), ("x", "y"))
    assert (
        gn.TestSet.from_files(references=outputs[:1], systems=[]).references["one"] == _REFERENCES
    )


def test_a_sample_without_an_answer_is_an_empty_output(tmp_path: Path) -> None:
    def make(number: int, output: str) -> dict[str, Any]:
        return _batch(number, output) if number else {"custom_id": "0", "response": None}

    log = _lines(tmp_path / "a" / "batch.jsonl", make, "x", "y")
    (tmp_path / "ref.txt").write_text("p\nq\n")
    testset = gn.TestSet.from_files(references=[tmp_path / "ref.txt"], systems=[log])
    assert testset.systems == {"batch": ("", "y")}


def test_a_later_answer_stands_in_for_an_empty_one(tmp_path: Path) -> None:
    rows = [_batch(0, ""), {"custom_id": "1", "response": None}, _batch(0, "x"), _batch(1, "y")]
    (tmp_path / "batch.jsonl").write_text("\n".join(map(json.dumps, [*rows, _batch(0, "z")])))
    assert gn.formats.read_systems([tmp_path / "batch.jsonl"]) == {"batch": ["x", "y"]}


def test_only_a_likelihood_makes_an_answer_a_choice(tmp_path: Path) -> None:
    answers = (["So it is.", "True"], ["-7.25", "False"], [[-1.5, True], [-2.0, False]], [])
    rows = [{"doc_id": n, "resps": [answer]} for n, answer in enumerate(answers)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert gn.formats.read_systems([tmp_path / "a.jsonl"]) == {"a": ["So it is.", "", "", ""]}


def test_folders_of_the_harness_are_systems(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for model, output in (("org__a", "a dog"), ("org__b", "dogs")):
        folder = tmp_path / "run" / model
        folder.mkdir(parents=True)
        (folder / "results_2026-01-02T03-04-05.6.json").write_text(
            '{"results": {}, "versions": {}}'
        )
        choice = {"doc_id": 0, "resps": [[[-1.5, True]]]}
        (folder / "samples_mmlu_2026-01-02T03-04-05.6.jsonl").write_text(json.dumps(choice))
        for day, texts in ((1, ("old", "old")), (2, (output, "cat"))):
            _lines(folder / f"samples_mt_2026-01-0{day}T03-04-05.6.jsonl", _harness, *texts)
    expected = {"org__a": ("a dog", "cat"), "org__b": ("dogs", "cat")}
    assert gn.TestSet.read(tmp_path / "run").systems == expected
    folders = [tmp_path / "run" / name for name in expected]
    testset = gn.TestSet.from_files(references=folders[:1], systems=folders)
    assert testset.systems == expected
    assert testset.sources == _SOURCES
    assert "mmlu is left out, for its answers are no texts" in caplog.text
    assert "tasks that ran several times are read from their last run" in caplog.text


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            '{"text": "a"}\n',
            "no log of an evaluation that is known; a table is read by its columns",
        ),
        ('{"custom_id": "1", "response": null}\nno\n', r":2: is no JSON object"),
        ('{"custom_id": "1", "response": null}\n{"id": 2}\n', "not built as those of its kind"),
        ("[" * 100_000, "no log of an evaluation"),
    ],
)
def test_what_is_no_log_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "x.jsonl").write_text(text)
    with pytest.raises(FormatError, match=problem):
        gn.TestSet.from_files(references=[tmp_path / "x.jsonl"], systems=[])


def test_samples_that_a_log_lacks_are_named(tmp_path: Path) -> None:
    a = _lines(tmp_path / "a" / "t.jsonl", _harness, "x", "y")
    b = _lines(tmp_path / "b" / "u.jsonl", _harness, "x")
    with pytest.raises(DataError, match=r"lacks 1 of the 2 units of .*, the first is '1'"):
        gn.TestSet.from_files(references=[a], systems=[b])


def test_further_answers_to_a_sample_are_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [_harness(n, f"{text} {n}") for text in ("strict", "loose") for n in range(2)]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    testset = gn.TestSet.from_files(
        references=[tmp_path / "t.jsonl"], systems=[tmp_path / "t.jsonl"]
    )
    assert testset.systems == {"t": ("strict 0", "strict 1")}
    assert "2 further answers to the same samples are left out" in caplog.text


def test_a_line_ends_at_a_line_feed_alone(tmp_path: Path) -> None:
    rows = [_harness(n, f"one\u2028two\x85three {n}") for n in range(2)]
    log = tmp_path / "t.jsonl"
    log.write_text(
        "\r\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8"
    )
    testset = gn.TestSet.from_files(references=[log], systems=[log])
    assert testset.systems["t"][1] == "one\u2028two\x85three 1"


def test_half_a_character_is_a_question_mark(tmp_path: Path) -> None:
    log = _lines(tmp_path / "a" / "t.jsonl", _harness, "cut \ud83d", "y")
    testset = gn.TestSet.from_files(references=[log], systems=[log])
    assert testset.systems["t"][0] == "cut ?"


def test_answers_of_the_newer_interface_of_batches_are_read(tmp_path: Path) -> None:
    content = [{"type": "output_text", "text": "x"}]
    output = [{"type": "reasoning"}, {"type": "message", "content": content}]
    row = {"custom_id": "1", "response": {"body": {"output": output}}}
    (tmp_path / "b.jsonl").write_text(json.dumps(row))
    (tmp_path / "ref.txt").write_text("p\n")
    testset = gn.TestSet.from_files(
        references=[tmp_path / "ref.txt"], systems=[tmp_path / "b.jsonl"]
    )
    assert testset.systems == {"b": ("x",)}


def test_outputs_are_no_references_of_their_own(tmp_path: Path) -> None:
    log = _lines(tmp_path / "a" / "t.jsonl", _batch, "x", "y")
    with pytest.raises(DataError, match=r"holds outputs and no references; name a file of ref"):
        gn.TestSet.from_files(references=[log], systems=[log])


@pytest.mark.parametrize("chosen", [["-1.5", "False"], [-1.5, False]])
def test_how_likely_choices_are_is_no_answer(tmp_path: Path, chosen: list[object]) -> None:
    row = {"doc_id": 0, "target": "x", "resps": [[chosen]], "filtered_resps": [chosen]}
    (tmp_path / "t.jsonl").write_text(json.dumps(row))
    with pytest.raises(FormatError, match="holds no answer in words"):
        gn.TestSet.from_files(references=[tmp_path / "t.jsonl"], systems=[])


def test_scores_in_logs_are_metrics(tmp_path: Path) -> None:
    a = _lines(tmp_path / "model-a" / "samples_t_2026-01-02T03-04-05.678.jsonl", _harness, "x", "y")
    b = _lines(tmp_path / "other" / "samples_t_2026-01-02T04-05-06.789.jsonl", _graded, "x", "y")
    testset = gn.TestSet.from_files(references=[a], systems=[a, b])
    assert testset.logged["chrf"] == {"model-a": (0.5, 0.5), "other": (0.0, 1.0)}
    assert testset.select(segments=[1]).logged["chrf"]["other"] == (1.0,)
    chrf, f1 = (f"scores(metric={name!r})" for name in ("chrf", "f1"))
    assert gn.score(testset, chrf).system.tolist() == [0.5, 0.5]
    assert str(gn.score(testset, chrf).signature).startswith(f"{chrf}|file:")
    with pytest.raises(DataError, match="the output of 'model-a' came without scores of 'f1'"):
        gn.score(testset, f1)
    with pytest.raises(UsageError, match=r"unknown metric \(in the log\) 'ter'; there are: chrf"):
        gn.score(testset, "scores(metric='ter')")


def _graded(number: int, output: str) -> dict[str, Any]:
    scores = {"metrics": ["chrf", "f1", "bleu"], "chrf": number, "f1": True, "bleu": ["x", "y"]}
    return {**_harness(number, output), **scores}


def test_grades_of_inspect_are_scores(tmp_path: Path) -> None:
    samples = [_inspected(n, "x") for n in range(2)]
    samples[0]["scores"] = {"match": {"value": "C"}, "parts": {"value": {"a": 1, "b": "no"}}}
    samples[1]["scores"] = {"match": {"value": "I"}}
    (tmp_path / "one.json").write_text(json.dumps({"samples": samples}))
    testset = gn.TestSet.from_files(
        references=[tmp_path / "one.json"], systems=[tmp_path / "one.json"]
    )
    assert testset.logged["match"] == {"one": (1.0, 0.0)}
    assert str(testset.logged["parts.a"]) == "{'one': (1.0, nan)}"
    assert list(testset.logged) == ["match", "parts.a"]


def test_several_targets_are_several_references(tmp_path: Path) -> None:
    rows = [_inspected(n, "x") for n in range(2)]
    rows[1]["target"] = ["a cat", "one cat"]
    (tmp_path / "t.json").write_text(json.dumps({"samples": rows}))
    (tmp_path / "more.txt").write_text("p\nq\n")
    testset = gn.TestSet.from_files(
        references=[tmp_path / "t.json", tmp_path / "more.txt"], systems=[]
    )
    assert testset.references == {
        "t": ("the dog barks", "a cat"),
        "t-2": (None, "one cat"),
        "more": ("p", "q"),
    }


def test_rows_of_lighteval_are_samples(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [
        {
            "doc": {
                "id": str(n),
                "query": "?",
                "choices": [f" {_REFERENCES[n]}", "other"],
                "gold_index": [0, 1] if n else [0],
                "specific": {"source": _SOURCES[n]},
            },
            "model_response": {"text": ["<think>x</think> y"], "text_post_processed": ["y"]},
            "metric": {"f1": 0.5 + n, "bleu": {"golds": ["x"], "preds": ["y"]}},
        }
        for n in range(2)
    ]
    file = tmp_path / "details_t_2026-01-02T03-04-05.678.parquet"
    parquet.write_table(pa.Table.from_pylist(rows), file)
    testset = gn.TestSet.from_files(references=[file], systems=[file])
    assert testset.sources == _SOURCES
    assert testset.references == {"details_t": _REFERENCES, "details_t-2": (None, "other")}
    assert testset.systems == {"details_t": ("y", "y")}
    assert testset.logged == {"f1": {"details_t": (0.5, 1.5)}}
    parquet.write_table(pa.table({"text": ["a"]}), tmp_path / "table.parquet")
    with pytest.raises(FormatError, match="holds no lines of texts"):
        gn.TestSet.from_files(references=[tmp_path / "table.parquet"], systems=[])


def test_lists_of_mt_lens_are_samples(tmp_path: Path) -> None:
    results = {
        "sources,none": list(_SOURCES),
        "targets,none": list(_REFERENCES),
        "translations,none": ["x", "y"],
        "bleu,none": 1.5,
        "bleu_segments,none": [1.0, 2.0],
        "xcomet_error_spans,none": [[], [{"start": 0}]],
    }
    file = tmp_path / "results.json"
    file.write_text(json.dumps({"results": {"flores": results}, "versions": {"flores": 1}}))
    testset = gn.TestSet.from_files(references=[file], systems=[file])
    assert (testset.sources, testset.references["results"]) == (_SOURCES, _REFERENCES)
    assert testset.systems == {"results": ("x", "y")}
    assert testset.logged == {"bleu": {"results": (1.0, 2.0)}}


def test_a_log_and_a_folder_of_logs_are_test_sets(tmp_path: Path) -> None:
    a = _lines(tmp_path / "a-runs" / "a.jsonl", _harness, "a dog", "cat")
    assert gn.TestSet.read(a).systems == {"a": ("a dog", "cat")}
    _lines(tmp_path / "a-runs" / "b.jsonl", _graded, "dogs", "cats")
    testset = gn.TestSet.read(tmp_path / "a-runs")
    assert testset.name == "a-runs"
    assert testset.references == {"a": _REFERENCES}
    assert list(testset.systems) == ["a", "b"]
    assert testset.logged["chrf"]["b"] == (0.0, 1.0)
    (tmp_path / "a-runs" / "note.txt").write_text("mine\n")
    with pytest.raises(DataError, match="holds no test set"):
        gn.TestSet.read(tmp_path / "a-runs")


def test_archives_as_inspect_compresses_them_are_read(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    text = json.dumps({**_inspected(0, "x"), "scores": {"f1": {"value": 0.5}}}).encode()
    file = tmp_path / "a.eval"
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("samples/0_epoch_1.json", pa.compress(text, codec="zstd", asbytes=True))
    data = bytearray(file.read_bytes())
    about = struct.pack("<I", zlib.crc32(text)), struct.pack("<I", len(text))
    for start, method in ((0, 8), (data.index(b"PK\x01\x02"), 10)):  # both headers of the file
        data[start + method : start + method + 2] = struct.pack("<H", 93)
        for value, at in zip(about, (method + 6, method + 14), strict=True):
            data[start + at : start + at + 4] = value
    file.write_bytes(data)
    testset = gn.TestSet.from_files(references=[file], systems=[file])
    assert testset.systems == {"a": ("x",)}
    assert testset.logged == {"f1": {"a": (0.5,)}}
    file.write_bytes(data.replace(b"\x28\xb5\x2f\xfd", b"\x28\xb5\x2f\xfe"))
    with pytest.raises(FormatError, match="is no archive of inspect that can be read"):
        gn.TestSet.from_files(references=[file], systems=[file])


def test_systems_are_called_after_their_models(tmp_path: Path) -> None:
    for name, model in (("x", "org/a"), ("y", "org/b"), ("z", "org/b")):
        log = {"eval": {"model": model}, "samples": [_inspected(0, name)]}
        (tmp_path / f"{name}.json").write_text(json.dumps(log))
    x, y, z = (tmp_path / f"{name}.json" for name in "xyz")
    assert list(gn.TestSet.from_files(references=[x], systems=[x, y]).systems) == ["a", "b"]
    assert list(gn.TestSet.from_files(references=[x], systems=[y, z]).systems) == ["y", "z"]


def test_answers_of_a_batch_stand_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    rows = [_batch(number, f"x{number}") for number in (10, 2, 0)]
    (tmp_path / "b.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (tmp_path / "ref.txt").write_text("p\nq\nr\n")
    testset = gn.TestSet.from_files(
        references=[tmp_path / "ref.txt"], systems=[tmp_path / "b.jsonl"]
    )
    assert testset.systems == {"b": ("x0", "x2", "x10")}


def test_logs_of_different_tasks_are_not_joined(tmp_path: Path) -> None:
    first = _lines(tmp_path / "a" / "t.jsonl", _harness, "x", "y")
    other = tmp_path / "b" / "t.jsonl"
    other.parent.mkdir()
    other.write_text(first.read_text().replace('"target": "', '"target": "another '))
    with pytest.raises(DataError, match=r"has other targets than .* in 2 of 2 units"):
        gn.TestSet.from_files(references=[first], systems=[first, other])


@pytest.mark.parametrize(
    ("name", "higher"),
    [("f1", True), ("ter", False), ("m.wer", False), ("bits_per_byte", False), ("after", True)],
)
def test_names_of_errors_are_lower_where_better(name: str, higher: bool) -> None:  # a case
    assert parse(f"scores(metric={name!r})").higher_is_better is higher
    stated = parse(f"scores(metric={name!r}, lower_is_better={higher})")
    assert stated.higher_is_better is not higher


@pytest.mark.parametrize("kind", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damaged_archives_are_refused(tmp_path: Path, kind: int) -> None:
    file = tmp_path / "a.eval"
    with zipfile.ZipFile(file, "w", kind) as packed:
        packed.writestr("samples/0_epoch_1.json", json.dumps(_inspected(0, "x" * 500)))
    data = bytearray(file.read_bytes())
    start = data.index(b".json") + 20
    data[start : start + 8] = b"\xff" * 8
    file.write_bytes(data)
    with pytest.raises(FormatError, match="is no archive of inspect that can be read"):
        gn.TestSet.from_files(references=[file], systems=[file])


@pytest.mark.parametrize(("name", "inside"), [("a.eval", "samples/0.json"), ("a.xlsx", "xl/a.xml")])
def test_no_more_is_unpacked_than_an_archive_states(tmp_path: Path, name: str, inside: str) -> None:
    with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(inside, bytes(20_000_000))
    data = bytearray((tmp_path / name).read_bytes())
    for sign, place in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        struct.pack_into("<I", data, data.index(sign) + place, 10)
    (tmp_path / name).write_bytes(data)
    read = gn.formats.read_table if name.endswith("xlsx") else gn.formats.read_systems
    tracemalloc.start()
    with pytest.raises(FormatError, match="can be read"):
        read(tmp_path / name if name.endswith("xlsx") else [tmp_path / name])  # type: ignore[arg-type]  # of each
    assert tracemalloc.get_traced_memory()[1] < 16_000_000
    tracemalloc.stop()


def test_all_of_an_archive_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a.eval"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("header.json", json.dumps({"eval": {"model": "m" * 20_000}}))
        packed.writestr("samples/0_epoch_1.json", json.dumps(_inspected(0, "x")))
    monkeypatch.setenv("GNOMON_MAX_INPUT", "10kB")
    with pytest.raises(FormatError, match="is too large, unpacked"):
        gn.TestSet.from_files(references=[file], systems=[file])


def test_numbers_of_ids_that_come_again_pass_over_ids_of_the_file(tmp_path: Path) -> None:
    rows = [{**_harness(0, f"x{n}"), "doc_id": name, "target": f"t{n}"} for n, name in
            enumerate(("1", "1#2", "1"))]  # fmt: skip
    file = tmp_path / "t.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    testset = gn.TestSet.from_files(references=[file], systems=[file])
    assert testset.systems == {"t": ("x0", "x1", "x2")}
