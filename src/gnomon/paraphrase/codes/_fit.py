"""Codes by name: fitting and saving."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.errors import UnknownNameError, UsageError
from gnomon.core.options import SEED
from gnomon.messages.audiences import Named
from gnomon.paraphrase.codes.clustering import (
    KINDS,
    CodeRequest,
    Codes,
    Semantic,
    check_parallel,
    clustered,
    random_codes,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gnomon.core.cache import Cache
    from gnomon.data.formats import Tree
    from gnomon.paraphrase.codes.autoencoder import TreeRecipe


def fit(
    texts: Sequence[str | None],
    *,
    encoder: str,
    k: int = 256,
    seed: int = SEED,
    unit: bool = True,
    layer: int | None = None,
    revision: str | None = None,
    device: str | None = None,
    embeddings: str | None = None,
    trees: Sequence[Tree | None] | None = None,
    parser: str | None = None,
    language: str | None = None,
    recipe: TreeRecipe | None = None,
    passes: int = 10,
    cache: Cache | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Codes:
    """Cluster sentences by meaning or by structure (Bawden et al., 2020, section 3).

    Vectors go to a scratch file and are clustered from there, so that memory does not grow with
    the text. The same input and seed give the same codes on the same machine.
    """
    request = CodeRequest(k, seed, passes, cache, progress)
    kind, _, model = encoder.partition(":")
    _check(kind, model, {"trees": trees, "parser": parser, "language": language, "recipe": recipe})
    if kind == "random":
        return random_codes(texts, k=k, seed=seed)
    if kind == "semantic":
        from gnomon.models import load_encoder

        loaded = load_encoder(
            model, layer=layer, revision=revision, device=device, embeddings=embeddings
        )
        return clustered(Semantic(loaded, unit, revision), texts, request)
    from gnomon.paraphrase.codes.autoencoder import syntactic_space

    check_parallel(texts, trees)
    structures, trees = syntactic_space(
        texts, trees, request, parser=parser, language=language, recipe=recipe, device=device
    )
    return clustered(structures, texts, request, trees)


def _check(kind: str, model: str, syntactic: dict[str, object]) -> None:
    if kind not in KINDS:
        raise UnknownNameError("kind of codes", kind, KINDS)
    if kind == "semantic" and not model:
        raise UsageError(
            "semantic codes need a sentence encoder: name one (",
            Named("--model NAME", "encoder='semantic:MODEL'"),
            ")",
        )
    if kind != "semantic" and model:
        raise UsageError(f"{kind} codes take no model; got {model!r}")
    given = [name for name, value in syntactic.items() if value is not None]
    if kind != "syntactic" and given:
        raise UsageError(f"{kind} codes read no trees; leave out {', '.join(given)}")
