"""What the network may write while it is validated."""

from pathlib import Path
from typing import Any

import pytest

from gnomon.paraphrase.codes import CodeFacts
from gnomon.paraphrase.training import Recipe, SentencePair

_CODES = [44, 45, 46, 47]


@pytest.fixture
def trainer(tmp_path: Path, tiny: dict[str, object], rows: list[tuple[str, str]]) -> Any:
    from gnomon.paraphrase.training.fitting import prepare
    from gnomon.paraphrase.training.trainer import (
        ParaphraseTrainer,
        arguments,
        undisturbed,
    )

    recipe = Recipe(**tiny)  # type: ignore[arg-type]  # plain options
    pairs = [SentencePair(a, b, i % 4) for i, (a, b) in enumerate(rows)]
    data = prepare(pairs, recipe, CodeFacts("random", 4, "abc"), None)
    with undisturbed():
        yield ParaphraseTrainer(arguments(tmp_path, recipe, "cpu"), data, recipe)


def _decoded(trainer: Any) -> list[list[int]]:
    made: list[list[int]] = trainer.decoded(trainer.eval_dataset[:3])
    return made


def test_a_code_is_decoded_first_or_nowhere(trainer: Any) -> None:
    trainer.model.final_logits_bias[0, _CODES] = 100.0  # nothing else would be written
    trainer.model.final_logits_bias[0, 5] = 50.0  # but for this
    for row in _decoded(trainer):
        assert row[0] in _CODES
        assert len(row) > 1
        assert not set(row[1:]) & set(_CODES)


def test_padding_is_never_decoded(trainer: Any) -> None:
    trainer.model.final_logits_bias[0, 0] = 100.0
    for row in _decoded(trainer):
        assert row
        assert 0 not in row
