"""Taggers and metrics that are functions in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

import gnomon as gn
from gnomon.cli import main
from gnomon.core.errors import AnnotationError, UnknownNameError, UsageError
from gnomon.core.user_code import module_of
from gnomon.linguistics import annotate, load_own_tagger
from gnomon.linguistics.own_taggers import is_own_tagger

EXAMPLE = (
    Path(__file__).resolve().parents[2]
    / "examples/plugin-annotator/src/gnomon_shouting/__init__.py"
)
CODE = """
class Odd:
    name, signature, layers = "odd", "odd-1", {"odd": ("odd",)}

    def inventory(self, kind):
        return ()

    def annotate(self, texts, layers):
        return [{"odd": [(0, 1, "FIRST")]} for text in texts]


def lazy(text):
    return None


def overlap(candidate, reference):
    return len({*candidate.split()} & {*reference.split()})


NUMBER = 3
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(CODE, "utf-8")
    return path


def test_the_example_marks_words_as_a_class_and_as_a_function() -> None:
    text = "The EU and NATO met 12 times"
    shouting = module_of(f"{EXAMPLE}:Shouting").Shouting("3")
    spans = annotate([text], ["shout:*"], tagger=shouting).spans
    marked = {n: [text[s:e] for s, e in spans.spans(0, n)] for n in spans.features}
    assert marked == {"shout:ACRONYM": ["EU"], "shout:WORD": ["NATO"]}
    tagger = load_own_tagger(f"{EXAMPLE}:parts_of_speech")
    assert tagger.signature.startswith(f"{EXAMPLE}:parts_of_speech-")
    spans = annotate([text], ["pos:NUM"], tagger=tagger).spans
    assert [text[s:e] for s, e in spans.spans(0, "pos:NUM")] == ["12"]


def test_an_annotator_of_a_file_gives_its_own_kinds(file: Path) -> None:
    ts = gn.TestSet.from_lists({"a": ["x y"]}, ["x z"])
    finding = gn.muler(ts, "chrf", tagger=load_own_tagger(f"{file}:Odd"), resamples=0)
    assert {row["feature"] for row in finding.rows} == {"odd:FIRST"}


def test_what_is_no_tagger_is_refused(file: Path) -> None:
    with pytest.raises(UsageError, match="is no tagger, but 3"):
        load_own_tagger(f"{file}:NUMBER")
    with pytest.raises(UnknownNameError, match="did you mean 'lazy'"):
        load_own_tagger(f"{file}:lazi")
    with pytest.raises(AnnotationError, match="it must give"):
        annotate(["a"], ["pos:*"], tagger=load_own_tagger(f"{file}:lazy"))
    assert not any(map(is_own_tagger, ("spacy:en", "spcy:en")))


def test_the_shell_takes_functions_of_files_once_they_are_allowed(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ref, out = tmp_path / "ref.txt", tmp_path / "out.txt"
    ref.write_text("a b 1\n", "utf-8")
    out.write_text("a c 1\n", "utf-8")
    asked = ["muler", str(ref), "-i", str(out), "--tagger", f"{EXAMPLE}:parts_of_speech"]
    assert main(asked) == 2
    assert "if you trust it, allow it (--allow-code)" in capsys.readouterr().err
    assert main([*asked, "--allow-code", "-f", "tsv", "--resamples", "0"]) == 0
    assert "pos:NUM" in capsys.readouterr().out
    asked = ["score", str(ref), "-i", str(out), "-f", "tsv", "-m"]
    assert main([*asked, f"{file}:overlap", "--allow-code"]) == 0
    assert "\t2" in capsys.readouterr().out
    assert main([*asked, str(file)]) == 2
    assert f"name the function in it: {file}:FUNCTION" in capsys.readouterr().err
