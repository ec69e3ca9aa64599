"""BERTScore on a RoBERTa, whose tokeniser works on bytes, against bert-score 0.3.13."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import gnomon as gn
from gnomon.metrics import BertScore
from gnomon.models import load_encoder

REASON = "needs torch and transformers: pip install 'gnomon[models]'"
torch = pytest.importorskip("torch", reason=REASON)
transformers = pytest.importorskip("transformers", reason=REASON)
tokenizers = pytest.importorskip("tokenizers", reason=REASON)

TEXTS = [
    "The cat sat on the mat.",
    "  a cat sat",
    "naïve café 東京",
    "the dog",
    "mat mat \U0001f600",
]


@pytest.fixture(scope="module")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A RoBERTa of 2 layers with random weights; its tokeniser has learned five sentences."""
    folder = tmp_path_factory.mktemp("roberta")
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    learned = tokenizers.ByteLevelBPETokenizer()
    learned.train_from_iterator(TEXTS, vocab_size=300, special_tokens=special, show_progress=False)
    learned.save_model(str(folder))
    spelling = transformers.RobertaTokenizer.from_pretrained(folder, model_max_length=34)
    spelling.save_pretrained(folder)
    config = transformers.RobertaConfig(
        vocab_size=learned.get_vocab_size(),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=34,
        type_vocab_size=1,
        initializer_range=0.5,
    )
    with torch.random.fork_rng():
        torch.manual_seed(3)
        transformers.RobertaModel(config).save_pretrained(folder)
    return folder


def test_pieces_stand_where_they_do_in_the_text(roberta: Path) -> None:
    encoder = load_encoder(str(roberta), layer=1, device="cpu")
    for text in TEXTS:
        pieces = encoder.pieces([text])
        spans = list(zip(pieces.start, pieces.end, strict=True))[1:-1]
        covered = "".join(c for i, c in enumerate(text) if any(a <= i < b for a, b in spans))
        assert covered == text.replace(" ", "")
        assert not any(text[a:b].isspace() for a, b in spans)


def test_first_words_are_spelt_like_all_others(roberta: Path) -> None:
    encoder = load_encoder(str(roberta), layer=1, device="cpu")
    alone, later = encoder.pieces(["mat"]), encoder.pieces(["the mat"])
    assert alone.ids[1:-1].tolist() == later.ids[later.word == later.word.max()].tolist()


def test_the_limit_leaves_room_for_shifted_positions(roberta: Path) -> None:
    encoder = load_encoder(str(roberta), layer=1, device="cpu")
    assert encoder.limit == 32
    pieces = encoder.pieces(["mat " * 50])
    encoder.embed(pieces, np.array([0]))  # a position too many would be an error
    assert pieces.truncated.all()


@pytest.mark.filterwarnings("ignore")  # bert-score and what it imports warn of themselves
def test_parts_equal_bert_score(roberta: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bert_score = pytest.importorskip("bert_score", reason="needs bert-score==0.3.13")

    def spaced(name: str, _: bool) -> object:
        # bert-score asks for the space at every text; transformers 5 listens only when loading
        return transformers.AutoTokenizer.from_pretrained(name, add_prefix_space=True)

    monkeypatch.setattr(sys.modules["bert_score.score"], "get_tokenizer", spaced)
    references = TEXTS[1:] + TEXTS[:1]
    theirs = bert_score.score(
        TEXTS, references, model_type=str(roberta), num_layers=1, device="cpu", nthreads=0
    )
    testset = gn.TestSet.from_lists({"s": TEXTS}, references)
    bound = BertScore(model=str(roberta), layer=1, device="cpu").bind(testset)
    expected = np.stack([part.numpy() for part in theirs], axis=-1)
    np.testing.assert_allclose(bound.score_parts(testset.batch())[0], expected, atol=1e-5)
