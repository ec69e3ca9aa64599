"""Where a model is, and what identifies its weights."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from gnomon.errors import DataError, MissingDependencyError, MissingFileError

__all__ = ["ModelFolder", "carried_onnx", "check_safetensors", "find_model", "missing_package"]

_PACKAGE = "package:"
_ALLOW = "GNOMON_ALLOW_DOWNLOADS"
#: what a model needs of its repository on the hub: never pickles, never code
_WANTED = ("*.json", "*.txt", "*.model", "*.safetensors")
#: ONNX files that come with a model; they give the last layer
_CARRIED = ("onnx/model.onnx", "model.onnx")
_CHUNK = 1 << 20


@dataclass(frozen=True)
class ModelFolder:
    """A model on this machine.

    Attributes:
        name: as it was asked for.
        path: its folder.
        revision: the commit on the hub, or "" for a folder of one's own.
    """

    name: str
    path: Path
    revision: str = ""

    @property
    def identity(self) -> str:
        """Name and revision (``roberta-large@722cf37b1afa``), or name and a hash of the files."""
        if self.revision:
            return f"{self.name}@{self.revision[:12]}"
        own = self.name.startswith(_PACKAGE)
        shown = self.name.removeprefix(_PACKAGE) if own else self.path.name
        return f"{shown}#{_hash_of(self.path, _stamp(self.path))}"


def find_model(name: str, revision: str | None = None) -> ModelFolder:
    """Find a model by folder, package or hub name.

    Args:
        name: a folder; ``package:NAME/FOLDER`` for a folder inside an installed package (which is
            not imported); or a name on the hub, such as ``roberta-large``.
        revision: commit, tag or branch on the hub.

    Raises:
        MissingDependencyError: the model or the package is not on this machine.
        DataError: the folder holds neither weights as safetensors nor an ONNX file, or a pipe.
    """
    if name.startswith(_PACKAGE):
        found = ModelFolder(name, _in_package(name))
    elif Path(name).is_dir():
        found = ModelFolder(name, Path(name))
    elif name.startswith((".", "/", "~")):
        raise MissingFileError(f"there is no model folder {name!r}")
    else:
        found = _on_hub(name, revision)
    if carried_onnx(found) is None:
        check_safetensors(found)
    if not (found.path / "config.json").is_file():
        raise DataError(f"model {found.name!r} ({found.path}) holds no config.json")
    for file in found.path.iterdir():
        if file.exists() and not (file.is_file() or file.is_dir()):
            raise DataError(
                f"model {found.name!r}: {file} is a pipe, a socket or a device; a model folder"
                " holds files alone"
            )
    return found


def carried_onnx(folder: ModelFolder) -> Path | None:
    """The ONNX file that came with a model (``onnx/model.onnx`` or ``model.onnx``), if any."""
    files = (folder.path / name for name in _CARRIED)
    return next((file for file in files if file.is_file()), None)


def check_safetensors(folder: ModelFolder) -> None:
    """Refuse a model without weights that can be read safely.

    Raises:
        DataError: the folder holds none.
    """
    if not any(folder.path.glob("*.safetensors")):
        raise DataError(
            f"model {folder.name!r} ({folder.path}) holds no *.safetensors file; other formats of"
            " weights can run code and are not read: convert it with"
            " AutoModel.from_pretrained(...).save_pretrained(FOLDER) where you trust it"
        )


def missing_package(package: str, what: str) -> MissingDependencyError:
    """The error for a package of the extra ``models`` that is not installed."""
    return MissingDependencyError(
        f"{what} needs the package {package}, which is not installed; install it with: pip install"
        " 'gnomon[models]' (for a machine without GPU first: pip install torch --index-url"
        " https://download.pytorch.org/whl/cpu)"
    )


def _in_package(name: str) -> Path:
    package, _, inner = name.removeprefix(_PACKAGE).partition("/")
    spec = importlib.util.find_spec(package) if package.isidentifier() else None
    if spec is None or not spec.submodule_search_locations:
        raise MissingDependencyError(
            f"model {name!r}: the package {package!r} is not installed; install it, or name a"
            " folder or a model of the hub"
        )
    path = Path(next(iter(spec.submodule_search_locations))) / inner
    if not path.is_dir():
        raise MissingDependencyError(f"model {name!r}: there is no folder {inner!r} in the package")
    return path


def _on_hub(name: str, revision: str | None) -> ModelFolder:
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError
    except ImportError:
        raise missing_package("huggingface_hub", f"model {name!r}") from None
    allowed = os.environ.get(_ALLOW) == "1"
    try:
        path = snapshot_download(
            name, revision=revision, local_files_only=not allowed, allow_patterns=list(_WANTED)
        )
    except (LocalEntryNotFoundError, HFValidationError, OSError) as error:
        raise _not_here(name, revision, allowed=allowed) from error
    return ModelFolder(name, Path(path), Path(path).name)


def _not_here(name: str, revision: str | None, *, allowed: bool) -> MissingDependencyError:
    pinned = f" --revision {revision}" if revision else ""
    tried = "and could not be fetched" if allowed else f"and {_ALLOW}=1 is not set"
    return MissingDependencyError(
        f"model {name!r} is not on this machine, {tried}; fetch it with: hf download {name}{pinned}"
        f" (or set {_ALLOW}=1), or name another: model='FOLDER', model='package:NAME/FOLDER'"
    )


def _stamp(path: Path) -> tuple[tuple[str, int, int], ...]:
    """What changes when a file of the model does."""
    stats = ((file.name, file.stat()) for file in _files(path))
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)


@lru_cache(maxsize=16)
def _hash_of(path: Path, stamp: tuple[tuple[str, int, int], ...]) -> str:  # noqa: ARG001  # the stamp is there to tell changed files apart
    """Hash of what decides the vectors: weights, configuration, tokeniser; 16 digits."""
    digest = hashlib.blake2b(digest_size=8)
    for file in _files(path):
        digest.update(f"{file.name}:{file.stat().st_size}\n".encode())
        with file.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
    return digest.hexdigest()


def _files(path: Path) -> list[Path]:
    names = {"config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt", "vocab.json"}
    kept = [f for f in path.iterdir() if f.name in names or f.suffix in (".safetensors", ".model")]
    if not any(f.suffix == ".safetensors" for f in kept):
        kept += [path / name for name in _CARRIED]
    return sorted(f for f in kept if f.is_file())
