"""Grids of correlations as files: those that the authors published, and our own.

Both are in numpy's format without objects.
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gnomon.core.errors import FormatError, GnomonError, MissingFileError
from gnomon.data.formats import atomic_write
from gnomon.methods.bmx._experiments import Experiment, Grids

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from numpy.typing import NDArray

_FIELDS = ("name", "p", "w", "corr")
#: the names of an experiment, one by one, in our own files
_PARTS = ("dataset", "explainer", "metric", "language_pair", "sides")
_SIDES = {"only_hyp": "candidate"}
_EXPLAINERS = {
    "ErasureExplainer": "erasure",
    "InputMarginalizationExplainer": "marginalisation",
    "LimeExplainer": "lime",
    "RandomExplainer": "random",
    "ShapExplainer": "shap",
}
#: what the published second iterations by erasure explain: the first one's metric, boosted; those
#: by LIME start at no correlation that is published
_ITERATED = {
    ("erasure", "Second_Iteration_Erasure"): "BERTSCORE_REF_FREE_XNLI",
    ("erasure", "Second_Iteration_Erasure_Lime"): "XLMRSBERT",
}
_BOOSTED = "bmx({}, explainer='erasure', p=-0.3, w=0.6)"
#: the published exponents are sums of tenths
_ROUNDING = 1e-9


def read_grids(path: str | os.PathLike[str]) -> Grids:
    """Grids of correlations from a ``.npz`` file.

    It holds ``name`` [E] (DATASET__EXPLAINER__METRIC__PAIR, with ``__only_hyp`` where the words of
    the candidate alone were explained), ``p`` [P], ``w`` [W] and ``corr`` [E, P, W]. Where there
    are ``dataset``, ``explainer``, ``metric``, ``language_pair`` and ``sides`` [E] too, they count
    and ``name`` does not. Exponents within 1e-9 of a tenth are that tenth. Explainers of the
    published files get our names; so do their second iterations by erasure, whose metrics become
    ``bmx(METRIC, explainer='erasure', p=-0.3, w=0.6)``.
    """
    if not Path(path).is_file():
        raise MissingFileError(f"no grids at {path}: there is no such file")
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as archive:
            fields = {key: archive[key] for key in (*_FIELDS, *_PARTS) if key in archive}
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
            experiments=_experiments(fields),
            p=np.where(np.abs(p - tenths) < _ROUNDING, tenths, p),
            w=np.where(np.abs(w - np.rint(w * 10) / 10) < _ROUNDING, np.rint(w * 10) / 10, w),
            correlations=correlations,
        )
    except (GnomonError, TypeError, ValueError) as error:
        raise FormatError(str(error), path=path) from error


def write_grids(path: str | os.PathLike[str], grids: Grids) -> None:
    """Write grids so that :func:`read_grids` reads them back."""
    names = np.array([_name(experiment) for experiment in grids.experiments], dtype=np.str_)
    dataset, explainer, metric, pair, sides = (
        np.array([getattr(experiment, name) for experiment in grids.experiments], dtype=np.str_)
        for name in _PARTS
    )
    with atomic_write(path, "wb") as file:
        np.savez_compressed(
            file,
            name=names,
            p=grids.p,
            w=grids.w,
            corr=grids.correlations,
            dataset=dataset,
            explainer=explainer,
            metric=metric,
            language_pair=pair,
            sides=sides,
        )


def _experiments(fields: Mapping[str, NDArray[np.generic]]) -> tuple[Experiment, ...]:
    if not all(field in fields for field in _PARTS):
        return tuple(_experiment(str(name)) for name in np.atleast_1d(fields["name"]))
    columns = [[str(value) for value in np.atleast_1d(fields[field])] for field in _PARTS]
    return tuple(Experiment(*values) for values in zip(*columns, strict=True))


def _experiment(name: str) -> Experiment:
    parts = name.split("__")
    if len(parts) not in {4, 5} or not all(parts):
        raise FormatError(
            f"a grid is named DATASET__EXPLAINER__METRIC__PAIR, perhaps with __SIDES; got {name!r}"
        )
    dataset, explainer, metric, pair, *sides = parts
    side = _SIDES.get(sides[0], sides[0]) if sides else "both"
    explainer = _EXPLAINERS.get(explainer, explainer)
    iterated = _ITERATED.get((explainer, metric))
    named = metric if iterated is None else _BOOSTED.format(iterated)
    return Experiment(dataset, explainer, named, pair, side)


def _name(experiment: Experiment) -> str:
    parts = [experiment.dataset, experiment.explainer, experiment.metric, experiment.language_pair]
    return "__".join(parts if experiment.sides == "both" else [*parts, experiment.sides])
