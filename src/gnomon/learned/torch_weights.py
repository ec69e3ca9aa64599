"""Weights of BLEURT and MetricX that are published as pickles, written anew as safetensors.

The pickles are read as those of COMET's checkpoints are
(:mod:`gnomon.learned.checkpoints`).
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.core.errors import DataError, MissingDependencyError
from gnomon.learned.checkpoints import check_name, metric_name, read_weights
from gnomon.learned.weights import (
    CHECKPOINT,
    CONFIG,
    FORMAT,
    check_checksums,
    check_target,
    checksums,
    conversion_of,
    default_folder,
    hash_of,
    new_folder,
    stated_in,
)
from gnomon.models import ModelFolder, check_content, find_folder, find_model

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["convert_weights", "find_joint_model", "is_plain", "place_of_model"]

_PICKLES = "pytorch_model*.bin"
#: further files that are copied: configuration, vocabulary, card
_KEPT = ("*.json", "*.model", "vocab.txt", "README.md")
_INDEX = "pytorch_model.bin.index.json"
#: a mark of what was written here
_ORIGIN = "converted.json"


#: types of models of BLEURT and MetricX in their configuration
_KINDS = ("bleurt", "mt5")


def is_pickled(folder: Path) -> bool:
    """True if a folder holds weights as pickles of torch, and none as safetensors."""
    return any(folder.glob(_PICKLES)) and not any(folder.glob("*.safetensors"))


def is_plain(name: str, revision: str | None) -> bool:
    """True if a model is no checkpoint of Lightning, but a folder as transformers writes it."""
    file = find_folder(name, revision, ("config.json",)).path / "config.json"
    if file.exists():
        check_content(file)
    return stated_in(file).get("model_type") in _KINDS


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
    if not files and any(source.path.glob("*.safetensors")):
        raise DataError(
            f"{source.name!r} ({source.path}) holds its weights as safetensors, which are read as"
            f" they are: there is nothing to convert; name it in the spec of the metric"
        )
    if not files or not (source.path / "config.json").is_file():
        raise DataError(f"{source.name!r} ({source.path}) holds no config.json, or no {_PICKLES}")
    model_name = metric_name(name)
    target = Path(into).expanduser() if into else default_folder(model_name)
    check_target(target, _is_converted, source.path)
    origin = {
        "name": model_name,
        "revision": source.revision,
        "checkpoint": "+".join(map(hash_of, files)),
    }
    if not into:
        check_name(target, stated_in(target / _ORIGIN), origin)
    with new_folder(target) as folder:
        _write_weights(files, folder)
        for pattern in _KEPT:
            for file in source.path.glob(pattern):
                if file.is_file() and file.name != _INDEX:
                    shutil.copy(file, folder / file.name)
        written = {**origin, "sha256": checksums(folder)}
        (folder / _ORIGIN).write_text(json.dumps(written) + "\n", encoding="utf-8")
    return ModelFolder(str(target) if into else model_name, target)


def _is_converted(folder: Path) -> bool:
    """True if a folder holds weights that gnomon converted, and nothing else."""
    patterns = (*_KEPT, "*.safetensors")
    written = all(any(file.match(pattern) for pattern in patterns) for file in folder.iterdir())
    return written and "sha256" in stated_in(folder / _ORIGIN)


def _write_weights(files: list[Path], target: Path) -> None:
    """One file of safetensors for each pickle, and their list where there are several."""
    from safetensors.torch import save_file

    where: dict[str, str] = {}
    size = 0
    for number, file in enumerate(files, start=1):
        weights = read_weights(file)
        shard = f"model-{number:05}-of-{len(files):05}.safetensors"
        shard = shard if len(files) > 1 else "model.safetensors"
        # tensors may share values, which safetensors refuses
        save_file(
            {name: tensor.contiguous().clone() for name, tensor in weights.items()},
            target / shard,
            metadata={"format": "pt"},
        )
        where |= dict.fromkeys(weights, shard)
        size += sum(tensor.numel() * tensor.element_size() for tensor in weights.values())
    if len(files) > 1:
        listed: Mapping[str, object] = {"metadata": {"total_size": size}, "weight_map": where}
        path = target / "model.safetensors.index.json"
        path.write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")


def find_joint_model(name: str, revision: str | None) -> ModelFolder:
    """A model of safetensors: in gnomon's own place, where it was converted, or anywhere else."""
    path = place_of_model(name)
    if path != name:
        return _check_folder(ModelFolder(name, Path(path)))
    try:
        folder = find_folder(name, revision)
    except MissingDependencyError as error:
        raise MissingDependencyError(
            f"{error}; weights that are published as pickles (pytorch_model.bin) are converted"
            f" once: gnomon setup model {name}"
        ) from error
    if is_pickled(folder.path):
        raise DataError(
            f"model {name!r} ({folder.path}) holds its weights as pickles, which can run code;"
            f" convert them once with: gnomon setup model {name}"
        )
    if stated_in(folder.path / CONFIG).get("format") == FORMAT:
        raise DataError(
            f"model {name!r} ({folder.path}) is a checkpoint of COMET's family that gnomon"
            f" converted; use comet('{name}')"
        )
    if (folder.path / CHECKPOINT).exists():
        raise DataError(
            f"model {name!r} ({folder.path}) is a checkpoint of COMET's family; convert it once"
            f" with: gnomon setup model {name}; then use comet('{name}')"
        )
    return _check_folder(find_model(name, revision))


def _check_folder(folder: ModelFolder) -> ModelFolder:
    """A model whose weights are those that gnomon wrote, where gnomon converted it."""
    if (folder.path / _ORIGIN).is_file():
        stated = stated_in(folder.path / _ORIGIN).get("sha256")
        if not isinstance(stated, dict):
            raise DataError(
                f"{folder.path / _ORIGIN} states no checksums of the weights (sha256); convert them"
                " again: gnomon setup model FOLDER"
            )
        check_checksums(folder.path, stated)
    return folder


def place_of_model(name: str) -> str:
    """The folder of a model that was converted into gnomon's own place; else its name."""
    path = Path(name).expanduser()
    if path.is_dir() and is_pickled(path):
        converted = conversion_of(path, _ORIGIN, sorted(path.glob(_PICKLES)))
        if converted is not None:
            return str(converted)
    if name.startswith((".", "/", "~", "package:")):
        return name
    if Path(name).is_dir() and not is_pickled(Path(name)):
        return name
    folder = default_folder(name)
    return str(folder) if (folder / _ORIGIN).is_file() else name
