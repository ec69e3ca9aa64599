"""Paraphrases of references, by a model."""

from __future__ import annotations

import json
from collections import Counter, deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from gnomon.errors import DataError, UsageError
from gnomon.models import load_seq2seq
from gnomon.paraphrase._adequacy import filtered
from gnomon.paraphrase.generation._candidates import (
    CODED,
    GenerationOptions,
    Models,
    asked,
    digest,
    maker,
)
from gnomon.paraphrase.generation._saving import MadeBatch
from gnomon.testset import Paraphrase

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from gnomon.models import Precision, Seq2Seq
    from gnomon.paraphrase._constraints import Constraint
    from gnomon.paraphrase.generation._candidates import AskedGroup, Candidate, Maker
    from gnomon.testset import TestSet


# The model that is asked, and whether it can do what is asked of it.


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


#: what is counted beside paraphrases
COUNTS = ("bare", "short", "unreachable", "empty", "copies", "duplicates", "inadequate")
#: how often "sampled" and codes are asked again where filters leave too few
_ROUNDS = 4
_DEFAULT = GenerationOptions()
_BATCH = 32


@dataclass(frozen=True)
class Work:
    """Everything that is to be done, and by what."""

    testset: TestSet
    models: Models
    options: GenerationOptions
    groups: list[list[AskedGroup]]
    allow_code: bool = False

    @property
    def total(self) -> int:
        """How many segments there are."""
        return len(self.groups)

    @property
    def method(self) -> str:
        """What the paraphrases are called."""
        return method_name(self.models, self.options)

    def settings(self) -> dict[str, object]:
        """What the results depend on; not the size of batches."""
        asked_for = {"model": self.models.identity, "asked": digest(self.groups)}
        return {**self.options.settings(), **asked_for}

    def batches(self, size: int = _BATCH, after: int = 0) -> Iterator[MadeBatch]:
        """Make paraphrases of ``size`` segments at once, leaving out those done before."""
        if size < 1:
            raise UsageError(f"a batch holds at least 1 segment; got {size}")
        make = maker(self.models, self.options)
        for start in range(after, len(self.groups), size):
            part = self.groups[start : start + size]
            yield self._batch(make, part, min(start + size, len(self.groups)))

    def _batch(self, make: Maker, part: Sequence[Sequence[AskedGroup]], done: int) -> MadeBatch:
        counts = Counter(bare=sum(not self._texts(g) for g in range(done - len(part), done)))
        slots = [_Slot(group) for groups in part for group in groups]
        seen: set[tuple[int, str | None, str]] = set()
        while open_slots := [slot for slot in slots if len(slot.kept) < self.options.wanted]:
            _refill([slot for slot in open_slots if not slot.queue], make)
            offered = [one for slot in open_slots for one in self._offered(slot)]
            if not offered:
                break
            self._keep(offered, seen, counts)
        for slot in slots:
            counts["unreachable"] += slot.unmet
            counts["short"] += len(slot.kept) < self.options.wanted
        return MadeBatch(tuple(tuple(slot.kept) for slot in slots), done, counts)

    def _texts(self, segment: int) -> bool:
        return any((column[segment] or "").strip() for column in self.testset.references.values())

    def _offered(self, slot: _Slot) -> list[tuple[_Slot, Paraphrase]]:
        """As many candidates as are lacking."""
        drawn = self.options.seed if "seed" in self.options.settings() else None
        group = slot.group
        found: list[tuple[_Slot, Paraphrase]] = []
        while slot.queue and len(slot.kept) + len(found) < self.options.wanted:
            one = slot.queue.popleft()
            about = (self.method, group.system, one.score, drawn, self.models.identity)
            found.append((slot, Paraphrase(group.segment, one.text, *about)))
        return found

    def _keep(
        self,
        offered: Sequence[tuple[_Slot, Paraphrase]],
        seen: set[tuple[int, str | None, str]],
        counts: Counter[str],
    ) -> None:
        options = self.options
        new = []
        for slot, one in offered:
            key = (one.segment, one.system, one.text)
            if key in seen and one.text and not options.keep_duplicates:
                counts["duplicates"] += 1
            else:
                new.append((slot, one))
            seen.add(key)
        found = filtered(
            self.testset,
            [one for _, one in new],
            copies=not options.keep_copies,
            duplicates=False,
            metric=options.metric,
            least=options.least,
            allow_code=self.allow_code,
        )
        for name in ("empty", "copies", "inadequate"):
            counts[name] += getattr(found, name)
        left = {id(one) for one in found.kept}
        for slot, one in new:
            if id(one) in left:
                slot.kept.append(one)


@dataclass(eq=False)
class _Slot:
    """A group at work: candidates that wait, paraphrases kept."""

    group: AskedGroup
    queue: deque[Candidate] = field(default_factory=deque)
    kept: list[Paraphrase] = field(default_factory=list)
    round: int = 0
    unmet: int = 0


def plan(
    testset: TestSet,
    model: str | Seq2Seq,
    options: GenerationOptions = _DEFAULT,
    *,
    constraints: Sequence[Constraint] | None = None,
    codes: Coder | None = None,
    back: str | Seq2Seq | None = None,
    device: str | None = None,
    precision: Precision = "fp32",
    allow_code: bool = False,
) -> Work:
    """Check what is asked and load the models; see :func:`generate`."""
    models = load_models(model, back, device=device, precision=precision)
    check(models, options, constrained=constraints is not None, coder=codes is not None)
    own = None if codes is None else codes_of_outputs(testset, models.model, codes)
    groups = asked(testset, constraints=constraints, together=options.together, codes=own)
    return Work(testset, models, options, groups, allow_code)


def generate(
    testset: TestSet,
    model: str | Seq2Seq,
    options: GenerationOptions = _DEFAULT,
    *,
    constraints: Sequence[Constraint] | None = None,
    codes: Coder | None = None,
    back: str | Seq2Seq | None = None,
    device: str | None = None,
    precision: Precision = "fp32",
    batch: int = _BATCH,
    after: int = 0,
    allow_code: bool = False,
) -> Iterator[MadeBatch]:
    """Make paraphrases of references with a sequence-to-sequence model.

    What filters drop is replaced by the next best candidates, as long as there are any: a search
    gives as many as its beam holds, "sampled" and codes are asked four times. A segment with
    several references has n paraphrases, taken from them in turn. Empty references have none.

    Args:
        testset: references; outputs, for "output-codes".
        model: a folder or a name (see :func:`gnomon.models.load_seq2seq`), or a loaded model. It
            paraphrases, or, for "round-trip", translates into another language.
        options: the method and everything that it reads.
        constraints: what the paraphrases of the method "constrained" hold.
        codes: what assigns codes to outputs, for "output-codes".
        back: the model that translates back, for "round-trip".
        device: "cpu", "cuda", ...; by default a GPU if there is one.
        precision: see :func:`gnomon.models.load_seq2seq`.
        batch: segments at once.
        after: segments that were done before and are left out.
        allow_code: let the spec of a filter ``python('module:function')`` run code.

    Yields:
        The paraphrases of each batch, in the order of segments, with the model's identity, the
        seed where the method draws, and as score the log probability, divided by the length to
        the power of the penalty.

    Raises:
        MissingDependencyError: torch, transformers or a model is not installed.
        DataError: a folder holds no encoder-decoder model; codes or constraints do not fit.
        UsageError: the method cannot do what is asked.
    """
    work = plan(
        testset,
        model,
        options,
        constraints=constraints,
        codes=codes,
        back=back,
        device=device,
        precision=precision,
        allow_code=allow_code,
    )
    yield from work.batches(batch, after)


def _refill(slots: Sequence[_Slot], make: Maker) -> None:
    """Ask for another round of candidates, of all that have none left."""
    asking = [slot for slot in slots if slot.round < _ROUNDS]
    by_round: dict[int, list[_Slot]] = {}
    for slot in asking:
        by_round.setdefault(slot.round, []).append(slot)
    for number, group in sorted(by_round.items()):
        rows = iter(make([ask for slot in group for ask in slot.group.asks], number))
        for slot in group:
            columns = [next(rows) for _ in slot.group.asks]
            slot.queue.extend(_in_turn(columns))
            slot.round = number + 1 if slot.queue else _ROUNDS
            if number == 0:
                slot.unmet = _unmet(slot)


def _unmet(slot: _Slot) -> int:
    phrases = len(slot.group.asks[0].phrases)
    return min((one.unmet for one in slot.queue), default=phrases)


def _in_turn(columns: Sequence[Sequence[Candidate]]) -> list[Candidate]:
    """The best of each, then the second of each, ..."""
    longest = max(map(len, columns), default=0)
    return [column[rank] for rank in range(longest) for column in columns if rank < len(column)]


# A model as what makes paraphrases for half-splits of the systems.


_CONSTRAINED = GenerationOptions(method="constrained")


@dataclass(eq=False)
class ConstrainedBy:
    """Paraphrases that hold constraints, by a model; for :func:`half_splits`.

    What was asked in one split is not searched again in another one of the same test set.

    Attributes:
        model: a folder, a name, or a loaded model.
        options: of the method "constrained", one paraphrase per constraint.
        device: see :func:`gnomon.models.load_seq2seq`.
        precision: likewise.
        unreachable: constraints that no paraphrase holds, each counted once.
        searched: constraints searched for so far.
    """

    model: str | Seq2Seq
    options: GenerationOptions = _CONSTRAINED
    device: str | None = None
    precision: Precision = "fp32"
    unreachable: int = 0
    searched: int = 0
    _known: dict[tuple[str, ...], tuple[Paraphrase, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse other methods.

        Raises:
            UsageError: the method is not "constrained", or all constraints go together.
        """
        if self.options.method != "constrained" or self.options.together:
            raise UsageError("half-splits need the method constrained, with one constraint each")

    @property
    def identity(self) -> str:
        """Of the model, with the width of the search."""
        return f"{self._loaded().identity}, beam {self.options.width}"

    def notices(self) -> tuple[str, ...]:
        """What a user should know about the searches so far."""
        said = (
            f"the model was asked for {self.searched} constraints, each once;"
            f" {self.unreachable} were not reached"
        )
        return (said, *self._loaded().notices)

    def _loaded(self) -> Seq2Seq:
        return load_models(self.model, device=self.device, precision=self.precision).model

    def __call__(self, testset: TestSet, asked: Sequence[Constraint]) -> tuple[Paraphrase, ...]:
        """One paraphrase, or n, for each constraint; none where it cannot be reached."""
        keys = [_key(testset, one) for one in asked]
        new = {key: one for key, one in zip(keys, asked, strict=True) if key not in self._known}
        if new:
            self._search(testset, new)
        made = (one for key in keys for one in self._known[key])
        return tuple(dict.fromkeys(made))

    def _search(self, testset: TestSet, new: dict[tuple[str, ...], Constraint]) -> None:
        ordered = sorted(new.items(), key=lambda pair: pair[1].segment)
        work = plan(
            testset,
            self.model,
            # what one constraint brings does not depend on those asked beside it
            replace(self.options, keep_duplicates=True),
            constraints=[one for _, one in ordered],
            device=self.device,
            precision=self.precision,
        )
        batches = list(work.batches())
        self.unreachable += sum(batch.counts["unreachable"] for batch in batches)
        self.searched += len(new)
        keys = [key for key, one in ordered if work.groups[one.segment - 1]]
        self._known.update(dict.fromkeys(new, ()))
        self._known.update(
            zip(keys, (made for batch in batches for made in batch.groups), strict=True)
        )


def _key(testset: TestSet, one: Constraint) -> tuple[str, ...]:
    references = (column[one.segment - 1] or "" for column in testset.references.values())
    return (str(one.segment), one.text, *references)
