"""Codes as a folder: numbers in safetensors, the rest in JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.errors import (
    DataError,
    MissingDependencyError,
    MissingFileError,
    OutputError,
    UsageError,
)
from gnomon.formats import atomic_write
from gnomon.paraphrase.codes._codes import Codes, Fitted
from gnomon.paraphrase.codes._space import Semantic, Space, check_model

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from numpy.typing import NDArray

    from gnomon.paraphrase.codes._codes import Kind

__all__ = ["Facts", "facts", "load", "save"]

_FORMAT = 1
_TENSORS = "codes.safetensors"
_ABOUT = "codes.json"
_OWN = "space."


@dataclass(frozen=True)
class Facts:
    """What a folder says of its codes.

    Attributes:
        kind: "semantic", "syntactic" or "random".
        count: how many there are.
        identity: a hash of what decides the code of a sentence.
    """

    kind: Kind
    count: int
    identity: str


def facts(folder: str | PathLike[str]) -> Facts:
    """Read what a folder says of its codes; no model is loaded.

    Raises:
        MissingFileError: there are no codes in the folder.
        DataError: its description is damaged.
    """
    path = Path(folder)
    about = _about(path)
    try:
        return Facts(about["kind"], int(about["count"]), str(about["identity"]))
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path / _ABOUT} lacks what codes need: {error}; fit them anew") from error


def save(codes: Codes, folder: str | PathLike[str]) -> Path:
    """Write codes into a folder, which is made where it is missing.

    Raises:
        OutputError: it cannot be written.
    """
    numpy = _safetensors()
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder {path}: {error}; name another") from error
    tensors = {"centroids": codes.centroids, "counts": codes.counts}
    about: dict[str, Any] = {
        "format": _FORMAT,
        "kind": codes.kind,
        "count": codes.k,
        "identity": codes.identity,
        "seed": codes.seed,
        "fitted": asdict(codes.fitted),
    }
    if codes.space is not None:
        tensors |= {f"{_OWN}{name}": value for name, value in codes.space.tensors().items()}
        about["space"] = dict(codes.space.about())
    data = numpy.save({name: np.ascontiguousarray(value) for name, value in tensors.items()})
    with atomic_write(path / _TENSORS, "wb") as file:
        file.write(data)
    with atomic_write(path / _ABOUT) as file:
        file.write(json.dumps(about, indent=2, ensure_ascii=False) + "\n")
    return path


def load(
    folder: str | PathLike[str],
    *,
    model: str | None = None,
    parser: str | None = None,
    device: str | None = None,
) -> Codes:
    """Read the codes of a folder.

    Args:
        folder: where :meth:`Codes.save` put them.
        model: where the sentence encoder lies now, if not where it lay; it must be the same one.
        parser: what makes trees of sentences, if codes were made from trees that were given; it
            should be what made those.
        device: where it computes; by default a GPU if there is one.

    Raises:
        MissingFileError: there are no codes in the folder.
        DataError: its files do not belong together, or the model is another one.
        UsageError: a model or a parser was given to codes of another kind.
        MissingDependencyError: the model is not on this machine.
    """
    path = Path(folder)
    about = _about(path)
    for option, value, kind in (("model", model, "semantic"), ("parser", parser, "syntactic")):
        if value is not None and about.get("kind") != kind:
            raise UsageError(
                f"{option} {value!r} belongs to {kind} codes, and those in {path} are"
                f" {about.get('kind')}; leave it out"
            )
    tensors = _tensors(path)
    try:
        codes = Codes(
            kind=about["kind"],
            seed=int(about["seed"]),
            centroids=tensors["centroids"],
            counts=tensors["counts"],
            fitted=Fitted(**about["fitted"]),
            space=_space(about, tensors, model, parser, device),
        )
    except (KeyError, TypeError) as error:
        raise DataError(f"{path / _ABOUT} lacks what codes need: {error}; fit them anew") from error
    if codes.identity != about["identity"]:
        raise DataError(
            f"the codes in {path} are not those that were written: {_TENSORS} and {_ABOUT} do not"
            " belong together, or were changed; fit them anew"
        )
    return codes


def _space(
    about: Mapping[str, Any],
    tensors: Mapping[str, NDArray[np.float32]],
    model: str | None,
    parser: str | None,
    device: str | None,
) -> Space | None:
    if about["kind"] == "random":
        return None
    kept = about["space"]
    if about["kind"] == "semantic":
        from gnomon.models import load_encoder

        encoder = load_encoder(
            model or kept["model"],
            layer=kept["layer"],
            revision=kept["revision"] if model is None else None,
            device=device,
        )
        check_model(encoder, kept["identity"])
        return Semantic(encoder, bool(kept["unit"]), kept["revision"], kept["identity"])
    from gnomon.paraphrase.codes._syntactic import read_syntactic

    own = {k.removeprefix(_OWN): v for k, v in tensors.items() if k.startswith(_OWN)}
    return read_syntactic(kept, own, device, parser)


def _about(path: Path) -> dict[str, Any]:
    file = path / _ABOUT
    if not file.is_file():
        raise MissingFileError(
            f"{path} holds no {_ABOUT}, and so no codes; make some with 'gnomon paraphrase codes"
            f" FILE ... -o {path}'"
        )
    try:
        about = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"{file} is no JSON: {error}") from error
    if not isinstance(about, dict) or about.get("format") != _FORMAT:
        raise DataError(f"{file} is not of format {_FORMAT}, the only one that is read here")
    return about


def _tensors(path: Path) -> dict[str, Any]:
    from safetensors import SafetensorError

    numpy = _safetensors()
    file = path / _TENSORS
    if not file.is_file():
        raise MissingFileError(f"{path} holds no {_TENSORS}, which its {_ABOUT} belongs to")
    try:
        found: dict[str, Any] = numpy.load_file(file)
    except (SafetensorError, OSError, ValueError) as error:
        raise DataError(f"{file} cannot be read: {error}") from error
    return found


def _safetensors() -> Any:
    try:
        import safetensors.numpy
    except ImportError:
        raise MissingDependencyError(
            "codes are kept in safetensors files, and the package safetensors is not installed;"
            " install it with: pip install 'gnomon[models]'"
        ) from None
    return safetensors.numpy
