"""What paraphrased references bring: agreement with people with and without them."""

from gnomon.paraphrase.gains._gain import gain
from gnomon.paraphrase.gains._page import paraphrases_used, show

__all__ = ["gain", "paraphrases_used", "show"]
