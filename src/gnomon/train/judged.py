"""Judged outputs as examples to learn from: texts, labels, and which of them are held out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gnomon.agreement.pairing import title_of
from gnomon.core.errors import DataError, UnknownNameError
from gnomon.core.linked_groups import linked
from gnomon.messages.audiences import flag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.testset import TestSet
    from gnomon.train.recipe import HeadRecipe, HeldOutBy, Inputs

__all__ = ["ROLES", "JudgedOutputs", "judged_outputs"]


#: positions in an example of what each kind of input looks at: output, source, reference
ROLES: Mapping[str, tuple[int, ...]] = {
    "both": (0, 1, 2),
    "source": (0, 1),
    "reference": (0, 2),
    "source-alone": (1,),
    "output-alone": (0,),
}
_FEWEST = 10


class JudgedSet(NamedTuple):
    """One kind of segment scores of one test set."""

    place: int
    name: str
    kind: str
    mean: float = 0.0
    spread: float = 1.0


@dataclass(frozen=True, eq=False)
class JudgedOutputs:
    """Outputs with the scores that people gave them, one example per reference."""

    texts: tuple[str, ...]
    sides: NDArray[np.int64]
    cell: NDArray[np.int64]
    score: NDArray[np.float64]
    label: NDArray[np.float64]
    judged: NDArray[np.int64]
    output: NDArray[np.int64]
    group: NDArray[np.int64]
    held_out: NDArray[np.bool_]
    sets: tuple[JudgedSet, ...]

    def cell_means(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values of examples [E] as means over references [C]."""
        cells = len(self.score)
        return np.bincount(self.cell, values, cells) / np.bincount(self.cell, minlength=cells)


class _Example(NamedTuple):
    """A judged output with one of its references."""

    cell: int
    output: str
    source: str | None
    reference: str | None


def judged_outputs(
    testsets: Sequence[TestSet],
    recipe: HeadRecipe,
    *,
    human: Sequence[str] = (),
) -> JudgedOutputs:
    """Human scores of the segments of some test sets, of some kinds or the only one, divided.

    Outputs that are human translations are left out.
    """
    _check_kinds(testsets, human)
    sets: list[JudgedSet] = []
    examples: list[_Example] = []
    rows: list[tuple[int, int, int, int]] = []  # judged set, test set, system, segment
    scores: list[float] = []
    for test_set, testset in enumerate(testsets):
        _check_inputs(testset, recipe.inputs)
        people = {name for name, info in testset.info.items() if info.human}
        learnt = [name not in people for name in testset.systems]
        for kind in _kinds(testset, human):
            number = len(sets)
            sets.append(JudgedSet(test_set, title_of(testset), kind))
            values = testset.human_scores(kind)
            for system, segment in np.argwhere(np.isfinite(values)).tolist():
                of_output = _examples(testset, system, segment, recipe.inputs, len(scores))
                if of_output and learnt[system]:
                    examples += of_output
                    rows.append((number, test_set, system, segment))
                    scores.append(float(values[system, segment]))
    if not scores:
        raise DataError(
            "people scored no output whose text is there; look at the names of systems in the"
            " files of human scores"
        )
    judged, output = np.array(rows)[:, 0], np.array(rows)[:, 1:]
    group = _groups(testsets, output, recipe.held_out_by)
    held = _hold_out(output[:, 0], group, recipe)
    made = _numbered(examples, recipe.inputs)
    score = np.array(scores)
    sets = [_scaled(judged_set, score[(judged == n) & ~held]) for n, judged_set in enumerate(sets)]
    scale = np.array([(judged_set.mean, judged_set.spread) for judged_set in sets])[judged]
    label = (score - scale[:, 0]) / scale[:, 1]
    return JudgedOutputs(*made, score, label, judged, output, group, held, tuple(sets))


def _check_kinds(testsets: Sequence[TestSet], human: Sequence[str]) -> None:
    there = dict.fromkeys(k for testset in testsets for k in testset.human_kinds("segment"))
    for kind in human:
        if kind not in there and there:
            raise UnknownNameError("kind of segment scores", kind, there)


def _kinds(testset: TestSet, human: Sequence[str]) -> list[str]:
    """The kinds of segment scores that are taken of a test set."""
    there = testset.human_kinds("segment")
    taken = [kind for kind in there if not human or kind in human]
    if not there or not taken:
        others = dict.fromkeys(
            [*(f"{h.kind} of {h.level}s" for h in testset.human if h.level != "segment")]
            + [f"rankings {ranking.kind}" for ranking in testset.rankings]
            + [f"{kind} of segments" for kind in there]
        )
        alternatives = f"; there are: {', '.join(others)}" if others else ""
        wanted = f" by {', '.join(human)}" if human else ""
        raise DataError(
            f"{title_of(testset)}: people scored no segments of it{wanted}{alternatives}. A"
            " metric learns from scores of segments: leave the set out, or give a file of them (",
            flag("human", "FILE"),
            ")",
        )
    if len(taken) > 1 and not human:
        raise DataError(
            f"{title_of(testset)} has several kinds of segment scores, which may say the same"
            f" twice ({', '.join(taken)}); name those to learn from (",
            flag("human", taken[0]),
            ")",
        )
    return taken


def _check_inputs(testset: TestSet, inputs: Inputs) -> None:
    """Refuse a test set that lacks what the metric looks at."""
    if 1 in ROLES[inputs] and testset.sources is None:
        raise DataError(
            f"{title_of(testset)} has no sources, and the metric looks at them (inputs ="
            f" '{inputs}'); give some, or take inputs = 'reference'"
        )
    if 2 in ROLES[inputs] and not testset.outline.has_references:
        raise DataError(
            f"{title_of(testset)} has no references, and the metric looks at them (inputs ="
            f" '{inputs}'); give some, or take inputs = 'source'"
        )


def _examples(
    testset: TestSet, system: int, segment: int, inputs: Inputs, cell: int
) -> list[_Example]:
    """A judged output with each of its references; none where it lacks one."""
    name = list(testset.systems)[system]
    text = testset.systems[name][segment]
    source = testset.sources[segment] if testset.sources is not None else None
    if 2 not in ROLES[inputs]:
        return [_Example(cell, text, source, None)]
    system_references = testset.system_references.get(name, {})
    every = [*testset.references.values(), *system_references.values()]
    return [
        _Example(cell, text, source, reference[segment])
        for reference in every
        if reference[segment] is not None
    ]


def _numbered(
    examples: Sequence[_Example], inputs: Inputs
) -> tuple[tuple[str, ...], NDArray[np.int64], NDArray[np.int64]]:
    """Distinct texts, and examples by their numbers."""
    number: dict[str, int] = {}
    roles = ROLES[inputs]
    sides = np.full((len(examples), 3), -1, dtype=np.int64)
    for row, example in enumerate(examples):
        for role, text in enumerate((example.output, example.source, example.reference)):
            if role in roles:
                sides[row, role] = number.setdefault(text or "", len(number))
    return tuple(number), sides, np.array([example.cell for example in examples], dtype=np.int64)


# What is held out.


def _groups(
    testsets: Sequence[TestSet], output: NDArray[np.int64], by: HeldOutBy
) -> NDArray[np.int64]:
    """Numbers of groups: outputs of one document or segment, and of others with the same source.

    Where there are no sources, references take their place.
    """
    keys: dict[object, int] = {}
    units: list[list[int]] = []
    for test_set, _, segment in output.tolist():
        testset = testsets[test_set]
        texts = [testset.sources] if testset.sources else testset.references.values()
        held = testset.documents if by == "document" and testset.documents else None
        unit_keys: list[object] = [(test_set, segment if held is None else held[segment])]
        unit_keys += [side[segment] for side in texts if side[segment]]
        units.append([keys.setdefault(key, len(keys)) for key in unit_keys])
    root = linked(pair for unit in units for pair in pairwise(unit))
    roots = [root(unit[0]) for unit in units]
    groups: NDArray[np.int64] = np.unique(roots, return_inverse=True)[1].astype(np.int64)
    return groups


def _hold_out(
    test_set: NDArray[np.int64], group: NDArray[np.int64], recipe: HeadRecipe
) -> NDArray[np.bool_]:
    """Whole groups until the share of each test set is reached; none that is larger than that."""
    chosen: list[int] = []
    draw = np.random.default_rng([recipe.seed, 1])
    sizes = np.bincount(group)
    home = np.full(len(sizes), -1)
    home[group[::-1]] = test_set[::-1]  # the test set in which a group comes first
    for number in np.unique(home).tolist():
        set_groups = np.flatnonzero(home == number)
        wanted, taken = recipe.held_out * sizes[set_groups].sum(), 0
        for group_number in draw.permutation(set_groups).tolist():
            if taken < wanted and taken + sizes[group_number] <= max(1.5 * wanted, 1):
                chosen.append(group_number)
                taken += int(sizes[group_number])
    held: NDArray[np.bool_] = np.isin(group, chosen)
    if held.sum() < _FEWEST or (~held).sum() < _FEWEST or len(chosen) < 3:
        raise DataError(
            f"{len(group)} judged outputs, in {len(sizes)} groups ({recipe.held_out_by}s without a"
            f" common source), cannot be divided: {_FEWEST} outputs are needed to train on, and"
            f" {_FEWEST} of three groups to stop by; give more, hold out another share"
            " (held_out), or hold out single segments (held_out_by = 'segment')"
        )
    return held


def _scaled(judged_set: JudgedSet, scores: NDArray[np.float64]) -> JudgedSet:
    """A judged set with mean and standard deviation of its scores."""
    if len(scores) < 2 or float(scores.std()) == 0:
        raise DataError(
            f"{judged_set.name}: the {len(scores)} scores {judged_set.kind} that would be trained"
            " on do not differ, so that there is nothing to learn; leave the set out"
        )
    return judged_set._replace(mean=float(scores.mean()), spread=float(scores.std()))
