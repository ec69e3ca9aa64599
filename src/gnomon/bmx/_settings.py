"""The published settings: medians over the experiments of the paper."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["PUBLISHED", "Setting"]


class Setting(NamedTuple):
    """Weight of the metric's own score, and exponent of the power mean."""

    w: float
    p: float


#: explainer -> median of the best (w, p) over all experiments (Leiter et al., 2022); SHAP's -0.95
#: is taken as -1.0, as there
PUBLISHED = {
    "erasure": Setting(0.6, -0.3),
    "lime": Setting(0.4, -1.4),
    "shap": Setting(0.6, -1.0),
    "marginalisation": Setting(0.8, -13.1),
}
