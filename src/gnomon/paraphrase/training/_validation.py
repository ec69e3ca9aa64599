"""How good a network is on the pairs that are held out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from gnomon.errors import FormatError
from gnomon.paraphrase.training._checkpoints import ABOUT, read_json
from gnomon.paraphrase.training._network import dev_loss, greedy
from gnomon.paraphrase.training._vocabulary import code_pieces

if TYPE_CHECKING:
    from pathlib import Path

    from gnomon.paraphrase.training._recipe import Recipe
    from gnomon.paraphrase.training._train import Data

__all__ = ["Score", "score_of", "validate"]


class Score(NamedTuple):
    """The outcome of a validation.

    Attributes:
        loss: in nats per piece.
        bleu: of greedy decoding, from 0 to 100; None where nothing is decoded.
    """

    loss: float
    bleu: float | None

    def rank(self, stop_on: str) -> tuple[float, ...]:
        """What is greater where a model is better: BLEU and, where it ties, the loss.

        >>> Score(5.0, 0.0).rank("bleu") > Score(6.0, 0.0).rank("bleu")
        True
        """
        return (-self.loss,) if stop_on == "loss" else (self.bleu or 0.0, -self.loss)


def validate(model: Any, data: Data, recipe: Recipe, device: str) -> Score:
    """Loss over the held-out pairs, and BLEU of some of them."""
    loss = dev_loss(model, data.dev, device, recipe.batch_tokens)
    if recipe.bleu_pairs < 1:
        return Score(loss, None)
    from sacrebleu import corpus_bleu

    codes = code_pieces(data.tokenizer)
    sources = [one.source for one in data.dev[: recipe.bleu_pairs]]
    made = greedy(model, sources, device, recipe.batch_tokens, codes)
    texts = [data.tokenizer.decode([i for i in row if i not in codes]) for row in made]
    wanted = [one.target for one in data.dev_texts[: recipe.bleu_pairs]]
    return Score(loss, float(corpus_bleu(texts, [wanted]).score))


def score_of(folder: Path) -> Score | None:
    """What the model in a folder was validated with; None where there is no model.

    Raises:
        FormatError: its description is damaged.
    """
    path = folder / ABOUT
    if not path.is_file():
        return None
    try:
        return Score(**read_json(path)["validation"])
    except (KeyError, TypeError) as error:
        raise FormatError(
            "does not say how its model was validated; train into another folder", path=path
        ) from error
