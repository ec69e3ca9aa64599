"""Kinds of encoders and of vocabularies, against transformers itself."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from gnomon.core.errors import DataError
from gnomon.core.testset import TestSet
from gnomon.metrics import parse

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

torch = pytest.importorskip("torch", reason="needs pip install 'gnomon[models]'")
transformers = pytest.importorskip("transformers", reason="needs pip install 'gnomon[models]'")

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "cat", "dog", "sat", "there", "ein"]
CLS, SEP = 2, 3
MT, SOURCE, REFERENCE = "a cat sat", "ein dog", "there a dog sat"
SIZES = {
    "vocab_size": len(WORDS),
    "hidden_size": 12,
    "num_hidden_layers": 2,
    "num_attention_heads": 3,
    "intermediate_size": 20,
    "max_position_embeddings": 34,
    "pad_token_id": 0,
}


def _ids(text: str) -> list[int]:
    return [WORDS.index(word) for word in text.split()]


def _encoder(kind: str) -> Any:
    """A random model of transformers."""
    torch.manual_seed(7)
    if kind == "BERT":
        model = transformers.BertModel(
            transformers.BertConfig(**SIZES, initializer_range=0.5), add_pooling_layer=False
        )
    else:
        config = transformers.RemBertConfig(
            **SIZES, input_embedding_size=8, output_embedding_size=8, initializer_range=0.5
        )
        model = transformers.RemBertModel(config, add_pooling_layer=False)
    return model.eval()


def _written(folder: Path, kind: str, settings: dict[str, Any], head: dict[str, Any]) -> Any:
    """A checkpoint as Lightning writes it, with its encoder's files beside it; the encoder."""
    import yaml

    model = _encoder(kind)
    place = folder / "encoder"
    place.mkdir()
    model.config.save_pretrained(place)
    if kind == "BERT":
        (place / "vocab.txt").write_text("\n".join(WORDS) + "\n", encoding="utf-8")
        (place / "tokenizer_config.json").write_text('{"do_lower_case": true}', encoding="utf-8")
    else:
        from tokenizers import AddedToken, Tokenizer, models, pre_tokenizers

        pieces = [
            (w if w.startswith("[") else f"\u2581{w}", -float(n)) for n, w in enumerate(WORDS)
        ]
        made = Tokenizer(models.Unigram(pieces, unk_id=1))
        made.pre_tokenizer = pre_tokenizers.Metaspace()
        made.add_special_tokens([AddedToken(w, special=True) for w in WORDS[:5]])
        made.save(str(place / "tokenizer.json"))
    values = {"encoder_model": kind, "pretrained_model": "encoder", "activations": "Tanh"}
    state = {f"encoder.model.{name}": value for name, value in model.state_dict().items()}
    checkpoint = folder / "model" / "checkpoints"
    checkpoint.mkdir(parents=True)
    (checkpoint.parent / "hparams.yaml").write_text(yaml.safe_dump(values | settings))
    content = {"state_dict": state | head, "hyper_parameters": values | settings}
    torch.save(content, checkpoint / "model.ckpt")
    return model


def _head(inputs: int) -> dict[str, Any]:
    """Random weights of a head with one hidden layer of five units."""
    generator = torch.Generator().manual_seed(4)

    def linear(outer: int, inner: int) -> Any:
        return torch.randn((outer, inner), generator=generator) / inner**0.5

    return {
        "estimator.ff.0.weight": linear(5, inputs),
        "estimator.ff.0.bias": torch.randn(5, generator=generator),
        "estimator.ff.3.weight": linear(1, 5),
        "estimator.ff.3.bias": torch.zeros(1),
    }


def _testset() -> TestSet:
    return TestSet.from_lists({"s": [MT]}, [REFERENCE], sources=[SOURCE])


@pytest.mark.parametrize("kind", ["BERT", "RemBERT"])
def test_texts_read_together_by_a_bert_have_one_separator_and_bert_types(
    kind: str, tmp_path: Path
) -> None:
    from gnomon.learned import convert

    head = _head(12)
    settings = {"class_identifier": "unified_metric", "sent_layer": 1, "hidden_sizes": [5]}
    model = _written(tmp_path, kind, settings, head)

    def expected(*others: str) -> float:
        ids, own = [CLS, *_ids(MT), SEP], len(_ids(MT)) + 2
        for text in others:
            ids += [*_ids(text), SEP]
        types = [0] * own + [1] * (len(ids) - own) if kind == "BERT" else [0] * len(ids)
        with torch.no_grad():
            found = model(
                input_ids=torch.tensor([ids]),
                token_type_ids=torch.tensor([types]),
                output_hidden_states=True,
            )
            values = found.hidden_states[1][0, 0]
            inner = torch.tanh(head["estimator.ff.0.weight"] @ values + head["estimator.ff.0.bias"])
            return float(head["estimator.ff.3.weight"] @ inner)

    convert(str(tmp_path / "model"), into=str(tmp_path / "made"))
    bound: Any = parse(f"unite('{tmp_path / 'made'}', device='cpu')").bind(_testset())
    parts = bound.score_parts_by_name(_testset().batch())
    ways = {
        "source": (SOURCE,),
        "reference": (REFERENCE,),
        "both": (SOURCE, REFERENCE),
    }
    for name, others in ways.items():
        assert parts[name][0, 0] == pytest.approx(expected(*others), abs=1e-6)
    assert len({round(float(parts[name][0, 0]), 4) for name in ways}) == 3


@pytest.mark.parametrize("kind", ["BERT", "RemBERT"])
@pytest.mark.parametrize("pool", ["avg", "max", "cls", "default"])
def test_texts_read_alone_by_a_bert_are_pooled_as_its_hyper_parameters_say(
    kind: str, pool: str, tmp_path: Path
) -> None:
    from gnomon.learned import convert

    head = _head(48)
    settings = {
        "class_identifier": "referenceless_regression_metric",
        "layer": 1,
        "pool": pool,
        "hidden_sizes": [5],
        "activations": "Softsign",
        "final_activation": "Softplus",
    }
    model = _written(tmp_path, kind, settings, head)

    def vector(text: str) -> Any:
        with torch.no_grad():
            found = model(
                input_ids=torch.tensor([[CLS, *_ids(text), SEP]]), output_hidden_states=True
            )
        state = found.hidden_states[1][0]
        first = found.last_hidden_state[0, 0]
        pooled = {"avg": state.mean(dim=0), "max": state.amax(dim=0), "cls": state[0]}
        return pooled.get(pool, first)

    own, source = vector(MT), vector(SOURCE)
    features = torch.cat([own, source, own * source, (own - source).abs()])
    inner = head["estimator.ff.0.weight"] @ features + head["estimator.ff.0.bias"]
    wanted = torch.nn.functional.softplus(
        head["estimator.ff.3.weight"] @ torch.nn.functional.softsign(inner)
    )
    convert(str(tmp_path / "model"), into=str(tmp_path / "made"))
    bound = parse(f"comet('{tmp_path / 'made'}', device='cpu')").bind(_testset())
    assert bound.segments(_testset().batch())[0, 0] == pytest.approx(float(wanted), abs=1e-6)


def test_a_layer_of_words_that_the_encoder_does_not_have_is_refused(tmp_path: Path) -> None:
    from gnomon.learned import convert

    settings = {"class_identifier": "unified_metric", "word_level_training": True}
    _written(tmp_path, "BERT", settings | {"hidden_sizes": [5]}, {})
    with pytest.raises(DataError, match="word_layer is 24; the encoder has layers 0 to 2"):
        convert(str(tmp_path / "model"), into=str(tmp_path / "made"))


def test_a_vocabulary_of_sentencepiece_gives_the_scores_of_the_original(
    oracles: Path, oracle: Callable[[str, str], Any], tmp_path: Path
) -> None:
    from gnomon.learned import convert

    for name in ("softmax_layernorm", "encoder"):
        shutil.copytree(oracles / "regression" / name, tmp_path / name)
    encoder = tmp_path / "encoder"
    encoder.chmod(0o755)
    for path in encoder.glob("*.json"):
        if path.name != "config.json":
            path.unlink()
    convert(str(tmp_path / "softmax_layernorm"), into=str(tmp_path / "made"))
    said = oracle("regression", "softmax_layernorm")
    testset = said.testset()
    bound = parse(f"comet('{tmp_path / 'made'}', device='cpu')").bind(testset)
    scores = bound.segments(testset.batch())[0]
    np.testing.assert_allclose(scores, said.kept(said.expected["scores"]), atol=1e-5, rtol=0)
    (encoder / "sentencepiece.bpe.model").unlink()
    with pytest.raises(DataError, match="holds no vocabulary"):
        convert(str(tmp_path / "softmax_layernorm"), into=str(tmp_path / "made"))


def test_xcomet_reads_source_and_reference_whatever_its_checkpoint_says(
    oracles: Path, tmp_path: Path
) -> None:
    from gnomon.learned import convert

    for name in ("base", "encoder_base"):
        shutil.copytree(oracles / "xcomet" / name, tmp_path / name)
    path = tmp_path / "base" / "checkpoints" / "model.ckpt"
    for one in (path, path.parent):
        one.chmod(0o755)
    content = torch.load(path, weights_only=True)
    content["hyper_parameters"]["input_segments"] = ["mt", "src"]
    torch.save(content, path)
    made = convert(str(tmp_path / "base"), into=str(tmp_path / "made"))
    assert json.loads((made.folder.path / "config.json").read_text(encoding="utf-8"))[
        "hyper_parameters"
    ]["input_segments"] == ["mt", "src", "ref"]
    assert parse(f"xcomet('{made.folder.path}')").needs == {"references", "sources"}


def _regression(folder: Path, **settings: object) -> str:
    """A COMET on a BERT of two layers; its folder."""
    from gnomon.learned import convert

    head = _head(72)
    values = {"class_identifier": "regression_metric", "layer": 1, "hidden_sizes": [5]}
    _written(folder, "BERT", values | settings, head)
    convert(str(folder / "model"), into=str(folder / "made"))
    return str(folder / "made")


OUTPUTS = TestSet.from_lists(
    {"s": ["a cat sat", "ein dog"], "t": ["a dog sat there", "a dog"]},
    ["there a cat sat", "a dog there"],
    sources=["ein cat", "dog"],
)


@pytest.mark.parametrize("pool", ["avg", "cls", "default"])
def test_pieces_are_matched_by_the_states_that_the_metric_pools(pool: str, tmp_path: Path) -> None:
    bound: Any = parse(f"comet('{_regression(tmp_path, pool=pool)}', device='cpu')").bind(OUTPUTS)
    batch = OUTPUTS.batch()
    (matches,) = bound.matches(batch)
    model = _encoder("BERT")

    def states(text: str) -> Any:
        with torch.no_grad():
            found = model(
                input_ids=torch.tensor([[CLS, *_ids(text), SEP]]), output_hidden_states=True
            )
        state = found.last_hidden_state if pool == "default" else found.hidden_states[1]
        return torch.nn.functional.normalize(state[0], dim=-1)

    for number, (candidate, reference) in enumerate(matches.texts.tolist()):
        own, other = states(batch.texts[candidate]), states(batch.texts[reference])
        wanted = (own @ other.T)[:, 1:-1].amax(dim=1)  # the special pieces match nothing
        slots = slice(*matches.candidate.offsets[number : number + 2].tolist())
        np.testing.assert_allclose(matches.candidate.best[slots], wanted, atol=1e-6)
    assert 0 < matches.floor < 1


def test_difficulty_of_comet_weighs_words_or_whole_segments(tmp_path: Path) -> None:
    import gnomon as gn

    made = _regression(tmp_path)
    spec = f"comet('{made}', device='cpu')"
    bound = parse(f"difficulty({spec})").bind(OUTPUTS)
    assert type(bound).__name__ == "BoundDifficulty"
    scores = gn.score(OUTPUTS, f"difficulty({spec})").segments
    assert np.isfinite(np.asarray(scores)).all()
    whole = parse(f"difficulty({spec}, units='segments')").bind(OUTPUTS)
    assert type(whole).__name__ == "BoundSegmentDifficulty"
