"""Weights of BLEURT and MetricX that are published as pickles, written anew as safetensors.

The pickles are read as those of COMET's checkpoints are (:mod:`gnomon.learned.checkpoints`).
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.errors import DataError, MissingDependencyError, OutputError, UsageError
from gnomon.learned.checkpoints import read_weights
from gnomon.learned.weights import own_folder
from gnomon.models import ModelFolder, find_folder, find_model

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["convert_weights", "find_joint_model", "is_plain", "place_of_model"]

_PICKLES = "pytorch_model*.bin"
#: what else of the folder is taken over: configuration, vocabulary, card
_KEPT = ("*.json", "*.model", "vocab.txt", "README.md")
_INDEX = "pytorch_model.bin.index.json"
#: a mark of what was written here
_ORIGIN = "converted.json"


#: what models of BLEURT and MetricX call themselves
_KINDS = ("bleurt", "mt5")


def is_pickled(folder: Path) -> bool:
    """Whether a folder holds weights as pickles of torch, and none as safetensors."""
    return any(folder.glob(_PICKLES)) and not any(folder.glob("*.safetensors"))


def is_plain(name: str, revision: str | None) -> bool:
    """Whether a model is no checkpoint of Lightning, but a folder as transformers writes it.

    Raises:
        MissingFileError, MissingDependencyError: it is not on this machine.
    """
    file = find_folder(name, revision, ("config.json",)).path / "config.json"
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(said, dict) and said.get("model_type") in _KINDS


def convert_weights(
    name: str, *, into: str | None = None, revision: str | None = None
) -> ModelFolder:
    """Write the weights of a model as safetensors, beside its configuration and vocabulary.

    Args:
        name: a folder with ``pytorch_model.bin`` (or several such files), or a name on the hub.
        into: the folder to write; by default one in gnomon's cache, found by the same name.
        revision: commit, tag or branch on the hub.

    Returns:
        The folder that was written.

    Raises:
        MissingFileError: there is no such folder.
        MissingDependencyError: torch is missing or too old, or the model is not on this machine.
        DataError: there are no such weights, or they hold something that is not read.
        UsageError: the folder to write holds something else.
        OutputError: it cannot be written.
    """
    source = find_folder(name, revision, (*_KEPT, _PICKLES))
    files = sorted(source.path.glob(_PICKLES))
    if not files or not (source.path / "config.json").is_file():
        raise DataError(f"{source.name!r} ({source.path}) holds no config.json, or no {_PICKLES}")
    own = _own_name(name)
    target = Path(into).expanduser() if into else own_folder(own)
    if target.exists() and not _replaceable(target):
        raise UsageError(
            f"{target} is there, and holds no weights that gnomon converted, or other files beside"
            " them; name another folder"
            " (--into FOLDER)"
        )
    part = target.with_name(f".{target.name}-{os.getpid()}")
    try:
        part.mkdir(parents=True)
        _write_weights(files, part)
        for pattern in _KEPT:
            for file in source.path.glob(pattern):
                if file.is_file() and file.name != _INDEX:
                    shutil.copy(file, part / file.name)
        origin = {"name": own, "revision": source.revision}
        (part / _ORIGIN).write_text(json.dumps(origin) + "\n", encoding="utf-8")
        if target.exists():
            shutil.rmtree(target)
        part.replace(target)
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {error}") from error
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return ModelFolder(str(target) if into else own, target)


def _replaceable(target: Path) -> bool:
    """Whether a folder is empty, or an earlier conversion and nothing else."""
    if not target.is_dir():
        return False
    found = list(target.iterdir())
    known = (*_KEPT, "*.safetensors")
    written = all(any(one.match(pattern) for pattern in known) for one in found)
    return not found or (written and (target / _ORIGIN).is_file())


def _write_weights(files: list[Path], target: Path) -> None:
    """One file of safetensors for each pickle, and their list where there are several."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    where: dict[str, str] = {}
    size = 0
    for number, file in enumerate(files, start=1):
        weights = read_weights(file)
        place = f"model-{number:05}-of-{len(files):05}.safetensors"
        place = place if len(files) > 1 else "model.safetensors"
        try:
            # tensors may share values, which safetensors refuses
            save_file(
                {name: one.contiguous().clone() for name, one in weights.items()},
                target / place,
                metadata={"format": "pt"},
            )
        except SafetensorError as error:
            raise OutputError(f"{target / place} cannot be written: {error}") from error
        where |= dict.fromkeys(weights, place)
        size += sum(one.numel() * one.element_size() for one in weights.values())
    if len(files) > 1:
        listed: Mapping[str, object] = {"metadata": {"total_size": size}, "weight_map": where}
        path = target / "model.safetensors.index.json"
        path.write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")


def _own_name(name: str) -> str:
    path = Path(name).expanduser()
    return path.resolve().name if path.is_dir() else name


def find_joint_model(name: str, revision: str | None) -> ModelFolder:
    """A model of safetensors: in gnomon's own place, where it was converted, or anywhere else.

    Raises:
        MissingDependencyError: it is not on this machine.
        DataError: its weights are pickles, or it holds none.
    """
    place = place_of_model(name)
    if place != name:
        return ModelFolder(name, Path(place))
    try:
        found = find_folder(name, revision)
    except MissingDependencyError as error:
        raise MissingDependencyError(
            f"{error}; weights that are published as pickles (pytorch_model.bin) are converted"
            f" once: gnomon setup model {name}"
        ) from error
    if is_pickled(found.path):
        raise DataError(
            f"model {name!r} ({found.path}) holds its weights as pickles, which can run code;"
            f" convert them once with: gnomon setup model {name}"
        )
    return find_model(name, revision)


def place_of_model(name: str) -> str:
    """The folder of a model that was converted into gnomon's own place; else its name."""
    if Path(name).is_dir() or name.startswith((".", "/", "~", "package:")):
        return name
    own = own_folder(name)
    return str(own) if (own / _ORIGIN).is_file() else name
