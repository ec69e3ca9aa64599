"""Classes of learned metrics: their encoders, their weights, their spec names."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from gnomon.core.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "ACTIVATIONS",
    "ARCHITECTURES",
    "ENCODERS",
    "Architecture",
    "EncoderKind",
    "Shapes",
    "architecture_of",
    "check_settings",
    "feed_forward_shapes",
    "is_mixed",
]

Shapes: TypeAlias = "dict[str, tuple[int, ...]]"


# Encoders, as COMET names them.


class EncoderKind(NamedTuple):
    """A kind of encoder."""

    model_type: str
    model: str  # its class in transformers
    vocabulary: str = ""  # the model whose vocabulary it takes, where that is not its own
    shift: int = 2  # rows of the table of positions that no text uses
    # the pieces for the beginning and the end of a text, padding, and unknown ones
    special: tuple[str, str, str, str] = ("<s>", "</s>", "<pad>", "<unk>")
    ends: int = 2  # how many of the pieces for the end stand between texts that are read together
    types: bool = False  # whether its input says which pieces are of the first of these texts


_BERT_PIECES = ("[CLS]", "[SEP]", "[PAD]", "[UNK]")
#: ``encoder_model`` of hyper-parameters -> what it is
ENCODERS: Mapping[str, EncoderKind] = MappingProxyType(
    {
        "XLM-RoBERTa": EncoderKind("xlm-roberta", "XLMRobertaModel"),
        "InfoXLM": EncoderKind("xlm-roberta", "XLMRobertaModel"),
        "XLM-RoBERTa-XL": EncoderKind("xlm-roberta-xl", "XLMRobertaXLModel"),
        # its table has no spare rows, yet the original counts two
        "MiniLM": EncoderKind("bert", "BertModel", "xlm-roberta-base"),
        "BERT": EncoderKind("bert", "BertModel", special=_BERT_PIECES, ends=1, types=True),
        # the original tells it no types, as its class is made of that of XLM-R
        "RemBERT": EncoderKind("rembert", "RemBertModel", special=_BERT_PIECES, ends=1),
    }
)


# Heads: the weights that they need, by the dimensions of the encoder.


@dataclass(frozen=True)
class Architecture:
    """A class of metrics."""

    kind: str  # its name in checkpoints
    # from hyper-parameters to the name by which specs take it
    spec: Callable[[Mapping[str, Any]], str]
    defaults: Mapping[str, Any]  # hyper-parameters that older checkpoints lack
    # from hyper-parameters, dimensions and depth of the encoder to the weights that its head needs,
    # with their shapes
    shapes: Callable[[Mapping[str, Any], int, int], Shapes]
    # hyper-parameters that are what they are, whatever a checkpoint says
    fixed: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


def architecture_of(kind: object) -> Architecture:
    """The class of that name."""
    if not isinstance(kind, str) or kind not in ARCHITECTURES:
        raise DataError(
            f"the metric is a {kind!r}, which gnomon does not compute; it computes"
            f" {', '.join(ARCHITECTURES)}"
        )
    return ARCHITECTURES[kind]


def check_settings(kind: object, settings: Mapping[str, Any]) -> None:
    """Refuse hyper-parameters that a class does not have, or lacks."""
    architecture = architecture_of(kind)
    for key in architecture.defaults:
        if key not in settings:
            raise DataError(f"nothing is said of the hyper-parameter {key}, which a {kind} has")
        right, allowed = _VALUES.get(key, (None, ""))
        if right is not None and not right(settings[key]):
            raise DataError(f"hyper-parameter {key} is {settings[key]!r}; it is {allowed}")
    for key, value in architecture.fixed.items():
        if settings[key] != value:
            raise DataError(
                f"hyper-parameter {key} is {settings[key]!r}; that of a {kind} is {value!r}"
            )


def _require_class(*names: str) -> tuple[Callable[[Any], bool], str]:
    allowed = ", ".join(map(repr, names[:-1])) + f" or {names[-1]!r}"
    return lambda value: isinstance(value, str) and value in names, allowed


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_SWITCH = (lambda value: isinstance(value, bool), "True or False")
#: activations that the original packages know -> their classes in torch
ACTIVATIONS = MappingProxyType(
    {
        "tanh": "Tanh",
        "sigmoid": "Sigmoid",
        "relu": "ReLU",
        "gelu": "GELU",
        "silu": "SiLU",
        "swish": "SiLU",
        "mish": "Mish",
        "softplus": "Softplus",
        "softsign": "Softsign",
        "hardtanh": "Hardtanh",
        "hardsigmoid": "Hardsigmoid",
        "hardswish": "Hardswish",
        "tanhshrink": "Tanhshrink",
        "softshrink": "Softshrink",
        "hardshrink": "Hardshrink",
        "identity": "Identity",
    }
)


def _is_activation(value: Any) -> bool:
    return isinstance(value, str) and value.strip().lower() in ACTIVATIONS


_ACTIVATION = f"one of {', '.join(ACTIVATIONS)}"
#: hyper-parameter -> whether a value is one that it can have, and what it can be; those that ask
#: for weights are checked with these
_VALUES: Mapping[str, tuple[Callable[[Any], bool], str]] = MappingProxyType(
    {
        "pool": _require_class("avg", "max", "cls", "default"),
        "sent_to_use": _require_class("src", "mt", "ref"),
        "activations": (_is_activation, _ACTIVATION),
        "final_activation": (lambda value: value is None or _is_activation(value), _ACTIVATION),
        "layer_transformation": (lambda value: isinstance(value, str), "a name"),
        "layer_norm": _SWITCH,
        "word_level_training": _SWITCH,
        "layer_norm_before_head": _SWITCH,
        "learn_score_scale": _SWITCH,
        "score_alpha": (_is_number, "a number"),
        "input_segments": (_are_names, "a list of names"),
        "error_labels": (_are_names, "a list of names"),
    }
)


def feed_forward_shapes(prefix: str, sizes: list[int]) -> Shapes:
    """Weights of linear layers that stand at every third place: sizes from input to output."""
    shapes: Shapes = {}
    for number, (inner, outer) in enumerate(pairwise(sizes)):
        shapes[f"{prefix}.{3 * number}.weight"] = (outer, inner)
        shapes[f"{prefix}.{3 * number}.bias"] = (outer,)
    return shapes


def is_mixed(settings: Mapping[str, Any], key: str) -> bool:
    """True if a hyper-parameter asks for a mix of all layers, and not for one."""
    layer: object = settings[key]
    if layer == "mix":
        return True
    if isinstance(layer, bool) or not isinstance(layer, int):
        raise DataError(f"hyper-parameter {key} is {layer!r}; it is 'mix' or the number of a layer")
    return False


def _hidden(settings: Mapping[str, Any]) -> list[int]:
    sizes: object = settings["hidden_sizes"]
    if not isinstance(sizes, list) or not all(type(size) is int and size > 0 for size in sizes):
        raise DataError(f"hyper-parameter hidden_sizes is {sizes!r}; it is a list of sizes")
    return sizes


def _block_shapes(blocks: int, layer: str) -> Callable[[Mapping[str, Any], int, int], Shapes]:
    """An estimator on some vectors side by side, of mixed layers or of one."""

    def shapes(settings: Mapping[str, Any], dimensions: int, depth: int) -> Shapes:
        head = feed_forward_shapes("estimator.ff", [blocks * dimensions, *_hidden(settings), 1])
        if is_mixed(settings, layer):
            named = {f"layerwise_attention.scalar_parameters.{n}": (1,) for n in range(depth + 1)}
            return head | {**named, "layerwise_attention.gamma": (1,)}
        if not -depth - 1 <= settings[layer] <= depth:
            raise DataError(
                f"hyper-parameter {layer} is {settings[layer]}; the encoder has layers 0 to {depth}"
            )
        return head

    return shapes


def _sentinel_shapes(settings: Mapping[str, Any], dimensions: int, _depth: int) -> Shapes:
    return feed_forward_shapes("estimator.ff", [dimensions, *_hidden(settings), 1])


def _unified_shapes(settings: Mapping[str, Any], dimensions: int, depth: int) -> Shapes:
    shapes = _block_shapes(1, "sent_layer")(settings, dimensions, depth)
    if settings["word_level_training"]:
        layer = settings["word_layer"]
        if type(layer) is not int or not 0 <= layer <= depth:
            raise DataError(
                f"hyper-parameter word_layer is {layer!r}; the encoder has layers 0 to {depth}"
            )
        labels = len(settings["error_labels"]) + 1
        shapes |= {"hidden2tag.weight": (labels, dimensions), "hidden2tag.bias": (labels,)}
    return shapes


def _pairwise_shapes(settings: Mapping[str, Any], dimensions: int, _depth: int) -> Shapes:
    for key, only in (("task", "regression"), ("use_antisymmetric_head", True), ("blend", "last")):
        if settings[key] != only:
            raise DataError(f"hyper-parameter {key} is {settings[key]!r}; gnomon computes {only!r}")
    if ENCODERS[settings["encoder_model"]].ends != 2:
        raise DataError(f"PEAR reads by an XLM-R; encoder_model is {settings['encoder_model']!r}")
    norm = "pre_head_norm" if settings["layer_norm_before_head"] else "span_proj.2"
    shapes: Shapes = {
        "span_proj.0.weight": (dimensions, 3 * dimensions),
        "span_proj.0.bias": (dimensions,),
        f"{norm}.weight": (dimensions,),
        f"{norm}.bias": (dimensions,),
    }
    if settings["learn_score_scale"]:
        shapes["_alpha_raw"] = ()
    return shapes | feed_forward_shapes("pair_head.ff", [dimensions, *_hidden(settings), 1])


_ENCODER = {"encoder_model": "XLM-RoBERTa", "pretrained_model": "xlm-roberta-large"}
_MIXED = _ENCODER | {
    "layer": "mix",
    "layer_transformation": "softmax",
    "layer_norm": True,
    "pool": "avg",
    "activations": "Tanh",
    "final_activation": None,
}
#: "ref", which the original does not have: a comparison with the reference alone
_REFERENCELESS = _MIXED | {"hidden_sizes": [2048, 1024], "sent_to_use": "src"}
_UNIFIED = _MIXED | {
    "pretrained_model": "microsoft/infoxlm-large",
    "layer_transformation": "sparsemax",
    "sent_layer": "mix",
    "word_layer": 24,
    "hidden_sizes": [3072, 1024],
    "input_segments": ["mt", "src", "ref"],
    "word_level_training": False,
    "error_labels": ["minor", "major"],
}


def _unified_spec(settings: Mapping[str, Any]) -> str:
    return "unite" if "ref" in settings["input_segments"] else "cometkiwi"


#: class -> what it is
ARCHITECTURES: Mapping[str, Architecture] = MappingProxyType(
    {
        one.kind: one
        for one in (
            Architecture(
                "regression_metric",
                lambda _: "comet",
                MappingProxyType(_MIXED | {"hidden_sizes": [3072, 1024]}),
                _block_shapes(6, "layer"),
            ),
            Architecture(
                "referenceless_regression_metric",
                lambda _: "comet",
                MappingProxyType(_REFERENCELESS),
                _block_shapes(4, "layer"),
            ),
            Architecture(
                "sentinel_regression_metric",
                lambda _: "comet",
                MappingProxyType(
                    _ENCODER
                    | {
                        "hidden_sizes": [3072, 1024],
                        "activations": "Tanh",
                        "final_activation": None,
                        "sent_to_use": "src",
                    }
                ),
                _sentinel_shapes,
            ),
            Architecture(
                "pairwise_metric",
                lambda _: "pear",
                MappingProxyType(
                    {
                        "encoder_model": "InfoXLM",
                        "pretrained_model": "microsoft/infoxlm-large",
                        "task": "regression",
                        "blend": "last",
                        "use_antisymmetric_head": True,
                        "layer_norm_before_head": False,
                        "learn_score_scale": True,
                        "score_alpha": 1.0,
                        "hidden_sizes": [512, 256, 128],
                        "activations": "GELU",
                        "final_activation": None,
                    }
                ),
                _pairwise_shapes,
            ),
            Architecture(
                "unified_metric", _unified_spec, MappingProxyType(_UNIFIED), _unified_shapes
            ),
            Architecture(
                "xcomet_metric",
                lambda _: "xcomet",
                MappingProxyType(
                    _UNIFIED
                    | {
                        "encoder_model": "XLM-RoBERTa-XL",
                        "pretrained_model": "facebook/xlm-roberta-xl",
                        "layer_norm": False,
                        "word_layer": 36,
                        "hidden_sizes": [2560, 1280],
                        "word_level_training": True,
                        "error_labels": ["minor", "major", "critical"],
                    }
                ),
                _unified_shapes,
                MappingProxyType(
                    {
                        "input_segments": ["mt", "src", "ref"],
                        "word_level_training": True,
                    }
                ),
            ),
        )
    }
)
