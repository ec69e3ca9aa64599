"""What the network may write while it is validated."""

from typing import Any

import pytest

from gnomon.paraphrase.training import Recipe
from gnomon.paraphrase.training._network import build, greedy

_CODES = [40, 41, 42, 43]


def _network(tiny: dict[str, object]) -> Any:
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(0)
        return build(Recipe(**tiny), 44)  # type: ignore[arg-type]  # plain options


def test_a_code_is_decoded_first_or_nowhere(tiny: dict[str, object]) -> None:
    model = _network(tiny)
    model.final_logits_bias[0, _CODES] = 100.0  # nothing else would be written
    made = greedy(model, [[5, 6, 7, 1], [8, 1]], "cpu", 100, _CODES)
    for row in made:
        assert row[0] in _CODES
        assert len(row) > 1
        assert not set(row[1:]) & set(_CODES)


@pytest.mark.parametrize("codes", [[], _CODES])
def test_padding_is_never_decoded(tiny: dict[str, object], codes: list[int]) -> None:
    model = _network(tiny)
    model.final_logits_bias[0, 0] = 100.0
    assert 0 not in greedy(model, [[5, 6, 7, 1]], "cpu", 100, codes)[0]
