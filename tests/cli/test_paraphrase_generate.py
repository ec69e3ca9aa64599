"""``gnomon paraphrase generate`` with a model."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gnomon.cli import main
from gnomon.data.formats import read_paraphrases

pytest.importorskip("torch")
pytest.importorskip("transformers")

from tests.models.tiny_seq2seq import build

_REFERENCES = ["the cat sat on the mat .", "a dog lay on the rug", "the dog sat"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(build(tmp_path_factory.mktemp("tiny"), seed=1))


@pytest.fixture
def ref(tmp_path: Path) -> str:
    path = tmp_path / "ref.txt"
    path.write_text("".join(line + "\n" for line in _REFERENCES), encoding="utf-8")
    return str(path)


def _generate(*options: str) -> int:
    return main(["paraphrase", "generate", *options, "-f", "json", "-q"])


def _rows(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    found = json.loads(capsys.readouterr().out)
    (row,) = found["rows"]
    assert isinstance(row, dict)
    return row


@pytest.mark.parametrize(
    ("method", "more"),
    [("beam", ""), ("diverse", ", beam=6, groups=3"), ("sampled", ", seed=3")],
)
def test_a_model_makes_paraphrases_that_scoring_takes(
    folder: str,
    ref: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    method: str,
    more: str,
) -> None:
    saved = str(tmp_path / "p.jsonl")
    base = (ref, "--model", folder, "--n", "2", "--save", saved, "--method")
    assert _generate(*base, f"{method}(limit=8{more})") == 0
    row = _rows(capsys)
    assert (row["method"], row["paraphrases"], row["segments"]) == (method, 6, 3)
    assert {one.method for one in read_paraphrases([saved])} == {method}
    assert _generate(*base, f"{method}(limit=8{more})", "--resume") == 0
    assert _rows(capsys) == row
    assert _generate(*base, f"{method}(limit=9{more})", "--resume") == 2
    assert "limit 8, now 9" in capsys.readouterr().err
    assert main(["score", ref, "-i", ref, "--paraphrases", saved, "--methods", method]) == 0


def _constraint_file(path: Path, *rows: tuple[int, str]) -> None:
    lines = [json.dumps({"segment": segment, "text": text}) for segment, text in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_constraints_come_from_a_file_from_variants_or_from_systems(
    folder: str, ref: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = str(tmp_path / "p.jsonl")
    base = ("--model", folder, "--save", saved, "--method")
    listed = f"constrained('{tmp_path}/c.jsonl', limit=8)"
    _constraint_file(tmp_path / "c.jsonl", (1, "rug"), (3, "zebra"))
    assert main(["paraphrase", "generate", ref, *base, listed, "-v"]) == 0
    said = capsys.readouterr().out
    assert "1 of 2 constraints were not reached" in said
    assert [("rug" in p.text, p.segment) for p in read_paraphrases([saved])] == [(True, 1)]
    variants = tmp_path / "v.txt"
    variants.write_text("cat / dog\n", encoding="utf-8")
    assert _generate(ref, *base, f"constrained(variants='{variants}', limit=8)") == 0
    assert _rows(capsys)["paraphrases"] == 3
    outputs = tmp_path / "x.txt"
    outputs.write_text("a\na\nthe dog lay\n", encoding="utf-8")
    assert _generate(ref, "-i", str(outputs), *base, "constrained(limit=8)") == 0
    made = read_paraphrases([saved])
    assert all("lay" in str(one) for one in made if one.segment == 3)
    assert _generate(ref, *base, "constrained('c.jsonl', variants='v.txt')") == 2
    _constraint_file(tmp_path / "c.jsonl", (1, " "))
    assert _generate(ref, *base, listed) == 1
    assert "c.jsonl:1: text is empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["beam"], "needs a model (--model FOLDER)"),
        (["beam(seed=1)", "--model", "F"], "unknown option of beam 'seed'; there are: limit, beam"),
        (["pseudo", "--model", "F"], "--model goes with other methods; pseudo takes: n"),
        (["variants('v.txt')", "--n", "2"], "--n goes with other methods; variants takes: none"),
        (["variants('v.txt')", "--device", "cpu"], "--device goes with other methods"),
        (["output-codes", "--model", "F"], "lacks codes; write output-codes(codes=...)"),
        (["round-trip(forward='F')"], "lacks back"),
        (["sampled(top_p=2)", "--model", "F"], "top_p must be a number, above 0 and at most 1"),
        (["sampled(top_p='x')", "--model", "F"], "sampled: top_p cannot be 'x'"),
        (["diverse(beam=7, groups=2)", "--model", "F"], "7 cannot be split into 2"),
        (["bean"], "unknown method of generation 'bean'; did you mean 'beam'?"),
        (["beam("], "the spec 'beam(' cannot be read"),
        (["sampled('x')"], "takes options by name only"),
    ],
)
def test_options_that_a_method_does_not_read_are_refused(
    ref: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    assert _generate(ref, "--save", str(tmp_path / "p.jsonl"), "--method", *options) == 2
    assert said in capsys.readouterr().err


def test_no_such_model_and_no_encoder_decoder_are_said(
    ref: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = (ref, "--method", "beam", "--save", str(tmp_path / "p.jsonl"), "--model")
    assert _generate(*base, "./nowhere") == 1
    assert "no model folder './nowhere'" in capsys.readouterr().err
    from tests.models.tiny_masked import save_masked_lm

    (tmp_path / "masked").mkdir()
    assert _generate(*base, str(save_masked_lm(tmp_path / "masked"))) == 1
    assert "encoder-decoder" in capsys.readouterr().err
    assert not (tmp_path / "p.jsonl").exists()


_KILLED = """
import os, signal, sys
from gnomon.cli import main
from gnomon.paraphrase.generation import _saving

def write(record, path, plain=_saving.SavedRecord.write):
    if record.done == 5:  # what was made is written, and not yet counted
        os.kill(os.getpid(), signal.SIGKILL)
    plain(record, path)

_saving.SavedRecord.write = write
main(sys.argv[1:])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGKILL")
@pytest.mark.verify
def test_a_killed_run_is_gone_on_with_to_the_same_bytes(folder: str, tmp_path: Path) -> None:
    ref, saved, whole = (tmp_path / name for name in ("ref.txt", "p.jsonl", "whole.jsonl"))
    ref.write_text("the cat sat .\na dog lay on the rug\n" * 4, encoding="utf-8")
    base = [str(ref), "--method", "sampled(limit=8)", "--model", folder, "--batch", "1"]
    command = [sys.executable, "-c", _KILLED, "paraphrase", "generate", *base, "--save", str(saved)]
    ended = subprocess.run(command, stderr=subprocess.DEVNULL, check=False)
    assert ended.returncode == -signal.SIGKILL
    record = tmp_path / "p.jsonl.settings.json"
    assert json.loads(record.read_text(encoding="utf-8"))["done"] == 4
    assert _generate(*base, "--save", str(saved), "--resume") == 0
    assert _generate(*base, "--save", str(whole)) == 0
    assert saved.read_bytes() == whole.read_bytes()


def test_what_an_interrupted_run_made_is_not_thrown_away(
    folder: str, ref: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "p.jsonl"
    base = (ref, "--method", "sampled(limit=8)", "--model", folder, "--save", str(saved))
    assert _generate(*base) == 0
    record = tmp_path / "p.jsonl.settings.json"
    held = json.loads(record.read_text(encoding="utf-8"))
    record.write_text(json.dumps({**held, "done": held["done"] - 1}), encoding="utf-8")
    whole = saved.read_bytes()
    capsys.readouterr()
    assert _generate(*base) == 2
    assert "go on with it by --resume" in capsys.readouterr().err
    assert saved.read_bytes() == whole


def test_methods_that_read_outputs_say_so(
    folder: str, ref: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = (ref, "--save", str(tmp_path / "p.jsonl"))
    assert _generate(*base, "--method", "constrained", "--model", folder) == 2
    assert "reads the outputs of systems: give them with -i" in capsys.readouterr().err
    assert _generate(*base, "--method", "pseudo") == 2
