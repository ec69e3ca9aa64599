"""``gnomon score``, against sacreBLEU and through every way in."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
import sacrebleu

import gnomon as gn


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def test_json_holds_the_fields_of_the_contract_and_sacrebleus_numbers(gnomon, files) -> None:
    answer = gnomon(
        "score", files / "ref.txt", "-i", files / "a.txt", files / "b.txt", "-m", "bleu", "chrf",
        "-f", "json",
    )  # fmt: skip
    found = answer.json()
    assert list(found) == ["gnomon", "command", "messages", "rows", "signatures"]
    assert found["command"] == "score"
    assert [(r["system"], r["metric"]) for r in found["rows"]] == [
        ("a", "bleu"),
        ("b", "bleu"),
        ("a", "chrf"),
        ("b", "chrf"),
    ]
    reference = [_lines(files / "ref.txt")]
    for row in found["rows"]:
        function = getattr(sacrebleu, f"corpus_{row['metric']}")
        expected = function(_lines(files / f"{row['system']}.txt"), reference).score
        assert row["score"] == pytest.approx(expected, abs=1e-9)
        assert row["signature"] == found["signatures"][row["metric"]]


def test_the_table_shows_systems_metrics_and_signatures(gnomon, files) -> None:
    answer = gnomon("score", files / "ref.txt", "-i", files / "a.txt", files / "b.txt", "-m", "ter")
    assert answer.code == 0
    assert "a" in answer.out
    assert "nrefs:1" in answer.out


def test_score_only_prints_a_number(gnomon, files) -> None:
    answer = gnomon("score", files / "ref.txt", "-i", files / "a.txt", "-b", "-w", "3", "-q")
    expected = sacrebleu.corpus_bleu(_lines(files / "a.txt"), [_lines(files / "ref.txt")]).score
    assert answer.out == f"{expected:.3f}\n"
    assert answer.err == ""


def test_a_system_may_come_from_standard_input(gnomon, files) -> None:
    text = (files / "a.txt").read_bytes()
    piped = gnomon("score", files / "ref.txt", "-f", "json", stdin=text)
    named = gnomon("score", files / "ref.txt", "-i", files / "a.txt", "-f", "json")
    assert piped.json()["rows"][0]["score"] == named.json()["rows"][0]["score"]


def test_no_systems_at_all_are_explained(gnomon, files) -> None:
    answer = gnomon("score", files / "ref.txt")
    assert answer.code == 2
    assert "-i" in answer.err


def test_gzip_bom_and_crlf_change_nothing(gnomon, files) -> None:
    text = (files / "a.txt").read_text(encoding="utf-8")
    (files / "z.txt.gz").write_bytes(gzip.compress(text.encode()))
    (files / "bom.txt").write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    answer = gnomon(
        "score", files / "ref.txt", "-i", files / "a.txt", files / "z.txt.gz", files / "bom.txt",
        "-v", "-f", "json",
    )  # fmt: skip
    rows = answer.json()["rows"]
    assert [row["system"] for row in rows] == ["a", "z", "bom"]
    assert len({row["score"] for row in rows}) == 1
    assert "bom.txt" in answer.err


def test_segment_scores_are_written_in_the_asked_format(gnomon, files) -> None:
    gnomon(
        "score", files / "ref.txt", "-i", files / "a.txt", "-m", "bleu", "-l", "de-en",
        "--segment-scores", files / "out.tsv", "-q",
    )  # fmt: skip
    header, *rows = _lines(files / "out.tsv")
    assert header.split("\t") == ["system", "segment", "metric", "score"]
    expected = [
        sacrebleu.sentence_bleu(c, [r]).score
        for c, r in zip(_lines(files / "a.txt"), _lines(files / "ref.txt"), strict=True)
    ]
    assert [float(row.split("\t")[3]) for row in rows] == pytest.approx(expected, abs=1e-9)
    assert [row.split("\t")[1] for row in rows] == ["1", "2", "3"]


def test_sentence_level_prints_a_row_per_segment(gnomon, files) -> None:
    answer = gnomon("score", files / "ref.txt", "-i", files / "a.txt", "-sl", "-f", "tsv")
    assert len(answer.out.split("\n")) == 5


def test_a_tsv_and_jsonl_table_give_the_numbers_of_plain_files(gnomon, files) -> None:
    columns = {n: _lines(files / f"{n}.txt") for n in ("ref", "a", "b")}
    rows = list(zip(*columns.values(), strict=True))
    tsv = ["ref\ta\tb", *("\t".join(row) for row in rows)]
    (files / "t.tsv").write_text("\n".join(tsv) + "\n", encoding="utf-8")
    objects = [json.dumps(dict(zip(columns, row, strict=True))) for row in rows]
    (files / "t.jsonl").write_text("\n".join(objects) + "\n", encoding="utf-8")
    plain = gnomon("score", files / "ref.txt", "-i", files / "a.txt", files / "b.txt", "-f", "json")
    for name in ("t.tsv", "t.jsonl"):
        table = gnomon(
            "score", "--table", files / name, "--reference-columns", "ref",
            "--system-columns", "a", "b", "-f", "json",
        )  # fmt: skip
        assert table.json()["rows"] == plain.json()["rows"]


def test_a_test_set_directory_is_read_with_some_of_its_systems(gnomon, es_en) -> None:
    answer = gnomon(
        "score", "-t", es_en, "--systems", "apertium-catalan", "apertium-direct", "-f", "json"
    )
    assert [row["system"] for row in answer.json()["rows"]] == [
        "apertium-catalan",
        "apertium-direct",
    ]


def test_an_unknown_system_of_a_test_set_lists_the_known_ones(gnomon, es_en) -> None:
    answer = gnomon("score", "-t", es_en, "--systems", "apertium-dirct")
    assert answer.code == 2
    assert "did you mean 'apertium-direct'" in answer.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["-m", "blue"], 2, "did you mean 'bleu'"),
        (["-m", "chrf(order=2)"], 2, "order"),
        (["-m", "bleu(tokenize='moses')"], 2, "13a"),
        (["-m", "python('os:getcwd')"], 2, "--allow-code"),
        (["-o", "/nonexistent/x.json"], 1, "/nonexistent"),
    ],
)
def test_wrong_requests_say_what_is_allowed(
    gnomon, files, arguments: list[str], code: int, said: str
) -> None:
    answer = gnomon("score", files / "ref.txt", "-i", files / "a.txt", *arguments)
    assert answer.code == code
    assert said in answer.err


def test_unequal_line_counts_name_both_files_and_counts(gnomon, files) -> None:
    (files / "short.txt").write_text("one\n", encoding="utf-8")
    answer = gnomon("score", files / "ref.txt", "-i", files / "short.txt")
    assert answer.code == 1
    for word in ("ref.txt", "short.txt", "3", "1"):
        assert word in answer.err


def test_duplicate_system_names_are_refused(gnomon, files) -> None:
    (files / "other").mkdir()
    (files / "other" / "a.txt").write_text("x\ny\nz\n", encoding="utf-8")
    answer = gnomon("score", files / "ref.txt", "-i", files / "a.txt", files / "other" / "a.txt")
    assert answer.code == 1
    assert str(files / "other" / "a.txt") in answer.err


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"caf\xe9\nx\ny\n", "UTF-8"), (b"\x00\x01\nx\ny\n", "not a text file")],
)
def test_bad_bytes_name_file_and_line(gnomon, files, content: bytes, said: str) -> None:
    (files / "bad.txt").write_bytes(content)
    answer = gnomon("score", files / "ref.txt", "-i", files / "bad.txt")
    assert answer.code == 1
    assert "bad.txt:1" in answer.err
    assert said in answer.err


def test_odd_but_legal_text_is_accepted_and_scored_as_sacrebleu_does(gnomon, files) -> None:
    candidate = ["a\u2028b c", "", "w " * 10_000]
    reference = ["a\u2028b c d", "x y", "w " * 9_000]
    for name, lines in (("odd", candidate), ("oddref", reference)):
        (files / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    answer = gnomon("score", files / "oddref.txt", "-i", files / "odd.txt", "-f", "json")
    expected = sacrebleu.corpus_bleu(candidate, [reference]).score
    assert answer.json()["rows"][0]["score"] == pytest.approx(expected, abs=1e-9)


def test_an_empty_reference_is_accepted_with_a_warning(gnomon, files) -> None:
    (files / "holes.txt").write_text("x y\n\nz\n", encoding="utf-8")
    answer = gnomon("score", files / "holes.txt", "-i", files / "a.txt")
    assert answer.code == 0
    assert "holes.txt" in answer.err


def test_the_python_twin_gives_the_same_numbers(gnomon, es_en) -> None:
    rows = gnomon("score", "-t", es_en, "-m", "chrf", "-f", "json").json()["rows"]
    scores = gn.score(gn.TestSet.read(es_en), "chrf")
    assert np.allclose([row["score"] for row in rows], scores.system, atol=0, rtol=0)


def test_transposed_python_references_are_recognised() -> None:
    with pytest.raises(gn.errors.DataError, match="transposed"):
        gn.TestSet.from_lists({"a": ["x", "y", "z"]}, [["1", "2", "3"], ["4", "5", "6"]])


def test_a_table_without_systems_is_refused(gnomon, files) -> None:
    (files / "t.tsv").write_text("reference\tid\nx\ty\n", encoding="utf-8")
    answer = gnomon("score", "--table", files / "t.tsv", "-f", "json")
    assert answer.code == 1
    assert answer.json()["rows"] == []
    assert "--system-columns" in answer.err


def test_options_of_bleu_without_bleu_are_refused(gnomon, files) -> None:
    answer = gnomon("score", files / "ref.txt", "-i", files / "a.txt", "-m", "chrf", "-lc")
    assert answer.code == 2
    assert "chrf(lowercase=True)" in answer.err


def test_info_counts_in_whole_numbers(gnomon, es_en) -> None:
    answer = gnomon("info", "-t", es_en)
    assert "209" in answer.out
    assert "209.0" not in answer.out
    for word in ("news", "apertium-direct", "documents"):
        assert word in answer.out


@pytest.mark.parametrize(
    "arguments",
    [
        ["ref.txt", "-i", "a.txt", "--systems", "a"],
        ["ref.txt", "-i", "a.txt", "--references", "A"],
        ["--table", "t.tsv", "ref.txt", "--system-columns", "a"],
        ["--table", "t.tsv", "--system-columns", "a", "a"],
        ["-t", ".", "-s", "ref.txt"],
        ["-t", ".", "-i", "a.txt", "--systems", "a"],
        ["ref.txt", "-i", "a.txt", "-l", "de-en-fr"],
    ],
)
def test_contradictory_inputs_are_refused(gnomon, files, monkeypatch, arguments) -> None:
    monkeypatch.chdir(files)
    answer = gnomon("score", *arguments)
    assert answer.code == 2
    assert answer.out == ""


def test_a_table_may_come_from_standard_input(gnomon) -> None:
    answer = gnomon(
        "score", "--table", "-", "--table-format", "tsv", "--system-columns", "a", "-b",
        stdin=b"reference\ta\nx y z w\tx y z w\n",
    )  # fmt: skip
    assert answer.out == "100.0\n"


def test_sentence_level_numbers_only_come_one_per_segment(gnomon, files) -> None:
    answer = gnomon("score", files / "ref.txt", "-i", files / "a.txt", "-sl", "-b")
    assert len(answer.out.split()) == 3


def test_odd_lines_are_accepted_and_said(gnomon, files) -> None:
    text = "a\u2028b\n" + "w " * 10_001 + "\nc\x07d\n"
    (files / "odd.txt").write_text(text, encoding="utf-8")
    answer = gnomon("score", files / "ref.txt", "-i", files / "odd.txt", "-v")
    assert answer.code == 0
    for word in ("separator", "longer than", "control character"):
        assert word in answer.err


def test_a_page_tells_which_paraphrases_were_among_the_references(gnomon, files) -> None:
    (files / "ref.p1.txt").write_text("a cat sat here .\n\nit was 1999 .\n", encoding="utf-8")
    base = (
        "score",
        files / "ref.txt",
        "-i",
        files / "a.txt",
        files / "b.txt",
        "-m",
        "bleu",
        "chrf",
    )
    plain, wide = files / "plain.html", files / "wide.html"
    assert gnomon(*base, "--html", plain).code == 0
    answer = gnomon(*base, "--paraphrases", files / "ref.p1.txt", "--html", wide)
    assert answer.code == 0
    identity = answer.out.partition("paraphrased:p*1@")[2][:16]
    assert len(identity) == 16
    assert "Paraphrased references" not in plain.read_text(encoding="utf-8")
    page = wide.read_text(encoding="utf-8")
    assert "Paraphrased references" in page
    assert identity in page.partition("Paraphrased references")[2]


def test_pages_of_other_commands_tell_of_paraphrases_too(gnomon, files) -> None:
    (files / "ref.p1.txt").write_text("a cat sat here .\n\nit was 1999 .\n", encoding="utf-8")
    page = files / "page.html"
    more = ("--paraphrases", files / "ref.p1.txt", "--html", page, "-q")
    assert (
        gnomon("compare", files / "ref.txt", "-i", files / "a.txt", files / "b.txt", *more).code
        == 0
    )
    assert "Paraphrased references" in page.read_text(encoding="utf-8")


def test_options_of_bleu_alone_name_bleu(gnomon, files) -> None:
    plain = gnomon("score", files / "ref.txt", "-i", files / "a.txt", "-tok", "char", "-b")
    named = gnomon(
        "score", files / "ref.txt", "-i", files / "a.txt", "-m", "bleu(tokenize='char')", "-b"
    )
    assert (plain.code, plain.out) == (0, named.out)


def test_the_verdict_is_said_first_and_beside_tables_of_rows_alone(gnomon, files) -> None:
    call = ["score", files / "ref.txt", "-i", files / "a.txt", files / "b.txt"]
    assert " has the highest BLEU, " in gnomon(*call).out.splitlines()[0]
    answer = gnomon(*call, "-f", "tsv")
    assert " has the highest BLEU, " in answer.err
    assert " under BLEU" not in answer.out
    assert "BLEU" not in gnomon(*call, "-f", "tsv", "-q").err


def test_a_table_alone_is_read_by_its_columns(gnomon, files) -> None:
    table = files / "out.csv"
    table.write_text("ref,A\na b c,a b c\n", encoding="utf-8")
    answer = gnomon("score", table, "-f", "json")
    assert [row["system"] for row in answer.json()["rows"]] == ["A"]
    assert "columns were recognised as references: ref; systems: A" in answer.err
    assert gnomon("score", "-t", table).code == 0
    assert gnomon("score", "--table", table, "--system-columns", "A").code == 0


def test_columns_that_are_named_are_those_of_a_table(gnomon, files) -> None:
    table = files / "out.csv"
    table.write_text("ref,A,B\na b c,a b c,a c\n", encoding="utf-8")
    answer = gnomon("score", table, "--system-columns", "B", "-f", "json")
    assert [row["system"] for row in answer.json()["rows"]] == ["B"]
    (files / "ref.txt").write_text("a b c\n", encoding="utf-8")
    answer = gnomon("score", files / "ref.txt", "-i", table, "--system-columns", "B")
    assert answer.code == 2
    assert "--system-columns: columns are of a table; give it with --table FILE" in answer.err


def test_files_that_nobody_named_as_systems_are_asked_for(gnomon, files) -> None:
    for name in ("ref", "sys"):
        (files / f"{name}.txt").write_text("a b c\n", encoding="utf-8")
    answer = gnomon("score", files / "ref.txt", files / "sys.txt", stdin=b"")
    assert answer.code == 2
    assert "did you forget -i?" in answer.err
    assert f"{files / 'ref.txt'} -i {files / 'sys.txt'}" in answer.err


def test_a_folder_of_outputs_is_all_files_in_it(gnomon, files) -> None:
    folder = files / "outputs"
    (folder / "old").mkdir(parents=True)
    for name in ("b.txt", "a", ".hidden"):
        (folder / name).write_text("a b c d\n", encoding="utf-8")
    (files / "ref.txt").write_text("a b c d\n", encoding="utf-8")
    answer = gnomon("score", files / "ref.txt", "-i", folder, "-f", "json")
    assert [row["system"] for row in json.loads(answer.out)["rows"]] == ["a", "b"]
    (files / "empty").mkdir()
    answer = gnomon("score", files / "ref.txt", "-i", files / "empty")
    assert answer.code == 1
    assert "holds no file" in answer.err


def test_metrics_are_named_without_regard_to_case(gnomon, files) -> None:
    for name in ("ref", "sys"):
        (files / f"{name}.txt").write_text("a b c d\n", encoding="utf-8")
    data = ("score", files / "ref.txt", "-i", files / "sys.txt", "-f", "json")
    answer = gnomon(*data, "-m", "BLEU", "chrF++", "ROUGEl")
    assert [row["metric"] for row in json.loads(answer.out)["rows"]] == ["bleu", "chrf++", "rougeL"]
    assert gnomon(*data, "-m", "BLEU", "-tok", "char").out == gnomon(*data, "-tok", "char").out
    answer = gnomon(*data, "-m", "BLEU", "bleu")
    assert answer.code == 2
    assert "named twice" in answer.err


def test_outputs_from_files_join_those_of_a_table(gnomon, files) -> None:
    (files / "t.csv").write_text("ref;one\na b;a b\nc d;c\n", encoding="utf-8")
    (files / "two.txt").write_text("a b\nc d\n", encoding="utf-8")
    data = ("score", "--table", files / "t.csv", "-f", "json", "-m", "chrf")
    answer = gnomon(*data, "--system-columns", "one", "-i", files / "two.txt")
    assert [row["system"] for row in json.loads(answer.out)["rows"]] == ["one", "two"]
    answer = gnomon(*data, "--system-columns", "one", "-i", files / "t.csv")
    assert answer.code != 0


@pytest.mark.parametrize(
    "damage", ["system\tseg\tda\nnobody\t1\t2\n", "system\tseg\tda\na\t1\tx\n"]
)
def test_what_people_said_keeps_scores_and_info_from_nothing(gnomon, files, damage: str) -> None:
    whole = files / "set"
    (whole / "systems").mkdir(parents=True)
    (whole / "human").mkdir()
    for name in ("ref.A.txt", "systems/a.txt"):
        (whole / name).write_text("a b\n", encoding="utf-8")
    (whole / "human" / "da.seg.tsv").write_text(damage, encoding="utf-8")
    for command in (("score", "-m", "chrf"), ("info",)):
        answer = gnomon(command[0], "-t", whole, *command[1:])
        assert answer.code == 0, answer.err
        assert "da.seg.tsv:2" in answer.err
        assert "left out" in answer.err
    assert gnomon("metaeval", "-t", whole, "--human", "da", "-m", "chrf").code == 1


def test_several_columns_of_a_human_file_are_several_kinds(gnomon, files) -> None:
    whole = files / "set"
    (whole / "systems").mkdir(parents=True)
    for name in ("ref.A.txt", "systems/a.txt"):
        (whole / name).write_text("a b\nc d\n", encoding="utf-8")
    table = "system;seg;fluency;coherence;comment\na;1;2.5;3;so so\na;2;4;5;\n"
    (files / "h.csv").write_text(table, encoding="utf-8")
    testset = gn.TestSet.read(whole).with_human(files / "h.csv")
    assert testset.human_kinds() == ("fluency", "coherence")
    assert testset.human_scores("coherence").tolist() == [[3.0, 5.0]]
    named = gn.TestSet.read(whole).with_human(files / "h.csv", kind="crowd")
    assert named.human_kinds() == ("crowd-fluency", "crowd-coherence")


def test_scores_in_logs_stand_beside_bleu_where_no_metric_is_named(gnomon, tmp_path) -> None:
    for name, ter in (("a", 0.5), ("b", 0.25)):
        sample = {"doc_id": 0, "target": "a dog", "resps": [["a cat"]], "f1": 1, "ter": ter}
        (tmp_path / name).mkdir()
        (tmp_path / name / "samples.jsonl").write_text(json.dumps(sample))
    logs = [tmp_path / name / "samples.jsonl" for name in "ab"]
    ter = "scores(metric='ter')"
    rows = gnomon("score", *logs, "-f", "json", "-q").json()["rows"]
    assert [row["metric"] for row in rows[::2]] == ["bleu", "scores(metric='f1')", ter]
    assert [row["score"] for row in rows if row["metric"] == ter] == [0.5, 0.25]
    named = gnomon("score", *logs, "-m", "bleu", "-f", "json", "-q").json()["rows"]
    assert [row["metric"] for row in named] == ["bleu", "bleu"]


def test_info_reads_the_file_alone(gnomon, tmp_path) -> None:
    (tmp_path / "ref.txt").write_text("one\ntwo\n")
    answer = gnomon("info", tmp_path / "ref.txt", stdin=b"")
    assert answer.code == 0
    assert "2 segments" in answer.out
