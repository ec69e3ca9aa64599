"""The encoders of learned metrics: texts to ids, and ids to the states of all layers.

Ids come from the vocabulary file itself (:mod:`tokenizers`); special ids are put around and long
texts are cut by hand, as each family does it. A text that spells a special token (``</s>``) is
text: what the vocabulary makes of it is replaced by the unknown piece.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np

from gnomon.core.errors import DataError, GnomonError
from gnomon.learned.architectures import ENCODERS, EncoderKind, architecture_of
from gnomon.learned.weights import VOCABULARY
from gnomon.messages.audiences import flag
from gnomon.metrics.sequences import offsets_of
from gnomon.models import (
    length_batches,
    missing_package,
    mixed_precision,
    quiet_transformers,
    reading_tokenizer,
    usable_device,
)
from gnomon.models.vector_store import vector_key

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from numpy.typing import NDArray

    from gnomon.learned.architectures import Shapes
    from gnomon.learned.weights import LearnedModel
    from gnomon.models import Precision
    from gnomon.models.vector_store import VectorStore

__all__ = [
    "ENCODER",
    "LoadedMetric",
    "MetricEncoder",
    "Remembered",
    "States",
    "TextPieces",
    "first_names",
    "load_metric",
    "needed_weights",
    "read_encoder",
    "read_vocabulary",
]

K = TypeVar("K", bound="Hashable")

#: texts that are cut into pieces at a time: what the tokeniser says of them takes room
_AT_ONCE = 1024
_SURROGATES = re.compile("[\ud800-\udfff]")
#: padded pieces per batch: what fits a core's caches, and what keeps a GPU busy
_BUDGET = {"cpu": 1024, "cuda": 16384}


# Texts as ids.


class TextPieces(NamedTuple):
    """The pieces of a text, without special ones."""

    ids: NDArray[np.int32]  # [n]
    # [n, 2], code points of each piece in the text, as the vocabulary tells them
    places: NDArray[np.int32]


class States(NamedTuple):
    """States that the encoder makes of some sequences."""

    layers: tuple[Any, ...]  # tensors [B, W, d], the embeddings first
    kept: Any  # bool tensor [B, W], False for padding
    lengths: NDArray[np.int64]  # [B]
    ids: NDArray[np.int64]  # [B, W], padded


@dataclass(eq=False)
class MetricEncoder:
    """The encoder of a learned metric; made by :func:`load_metric`."""

    # loads the model of transformers, once, on its device
    load: Callable[[], Any] = field(repr=False)
    tokenizer: Any = field(repr=False)
    depth: int  # number of layers
    dimensions: int  # size of a vector
    positions: int  # most ids of a sequence
    device: str  # "cpu", "cuda",
    precision: Precision  # "fp32", or the type of automatic mixed precision
    # most sequences at a time; None: as many as a core or a GPU takes well
    batch: int | None = None
    # pieces for the beginning and the end of a text, padding, and unknown ones
    special: tuple[str, str, str, str] = EncoderKind("", "").special
    ends: int = 2  # how many of those for the end stand between texts that are read together
    types: bool = False  # whether the input says which pieces are of the first of these
    encoded: int = 0  # sequences encoded so far
    tokens: int = 0  # ids encoded so far, padding not counted

    def __post_init__(self) -> None:
        self.limit = self.positions - 2
        self.begin, self.end, self.padding, unknown = (
            int(self.tokenizer.token_to_id(piece)) for piece in self.special
        )
        added = self.tokenizer.get_added_tokens_decoder()
        special = [number for number, token in added.items() if token.special]
        size = max([*special, self.tokenizer.get_vocab_size(with_added_tokens=True)]) + 1
        self._plain = np.arange(size, dtype=np.int32)
        self._plain[special] = unknown

    @property
    def model(self) -> Any:
        """The model in memory; it is loaded when something is encoded for the first time."""
        return self.load()

    def pieces(self, texts: Sequence[str]) -> list[TextPieces]:
        """Cut texts into pieces, none of them special; texts are not shortened."""
        clean = [_SURROGATES.sub("\ufffd", text) for text in texts]
        return [
            TextPieces(
                self._plain[np.array(encoding.ids, dtype=np.int64)],
                np.array(encoding.offsets, dtype=np.int32).reshape(-1, 2),
            )
            for at in range(0, len(clean), _AT_ONCE)
            for encoding in self.tokenizer.encode_batch(
                clean[at : at + _AT_ONCE], add_special_tokens=False
            )
        ]

    def alone(self, ids: NDArray[np.int32], limit: int | None = None) -> NDArray[np.int32]:
        """``<s> text </s>``, cut to a limit (by default the encoder's own)."""
        most = (self.limit if limit is None else limit) - 2
        return np.array([self.begin, *ids[:most], self.end], dtype=np.int32)

    def joint(self, parts: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
        """``<s> a </s></s> b </s></s> c </s>`` of parts that are cut already; not cut again."""
        bounds = np.full(self.ends, self.end, dtype=np.int32)
        rows: list[NDArray[np.int32]] = [np.array([self.begin], dtype=np.int32)]
        for number, ids in enumerate(parts):
            rows += [ids] if number == 0 else [bounds, ids]
        return np.concatenate([*rows, bounds[:1]]).astype(np.int32)

    def states(
        self, sequences: Sequence[NDArray[np.int32]]
    ) -> Iterator[tuple[NDArray[np.int64], States]]:
        """The states of all layers, in batches of like length: positions, and states.

        ``sequences``: int32 ids, special ones included, each at most ``positions`` long.
        """
        import torch

        for group, ids, kept in self.padded(sequences):
            with torch.inference_mode():
                yield group, self.forward(ids, kept)

    def padded(
        self, sequences: Sequence[NDArray[np.int32]]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]]:
        """Batches of like length: positions, padded ids int64 [B, W], and what is no padding."""
        self.encoded += len(sequences)
        lengths = np.array([len(ids) for ids in sequences], dtype=np.int64)
        self.tokens += int(lengths.sum())
        for group in self._groups(lengths):
            kept = np.arange(int(lengths[group].max())) < lengths[group][:, None]
            ids = np.full(kept.shape, self.padding, dtype=np.int64)
            ids[kept] = np.concatenate([sequences[number] for number in group.tolist()])
            yield group, ids, kept

    def forward(self, ids: NDArray[np.int64], kept: NDArray[np.bool_]) -> States:
        """The states of one padded batch, gradients where torch is asked for them.

        ``ids``: int64 [B, W]. ``kept``: bool [B, W], False for padding.
        """
        import torch

        mask = torch.as_tensor(kept, device=self.device)
        type_ids: dict[str, NDArray[np.int64]] = {}
        if self.types:
            ended = np.cumsum(ids == self.end, axis=1) - (ids == self.end)
            type_ids["token_type_ids"] = (ended > 0).astype(np.int64)  # no text holds that piece
        with mixed_precision(self.device, self.precision):
            output = self.model(
                input_ids=torch.as_tensor(ids, device=self.device),
                attention_mask=mask.long(),
                output_hidden_states=True,
                **{
                    name: torch.as_tensor(types, device=self.device)
                    for name, types in type_ids.items()
                },
            )
        layers = tuple(state.float() for state in output.hidden_states[:-1])
        # the last state is what the model itself gives: after the last norm, where it has one
        last = output.last_hidden_state.float()
        return States((*layers, last), mask, kept.sum(axis=1), ids)

    def _groups(self, lengths: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        kind = "cpu" if self.device == "cpu" else "cuda"
        for group in length_batches(lengths, _BUDGET[kind]):
            step = self.batch or len(group)
            for first in range(0, len(group), step):
                yield group[first : first + step]


# Loading.


@dataclass(eq=False)
class LoadedMetric:
    """A learned metric, whose weights are read when something is encoded for the first time."""

    model: LearnedModel  # what it is
    encoder: MetricEncoder  # its encoder
    load_head: Callable[[], Mapping[str, Any]] = field(repr=False)
    # latest results for texts, by name; bound metrics of one model share them
    memory: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def head(self) -> Mapping[str, Any]:
        """Its other weights by name, float32 tensors on the encoder's device."""
        return self.load_head()


def load_metric(
    model: LearnedModel, *, device: str | None = None, precision: Precision = "fp32"
) -> LoadedMetric:
    """Load a converted metric; the same request gives the same object.

    ``precision``: "fp32", or the type of automatic mixed precision.
    """
    return _load(model, usable_device(device, f"the metric {model.name!r}"), precision)


@lru_cache(maxsize=2)
def _load(model: LearnedModel, device: str, precision: Precision) -> LoadedMetric:
    _check_packages(f"the metric {model.name!r}")
    kind = ENCODERS.get(str(model.settings.get("encoder_model")))
    if kind is None:
        raise DataError(
            f"{model.name!r} has an encoder {model.settings.get('encoder_model')!r}; gnomon"
            f" computes {', '.join(ENCODERS)}"
        )
    where = f"{model.name!r} ({model.folder.path})"
    _check_sizes(model.encoder, where)

    @cache
    def names() -> tuple[list[str], list[str]]:
        """Names of the weights of encoder and head; all that is needed is there and fits."""
        shapes = model.shapes()
        try:
            needed_weights(model.kind, model.settings, model.encoder, shapes, where)
        except DataError:
            model.check_weights()  # that they are other ones than were written is told first
            raise
        of_encoder = [name for name in shapes if name.startswith(ENCODER)]
        return of_encoder, [name for name in shapes if not name.startswith(ENCODER)]

    def encoder_weights() -> dict[str, Any]:
        weights = model.weights(names()[0])
        return {name.removeprefix(ENCODER): weight for name, weight in weights.items()}

    @cache
    def head() -> dict[str, Any]:
        with _allow_gradients():
            weights = model.weights(names()[1])
            return {name: weight.float().to(device) for name, weight in weights.items()}

    encoder = read_encoder(
        kind,
        model.encoder,
        encoder_weights,
        model.folder.path / VOCABULARY,
        name=where,
        device=device,
        precision=precision,
    )
    return LoadedMetric(model, encoder, head)


def _allow_gradients() -> AbstractContextManager[Any]:
    """Within it tensors are made that gradients can run through, whoever asks for them first."""
    import torch

    context: AbstractContextManager[Any] = torch.inference_mode(mode=False)
    return context


def _check_packages(what: str) -> None:
    for package in ("tokenizers", "transformers"):
        if find_spec(package) is None:  # importing them takes longer than to find kept scores
            raise missing_package(package, what)


def read_encoder(
    kind: EncoderKind,
    config: Mapping[str, Any],
    weights: Callable[[], dict[str, Any]],
    vocabulary: Path,
    *,
    name: str,
    device: str,
    precision: Precision = "fp32",
) -> MetricEncoder:
    """An encoder of its configuration, its weights and its vocabulary.

    ``weights`` are asked for when something is encoded for the first time. ``precision``: "fp32",
    or the type of automatic mixed precision.
    """
    _check_packages(name)
    tokenizer = read_vocabulary(vocabulary.read_bytes(), kind, config, name)

    @cache
    def load() -> Any:
        try:
            with _allow_gradients():
                return _filled_model(kind, config, weights()).to(device)
        except GnomonError:
            raise
        except Exception as error:  # transformers raises any
            raise DataError(f"{name} cannot be loaded: {error}") from error

    return MetricEncoder(
        load=load,
        tokenizer=tokenizer,
        depth=int(config["num_hidden_layers"]),
        dimensions=int(config["hidden_size"]),
        positions=int(config["max_position_embeddings"]) - kind.shift,
        device=device,
        precision=precision,
        special=kind.special,
        ends=kind.ends,
        types=kind.types,
    )


def read_vocabulary(data: bytes, kind: EncoderKind, config: Mapping[str, Any], name: str) -> Any:
    """The vocabulary of an encoder, as a ``tokenizers.Tokenizer``."""
    from tokenizers import Tokenizer

    with reading_tokenizer(f"{name}: the vocabulary"):
        tokenizer = Tokenizer.from_buffer(data)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    for piece in kind.special:
        if tokenizer.token_to_id(piece) is None:
            raise DataError(f"{name}: the vocabulary lacks {piece}")
    numbers = tokenizer.get_vocab(with_added_tokens=True).values()
    size = int(config["vocab_size"])
    wrong = ""
    if max(numbers) >= size or 2 * len(numbers) < size:
        wrong = f"it has {len(numbers)} pieces, up to {max(numbers)}; the encoder knows {size}"
    if kind.model_type.startswith("xlm-roberta"):  # which counts positions from its padding
        stated = "pad_token_id" in config  # transformers, which knows it else, takes long to import
        padding = config["pad_token_id"] if stated else _configuration(kind, config).pad_token_id
        padding_piece = tokenizer.token_to_id(kind.special[2])
        if padding_piece != padding:
            wrong = f"{kind.special[2]} is its piece {padding_piece}, and the encoder's {padding}"
    if wrong:
        raise DataError(
            f"{name}: the vocabulary is not that of the encoder: {wrong}; convert with the right"
            " one: ",
            flag("vocabulary", "FOLDER"),
        )
    return tokenizer


#: prefixes of the names of an encoder's weights
ENCODER = "encoder.model."
#: parts of checkpoints beside the weights that are needed
_UNUSED = ("position_ids", ".pooler.", "dropout_mask", "dropout_fill", "wordloss.weight")
_SHOWN = 5
#: least positions of an encoder: special pieces and a few of each text
_FEWEST = 16


def needed_weights(
    kind: str,
    settings: Mapping[str, Any],
    config: Mapping[str, Any],
    shapes: Mapping[str, tuple[int, ...]],
    place: str,
) -> list[str]:
    """Names of the weights of encoder and head, which are there in the right shapes."""
    _check_sizes(config, place)
    encoder_kind = ENCODERS[settings["encoder_model"]]
    wanted = {
        f"{ENCODER}{name}": shape
        for name, shape in _encoder_shapes(encoder_kind, config, shapes, place).items()
    }
    depth, dimensions = config["num_hidden_layers"], config["hidden_size"]
    try:
        wanted |= architecture_of(kind).shapes(settings, dimensions, depth)
    except DataError as error:
        raise DataError(f"{place}: {error}") from None
    missing = sorted(wanted.keys() - shapes.keys())
    if missing:
        raise DataError(
            f"{place} lacks {len(missing)} weights that a {kind} needs: {first_names(missing)}"
        )
    for name, shape in wanted.items():
        if shapes[name] != shape:
            raise DataError(
                f"{place}: weight {name} has the shape {shapes[name]}; hyper-parameters and the"
                f" encoder's configuration ask for {shape}"
            )
    strange = sorted(
        name for name in shapes.keys() - wanted.keys() if not any(part in name for part in _UNUSED)
    )
    if strange:
        raise DataError(
            f"{place} holds {len(strange)} weights that a {kind} does not have: "
            f"{first_names(strange)};"
            " its hyper-parameters or its encoder are not those that it was trained with"
        )
    return list(wanted)


#: sizes that a configuration says, and the least of each
_SIZES = {
    "hidden_size": 1,
    "num_hidden_layers": 1,
    "vocab_size": 1,
    "max_position_embeddings": _FEWEST,
}


def first_names(names: Sequence[str]) -> str:
    """The first of some names, for errors."""
    return ", ".join(names[:_SHOWN]) + (" ..." if len(names) > _SHOWN else "")


def _check_sizes(config: Mapping[str, Any], place: str) -> None:
    """Refuse a configuration of an encoder whose sizes are none."""
    for name, least in _SIZES.items():
        if type(config.get(name)) is not int or config[name] < least:
            raise DataError(
                f"{place}: the configuration of the encoder says {name} {config.get(name)!r}; it is"
                f" a whole number, {least} or more"
            )


def _encoder_shapes(
    kind: EncoderKind,
    config: Mapping[str, Any],
    shapes: Mapping[str, tuple[int, ...]],
    place: str,
) -> Shapes:
    """Weights of an encoder, by its configuration; nothing of it is allocated."""
    import torch

    layers = {
        name.removeprefix(ENCODER).split(".")[2]
        for name in shapes
        if name.startswith(f"{ENCODER}encoder.layer.")
    }
    depth = config["num_hidden_layers"]
    if depth != len(layers):
        raise DataError(
            f"{place} has {len(layers)} layers, and the configuration of its encoder {depth!r};"
            " name the encoder that it was trained with: ",
            flag("encoder", "FOLDER"),
        )
    try:
        with torch.device("meta"):
            model = _empty_model(kind, config)
    except DataError as error:
        raise DataError(f"{place}: {error}") from None
    return {name: tuple(tensor.shape) for name, tensor in model.named_parameters()}


def _empty_model(kind: EncoderKind, config: Mapping[str, Any]) -> Any:
    """An encoder of a configuration, without its pooler; on torch's default device."""
    import transformers

    try:
        return getattr(transformers, kind.model)(
            _configuration(kind, config), add_pooling_layer=False
        )
    except Exception as error:  # whatever transformers raises
        raise DataError(f"the encoder's configuration cannot be used: {error}") from error


def _configuration(kind: EncoderKind, config: Mapping[str, Any]) -> Any:
    from transformers import AutoConfig

    kept = {key: value for key, value in config.items() if key not in _NOT_CONFIGURED}
    return AutoConfig.for_model(kind.model_type, **kept)


#: fields that say how a model was saved, and code that would be run
_NOT_CONFIGURED = frozenset(
    ("model_type", "architectures", "auto_map", "transformers_version", "torch_dtype", "dtype",
     "_attn_implementation", "attn_implementation", "quantization_config", "_name_or_path")
)  # fmt: skip


def _filled_model(kind: EncoderKind, config: Mapping[str, Any], weights: dict[str, Any]) -> Any:
    """An encoder with its weights, in float32 on the CPU, for evaluation."""
    import torch
    import transformers

    with quiet_transformers():
        network, report = getattr(transformers, kind.model).from_pretrained(
            None,
            config=_configuration(kind, config),
            state_dict=weights,
            add_pooling_layer=False,
            dtype=torch.float32,
            output_loading_info=True,
        )
    wrong = [*report["missing_keys"], *report["mismatched_keys"]]
    if wrong:
        raise DataError(f"weights are missing or of another shape: {wrong[:3]}")
    return network.eval().requires_grad_(False)  # noqa: FBT003  # torch's signature


# Results for texts, kept in memory and on disk.


#: bytes of results that are kept in memory, and of what finds each of them there, about
_MEMORY = 1 << 28
_ENTRY = 1 << 9


#: from keys to the ids that are encoded and to the rows of the result of each
SequenceOf: TypeAlias = "Callable[[Sequence[K]], list[tuple[NDArray[np.int32], int]]]"
#: from the states of some sequences and their rows to results
ReadStates: TypeAlias = "Callable[[States, NDArray[np.int64]], Sequence[NDArray[np.float32]]]"


@dataclass(eq=False)
class Remembered(Generic[K]):
    """Results for texts (or for texts that are read together): each is made once.

    Results are float32 [rows, columns]. Those used last stay in memory up to a number of bytes, so
    that memory does not grow with the systems; with a store they are kept on disk as well, found by
    ids.
    """

    encoder: MetricEncoder  # encodes
    sequence: SequenceOf[K]
    read: ReadStates
    columns: int  # of a result
    kind: str  # what the store calls such results
    store: VectorStore | None = None  # on disk, if they are kept
    _results: dict[K, NDArray[np.float32]] = field(default_factory=dict, repr=False)
    _bytes: int = 0

    def look_up(self, keys: Sequence[K]) -> list[NDArray[np.float32]]:
        """The result for each key; those not known yet are made, each distinct one once."""
        results = {key: self._results[key] for key in keys if key in self._results}
        missing = [key for key in dict.fromkeys(keys) if key not in results]
        if missing:
            sequences = self.sequence(missing)
            rows = np.array([count for _, count in sequences], dtype=np.int64)
            made = self._read_or_compute([ids for ids, _ in sequences], rows)
            results |= dict(zip(missing, made, strict=True))
        for key in dict.fromkeys(keys):
            self.hold(key, results[key])
        return [results[key] for key in keys]

    def _read_or_compute(
        self, sequences: list[NDArray[np.int32]], rows: NDArray[np.int64]
    ) -> list[NDArray[np.float32]]:
        """Results from disk, and new ones, which are kept there."""
        if self.store is None:
            return self._compute(sequences, rows)
        offsets = offsets_of(rows)
        into = np.empty((int(offsets[-1]), self.columns), dtype=np.float32)
        keys = [vector_key(self.kind, ids) for ids in sequences]
        there = self.store.fill(keys, offsets, into)
        new = np.flatnonzero(~there)
        for number, made in zip(
            new.tolist(),
            self._compute([sequences[n] for n in new.tolist()], rows[new]),
            strict=True,
        ):
            into[offsets[number] : offsets[number + 1]] = made
        if len(new):
            sizes = offsets_of(rows[new])
            kept = into[np.repeat(~there, rows)]
            self.store.keep([keys[n] for n in new.tolist()], sizes, kept)
        return [into[first:stop].copy() for first, stop in pairwise(offsets)]

    def _compute(
        self, sequences: list[NDArray[np.int32]], rows: NDArray[np.int64]
    ) -> list[NDArray[np.float32]]:
        made: list[Any] = [None] * len(sequences)
        for group, states in self.encoder.states(sequences):
            for number, result in zip(group.tolist(), self.read(states, rows[group]), strict=True):
                made[number] = result
        return made

    def hold(self, key: K, result: NDArray[np.float32]) -> None:
        """Put a result at the end of those in memory; the first ones make room for it."""
        if self._results.pop(key, None) is None:
            self._bytes += result.nbytes + _ENTRY
        self._results[key] = result
        while self._bytes > _MEMORY and len(self._results) > 1:
            self._bytes -= self._results.pop(next(iter(self._results))).nbytes + _ENTRY
