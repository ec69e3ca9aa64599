"""Conversion of COMET's checkpoints, which are pickles, into files that can be read safely.

A folder as COMET publishes it holds ``hparams.yaml`` and ``checkpoints/model.ckpt``, written by
Lightning and read by ``torch.load(weights_only=True)``. What is written here is read by
:mod:`gnomon.learned.weights`.
"""

from __future__ import annotations

import json
import math
import pickle
import warnings
import zipfile
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import DataError, FormatError, MissingDependencyError, UsageError
from gnomon.learned.architectures import (
    ARCHITECTURES,
    ENCODERS,
    architecture_of,
    check_settings,
)
from gnomon.learned.encoder import first_names, needed_weights, read_vocabulary
from gnomon.learned.vocabularies import VOCABULARY_FILES, encoder_vocabulary
from gnomon.learned.weights import (
    CHECKPOINT,
    CONFIG,
    FORMAT,
    VOCABULARY,
    LearnedModel,
    check_target,
    default_folder,
    find_learned,
    hash_of,
    is_converted,
    write_learned,
)
from gnomon.messages.audiences import flag
from gnomon.models import check_content, find_folder, missing_package

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["check_name", "convert", "metric_name", "read_weights", "stated_licence"]

_HPARAMS = "hparams.yaml"
_LARGEST_TEXT = 1 << 16  # bytes of YAML
_LARGEST_CONFIG = 64 << 20  # bytes of a configuration or a vocabulary
#: hyper-parameters of training that say nothing of the metric, and may tell of people's disks
_PRIVATE = frozenset(("train_data", "validation_data"))
#: lists of hyper-parameters: one that holds itself, or a few that hold each other, have no end
_DEEPEST, _LONGEST, _LARGEST_NUMBER = 3, 1 << 16, 1 << 64
_LONGEST_NAME = 200

#: the first version that lets nothing of a pickle run or reach beyond its tensors
_SAFE_TORCH = (2, 10)
#: Lightning's class, which is the key of a training state
_MODEL_CHECKPOINTS = tuple(
    f"{package}.callbacks.model_checkpoint.ModelCheckpoint"
    for package in ("pytorch_lightning", "lightning.pytorch")
)

#: licences of published weights, where the folder itself does not tell
_LICENCES = {
    "wmt20-comet-da": "Apache-2.0",
    "wmt22-comet-da": "Apache-2.0",
    "eamt22-cometinho-da": "Apache-2.0",
    "wmt22-cometkiwi-da": "CC-BY-NC-SA-4.0",
    "wmt23-cometkiwi-da-xl": "CC-BY-NC-SA-4.0",
    "wmt23-cometkiwi-da-xxl": "CC-BY-NC-SA-4.0",
    "xcomet-xl": "CC-BY-NC-SA-4.0",
    "xcomet-xxl": "CC-BY-NC-SA-4.0",
    "pear": "Apache-2.0",
    "pear-xl": "Apache-2.0",
}


def convert(
    name: str,
    *,
    encoder: str | None = None,
    vocabulary: str | None = None,
    into: str | None = None,
    revision: str | None = None,
) -> LearnedModel:
    """Convert a checkpoint of COMET's family into a folder that metrics read.

    Args:
        name: a folder with ``hparams.yaml`` and ``checkpoints/model.ckpt``, or a name on the hub.
        encoder: folder or hub name of the encoder's configuration and vocabulary; by default what
            the hyper-parameters name: a folder inside the checkpoint's or beside it, or a name on
            the hub.
        vocabulary: folder or hub name of the vocabulary, where it is not the encoder's.
        into: the folder to write; by default one in gnomon's cache, found by the same name.
        revision: commit, tag or branch on the hub.

    Returns:
        The converted metric.

    Raises:
        MissingFileError: there is no such folder.
        MissingDependencyError: torch is missing or too old, or a model is not on this machine.
        DataError: the checkpoint holds something that is not read, its weights do not fit its
            hyper-parameters, or some are missing.
        UsageError: the folder to write holds something else.
        OutputError: it cannot be written.
    """
    _check_torch()
    source = find_folder(name, revision, ("*.md", _HPARAMS, CHECKPOINT.as_posix()))
    given = _hyper_parameters_file(source.path)
    path = source.path / CHECKPOINT
    if not path.is_file():
        raise DataError(f"{source.name!r} {_what_it_holds(source.path)}")
    target = Path(into).expanduser() if into else default_folder(metric_name(name))
    check_target(target, is_converted, source.path)
    content = _load(path)
    state = content.get("state_dict") if isinstance(content, dict) else None
    if not isinstance(state, dict):
        raise DataError(f"{path} holds no state_dict, so it is no checkpoint of Lightning")
    weights = _tensors(state)
    settings, kind = _settings(content, given, source.path)
    config, tokenizer, encoder_name = _encoder_files(settings, source.path, encoder, vocabulary)
    shapes = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    needed = needed_weights(kind, settings, config, shapes, str(path))
    read_vocabulary(tokenizer, ENCODERS[settings["encoder_model"]], config, str(source.path))
    origin = {
        "name": metric_name(name),
        "revision": source.revision,
        "checkpoint": hash_of(path),
        "encoder": encoder_name,
    }
    if not into and (target / CONFIG).is_file():
        check_name(target, _json_of(target / CONFIG).get("origin"), origin)
    about = {
        "format": FORMAT,
        "class": kind,
        "hyper_parameters": settings,
        "encoder": config,
        "origin": origin,
        "licence": stated_licence(source.path, metric_name(name)),
    }
    write_learned(target, about, _real_numbers(weights, needed, path), tokenizer)
    return find_learned(str(target) if into else metric_name(name))


def _what_it_holds(folder: Path) -> str:
    """Describe a folder that holds no checkpoint of COMET, and what to do with it."""
    for file in folder.glob("*.safetensors"):
        check_content(file)
    if (folder / CONFIG).is_file() and _json_of(folder / CONFIG).get("format") == FORMAT:
        find_learned(str(folder))
        return f"is converted already: name the folder in the spec of a metric, comet('{folder}')"
    if any(folder.glob("*.safetensors")):
        return (
            "holds safetensors, which are read as they are: there is nothing to convert; an encoder"
            f" is named in the spec of a metric, bertscore('{folder}', layer=N)"
        )
    return f"holds no {CHECKPOINT}, so it is no checkpoint of COMET"


def metric_name(name: str) -> str:
    """Name of a metric: the last part of a folder, or the name on the hub."""
    return Path(name).expanduser().resolve().name if Path(name).expanduser().is_dir() else name


def check_name(target: Path, before: object, now: Mapping[str, str]) -> None:
    """Refuse to replace a conversion of another checkpoint that has the same name."""
    if not isinstance(before, dict) or before.get("checkpoint") in (None, now["checkpoint"]):
        return
    if not (before.get("revision") and now["revision"]):
        raise UsageError(
            f"{target} holds a metric that was converted from another checkpoint of the same"
            f" name, {now['name']!r}; put this one elsewhere (",
            flag("into", "FOLDER"),
            "), or delete that folder first",
        )


def _check_torch() -> None:
    try:
        import torch
        import yaml  # noqa: F401  # read below
    except ImportError as error:
        raise missing_package(error.name or "torch", "the conversion of a checkpoint") from error
    if tuple(int(number) for number in torch.__version__.split(".")[:2]) < _SAFE_TORCH:
        needed = ".".join(map(str, _SAFE_TORCH))
        raise MissingDependencyError(
            f"torch {torch.__version__} cannot be trusted to read weights alone; conversion needs"
            f" torch {needed} or later: pip install 'torch>={needed}'"
        )


# Hyper-parameters: those of the checkpoint count, but the class stands in hparams.yaml.


def _hyper_parameters_file(folder: Path) -> dict[str, Any]:
    """``hparams.yaml`` of a folder; empty where there is none."""
    import yaml

    path = folder / _HPARAMS
    if not path.is_file():
        return {}
    check_content(path)
    try:
        if path.stat().st_size > _LARGEST_TEXT:
            raise FormatError(f"hyper-parameters of more than {_LARGEST_TEXT} bytes", path=path)
        parameters = _read_yaml(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError, RecursionError) as error:
        raise FormatError(f"it cannot be read: {error}", path=path) from error
    if not isinstance(parameters, dict):
        raise FormatError("it holds no hyper-parameters (name: value)", path=path)
    return parameters


def _read_yaml(text: str) -> Any:
    """Read YAML, merge keys left out, which double what they copy with each line."""
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # yaml is without types
        """Reads numbers, texts, lists and mappings alone."""

        def flatten_mapping(self, node: Any) -> None:
            if any(key.tag == "tag:yaml.org,2002:merge" for key, _ in node.value):
                raise ValueError("it holds a merge key (<<), which is not read")

    return yaml.load(text, Loader)  # noqa: S506  # a safe loader


def _settings(content: object, given: dict[str, Any], folder: Path) -> tuple[dict[str, Any], str]:
    """Hyper-parameters with the defaults of their class, and the class."""
    inside = content.get("hyper_parameters") if isinstance(content, dict) else None
    parameters = inside if isinstance(inside, dict) else given
    kind = given.get("class_identifier", parameters.get("class_identifier"))
    if kind is None and "use_antisymmetric_head" in parameters:
        kind = "pairwise_metric"  # PEAR is published without hparams.yaml
    if kind is None:
        raise DataError(
            f"{folder}: neither {_HPARAMS} nor the checkpoint says of which class the metric is"
            f" (class_identifier: {', '.join(ARCHITECTURES)}); put that line into {_HPARAMS}"
        )
    architecture = architecture_of(kind)
    left = [_LONGEST]
    named = {
        _text(str(key)): _plain(key, value, left)
        for key, value in parameters.items()
        if key not in _PRIVATE and not (value is None and key == "hidden_sizes")
    }
    settings = {**architecture.defaults, **named, **architecture.fixed}
    if given.get("layer_transformation") == "sparsemax_patch":
        settings["layer_transformation"] = "softmax"  # what the original makes of that word
    settings.pop("class_identifier", None)
    try:
        check_settings(kind, settings)
    except DataError as error:
        raise DataError(f"{folder}: {error}") from None
    return settings, str(kind)


def _plain(key: str, value: object, left: list[int], depth: int = 0) -> Any:
    """A hyper-parameter that JSON can say."""
    left[0] -= 1
    if depth > _DEEPEST or left[0] < 0:
        raise DataError(
            f"hyper-parameter {_shown(key)} holds lists more than {_DEEPEST} deep, or all of them"
            f" hold more than {_LONGEST} values"
        )
    if isinstance(value, dict):
        return {
            _text(str(name)): _plain(key, item, left, depth + 1) for name, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_plain(key, item, left, depth + 1) for item in value]
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, int) and abs(value) > _LARGEST_NUMBER:
        raise DataError(f"hyper-parameter {key} is a number of more than 64 bits")
    if value is None or isinstance(value, bool | int | float):
        return value
    raise DataError(
        f"hyper-parameter {key} holds a {type(value).__name__}; numbers, strings, lists and"
        " mappings are read"
    )


def _text(value: str) -> str:
    # a pickle may hold halves of characters, which no file can
    return value.encode("utf-8", "replace").decode("utf-8")


# The encoder: configuration and vocabulary, which checkpoints do not hold.


def _encoder_files(
    settings: Mapping[str, Any], folder: Path, encoder: str | None, vocabulary: str | None
) -> tuple[dict[str, Any], bytes, str]:
    """Configuration and vocabulary of the encoder, and its name."""
    kind = settings.get("encoder_model")
    if not isinstance(kind, str) or kind not in ENCODERS:
        raise DataError(
            f"encoder_model is {kind!r}, which gnomon does not compute; it computes"
            f" {', '.join(ENCODERS)}"
        )
    asked = settings.get("pretrained_model")
    name = encoder or _find_encoder(asked, folder)
    config_file = find_folder(name, None, (CONFIG, *VOCABULARY_FILES)).path / CONFIG
    config = _json_of(config_file)
    encoder_kind = ENCODERS[kind]
    if config.get("model_type") != encoder_kind.model_type:
        raise DataError(
            f"{config_file} is of a model {config.get('model_type')!r}; the metric's encoder is"
            f" {kind}, which is a model {encoder_kind.model_type!r}"
        )
    words = (
        vocabulary
        or (encoder_kind.vocabulary if encoder is None or encoder_kind.vocabulary else "")
        or name
    )
    if encoder_kind.vocabulary and not vocabulary and (config_file.parent / VOCABULARY).is_file():
        words = name
    source = find_folder(words, None, (CONFIG, *VOCABULARY_FILES))
    for pattern in VOCABULARY_FILES:
        for file in source.path.glob(pattern):
            _check_size(file)
    return config, encoder_vocabulary(source, encoder_kind.model_type), str(asked)


def _find_encoder(asked: object, folder: Path) -> str:
    """Where an encoder is that hyper-parameters name: inside, beside, or on the hub."""
    if not isinstance(asked, str) or not 0 < len(asked) <= _LONGEST_NAME:
        raise DataError(
            f"pretrained_model is {_shown(asked)}; name the encoder: ", flag("encoder", "FOLDER")
        )
    absolute = PurePosixPath(asked).is_absolute() or PureWindowsPath(asked).is_absolute()
    parts = {*PurePosixPath(asked).parts, *PureWindowsPath(asked).parts}
    if absolute or ".." in parts or asked.startswith("~"):
        raise DataError(
            f"the checkpoint names its encoder by a path of somebody's disk ({asked!r}), which is"
            " not followed; name the folder of its encoder yourself: ",
            flag("encoder", "FOLDER"),
        )
    for path in (folder / asked, folder.parent / asked):
        if (path / CONFIG).is_file():
            return str(path)
    return asked


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]} ..."


def _json_of(path: Path) -> dict[str, Any]:
    _check_size(path)
    try:
        config = json.loads(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"it is no JSON: {error}", path=path) from error
    if not isinstance(config, dict):
        raise FormatError("it is no configuration of a model", path=path)
    return config


def _check_size(path: Path) -> None:
    check_content(path)
    try:
        if path.stat().st_size > _LARGEST_CONFIG:
            raise FormatError(f"it is larger than {_LARGEST_CONFIG} bytes", path=path)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error}") from error


# Weights, read by torch, which builds tensors and plain things of a pickle and nothing else.


class ModelCheckpoint:
    """Stands for Lightning's class of that name, which is the key of a training state."""


def read_weights(path: Path) -> dict[str, Any]:
    """The weights of a file that torch wrote (``pytorch_model.bin``), nothing of it being run.

    Returns tensors by name, on the CPU.
    """
    _check_torch()
    content = _load(path)
    if not isinstance(content, dict) or not content:
        raise DataError(f"{path} holds no weights by name")
    weights = _tensors(content)
    strange = sorted({str(name) for name in content} - set(weights))
    if strange:
        raise DataError(
            f"{path} holds {len(strange)} things that are no weights: {first_names(strange)}"
        )
    return weights


def _load(path: Path) -> Any:
    """The content of a file of torch; values of an archive stay on the disk until they are used."""
    import torch

    check_content(path)
    safe = [(ModelCheckpoint, name) for name in _MODEL_CHECKPOINTS]
    is_zip = zipfile.is_zipfile(path)
    try:
        if is_zip:
            _check_archive(path)
        with torch.serialization.safe_globals(safe), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of pickles that torch did not write, and refuses
            return torch.load(path, weights_only=True, map_location="cpu", mmap=is_zip)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    except pickle.UnpicklingError as error:
        named = _unsafe_names(path) if is_zip else []
        what = f"names {', '.join(named)}" if named else "holds something"
        raise DataError(
            f"{path} {what}, which weights and hyper-parameters do not need: loading it could run"
            " code, and it is refused; save the checkpoint with weights only"
        ) from error
    except Exception as error:  # a damaged file fails in any way
        raise DataError(f"{path} is no checkpoint of torch, or damaged: {error}") from error


def _unsafe_names(path: Path) -> list[str]:
    """List names in an archive beyond tensors, as far as they can be told."""
    import torch

    try:
        return sorted(torch.serialization.get_unsafe_globals_in_checkpoint(path))
    except Exception:  # noqa: BLE001  # a damaged pickle fails in any way
        return []


def _check_archive(path: Path) -> None:
    """Refuse an archive that grows when it is unpacked."""
    with zipfile.ZipFile(path) as archive:
        packed = [e.filename for e in archive.infolist() if e.compress_type != zipfile.ZIP_STORED]
    if packed:
        raise DataError(f"its part {packed[0]!r} is compressed, which torch never writes")


def _tensors(content: Mapping[Any, Any]) -> dict[str, Any]:
    """The tensors of a mapping; one that repeats its values over and over is refused."""
    import torch

    tensors = {str(name): one for name, one in content.items() if isinstance(one, torch.Tensor)}
    for name, tensor in tensors.items():
        values = tensor.untyped_storage().nbytes() // tensor.element_size()
        if tensor.numel() > values:
            raise DataError(f"weight {name} claims more values than the {values} that it names")
    return tensors


def _real_numbers(weights: Mapping[str, Any], needed: Iterable[str], path: Path) -> dict[str, Any]:
    """The weights that are needed, all of whose values are finite."""
    import torch

    for name in needed:
        if not weights[name].is_floating_point():
            raise DataError(f"{path}: weight {name} holds {weights[name].dtype}, no real numbers")
        if not bool(torch.isfinite(weights[name]).all()):
            raise DataError(f"{path}: weight {name} holds values that are not finite")
    return {name: weights[name].contiguous() for name in needed}


def stated_licence(folder: Path, name: str) -> str:
    """The licence of weights: what the folder's README.md says at its head, or what is known."""
    import yaml

    readme = folder / "README.md"
    if readme.is_file():
        with readme.open(encoding="utf-8", errors="replace") as file:
            text = file.read(_LARGEST_TEXT)
        head = text.split("---", 2)[1] if text.startswith("---") and text.count("---") > 1 else ""
        try:
            card = _read_yaml(head)
        except (ValueError, yaml.YAMLError, RecursionError):
            card = None
        if isinstance(card, dict) and isinstance(card.get("license"), str):
            return str(card["license"])
    return _LICENCES.get(name.rpartition("/")[2].lower(), "unknown")
