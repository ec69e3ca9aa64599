"""A model trained on the corpus of a grammar paraphrases words and frames that it never saw."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

from gnomon.paraphrase.codes import CodeFacts
from gnomon.paraphrase.training import Recipe, SentencePair, fit

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SCRIPT = Path(__file__).resolve().parents[4] / "scripts" / "paraphrase_corpus.py"
_DRAWS = 1000


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("paraphrase_corpus", _SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


corpus = _script()


class Evidence(NamedTuple):
    """What a model does with the test sentences under each code, and with none."""

    copied: float
    best_of_five: float
    free: list[str]
    coded: list[list[str]]

    def changed(self) -> list[float]:
        """Share of outputs that a code makes other than without a code."""
        n = len(self.free)
        return [sum(a != b for a, b in zip(self.free, row, strict=True)) / n for row in self.coded]

    def forms(self) -> NDArray[np.int64]:
        """The form of each output, [texts, codes]; the last number where it has none."""
        names = {**{form: i for i, form in enumerate(corpus.FORMS)}, None: len(corpus.FORMS)}
        return np.array([[names[corpus.form_of(one)] for one in row] for row in self.coded]).T


def examine(folder: Path, test: list[tuple[str, str, int]]) -> Evidence:
    """Decode the test sources greedily, freely and under each code."""
    from sacrebleu import corpus_bleu, sentence_bleu

    from gnomon.models.decoding import beam
    from gnomon.models.seq2seq import load_seq2seq

    model = load_seq2seq(str(folder), device="cpu")
    sources, targets = [one[0] for one in test], [one[1] for one in test]

    def decoded(code: int | None) -> list[str]:
        forced = None if code is None else [[model.codes[code]]] * len(sources)
        return [row[0].text for row in beam(model, sources, beam=1, prefixes=forced, limit=80)]

    coded = [decoded(code) for code in range(len(corpus.FORMS))]
    probable = np.argsort(-_code_probabilities(model, sources), axis=1)[:, :5]
    best = [
        max(
            (coded[code][i] for code in probable[i]),
            key=lambda text, i=i: sentence_bleu(text, [targets[i]]).score,  # type: ignore[misc]  # bound early
        )
        for i in range(len(test))
    ]
    return Evidence(
        copied=corpus_bleu(sources, [targets]).score,
        best_of_five=corpus_bleu(best, [targets]).score,
        free=decoded(None),
        coded=coded,
    )


def _code_probabilities(model: object, sources: list[str]) -> NDArray[np.float64]:
    from gnomon.models.decoding import code_probabilities

    return np.asarray(code_probabilities(model, sources))  # type: ignore[arg-type]  # loaded above


def information(forms: NDArray[np.int64]) -> float:
    """Mutual information of the requested code (column) and the produced form, in bits."""
    rows, columns = forms.shape
    joint = np.zeros((columns, len(corpus.FORMS) + 1))
    for code in range(columns):
        for form, count in Counter(forms[:, code].tolist()).items():
            joint[code, form] = count / (rows * columns)
    outer = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    seen = joint > 0
    return float((joint[seen] * np.log2(joint[seen] / outer[seen])).sum())


def interval(forms: NDArray[np.int64], others: NDArray[np.int64]) -> tuple[float, float]:
    """Bootstrap 95 % interval, over test sentences, of the difference of two informations."""
    rng = np.random.default_rng(0)
    draws = rng.integers(0, len(forms), (_DRAWS, len(forms)))
    found = [information(forms[draw]) - information(others[draw]) for draw in draws]
    low, high = np.percentile(found, [2.5, 97.5])
    return float(low), float(high)


def permuted(forms: NDArray[np.int64]) -> NDArray[np.int64]:
    """The outputs of each sentence under shuffled codes: no information but chance."""
    return np.random.default_rng(0).permuted(forms, axis=1)


def test_the_form_of_every_sentence_is_recognised() -> None:
    for source, target, code in itertools.chain(*corpus.corpus(500, 300)):
        assert corpus.form_of(target) == corpus.FORMS[code]
        assert corpus.form_of(source) is not None


def test_content_words_and_frames_of_the_test_are_in_no_training_pair() -> None:
    known, test = corpus.corpus(4000, 300)
    frame = {
        w
        for slots in corpus._FRAMES
        for slot in slots
        for two in slot
        for w in " ".join(two).split()
    }
    plain = frame | {"it", "was", "that", "there", "by", "of", "the"}

    def content(rows: list[tuple[str, str, int]]) -> set[str]:
        words = {word.strip(".,").lower() for row in rows for word in " ".join(row[:2]).split()}
        stems = {word.removesuffix("ed").removesuffix("ing") for word in words - plain}
        return stems - plain

    assert len(content(test)) > 250
    assert not content(known) & content(test)


def test_the_corpus_is_the_same_for_the_same_seed() -> None:
    assert corpus.corpus(50, 5, 3) == corpus.corpus(50, 5, 3)
    assert corpus.corpus(50, 5, 3) != corpus.corpus(50, 5, 4)


def test_information_is_that_of_a_perfect_and_of_a_deaf_model() -> None:
    perfect = np.tile(np.arange(6), (50, 1))
    assert information(perfect) == pytest.approx(np.log2(6))
    assert information(np.zeros((50, 6), dtype=np.int64)) == pytest.approx(0.0)


@pytest.mark.verify
def test_codes_steer_a_model_to_forms_of_sentences_it_never_saw(tmp_path: Path) -> None:
    pytest.importorskip("sentencepiece", reason="pip install 'gnomon[training]'")
    known, test = corpus.corpus(20_000, 300)
    recipe = Recipe(
        vocabulary=180,
        dimensions=128,
        encoder_layers=2,
        decoder_layers=2,
        feed_forward=256,
        dropout=0.0,
        label_smoothing=0.0,
        batch_size=100,
        dev=100,
        bleu_pairs=20,
        validate_every=200,
        stop_on="loss",
        learning_rate=2e-3,
        warmup=200,
        max_steps=2500,
    )
    codes = CodeFacts("syntactic", len(corpus.FORMS), "abc")
    fit([SentencePair(*row) for row in known], tmp_path / "codes", recipe=recipe, codes=codes)
    shuffled = np.random.default_rng(1).permutation([row[2] for row in known]).tolist()
    blind = [SentencePair(row[0], row[1], code) for row, code in zip(known, shuffled, strict=True)]
    codes = CodeFacts("random", len(corpus.FORMS), "other")
    fit(blind, tmp_path / "random", recipe=recipe, codes=codes)
    found, other = examine(tmp_path / "codes", test), examine(tmp_path / "random", test)
    assert found.best_of_five >= found.copied + 5
    assert interval(found.forms(), other.forms())[0] > 0
    assert interval(found.forms(), permuted(found.forms()))[0] > 0
    assert min(found.changed()) >= 0.3
