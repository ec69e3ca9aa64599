"""Encoder-decoder models: from the pieces of a text to the pieces of another."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.core.errors import DataError
from gnomon.messages import message
from gnomon.models._folder import find_model, piece_limit, read_seq2seq, usable_device
from gnomon.models._precision import TYPES, check_precision

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.messages import Message
    from gnomon.models._folder import ModelFolder
    from gnomon.models._precision import Precision

__all__ = ["Seq2Seq", "load_seq2seq"]

#: most target pieces of models without a limit (T5)
_TARGET = 512
_CODE = re.compile(r"<code:(0|[1-9][0-9]*)>")
#: what begins a word in the vocabularies of SentencePiece and of byte-level tokenisers
_BOUNDARIES = ("▁", "Ġ")


def load_seq2seq(
    name: str,
    *,
    revision: str | None = None,
    device: str | None = None,
    precision: Precision = "fp32",
) -> Seq2Seq:
    """Load an encoder-decoder model such as Marian, BART or T5; the same request, the same object.

    Args:
        name: a folder, ``package:NAME/FOLDER``, or a name on the hub; see :func:`find_model`.
        revision: commit, tag or branch on the hub.
        device: "cpu", "cuda", "cuda:1"; by default a GPU if there is one.
        precision: of the weights, "fp32", "bf16" or "fp16"; probabilities are always summed in
            full precision.

    Raises:
        MissingDependencyError: torch, transformers or the model is not installed.
        DataError: the folder is no such model, or cannot be loaded.
        UsageError: the machine has no such device, or there is no such precision.
    """
    check_precision(precision)
    folder = find_model(name, revision)
    return _load(
        folder, folder.identity, usable_device(device, "an encoder-decoder model"), precision
    )


@lru_cache(maxsize=2)
def _load(folder: ModelFolder, _identity: str, device: str, precision: Precision) -> Seq2Seq:
    import torch

    tokenizer, model = read_seq2seq(folder)
    if tokenizer.eos_token_id is None or _start(model) is None:
        raise DataError(
            f"model {folder.name!r} names no piece that ends a text, or none that its decoder"
            " starts with; eos_token and decoder_start_token_id must be set"
        )
    model = model.to(device=device, dtype=getattr(torch, TYPES[precision]))
    most = piece_limit(tokenizer, model.config)
    longest = _TARGET if most is None else most - len(_start(model) or ())
    return Seq2Seq(folder, device, longest, most, tokenizer, model, precision=precision)


def _start(model: Any) -> tuple[int, ...] | None:
    """Pieces that the decoder reads first: its start, and one that is always forced after it."""
    settings = model.generation_config
    first = settings.decoder_start_token_id
    if first is None:
        first = getattr(model.config, "decoder_start_token_id", None)
    if first is None:
        return None
    forced = settings.forced_bos_token_id
    return (int(first),) if forced is None else (int(first), int(forced))


@dataclass(eq=False)
class Seq2Seq:
    """An encoder-decoder model; made by :func:`load_seq2seq`.

    Attributes:
        folder: the model.
        device: "cpu", "cuda", ...
        limit: most pieces of a target, ``</s>`` not counted; 512 where the model sets no limit.
        source_limit: most pieces of a source, ``</s>`` counted; None for any number.
        precision: of the weights, "fp32", "bf16" or "fp16".
        truncated: texts that were cut to it so far.
        encoded: texts encoded so far.
        steps: passes of the decoder so far.
        notices: what a user should know, each thing once.
    """

    folder: ModelFolder
    device: str
    limit: int
    source_limit: int | None
    tokenizer: Any = field(repr=False)
    model: Any = field(repr=False)
    precision: Precision = "fp32"
    truncated: int = 0
    encoded: int = 0
    steps: int = 0
    notices: list[Message] = field(default_factory=list, repr=False)

    @property
    def identity(self) -> str:
        """Model and revision or hash, and the precision unless it is full."""
        half = "" if self.precision == "fp32" else f",{self.precision}"
        return f"{self.folder.identity}{half}"

    @cached_property
    def start(self) -> tuple[int, ...]:
        """Pieces that the decoder reads before a target; not part of targets."""
        return _start(self.model) or ()

    @property
    def end(self) -> int:
        """The piece that ends a target."""
        return int(self.tokenizer.eos_token_id)

    @property
    def pad(self) -> int:
        """The piece that fills up shorter texts of a batch."""
        return int(self.tokenizer.pad_token_id or 0)

    @cached_property
    def size(self) -> int:
        """Number of pieces that the model gives probabilities to."""
        return int(self.model.config.vocab_size)

    @cached_property
    def codes(self) -> Mapping[int, int]:
        """Sentence codes: from K to the number of the piece ``<code:K>``; {} without any."""
        codes = {}
        for piece, number in self.tokenizer.get_vocab().items():
            if match := _CODE.fullmatch(piece):
                codes[int(match[1])] = int(number)
        return MappingProxyType(dict(sorted(codes.items())))

    @cached_property
    def _code_pieces(self) -> frozenset[int]:
        return frozenset(self.codes.values())

    @cached_property
    def silent(self) -> NDArray[np.bool_]:
        """Pieces that are never produced [V]: padding, unknown, start and other special ones.

        ``</s>`` and sentence codes, which may begin a target, are not among them.
        """
        is_silent = np.ones(self.size, dtype=bool)
        numbers = np.fromiter(self.tokenizer.get_vocab().values(), np.int64)
        is_silent[numbers[numbers < self.size]] = False
        is_silent[[*self.tokenizer.all_special_ids, *self.start]] = True
        is_silent[[self.end, *self.codes.values()]] = False
        return is_silent

    def silent_at(self, place: int) -> Any:
        """Numbers of the pieces that are not produced at a place, on the model's device.

        Args:
            place: pieces of the target before it, those of its prefix included; a sentence code
                is the first piece of a target or none of it.
        """
        return self._silent_within if place else self._silent_first

    @cached_property
    def _silent_first(self) -> Any:
        import torch

        return torch.as_tensor(np.flatnonzero(self.silent), device=self.device)

    @cached_property
    def _silent_within(self) -> Any:
        import torch

        barred = sorted({*np.flatnonzero(self.silent).tolist(), *self.codes.values()})
        return torch.as_tensor(barred, dtype=torch.long, device=self.device)

    @cached_property
    def continuing(self) -> NDArray[np.bool_]:
        """Pieces that continue the word before them [V]; none where words are pieces."""
        names = {int(number): piece for piece, number in self.tokenizer.get_vocab().items()}
        is_continuing = np.zeros(self.size, dtype=bool)
        pieces = [names.get(number, "") for number in range(self.size)]
        special = {*self.tokenizer.all_special_ids, *self.codes.values()}
        marked = any(piece.startswith(_BOUNDARIES) for piece in pieces)
        for number, piece in enumerate(pieces):
            inner = piece.startswith("##") or (marked and piece[:1].isalnum())
            is_continuing[number] = inner and number not in special
        return is_continuing

    def pieces(self, texts: Sequence[str]) -> list[list[int]]:
        """The source pieces of some texts, ``</s>`` at the end; longer texts are cut."""
        if not texts:
            return []
        rows = self.tokenizer(list(texts), verbose=False)["input_ids"]
        rows = [row if self.end in row[-2:] else [*row, self.end] for row in rows]
        most = self.source_limit
        long = [number for number, row in enumerate(rows) if most and len(row) > most]
        for number in long:
            row = self.tokenizer(texts[number], truncation=True, max_length=most)["input_ids"]
            rows[number] = row if self.end in row[-2:] else [*row[: (most or 1) - 1], self.end]
        if long:
            self.truncated += len(long)
            self.say(message("note.models.cut", model=self.folder.name, limit=most))
        return [[int(piece) for piece in row] for row in rows]

    def target_pieces(self, text: str) -> list[int]:
        """The pieces of a target, without ``</s>``."""
        encoded = self.tokenizer(text_target=text, add_special_tokens=False, verbose=False)
        return [int(piece) for piece in encoded["input_ids"]]

    def phrase_pieces(self, phrase: str) -> list[int]:
        """The pieces of words inside a target."""
        return self.target_pieces(f" {phrase}" if self._is_spaced else phrase)

    @cached_property
    def _is_spaced(self) -> bool:
        """True if words include the space before them, which a tokeniser may add or not."""
        return any(piece.startswith("Ġ") for piece in self.tokenizer.get_vocab())

    def text(self, pieces: Iterable[int]) -> str:
        """The text of some target pieces; codes and special pieces are left out."""
        kept = [int(piece) for piece in pieces if int(piece) not in self._code_pieces]
        decoded = self.tokenizer.decode(
            kept, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return str(decoded).strip()

    def say(self, notice: Message) -> None:
        """Note something that a user should know, once."""
        so_far = self.notices
        if notice not in so_far:
            so_far.append(notice)
