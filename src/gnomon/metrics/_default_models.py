"""Which model and layer a metric on embeddings uses when it is not told.

The models and layers are those of bert-score 0.3.13: per target language, and per model the layer
that correlated best with people's judgements on WMT16.
"""

from __future__ import annotations

from gnomon.errors import SpecError

__all__ = ["LAYERS", "default_layer", "default_model"]

LANGUAGES = {
    "en": "roberta-large",
    "zh": "bert-base-chinese",
    "tr": "dbmdz/bert-base-turkish-cased",
}
MULTILINGUAL = "bert-base-multilingual-cased"

LAYERS = {
    "albert-xxlarge-v2": 8,
    "allenai/scibert_scivocab_uncased": 8,
    "bert-base-chinese": 8,
    "bert-base-multilingual-cased": 9,
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "dbmdz/bert-base-turkish-cased": 10,
    "distilbert-base-uncased": 5,
    "distilroberta-base": 5,
    "joeddav/xlm-roberta-large-xnli": 16,
    "microsoft/deberta-base-mnli": 9,
    "microsoft/deberta-large-mnli": 18,
    "microsoft/deberta-xlarge-mnli": 40,
    "microsoft/mdeberta-v3-base": 10,
    "roberta-base": 10,
    "roberta-large": 17,
    "roberta-large-mnli": 19,
    "xlm-roberta-base": 9,
    "xlm-roberta-large": 17,
}


def default_model(language: str | None) -> str:
    """The model that bert-score takes for a target language; multilingual BERT where unknown."""
    return LANGUAGES.get((language or "").lower(), MULTILINGUAL)


def default_layer(metric: str, model: str) -> int:
    """The layer that is known to work best.

    Raises:
        SpecError: none is known for this model.
    """
    if model in LAYERS:
        return LAYERS[model]
    raise SpecError(
        f"{metric}: no best layer of model {model!r} is known; say which layer's vectors to"
        " compare: layer=N, 0 for the embeddings up to the number of layers (about five sixths of"
        f" the way up often works best). Layers are known for: {', '.join(LAYERS)}"
    )
