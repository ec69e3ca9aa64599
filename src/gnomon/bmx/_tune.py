"""The search for an exponent and a weight, and all analyses of it, as a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gnomon.bmx._choices import GROUPS, RULES, halves
from gnomon.bmx._correlations import search
from gnomon.bmx._experiments import Grids, P, W
from gnomon.bmx._outcomes import Asked, found_iterations, iteration_rows, outcomes
from gnomon.bmx._power_mean import SHIFTS
from gnomon.bmx._tune_tables import (
    curve_rows,
    distribution_rows,
    experiment_rows,
    halves_row,
    relation_rows,
    setting_rows,
    table,
    views,
)
from gnomon.errors import DataError, UnknownNameError, UsageError
from gnomon.findings import Finding
from gnomon.signature import Signature
from gnomon.stats.significance import check_confidence, check_count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.bmx._choices import Group, Rule
    from gnomon.bmx._experiments import Experiment, Explained
    from gnomon.bmx._outcomes import Iteration, Outcome
    from gnomon.bmx._power_mean import Shift
    from gnomon.findings import Cell

    Floats = NDArray[np.float64]
    Row = Mapping[str, Cell]


# What a reader of a grid search should know, in sentences.


_IN_SAMPLE = (
    "All rules but held-out choose p and w on the very scores that they are judged on: expect less"
    " on other data."
)
_SHOWN = 8
_MANY = 0.5


def notices(
    grids: Grids, controls: Grids, asked: Asked, large: Collection[str] = ()
) -> tuple[str, ...]:
    """All that should be said.

    Args:
        grids: the experiments but for the controls.
        controls: the experiments of the random explainer.
        asked: what was asked for.
        large: metrics whose scores are far larger than random importances.
    """
    return (
        _IN_SAMPLE,
        *_undefined(grids),
        *_left_out(grids),
        *_groups(grids, asked),
        *_controls(grids, controls, large),
        *_collapsed(grids, asked),
    )


def _undefined(grids: Grids) -> Iterator[str]:
    for place, reason in sorted(grids.reasons.items())[:_SHOWN]:
        yield f"{grids.experiments[place]}: no correlation is defined: {reason}."
    if len(grids.reasons) > _SHOWN:
        yield f"{len(grids.reasons) - _SHOWN} more experiments have no defined correlation."
    still = [
        str(one)
        for i, one in enumerate(grids.experiments)
        if np.isnan(grids.base[i]) and i not in grids.reasons
    ]
    if still:
        more = f" and {len(still) - _SHOWN} more" if len(still) > _SHOWN else ""
        yield (
            f"The metric gives all segments the same score, so that there is nothing to gain over:"
            f" {', '.join(still[:_SHOWN])}{more}."
        )


def _left_out(grids: Grids) -> Iterator[str]:
    if grids.left_out is None or grids.used is None or not any(grids.left_out):
        return
    left = sum(grids.left_out)
    yield (
        f"{left} of {left + sum(grids.used)} segments lack a score, an explanation or a human"
        " score and are left out."
    )


def _groups(grids: Grids, asked: Asked) -> Iterator[str]:
    what = asked.held_out_by.replace("_", " ")
    number = len(grids.levels(asked.held_out_by))
    if number < 2:
        yield (
            f"There is one {what} alone, so that none can be held out"
            + ("; see the halves of its own segments." if grids.used is not None else ".")
        )
        return
    yield (
        f"Held-out: p and w by the rule {asked.held_out_rule!r} on all other {what}s, with one of"
        f" {number} held out in turn."
    )
    if number < 3:
        yield f"Intervals over {what}s need three of them; there are {number}."


def _controls(grids: Grids, controls: Grids, large: Collection[str]) -> Iterator[str]:
    there = {one.data for one in controls.experiments}
    without = [str(one) for one in grids.experiments if one.data not in there]
    if len(without) == len(grids.experiments):
        yield (
            "The random explainer was not run beside these, so that it is unknown how much of a"
            " gain any numbers in the place of importances would bring."
        )
    elif without:
        yield f"{len(without)} of {len(grids.experiments)} experiments have no random control."
    if controls.experiments and large:
        yield (
            f"Random importances lie in [0, 1], whatever the metric: scores of {', '.join(large)}"
            " are far larger, so that at the same weight the control hardly moves them."
        )


def _collapsed(grids: Grids, asked: Asked) -> Iterator[str]:
    if grids.collapsed is None or asked.shift != "paper":
        return
    shares = grids.collapsed[:, grids.p < 0]
    known = shares[~np.isnan(shares)]
    if len(known) and float(known.mean()) > _MANY:
        yield (
            f"Over p < 0, {float(known.mean()):.0%} of the power mean's values collapsed: the"
            " smallest importance, shifted to 1e-9, decides alone, and they tell of little but the"
            " number of words; the shifts 'floor' and 'exponential' do not collapse."
        )


#: scores beyond this dwarf random importances, which lie in [0, 1]
_SCALE = 10


def tune(
    experiments: Sequence[Explained] | Grids,
    *,
    p: Floats = P,
    w: Floats = W,
    shift: Shift = "paper",
    held_out_by: Group = "language_pair",
    held_out_rule: Rule = "largest-mean",
    alpha: float = 1.0,
    curves: int = 4,
    splits: int = 10,
    iterations: Sequence[Iteration] | None = None,
    count: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Finding:
    """Which exponent p and weight w make a metric and its explanations agree best with people?

    The whole grid of correlations from explanations that were computed once, and what Leiter et
    al. (2022) read from it: settings by several rules, gains and losses, what goes along with
    them; and gains on held-out data, against the metric alone and against the random explainer.

    Args:
        experiments: explanations of each experiment; or grids computed before (the published
            ones). Experiments of the explainer ``random`` are the controls of all others.
        p: exponents of the grid, rising; grids bring their own.
        w: weights of the metric, rising, the last of them 1; grids bring their own.
        shift: how importances are made positive: ``paper``, ``floor`` or ``exponential``.
        held_out_by: what is held out: ``language_pair`` or ``dataset``.
        held_out_rule: how p and w are chosen on the rest, see :func:`choose`.
        alpha: penalty of the ridge regression of gains on the names of experiments.
        curves: how many experiments are drawn over p, from the largest gain to the largest loss.
        splits: random splits of an experiment's own segments into halves; 0: none.
        iterations: second iterations and what they started from; by default those whose metric is
            a spec ``bmx(...)``.
        count: draws of the intervals.
        seed: of draws and splits.
        confidence: of the intervals.

    Returns:
        Tables ``settings`` (a row per explainer and rule), ``experiments``, ``halves``,
        ``density``, ``spread``, ``counts``, ``factors``, ``relation``, ``curves``, ``iterations``.

    Raises:
        DataError: there is no experiment, or none but controls, or one comes twice.
        UnknownNameError: no such shift, group or rule.
        UsageError: an option is out of its range.
    """
    asked = Asked(shift, held_out_by, held_out_rule, alpha, curves, count, seed, confidence)
    _check(asked, splits)
    explained = () if isinstance(experiments, Grids) else tuple(experiments)
    grids = (
        experiments if isinstance(experiments, Grids) else search(explained, p=p, w=w, shift=shift)
    )
    mine, controls = _parted(grids)
    by_name = {one.experiment: one for one in explained}
    tuned = [one for one in explained if not one.experiment.is_control]
    second = found_iterations(grids) if iterations is None else iterations
    return _finding(
        mine,
        controls,
        asked,
        _outcomes(mine, controls, by_name, asked),
        [_halves(one, mine, by_name, asked, splits) for one in tuned if splits],
        list(iteration_rows(grids, second)),
        by_name,
    )


def _check(asked: Asked, splits: int) -> None:
    for kind, given, known in (
        ("shift", asked.shift, SHIFTS),
        ("group", asked.held_out_by, GROUPS),
        ("rule", asked.held_out_rule, RULES),
    ):
        if given not in known:
            raise UnknownNameError(kind, str(given), known)
    check_count(asked.count)
    check_confidence(asked.confidence)
    if asked.curves < 0 or splits < 0 or not asked.alpha > 0:
        raise UsageError(
            "curves and splits are 0 or more, and the penalty alpha is above 0; got"
            f" {asked.curves}, {splits} and {asked.alpha}"
        )


def _parted(grids: Grids) -> tuple[Grids, Grids]:
    """Experiments, and their controls.

    Raises:
        DataError: there is nothing to tune, or one experiment comes twice.
    """
    seen = set()
    for one in grids.experiments:
        if one in seen:
            raise DataError(f"experiment {one} comes twice; give each once")
        seen.add(one)
    control = [i for i, one in enumerate(grids.experiments) if one.is_control]
    rest = [i for i, one in enumerate(grids.experiments) if not one.is_control]
    if not rest:
        raise DataError(
            f"nothing to tune: of {len(grids.experiments)} experiments none is of another explainer"
            " than random, which is the control"
        )
    return grids.take(rest), grids.take(control)


def _families(grids: Grids) -> Iterator[Grids]:
    """The experiments explainer by explainer, and by whose words were explained."""
    for key in dict.fromkeys((one.explainer, one.sides) for one in grids.experiments):
        yield grids.where(explainer=key[0], sides=key[1])


def _outcomes(
    grids: Grids, controls: Grids, by_name: Mapping[Experiment, Explained], asked: Asked
) -> list[tuple[Grids, list[Outcome]]]:
    return [(one, outcomes(one, controls, by_name, asked)) for one in _families(grids)]


def _halves(
    one: Explained,
    grids: Grids,
    by_name: Mapping[Experiment, Explained],
    asked: Asked,
    splits: int,
) -> Row:
    controls = (
        other
        for name, other in by_name.items()
        if name.is_control and name.data == one.experiment.data
    )
    control = next((other for other in controls if len(other.human) == len(one.human)), None)
    found = halves(
        one, control, p=grids.p, w=grids.w, shift=asked.shift, splits=splits, seed=asked.seed
    )
    return halves_row(one.experiment, found)


def _finding(
    grids: Grids,
    controls: Grids,
    asked: Asked,
    found: Sequence[tuple[Grids, list[Outcome]]],
    halved: Sequence[Row],
    iterated: Sequence[Row],
    by_name: Mapping[Experiment, Explained],
) -> Finding:
    every = [one for _, some in found for one in some]
    density, spread, counted, factors = distribution_rows(every, asked)
    rows: dict[str, Sequence[Row]] = {
        "settings": [row for one, some in found for row in setting_rows(one, some, asked)],
        "experiments": [row for one, some in found for row in experiment_rows(one, some)],
        "halves": halved,
        "density": density,
        "spread": spread,
        "counts": counted,
        "factors": factors,
        "relation": list(relation_rows(every)),
        "curves": list(curve_rows(grids, every, asked.curves)),
        "iterations": iterated,
    }
    notes = {
        "factors": f"Ridge regression, alpha {asked.alpha:g}: an indicator for every level, gains"
        " and indicators centred, the intercept not penalised.",
        "density": "Gaussian kernels; the bandwidth is the median of Silverman's of the groups.",
    }
    tables = {name: table(name, some, notes.get(name, "")) for name, some in rows.items() if some}
    return Finding(
        method="bmx tune",
        title="BMX: what explanations add to a metric",
        tables=tuple(tables.values()),
        signatures=_signatures(grids, asked, by_name),
        views=views(tables),
        notices=(*notices(grids, controls, asked, _large(by_name)), *_own_notices(by_name)),
        facts=_facts(grids, controls),
    )


def _own_notices(by_name: Mapping[Experiment, Explained]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(notice for one in by_name.values() for notice in one.notices))


def _large(by_name: Mapping[Experiment, Explained]) -> list[str]:
    """The metrics whose scores reach beyond ten times the largest random importance."""
    return list(
        dict.fromkeys(
            name.metric for name, one in by_name.items() if (abs(one.score) > _SCALE).any()
        )
    )


def _signatures(
    grids: Grids, asked: Asked, by_name: Mapping[Experiment, Explained]
) -> dict[str, str]:
    said = Signature("bmx tune").adding(
        shift=asked.shift,
        p=f"{grids.p[0]:g} to {grids.p[-1]:g} ({len(grids.p)})",
        w=",".join(f"{w:g}" for w in grids.w),
        held_out=f"{asked.held_out_by} by {asked.held_out_rule}",
        alpha=f"{asked.alpha:g}",
        draws=asked.count,
        confidence=asked.confidence,
        seed=asked.seed,
    )
    own = {str(name): one.signature for name, one in by_name.items() if one.signature}
    return {"bmx tune": str(said), **own}


def _facts(grids: Grids, controls: Grids) -> dict[str, str]:
    told = {
        "experiments": f"{len(grids.experiments)} and {len(controls.experiments)} controls",
        "data": ", ".join(grids.levels("dataset")),
        "language pairs": ", ".join(grids.levels("language_pair")),
        "metrics": ", ".join(grids.levels("metric")),
        "explainers": ", ".join(grids.levels("explainer")),
    }
    if grids.used is not None:
        told["segments"] = ", ".join(map(str, dict.fromkeys(grids.used)))
    return told
