"""Records of the specificity experiment: real features, random ones, distributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.findings import Cell
    from gnomon.muler._figures import Figures
    from gnomon.muler._tables import Variant
    from gnomon.muler._validate_synthetic import Synthetic

__all__ = ["Real", "curve_rows", "group_row", "real_row"]

_QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}
_POINTS = 41  # of a distribution's curve


@dataclass(frozen=True)
class Real:
    """A real feature of one system.

    Attributes:
        feature: its name.
        reference_share: share of the references' words; None where there are no words.
        output_share: share of the output's words.
        groups: p, so that a group of the vocabulary is about as frequent; None without words.
        figures: MuLER and its companions.
    """

    feature: str
    reference_share: float | None
    output_share: float | None
    groups: int | None
    figures: Figures

    @classmethod
    def of(cls, feature: str, shares: tuple[float | None, float | None], figures: Figures) -> Real:
        """A feature with its shares of the references' and the output's words."""
        reference, output = shares
        # halves up, and at least 2: a whole vocabulary is no feature
        groups = max(2, int(1 / reference + 0.5)) if reference else None
        return cls(feature, reference, output, groups, figures)


def real_row(real: Real, random: Synthetic | None, variant: Variant) -> dict[str, Cell]:
    """A real feature beside the random ones of like frequency."""
    own = real.figures.muler if variant == "ratio" else real.figures.clipped
    values = np.zeros(0) if random is None else _values(random, variant)
    mean, variance = _moments(values)
    quantiles = _quantiles(values)
    deviation = None if own is None or mean is None else own - mean
    return {
        "feature": real.feature,
        "segments": real.figures.segments,
        "reference_share": real.reference_share,
        "output_share": real.output_share,
        "muler": own,
        "groups": real.groups,
        "draws": len(values),
        "synthetic_reference_share": None if random is None else _mean(random.reference),
        "synthetic_output_share": None if random is None else _mean(random.output),
        "mean": mean,
        "variance": variance,
        "q05": quantiles["q05"],
        "median": quantiles["median"],
        "q95": quantiles["q95"],
        "deviation": deviation,
        "z": deviation / variance**0.5 if deviation is not None and variance else None,
        "below": float((values < own).mean()) if own is not None and len(values) else None,
    }


def group_row(
    groups: int, random: Synthetic | None, types: int, variant: Variant
) -> dict[str, Cell]:
    """The random features of one number of groups."""
    values = np.zeros(0) if random is None else _values(random, variant)
    mean, variance = _moments(values)
    return {
        "groups": groups,
        "types": types,
        "draws": len(values),
        "reference_share": None if random is None else _mean(random.reference),
        "output_share": None if random is None else _mean(random.output),
        "segments": None if random is None else _mean(random.segments),
        "mean": mean,
        "variance": variance,
        "low": float(values.min()) if len(values) else None,
        **_quantiles(values),
        "high": float(values.max()) if len(values) else None,
    }


def curve_rows(
    rows: Sequence[Mapping[str, Cell]],
    groups: Sequence[int],
    drawn: Mapping[int, Synthetic],
    variant: Variant,
) -> Iterator[dict[str, Cell]]:
    """Cumulative distributions: beside each real feature, and for some numbers of groups together.

    The real feature is a mark, a curve of two points: from 0 up to the share of random features
    below it.
    """
    for row in rows:
        own, name = row["groups"], str(row["feature"])
        if not isinstance(own, int) or own not in drawn or row["below"] is None:
            continue
        for share in (0.0, row["below"]):
            yield {"feature": name, "curve": "the feature", "muler": row["muler"], "share": share}
        yield from _curve(name, "random words", _values(drawn[own], variant))
    for number in groups:
        if number in drawn:
            yield from _curve("random words", f"p = {number}", _values(drawn[number], variant))


def _curve(feature: str, curve: str, values: NDArray[np.float64]) -> Iterator[dict[str, Cell]]:
    shares = np.linspace(0, 1, _POINTS)
    points = np.quantile(values, shares).tolist() if len(values) else []
    for share, value in zip(shares.tolist(), points, strict=False):
        yield {"feature": feature, "curve": curve, "muler": value, "share": share}


def _values(random: Synthetic, variant: Variant) -> NDArray[np.float64]:
    values = random.muler if variant == "ratio" else random.clipped
    return values[~np.isnan(values)]


def _moments(values: NDArray[np.float64]) -> tuple[float | None, float | None]:
    """Mean, and variance with n - 1."""
    mean = float(values.mean()) if len(values) else None
    return mean, float(values.var(ddof=1)) if len(values) > 1 else None


def _quantiles(values: NDArray[np.float64]) -> dict[str, float | None]:
    if not len(values):
        return dict.fromkeys(_QUANTILES)
    found = np.quantile(values, list(_QUANTILES.values())).tolist()
    return dict(zip(_QUANTILES, found, strict=True))


def _mean(values: NDArray[np.float64]) -> float | None:
    mean = float(values.mean())
    return None if np.isnan(mean) else mean
