"""Published constants: people's agreement with a difference, by Kocmi et al. (2024).

"Navigating the Metrics Maze: Reconciling Score Magnitudes and Accuracies" (ACL 2024,
https://aclanthology.org/2024.acl-long.110) fits a curve per metric to pairs of systems of its set
ToShip23, accuracy = a / (1 + exp(-b difference)). The constants are those of the authors' tool
mt-thresholds (https://github.com/kocmitom/MT-Thresholds, python-tool/mt_thresholds.py); the
thresholds of the paper's table follow from them.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gnomon.core.signature import Signature

TITLE = "Kocmi et al. (2024)"


class _Constants(NamedTuple):
    """Of one metric: the highest accuracy in per cent, and the slope."""

    most: float
    slope: float


_BLEU = _Constants(88.33333333333225, 0.9663926931178954)
_CHRF = _Constants(92.999999999972, 1.1142732157139852)
_SPBLEU_101 = _Constants(84.58445492823891, 1.262507595109315)
_SPBLEU_200 = _Constants(90.99999999998793, 0.8079046528617078)
#: tokenisers that sacreBLEU takes by itself, which is how they computed BLEU
_USUAL = ("13a", "zh", "ja-mecab", "ko-mecab")
_BLEU_SPEC = re.compile(r"bleu(?:\(tokenize='[\w-]+'\))?")
_COIN = 0.5


def _constants(signature: Signature) -> _Constants | None:
    """The constants of a metric, by its signature; None where it is none of theirs."""
    spec = signature.spec
    name = spec if spec == "chrf" or not _BLEU_SPEC.fullmatch(spec) else "bleu"
    usual = signature.get("refs") == "1" and signature.get("case") == "mixed"
    if name == "bleu" and usual and signature.get("smooth") == "exp":
        tokeniser = signature.get("tok", "")
        by_tokeniser = {"flores101": _SPBLEU_101, "flores200": _SPBLEU_200}
        by_tokeniser |= dict.fromkeys(_USUAL, _BLEU)
        return by_tokeniser.get(tokeniser)
    if name == "chrf" and usual and (signature.get("nc"), signature.get("nw")) == ("6", "0"):
        return _CHRF if signature.get("space") == "no" else None
    return None


def published_share(signature: Signature, difference: float) -> float | None:
    """The share of pairs in which people agree with a difference, as published.

    Args:
        signature: of the metric.
        difference: of two systems' scores, on the scale of 0 to 100; its sign does not matter.

    Returns:
        The share; None where the metric is none of those that gnomon has constants of, and for
        differences so small that the curve lies below a half, where it says nothing.

    >>> from gnomon.core.signature import Signature
    >>> bleu = Signature.parse("bleu|refs:1|case:mixed|tok:13a|smooth:exp")
    >>> round(published_share(bleu, 2.34), 3)
    0.8
    """
    constants = _constants(signature)
    if constants is None:
        return None
    share = constants.most / 100 / (1 + math.exp(-constants.slope * abs(difference)))
    return share if share >= _COIN else None
