"""The files of a model, read by transformers: configuration, tokeniser, weights."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gnomon.errors import DataError
from gnomon.models._folder import check_safetensors, missing_package

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.models._folder import ModelFolder

__all__ = ["piece_limit", "read_causal", "read_model", "read_seq2seq", "read_tokenizer"]

#: byte-level tokenisers: the first word of a text gets a space before it, like all others
_BYTE_LEVEL = frozenset(("bart", "deberta", "gpt2", "longformer", "roberta"))
#: their positions begin after the padding index
_SHIFTED = frozenset(("camembert", "longformer", "mpnet", "roberta", "xlm-roberta"))
#: where architectures keep their layers: BERT and RoBERTa, DistilBERT, T5, BART
_LAYERS = (("encoder", "layer"), ("transformer", "layer"), ("block",), ("layers",))
_UNLIMITED = 1_000_000


def read_tokenizer(folder: ModelFolder) -> tuple[Any, Any]:
    """Tokeniser and configuration of a model.

    Raises:
        MissingDependencyError: torch or transformers is not installed.
        DataError: they cannot be read.
    """
    with _reading(folder):
        from transformers import AutoConfig, AutoTokenizer

        path, safe = _asked(folder)
        config = AutoConfig.from_pretrained(path, **safe)
        spaced = {"add_prefix_space": True} if config.model_type in _BYTE_LEVEL else {}
        tokenizer = AutoTokenizer.from_pretrained(path, use_fast=True, **safe, **spaced)
    if not tokenizer.is_fast:
        raise DataError(
            f"model {folder.name!r} has no fast tokeniser, which alone tells where pieces stand in"
            " a text; save it with a tokenizer.json"
        )
    return tokenizer, config


def read_model(folder: ModelFolder, config: Any, layer: int) -> Any:
    """The model in torch, on the CPU; layers above one are dropped where that is known to work.

    Raises:
        MissingDependencyError: torch or transformers is not installed.
        DataError: the weights cannot be read.
    """
    check_safetensors(folder)
    with _reading(folder):
        import torch
        from safetensors import SafetensorError
        from transformers import AutoModel

        path, safe = _asked(folder)
        try:
            model = AutoModel.from_pretrained(
                path, config=config, use_safetensors=True, dtype=torch.float32, **safe
            )
        except SafetensorError as error:
            raise ValueError(str(error)) from error
    if getattr(model, "decoder", None) is not None and hasattr(model, "get_encoder"):
        model = model.get_encoder()
    if getattr(model, "pooler", None) is not None:
        model.pooler = None  # sentence vectors of another kind, which nobody asks for
    if not _drop_layers(model, layer):
        model.config.output_hidden_states = True
    return model.eval().requires_grad_(False)  # noqa: FBT003  # torch's signature


def read_causal(folder: ModelFolder) -> tuple[Any, Any]:
    """Tokeniser and model that predicts a text from left to right, in torch, on the CPU.

    Raises:
        MissingDependencyError: torch or transformers is not installed.
        DataError: they cannot be read, or the model predicts no next piece.
    """
    check_safetensors(folder)
    with _reading(folder):
        import torch
        from safetensors import SafetensorError
        from transformers import AutoModelForCausalLM, AutoTokenizer

        path, safe = _asked(folder)
        try:
            tokenizer = AutoTokenizer.from_pretrained(path, **safe)
            model = AutoModelForCausalLM.from_pretrained(
                path, use_safetensors=True, dtype=torch.float32, **safe
            )
        except SafetensorError as error:
            raise ValueError(str(error)) from error
    return tokenizer, model.eval().requires_grad_(False)  # noqa: FBT003  # torch's signature


def read_seq2seq(folder: ModelFolder) -> tuple[Any, Any]:
    """Tokeniser and encoder-decoder model with its language model head, in torch, on the CPU.

    Raises:
        MissingDependencyError: torch or transformers is not installed.
        DataError: they cannot be read, or the model is of another kind.
    """
    check_safetensors(folder)
    with _reading(folder):
        import torch
        from safetensors import SafetensorError
        from transformers import AutoConfig, AutoModelForSeq2SeqLM, AutoTokenizer

        path, safe = _asked(folder)
        config = AutoConfig.from_pretrained(path, **safe)
        if not config.is_encoder_decoder:
            raise ValueError(
                f"it is a {config.model_type} model and no encoder-decoder; take one such as"
                " Marian, BART or T5"
            )
        try:
            tokenizer = AutoTokenizer.from_pretrained(path, **safe)
            model = AutoModelForSeq2SeqLM.from_pretrained(
                path, use_safetensors=True, dtype=torch.float32, **safe
            )
        except SafetensorError as error:
            raise ValueError(str(error)) from error
    return tokenizer, model.eval().requires_grad_(False)  # noqa: FBT003  # torch's signature


def read_masked_lm(folder: ModelFolder, config: Any) -> Any:
    """A masked language model in torch, on the CPU.

    Raises:
        MissingDependencyError: torch or transformers is not installed.
        DataError: it is none, or its weights cannot be read.
    """
    check_safetensors(folder)
    with _reading(folder):
        import torch
        from safetensors import SafetensorError
        from transformers import AutoModelForMaskedLM

        path, safe = _asked(folder)
        try:
            model, report = AutoModelForMaskedLM.from_pretrained(
                path,
                config=config,
                use_safetensors=True,
                dtype=torch.float32,
                output_loading_info=True,
                **safe,
            )
        except SafetensorError as error:
            raise ValueError(str(error)) from error
    if report["missing_keys"]:
        raise DataError(
            f"model {folder.name!r} ({folder.path}) was saved without the head that predicts masked"
            f" words ({', '.join(sorted(report['missing_keys'])[:3])} ...); take a masked language"
            " model such as xlm-roberta-base"
        )
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


def _asked(folder: ModelFolder) -> tuple[str, dict[str, bool]]:
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
def _reading(folder: ModelFolder) -> Iterator[None]:
    """Errors as gnomon's own; no progress bars, no reports on weights that are not needed."""
    try:
        from transformers.utils import logging
    except ImportError as error:
        raise missing_package(error.name or "transformers", f"model {folder.name!r}") from error
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    except ImportError as error:
        raise missing_package(error.name or "transformers", f"model {folder.name!r}") from error
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise DataError(
            f"model {folder.name!r} ({folder.path}) cannot be loaded: {error}"
        ) from error
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
