"""What paraphrased references bring: agreement with people with and without them."""

from gnomon.methods.paraphrase.gains._gain import gain
from gnomon.methods.paraphrase.gains._page import paraphrases_used as paraphrases_used
from gnomon.methods.paraphrase.gains._page import show

__all__ = ["gain", "show"]
