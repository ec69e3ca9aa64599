"""What an encoder-decoder model makes of texts: searched, drawn, constrained, scored.

Own decoding over the forward pass of the model: the encoder runs once per text, keys and values of
the decoder are kept, texts of like length are decoded together and leave the batch when they are
done, and each distinct text is decoded once.
"""

from gnomon.models.decoding._beam import beam
from gnomon.models.decoding._hypotheses import Hypothesis

__all__ = ["Hypothesis", "beam"]
