"""Codes of sentences: clusters of their meanings, of their structures, or none but chance."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NamedTuple,
    Protocol,
    TypeAlias,
    get_args,
    runtime_checkable,
)

import numpy as np

from gnomon.core.errors import (
    DataError,
    FormatError,
    MissingFileError,
    OutputError,
    UsageError,
    not_installed,
)
from gnomon.data.formats import read_lines, write_lines, write_together
from gnomon.paraphrase.codes.kmeans import check_enough, kmeans, nearest, scratch

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from gnomon.core.cache import Cache
    from gnomon.data.formats import Tree
    from gnomon.models import Encoder

__all__ = [
    "KINDS",
    "NO_CODE",
    "CodeFacts",
    "Codes",
    "Fitted",
    "Kind",
    "Placed",
    "Semantic",
    "SentenceCoder",
    "check_parallel",
    "clustered",
    "code_of",
    "facts",
    "load",
    "random_codes",
    "read_codes",
    "write_codes",
]


Kind: TypeAlias = Literal["semantic", "syntactic", "random"]
KINDS: tuple[str, ...] = get_args(Kind)
#: code of a sentence without one: an empty line, or one without a tree
NO_CODE = -1
_CHUNK = 16384


@dataclass(frozen=True)
class Fitted:
    """Record of what codes were made from.

    Attributes:
        sentences: with a vector, repeated ones each time.
        distinct: different ones among them (different pruned trees, for syntactic codes).
        skipped: empty lines, and lines without a tree.
        empty: codes that no sentence got.
        inertia: sum over sentences of the squared distance to the centroid of their code.
    """

    sentences: int
    distinct: int
    skipped: int
    empty: int
    inertia: float


@dataclass(frozen=True, eq=False)
class Placed:
    """Sentences among codes.

    Attributes:
        codes: int32 [T], from 0; -1 where a sentence has none.
        distances: float32 [T], squared distance to the centroid; 0 for random codes, infinite
            where there is no code.
    """

    codes: NDArray[np.int32]
    distances: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Codes:
    """Clusters of sentences, numbered from 0.

    Attributes:
        kind: "semantic", "syntactic" or "random".
        seed: of the clustering; of the drawing, for random codes.
        centroids: float32 [k, dimensions]; without dimensions for random codes.
        counts: int64 [k], sentences of each code where the codes were made.
        fitted: what they were made from.
        space: how sentences become vectors; None for random codes.
        known: code and squared distance of what they were made from, in the process that made
            them, so that nothing is encoded twice.
    """

    kind: Kind
    seed: int
    centroids: NDArray[np.float32]
    counts: NDArray[np.int64]
    fitted: Fitted
    space: Space | None = None
    known: Mapping[Hashable, tuple[int, float]] = field(default_factory=dict, repr=False)

    @property
    def k(self) -> int:
        """Number of codes."""
        return len(self.centroids)

    @property
    def needs_trees(self) -> bool:
        """True if sentences have codes by trees alone, since nobody said what parses them."""
        from gnomon.paraphrase.codes.autoencoder import Syntactic

        return isinstance(self.space, Syntactic) and self.space.needs_trees

    @property
    def identity(self) -> str:
        """A hash of what decides the code of a sentence; 16 hexadecimal digits."""
        digest = hashlib.blake2b(digest_size=8)
        name = self.space.identity if self.space else f"seed:{self.seed}"
        digest.update(f"{self.kind}|{self.k}|{name}|".encode())
        digest.update(np.ascontiguousarray(self.centroids).tobytes())
        return digest.hexdigest()

    def assign(
        self,
        texts: Sequence[str | None],
        *,
        trees: Sequence[Tree | None] | None = None,
        cache: Cache | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> NDArray[np.int32]:
        """The code of each sentence, int32 [T]; -1 for empty ones and those without a tree.

        Args:
            texts: the sentences; equal ones are read once.
            trees: their constituency trees, for syntactic codes; by default they are parsed.
            cache: where trees are kept between runs.
            progress: called with a stage, what is done, and the total.

        Raises:
            DataError: trees are not parallel to the texts.
            UsageError: trees were given to codes that read none.
            MissingDependencyError: the parser is not installed.
        """
        return self.place(texts, trees=trees, cache=cache, progress=progress).codes

    def save(self, folder: str | PathLike[str]) -> Path:
        """Write the codes into a folder, which is made where it is missing, for :func:`load`.

        Raises:
            OutputError: it cannot be written.
        """
        numpy = _safetensors()
        path = Path(folder)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot make the folder {path}: {error}; name another") from error
        tensors = {"centroids": self.centroids, "counts": self.counts}
        about: dict[str, Any] = {
            "format": _FORMAT,
            "kind": self.kind,
            "count": self.k,
            "identity": self.identity,
            "seed": self.seed,
            "fitted": asdict(self.fitted),
        }
        if self.space is not None:
            tensors |= {f"{_OWN}{name}": value for name, value in self.space.tensors().items()}
            about["space"] = dict(self.space.about())
        data = numpy.save({name: np.ascontiguousarray(value) for name, value in tensors.items()})
        text = json.dumps(about, indent=2, ensure_ascii=False) + "\n"
        write_together({path / _ABOUT: text, path / _TENSORS: data})
        return path

    def place(
        self,
        texts: Sequence[str | None],
        *,
        trees: Sequence[Tree | None] | None = None,
        cache: Cache | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> Placed:
        """Likewise, with distances to the centroids."""
        if self.space is None:
            _refuse_trees(self.kind, trees)
            drawn = [
                _draw(text, self.k, self.seed) if _has_words(text) else NO_CODE for text in texts
            ]
            codes = np.array(drawn, np.int32)
            return Placed(codes, np.where(codes < 0, np.inf, 0).astype(np.float32))
        items = items_of(self.space, texts, trees, cache, progress)
        which, rows = _distinct(items)
        # one more entry at the end for items without a code: their row is -1
        codes = np.full(len(rows) + 1, NO_CODE, np.int32)
        distances = np.full(len(rows) + 1, np.inf, np.float32)
        new = [row for row, item in enumerate(rows) if item not in self.known]
        old = [row for row, item in enumerate(rows) if item in self.known]
        for row in old:
            codes[row], distances[row] = self.known[rows[row]]
        done = 0
        for chunk in self.space.vectors([rows[row] for row in new]):
            chunk_rows = new[done : done + len(chunk)]
            codes[chunk_rows], distances[chunk_rows] = nearest(chunk, self.centroids)
            done += len(chunk)
            if progress is not None:
                progress("coding", done, len(new))
        return Placed(codes[which], distances[which])


class CodeRequest(NamedTuple):
    """Request for codes: how many, how they are made, and what keeps trees and is told of it."""

    k: int
    seed: int
    passes: int = 10
    cache: Cache | None = None
    progress: Callable[[str, int, int], None] | None = None


def clustered(
    space: Space,
    texts: Sequence[str | None],
    request: CodeRequest,
    trees: Sequence[Tree | None] | None = None,
) -> Codes:
    """Codes of a space; see :func:`fit`."""
    k, seed, progress = request.k, request.seed, request.progress
    items = items_of(space, texts, trees, request.cache, progress)
    which, rows = _distinct(items)
    check_enough(len(rows), k, space.kind)
    weights = np.bincount(which[which >= 0], minlength=len(rows))
    order = np.random.default_rng(seed).permutation(len(rows))  # any part is a sample of the whole
    drawn = [rows[i] for i in order]

    def encoded() -> Iterator[NDArray[np.float32]]:
        done = 0
        for chunk in space.vectors(drawn):
            yield chunk
            done += len(chunk)
            if progress is not None:
                progress("encoding", done, len(rows))

    with scratch(encoded()) as vectors:
        clusters = kmeans(vectors, k, seed=seed, weights=weights[order], passes=request.passes)
        codes_of_items = _nearest_codes(vectors, clusters.centroids, drawn)
    read = int(weights.sum())
    fitted = Fitted(read, len(rows), len(items) - read, clusters.empty, clusters.inertia)
    kind: Kind = "semantic" if space.kind == "semantic" else "syntactic"
    return Codes(kind, seed, clusters.centroids, clusters.counts, fitted, space, codes_of_items)


def _nearest_codes(
    vectors: NDArray[np.float32], centroids: NDArray[np.float32], items: Sequence[Hashable]
) -> dict[Hashable, tuple[int, float]]:
    codes_of_items: dict[Hashable, tuple[int, float]] = {}
    for first in range(0, len(vectors), _CHUNK):
        chunk = slice(first, first + _CHUNK)
        codes, distances = nearest(np.array(vectors[chunk]), centroids)
        codes_of_items |= zip(
            items[chunk], zip(codes.tolist(), distances.tolist(), strict=True), strict=True
        )
    return codes_of_items


def random_codes(texts: Sequence[str | None], *, k: int, seed: int) -> Codes:
    """Codes drawn by a hash of seed and sentence: the control that means nothing."""
    if k < 1:
        raise UsageError(f"k, the number of codes, is at least 1; got {k}")
    bare = Codes("random", seed, np.zeros((k, 0), np.float32), np.zeros(k, np.int64), _NONE)
    codes = bare.assign(texts)
    counts = np.bincount(codes[codes >= 0], minlength=k)
    distinct = len({text for text in texts if _has_words(text)})
    read = int(counts.sum())
    fitted = Fitted(read, distinct, len(codes) - read, int((counts == 0).sum()), 0.0)
    return Codes("random", seed, bare.centroids, counts, fitted)


_NONE = Fitted(0, 0, 0, 0, 0.0)


def items_of(
    space: Space,
    texts: Sequence[str | None],
    trees: Sequence[Tree | None] | None,
    cache: Cache | None,
    progress: Callable[[str, int, int], None] | None,
) -> Sequence[Hashable | None]:
    """Items of a space for each sentence: its text, or its pruned tree; None if it has none."""
    from gnomon.paraphrase.codes.autoencoder import Syntactic

    if isinstance(space, Syntactic):
        check_parallel(texts, trees)
        return space.pruned(texts, trees, cache=cache, progress=progress)
    _refuse_trees(space.kind, trees)
    return [text if _has_words(text) else None for text in texts]


def check_parallel(texts: Sequence[str | None], trees: Sequence[Tree | None] | None) -> None:
    """Refuse trees that are not one per text."""
    if trees is not None and texts and len(trees) != len(texts):
        raise DataError(
            f"{len(trees)} trees for {len(texts)} sentences: trees must be parallel to the text,"
            " one per line; write (()) where a sentence has none"
        )


def _refuse_trees(kind: str, trees: Sequence[Tree | None] | None) -> None:
    if trees is not None:
        raise UsageError(f"{kind} codes read no trees; leave them out, or take syntactic codes")


def _distinct(items: Sequence[Hashable | None]) -> tuple[NDArray[np.int64], list[Hashable]]:
    """For each item its row among the different ones, -1 for None; and these, in order."""
    rows: dict[Hashable, int] = {}
    which = [-1 if item is None else rows.setdefault(item, len(rows)) for item in items]
    return np.array(which, np.int64), list(rows)


def _has_words(text: str | None) -> bool:
    return bool(text and text.strip())


def _draw(text: str | None, k: int, seed: int) -> int:
    data = f"{seed}|{text}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big") % k


# Vectors of sentences: the spaces in which codes are clusters.


#: texts whose vectors are in memory at a time
_TEXTS_AT_ONCE = 4096


@runtime_checkable
class Space(Protocol):
    """Sentences, or their trees, as vectors."""

    @property
    def kind(self) -> str: ...  # documented above

    @property
    def identity(self) -> str: ...  # documented above

    def about(self) -> Mapping[str, Any]:
        """Facts that a folder of codes must keep to find the space again, ready for JSON."""

    def tensors(self) -> Mapping[str, NDArray[np.float32]]:
        """Weights that the space has of its own."""

    def vectors(self, items: Sequence[Any]) -> Iterator[NDArray[np.float32]]:
        """The vectors of some items in chunks, float32 [rows, dimensions] each."""


@dataclass(frozen=True, eq=False)
class Semantic:
    """Mean vectors of a sentence encoder."""

    encoder: Encoder
    unit: bool = True
    revision: str | None = None
    known_as: str | None = None

    @property
    def kind(self) -> str:
        """It is "semantic"."""
        return "semantic"

    @property
    def identity(self) -> str:
        """The model with its layer, and whether vectors have length 1."""
        return f"{self._model},layer:{self.encoder.layer},unit:{int(self.unit)}"

    @property
    def _model(self) -> str:
        return self.known_as or self.encoder.identity

    def about(self) -> dict[str, Any]:
        """Model, layer, unit."""
        return {
            "model": self.encoder.folder.name,
            "revision": self.revision,
            "identity": self._model,
            "layer": self.encoder.layer,
            "unit": self.unit,
        }

    def tensors(self) -> dict[str, NDArray[np.float32]]:
        """None: the model lies elsewhere."""
        return {}

    def vectors(self, items: Sequence[str]) -> Iterator[NDArray[np.float32]]:
        """The vectors of some texts in chunks, float32 [rows, dimensions] each."""
        for first in range(0, len(items), _TEXTS_AT_ONCE):
            texts = items[first : first + _TEXTS_AT_ONCE]
            pieces = self.encoder.pieces(texts)
            vectors = self.encoder.pooled(pieces, np.arange(len(texts)))
            yield _unit(vectors) if self.unit else vectors


def same_model(asked: str, kept: str) -> bool:
    """True if two identities name the same weights, wherever their folders lie."""
    return re.split("[#@]", asked)[-1] == re.split("[#@]", kept)[-1]


def check_model(encoder: Encoder, kept: str) -> None:
    """Refuse codes of one model and vectors of another."""
    if not same_model(encoder.identity, kept):
        raise DataError(
            f"these codes were made with {kept}, and the model given is {encoder.identity}: its"
            " vectors mean something else; give the model of the codes, or fit new ones"
        )


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    lengths = np.sqrt((vectors**2).sum(1, keepdims=True))
    scaled: NDArray[np.float32] = vectors / np.maximum(lengths, np.float32(1e-12))
    return scaled


# Files of codes: one integer per line, an empty line where a sentence has none.


def write_codes(path: str | PathLike[str], codes: Iterable[int]) -> None:
    """Write one code per line, an empty line for -1."""
    write_lines(path, ("" if code == NO_CODE else str(code) for code in codes))


def read_codes(path: str | PathLike[str]) -> NDArray[np.int32]:
    """Read one code per line, int32 [T]; -1 for an empty line."""
    lines = enumerate(read_lines(path), start=1)
    return np.array([code_of(line, path, number) for number, line in lines], np.int32)


def code_of(text: str, path: object, line: int) -> int:
    """The code that a line or a column holds; -1 where it is empty."""
    digits = text.strip()
    if digits and not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        raise FormatError(
            f"{text[:40]!r} is no code; a code is an integer from 0, or nothing where a sentence"
            " has none",
            path=path,
            line=line,
        )
    return int(digits) if digits else NO_CODE


# Codes with all that sentences need to get theirs.


@dataclass(frozen=True)
class SentenceCoder:
    """Codes of sentences whose trees are known, for what knows sentences alone.

    Attributes:
        codes: the codes.
        trees: tree of each sentence, for syntactic codes; by default they are parsed. A sentence
            that is not among them, or has None, has no code.
        cache: where trees that are parsed are kept between runs.
        progress: called with a stage, what is done, and the total.
    """

    codes: Codes
    trees: Mapping[str, Tree | None] | None = None
    cache: Cache | None = None
    progress: Callable[[str, int, int], None] | None = None

    @property
    def k(self) -> int:
        """Number of codes."""
        return self.codes.k

    @property
    def identity(self) -> str:
        """Hash of what decides a code."""
        return self.codes.identity

    def assign(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """The code of each sentence, int32 [T]; -1 where it has none.

        Raises:
            UsageError: there are trees, and the codes are not syntactic; or the codes need trees,
                and there are none.
        """
        trees = None if self.trees is None else [self.trees.get(text) for text in texts]
        return self.codes.assign(texts, trees=trees, cache=self.cache, progress=self.progress)


# Codes as a folder: numbers in safetensors, the rest in JSON.


_FORMAT = 1
_TENSORS = "codes.safetensors"
_ABOUT = "codes.json"
_OWN = "space."


@dataclass(frozen=True)
class CodeFacts:
    """Facts in a folder about its codes.

    Attributes:
        kind: "semantic", "syntactic" or "random".
        count: how many there are.
        identity: a hash of what decides the code of a sentence.
    """

    kind: Kind
    count: int
    identity: str


def facts(folder: str | PathLike[str]) -> CodeFacts:
    """Read what a folder says of its codes; no model is loaded."""
    path = Path(folder)
    about = _about(path)
    try:
        return CodeFacts(about["kind"], int(about["count"]), str(about["identity"]))
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path / _ABOUT} lacks what codes need: {error}; fit them anew") from error


def load(
    folder: str | PathLike[str],
    *,
    model: str | None = None,
    parser: str | None = None,
    device: str | None = None,
) -> Codes:
    """Read the codes of a folder."""
    path = Path(folder)
    about = _about(path)
    for option, value, kind in (("model", model, "semantic"), ("parser", parser, "syntactic")):
        if value is not None and about.get("kind") != kind:
            raise UsageError(
                f"{option} {value!r} belongs to {kind} codes, and those in {path} are"
                f" {about.get('kind')}; leave it out"
            )
    tensors = _tensors(path)
    try:
        codes = Codes(
            kind=about["kind"],
            seed=int(about["seed"]),
            centroids=tensors["centroids"],
            counts=tensors["counts"],
            fitted=Fitted(**about["fitted"]),
            space=_space(about, tensors, model, parser, device),
        )
    except (KeyError, TypeError) as error:
        raise DataError(f"{path / _ABOUT} lacks what codes need: {error}; fit them anew") from error
    if codes.identity != about["identity"]:
        raise DataError(
            f"the codes in {path} are not those that were written: {_TENSORS} and {_ABOUT} do not"
            " belong together, or were changed; fit them anew"
        )
    return codes


def _space(
    about: Mapping[str, Any],
    tensors: Mapping[str, NDArray[np.float32]],
    model: str | None,
    parser: str | None,
    device: str | None,
) -> Space | None:
    if about["kind"] == "random":
        return None
    kept = about["space"]
    if about["kind"] == "semantic":
        from gnomon.models import load_encoder

        encoder = load_encoder(
            model or kept["model"],
            layer=kept["layer"],
            revision=kept["revision"] if model is None else None,
            device=device,
        )
        check_model(encoder, kept["identity"])
        return Semantic(encoder, bool(kept["unit"]), kept["revision"], kept["identity"])
    from gnomon.paraphrase.codes.autoencoder import read_syntactic

    weights = {k.removeprefix(_OWN): v for k, v in tensors.items() if k.startswith(_OWN)}
    return read_syntactic(kept, weights, device, parser)


def _about(path: Path) -> dict[str, Any]:
    file = path / _ABOUT
    if not file.is_file():
        raise MissingFileError(
            f"{path} holds no {_ABOUT}, and so no codes; make some with 'gnomon paraphrase codes"
            f" --texts FILE ... --save {path}'"
        )
    try:
        about = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{file} is no JSON: {error}") from error
    if not isinstance(about, dict) or about.get("format") != _FORMAT:
        raise DataError(f"{file} is not of format {_FORMAT}, the only one that is read here")
    return about


def _tensors(path: Path) -> dict[str, Any]:
    from safetensors import SafetensorError

    numpy = _safetensors()
    file = path / _TENSORS
    if not file.is_file():
        raise MissingFileError(f"{path} holds no {_TENSORS}, which its {_ABOUT} belongs to")
    try:
        tensors: dict[str, Any] = numpy.load_file(file)
    except (SafetensorError, OSError, ValueError) as error:
        raise DataError(f"{file} cannot be read: {error}") from error
    return tensors


def _safetensors() -> Any:
    try:
        import safetensors.numpy
    except ImportError:
        raise not_installed("a file of codes", "safetensors", "models") from None
    return safetensors.numpy
