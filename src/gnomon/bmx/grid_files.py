"""Grids of correlations in files, as the authors of BMX published them."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gnomon.bmx.experiments import Experiment, Grids
from gnomon.core.errors import FormatError, GnomonError, MissingFileError

if TYPE_CHECKING:
    import os

__all__ = ["read_grids"]

_FIELDS = ("name", "p", "w", "corr")
_SIDES = {"only_hyp": "candidate"}
_EXPLAINERS = {
    "ErasureExplainer": "erasure",
    "InputMarginalizationExplainer": "marginalisation",
    "LimeExplainer": "lime",
    "RandomExplainer": "random",
    "ShapExplainer": "shap",
}
#: the published exponents are sums of tenths
_ROUNDING = 1e-9


def read_grids(path: str | os.PathLike[str]) -> Grids:
    """Grids of correlations from a ``.npz`` file.

    It holds ``name`` [E] (DATASET__EXPLAINER__METRIC__PAIR, with ``__only_hyp`` where the words of
    the candidate alone were explained), ``p`` [P], ``w`` [W] and ``corr`` [E, P, W]. Exponents
    within 1e-9 of a tenth are that tenth, and explainers of the published files get our names.

    Raises:
        MissingFileError: there is no such file.
        FormatError: it is no such archive.
    """
    if not Path(path).is_file():
        raise MissingFileError(f"no grids at {path}: there is no such file")
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as archive:
            fields = {key: archive[key] for key in _FIELDS if key in archive}
    except (
        OSError,
        ValueError,
        EOFError,
        zipfile.BadZipFile,
        zlib.error,
        TypeError,
        MemoryError,
    ) as error:
        raise FormatError(
            f"not an archive of numbers (.npz with {', '.join(_FIELDS)}), or a damaged one",
            path=path,
        ) from error
    missing = [key for key in _FIELDS if key not in fields]
    if missing:
        raise FormatError(
            f"the archive lacks {', '.join(missing)}; a file of grids has {', '.join(_FIELDS)}",
            path=path,
        )
    try:
        p, w, correlations = (
            np.asarray(fields[key], dtype=np.float64) for key in ("p", "w", "corr")
        )
        tenths = np.rint(p * 10) / 10
        return Grids(
            experiments=tuple(_experiment(str(name)) for name in np.atleast_1d(fields["name"])),
            p=np.where(np.abs(p - tenths) < _ROUNDING, tenths, p),
            w=np.where(np.abs(w - np.rint(w * 10) / 10) < _ROUNDING, np.rint(w * 10) / 10, w),
            correlations=correlations,
        )
    except (GnomonError, TypeError, ValueError) as error:
        raise FormatError(str(error), path=path) from error


def _experiment(name: str) -> Experiment:
    parts = name.split("__")
    if len(parts) not in {4, 5} or not all(parts):
        raise FormatError(
            f"a grid is named DATASET__EXPLAINER__METRIC__PAIR, perhaps with __SIDES; got {name!r}"
        )
    dataset, explainer, metric, pair, *sides = parts
    side = _SIDES.get(sides[0], sides[0]) if sides else "both"
    return Experiment(dataset, _EXPLAINERS.get(explainer, explainer), metric, pair, side)
