"""Decoding of an encoder-decoder model: searched, drawn, constrained, scored.

Own decoding over the forward pass of the model: the encoder runs once per text, keys and values of
the decoder are kept, texts of like length are decoded together and leave the batch when they are
done, and each distinct text is decoded once. Where memory ends, batches are halved.
"""

from gnomon.models.decoding.beam_search import beam, diverse
from gnomon.models.decoding.constrained_search import constrained
from gnomon.models.decoding.forced import code_probabilities, log_probabilities
from gnomon.models.decoding.requests import Hypothesis
from gnomon.models.decoding.sampling import sampled

__all__ = [
    "Hypothesis",
    "beam",
    "code_probabilities",
    "constrained",
    "diverse",
    "log_probabilities",
    "sampled",
]
