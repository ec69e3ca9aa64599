"""The model that is asked, and whether it can do what is asked of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

from gnomon.errors import DataError, UsageError
from gnomon.models import load_seq2seq
from gnomon.paraphrase.generation._makers import Models
from gnomon.paraphrase.generation._options import CODED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from gnomon.models import Precision, Seq2Seq
    from gnomon.paraphrase.generation._options import GenerationOptions
    from gnomon.testset import TestSet

__all__ = ["AUTO_CODES", "Coder", "check", "codes_of_outputs", "load_models", "method_name"]

#: how training describes what it made
_ABOUT = "gnomon-paraphraser.json"
AUTO_CODES = (
    "the model was trained with sentence codes; without a code method the search, or the draw,"
    " chooses the code of each paraphrase itself"
)


class Coder(Protocol):
    """What assigns a code to a sentence; see ``gnomon.paraphrase.codes``."""

    @property
    def kind(self) -> str:
        """What its codes stand for: "semantic", "syntactic" or "random"."""

    @property
    def k(self) -> int:
        """How many codes it has."""

    @property
    def identity(self) -> str:
        """Hash of what decides a code."""

    def assign(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """The code of each text, from 0; -1 for texts that have none."""


def load_models(
    model: str | Seq2Seq,
    back: str | Seq2Seq | None = None,
    *,
    device: str | None = None,
    precision: Precision = "fp32",
) -> Models:
    """Load the models that are named.

    Raises:
        MissingDependencyError: torch, transformers or a model is not installed.
        DataError: a folder holds no encoder-decoder model.
        UsageError: the machine has no such device.
    """
    first, second = (
        load_seq2seq(one, device=device, precision=precision) if isinstance(one, str) else one
        for one in (model, back)
    )
    if first is None:
        raise UsageError("no model is named")
    return Models(first, second)


def check(models: Models, options: GenerationOptions, *, constrained: bool, coder: bool) -> None:
    """Refuse what the models cannot do, and what the method lacks or does not read.

    Raises:
        UsageError: likewise.
    """
    name, method = models.model.folder.name, options.method
    needs = {
        "constrained": ("constraints", constrained),
        "output-codes": ("the codes of outputs", coder),
        "round-trip": ("a model that translates back", models.back is not None),
    }
    for owner, (what, given) in needs.items():
        if given is not (owner == method):
            told = f"needs {what}" if owner == method else f"does not read {what}"
            raise UsageError(f"the method {method} {told}; {owner} does")
    codes = len(models.model.codes)
    if method in CODED and not codes:
        raise UsageError(
            f"the method {method} asks for sentence codes, and the model {name!r} knows none; take"
            " one that was trained with codes, or the method beam, sampled or diverse"
        )
    if method in ("codes", "random-codes") and options.wanted > codes:
        raise UsageError(f"the model {name!r} has {codes} codes; {options.wanted} are asked for")


def method_name(models: Models, options: GenerationOptions) -> str:
    """What paraphrases are called: ``beam``, ``codes-semantic``, ``random-codes-syntactic``."""
    kind = _code_facts(models.model).get("kind") if options.method in CODED else None
    return f"{options.method}-{kind}" if kind else options.method


def codes_of_outputs(testset: TestSet, model: Seq2Seq, coder: Coder) -> dict[str, list[int]]:
    """The code of each output of each system.

    Raises:
        DataError: there are no systems, or the codes are not those of the model.
    """
    if not testset.systems:
        raise DataError("the codes are those of outputs, and the test set holds no systems")
    _check_coder(model, coder)
    texts = list(dict.fromkeys(text for column in testset.systems.values() for text in column))
    found: dict[str, int] = dict(zip(texts, coder.assign(texts).tolist(), strict=True))
    beyond = max(found.values(), default=-1)
    if beyond >= 0 and beyond not in model.codes:
        raise DataError(
            f"an output has code {beyond}, and the model {model.folder.name!r} knows"
            f" {len(model.codes)} codes, counted from 0; were they made for another model?"
        )
    return {name: [found[text] for text in column] for name, column in testset.systems.items()}


def _check_coder(model: Seq2Seq, coder: Coder) -> None:
    """Refuse codes that the model was not trained with, as far as it says."""
    facts = _code_facts(model)
    trained = facts.get("identity")
    if trained is not None:
        if trained != coder.identity:
            raise DataError(
                f"the model {model.folder.name!r} was trained with the codes {trained}, and those"
                f" given are {coder.identity}; name the folder of codes that it was trained with"
            )
        return
    known = (facts.get("kind"), facts.get("count") or len(model.codes))
    for trained, given, what in zip(known, (coder.kind, coder.k), ("kind", "number"), strict=True):
        if trained is not None and trained != given:
            raise DataError(
                f"the {what} of the codes that the model {model.folder.name!r} was trained with is"
                f" {trained}, and of those given {given}; name the folder of codes that it was"
                " trained with"
            )
    model.say(
        f"{model.folder.name} does not say which codes it was trained with (train --codes-folder"
        " makes it do so); that those given are the same is taken on trust"
    )


def _code_facts(model: Seq2Seq) -> Mapping[str, Any]:
    path = model.folder.path / _ABOUT
    if not path.is_file():
        return {}
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {error}") from error
    codes = facts.get("codes") if isinstance(facts, dict) else None
    return codes if isinstance(codes, dict) else {}
