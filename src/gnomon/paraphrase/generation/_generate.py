"""Paraphrases of references, by a model."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gnomon.errors import UsageError
from gnomon.paraphrase._filters import filtered
from gnomon.paraphrase.generation._asked import asked, digest
from gnomon.paraphrase.generation._batch import Batch
from gnomon.paraphrase.generation._makers import maker
from gnomon.paraphrase.generation._models import check, codes_of_outputs, load_models, method_name
from gnomon.paraphrase.generation._options import GenerationOptions
from gnomon.testset import Paraphrase

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gnomon.models import Precision, Seq2Seq
    from gnomon.paraphrase._constraints import Constraint
    from gnomon.paraphrase.generation._asked import Group
    from gnomon.paraphrase.generation._makers import Candidate, Maker, Models
    from gnomon.paraphrase.generation._models import Coder
    from gnomon.testset import TestSet

__all__ = ["COUNTS", "Work", "generate", "plan"]

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
    groups: list[list[Group]]
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

    def batches(self, size: int = _BATCH, after: int = 0) -> Iterator[Batch]:
        """Make paraphrases of ``size`` segments at once, leaving out those done before."""
        if size < 1:
            raise UsageError(f"a batch holds at least 1 segment; got {size}")
        make = maker(self.models, self.options)
        for start in range(after, len(self.groups), size):
            part = self.groups[start : start + size]
            yield self._batch(make, part, min(start + size, len(self.groups)))

    def _batch(self, make: Maker, part: Sequence[Sequence[Group]], done: int) -> Batch:
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
        return Batch(tuple(tuple(slot.kept) for slot in slots), done, counts)

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

    group: Group
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
) -> Iterator[Batch]:
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
