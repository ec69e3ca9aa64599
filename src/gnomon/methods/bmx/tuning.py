"""Which exponent and weight agree best with people: the search, and all analyses of it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np

from gnomon.core.cache import Cache
from gnomon.core.errors import DataError, UsageError
from gnomon.core.findings import Finding
from gnomon.core.options import (
    FILES,
    Count,
    DrawOptions,
    Group,
    Limits,
    Metavar,
    OutputFile,
    Positive,
    Rare,
    with_fields,
)
from gnomon.core.registry import method
from gnomon.core.signature import Signature
from gnomon.core.testset import TestSet
from gnomon.core.validation import Problem
from gnomon.data.formats import human_files, with_human
from gnomon.methods.bmx._choices import HeldOutBy, Rule, halves
from gnomon.methods.bmx._correlations import search
from gnomon.methods.bmx._engine import Progress
from gnomon.methods.bmx._experiments import RANDOM, Explained, Grids, P, W, explained, human_scores
from gnomon.methods.bmx._explain import explainer_faults, listed
from gnomon.methods.bmx._explanations import MAX_CALLS, ExplainedSides
from gnomon.methods.bmx._outcomes import TuneOptions, held_back_outcomes, outcomes
from gnomon.methods.bmx._power_mean import Shift
from gnomon.methods.bmx._verdict import TUNE_CLAIMS, tune_verdict
from gnomon.methods.bmx.explainers import Explainers, find_explainer
from gnomon.methods.bmx.explanation_files import read_explanations
from gnomon.methods.bmx.metric import PUBLISHED
from gnomon.methods.bmx.paper.figures import figure_rows, held_back_figure_rows
from gnomon.methods.bmx.paper.grid_files import read_grids, write_grids
from gnomon.methods.bmx.paper.second_iteration import (
    Iteration,
    boosted_metrics,
    found_iterations,
    iteration_notices,
    iteration_rows,
)
from gnomon.methods.bmx.tuning_tables import (
    ROWS,
    experiment_rows,
    halves_row,
    held_back_rows,
    setting_rows,
    table,
    views,
)
from gnomon.metrics.protocol import Metrics

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import NDArray

    from gnomon.core.options import BoundOptions
    from gnomon.core.records import Record
    from gnomon.core.summary import Outline
    from gnomon.methods.bmx._experiments import Experiment
    from gnomon.methods.bmx._outcomes import RuleOutcome
    from gnomon.methods.bmx.paper.second_iteration import IterationStart

    Floats = NDArray[np.float64]

__all__ = []


_EXAMPLES = """\
examples:
  gnomon bmx tune -t wmt17/cs-en wmt17/de-en wmt17/fi-en -m chrf --explainers erasure lime
  gnomon bmx tune -t wmt21/en-de -m bertscore --human mqm --sample 200 --html report.html
  gnomon bmx tune -t wmt17/cs-en --explanations chrf.erasure.jsonl
  gnomon bmx tune --grids corr_grid.npz --only dataset=wmt17,mqm21 sides=both
  gnomon bmx tune -t wmt17/cs-en wmt17/de-en wmt17/fi-en -m chrf --held-back language_pair=fi-en
  gnomon bmx tune -t wmt21/en-de -m chrf --scale 100 --fixed -0.3 0.6 --second-iteration

The test sets need human scores of segments. The random explainer runs beside the others: it costs
no scores, and tells how much of a gain any numbers would bring.
"""
_DATA = Group("explanations")
_SEARCH = Group("the search")


# What a reader of a grid search should know, in sentences.


_IN_SAMPLE = (
    "All rules but held-out choose p and w on the very scores that they are judged on: expect less"
    " on other data."
)
_KERNELS = "Gaussian kernels; the bandwidth is the median of Silverman's of the groups."
_SHOWN = 8
_MANY = 0.5


def notices(
    grids: Grids, controls: Grids, options: TuneOptions, large: Collection[str] = ()
) -> tuple[str, ...]:
    """All notices of a grid search."""
    return (
        _IN_SAMPLE,
        *_undefined(grids),
        *_left_out(grids),
        *_groups(grids, options),
        *_controls(grids, controls, large),
        *_collapsed(grids, options),
    )


def _undefined(grids: Grids) -> Iterator[str]:
    for index, reason in sorted(grids.reasons.items())[:_SHOWN]:
        yield f"{grids.experiments[index]}: no correlation is defined: {reason}."
    if len(grids.reasons) > _SHOWN:
        yield f"{len(grids.reasons) - _SHOWN} more experiments have no defined correlation."
    still = [
        str(experiment)
        for i, experiment in enumerate(grids.experiments)
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


def _groups(grids: Grids, options: TuneOptions) -> Iterator[str]:
    what = options.held_out_by.replace("_", " ")
    number = len(grids.levels(options.held_out_by))
    if number < 2:
        yield (
            f"There is one {what} alone, so that none can be held out"
            + ("; see the halves of its own segments." if grids.used is not None else ".")
        )
        return
    yield (
        f"Held-out: p and w by the rule {options.held_out_rule!r} on all other {what}s, with one of"
        f" {number} held out in turn."
    )
    if number < 3:
        yield f"Intervals over {what}s need three of them; there are {number}."


def _controls(grids: Grids, controls: Grids, large: Collection[str]) -> Iterator[str]:
    controlled = {experiment.data for experiment in controls.experiments}
    without = [
        str(experiment) for experiment in grids.experiments if experiment.data not in controlled
    ]
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
            " are far larger, so that at the same weight the control hardly moves them; divide them"
            " (--scale 100; scale=100)."
        )


def _collapsed(grids: Grids, options: TuneOptions) -> Iterator[str]:
    if grids.collapsed is None or options.shift != "paper":
        return
    shares = grids.collapsed[:, grids.p < 0]
    defined = shares[~np.isnan(shares)]
    if len(defined) and float(defined.mean()) > _MANY:
        yield (
            f"Over p < 0, {float(defined.mean()):.0%} of the power mean's values collapsed: the"
            " smallest importance, shifted to 1e-9, decides alone, and they tell of little but the"
            " number of words; the shifts 'floor' and 'exponential' do not collapse."
        )


#: scores beyond this dwarf random importances, which lie in [0, 1]
_SCALE = 10


# The method.


def check_tune(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """What :func:`gnomon.bmx.tune` refuses of options that fit each alone."""
    if options.fixed is not None and (len(options.fixed) != 2 or not 0 <= options.fixed[1] <= 1):
        reason = (
            f"fixed is p and w, a number and one in [0, 1]; got {' '.join(map(str, options.fixed))}"
        )
        yield Problem("fixed", UsageError(reason))
    if options.only and not options.grids:
        yield Problem(
            "only", UsageError("only goes with grids: it chooses among their experiments")
        )
    if options.grids:
        for name, value in {
            "explanations": options.explanations,
            "p": options.p,
            "w": options.w,
        }.items():
            if value is not None and len(value):  # lists and arrays
                reason = f"grids goes without {name}: it brings correlations that were made before"
                yield Problem("grids", UsageError(reason))
        return
    if options.explanations:
        if options.sets > 1:
            reason = f"explanations goes with one test set, and {options.sets} are named; give one"
            yield Problem("explanations", UsageError(reason))
        return
    yield from explainer_faults(
        outline, options.metrics, options.explainers, allow_code=options.allow_code
    )


def _data_of_command(inputs: Any, options: Mapping[str, Any]) -> tuple[Any, ...]:
    """The test sets that a command line names; none where it names grids."""
    if not options.get("grids"):
        return (inputs.testsets(),)
    if inputs.has_testset:
        raise UsageError("--grids brings correlations that were made before; leave out the data")
    return (None,)


def _with_human_file(each: Sequence[Any], human: str) -> tuple[list[Any], str]:
    """A test set with the human scores of a file, and the kind that these are."""
    testsets = [data for data in each if isinstance(data, TestSet)]
    if len(testsets) != 1:
        raise UsageError(
            f"human is the file {human}, which is of one test set, and {len(testsets)} are given;"
            " give one test set, or name a kind"
        )
    judged, kinds = with_human(testsets[0], human)
    if len(kinds) != 1:
        raise UsageError(f"{human} holds several kinds of human scores: {', '.join(kinds)}")
    return [judged if data is testsets[0] else data for data in each], kinds[0]


@method(
    "bmx.tune",
    answers="which p and w make a metric and its explanations agree best with people",
    title="BMX: choice of p and w",
    examples=_EXAMPLES,
    data=("data", "second_iterations"),
    given=_data_of_command,
    rows=ROWS,
    metrics="all",
    human=True,
    judged=True,
    check=check_tune,
    verdict=tune_verdict,
    claims=TUNE_CLAIMS,
)
@with_fields(draws=DrawOptions)
def tune(
    data: TestSet | Sequence[TestSet] | Sequence[Explained] | Grids | None = None,
    metrics: Metrics = "bleu",
    explainers: Explainers = "erasure",
    *,
    human: Annotated[str | None, FILES, Metavar("KIND|FILE"), _DATA] = None,
    human_systems: Annotated[bool, _DATA, Rare()] = False,
    sides: Annotated[ExplainedSides, _DATA] = "both",
    scale: Annotated[float, Limits(1e-9, 1e9), Metavar("X"), _DATA] = 1.0,
    sample: Annotated[Positive | None, _DATA] = None,
    max_calls: Annotated[Positive, _DATA, Rare()] = MAX_CALLS,
    explanations: Annotated[Sequence[str | os.PathLike[str]], FILES, Metavar("FILE"), _DATA] = (),
    grids: Annotated[str | os.PathLike[str] | None, FILES, Metavar("FILE"), _DATA, Rare()] = None,
    only: Annotated[
        Mapping[str, str | Sequence[str]] | None, Metavar("FACTOR=NAME[,NAME]"), _DATA, Rare()
    ] = None,
    save_grids: Annotated[OutputFile, Rare()] = None,
    p: Annotated[Sequence[float] | None, Metavar("P"), _SEARCH, Rare()] = None,
    w: Annotated[Sequence[float] | None, Limits(0, 1), Metavar("W"), _SEARCH, Rare()] = None,
    shift: Annotated[Shift, _SEARCH] = "paper",
    held_out_by: Annotated[HeldOutBy, _SEARCH] = "language_pair",
    held_out_rule: Annotated[Rule, _SEARCH, Rare()] = "largest-mean",
    held_back: Annotated[
        Mapping[str, str | Sequence[str]] | None, Metavar("FACTOR=NAME[,NAME]"), _SEARCH, Rare()
    ] = None,
    fixed: Annotated[Sequence[float] | None, Metavar("X"), _SEARCH, Rare()] = None,
    ridge: Annotated[float, Limits(1e-12, 1e12), Metavar("X"), _SEARCH, Rare()] = 1.0,
    curves: Annotated[Count, _SEARCH, Rare()] = 4,
    splits: Annotated[Count, _SEARCH, Rare()] = 10,
    second_iteration: Annotated[bool, _SEARCH, Rare()] = False,
    second_iterations: Sequence[Iteration] | None = None,
    draws: DrawOptions,
    cache: Cache | None = None,
    progress: Progress | None = None,
    allow_code: bool = False,
) -> Finding:
    """Which exponent p and weight w make a metric and its explanations agree best with people?

    The whole grid of correlations from explanations that were computed once, and what Leiter et
    al. (2022) read from it: settings by several rules, gains and losses, what goes along with
    them; and gains on held-out data, against the metric alone and against the random explainer.

    Args:
        data: test sets with human scores of segments, which are explained, by the random explainer,
            too; or experiments that :func:`explained` made; or grids. Experiments of the explainer
            ``random`` are the controls of all others. None where ``grids`` names a file.
        metrics: one or several, as in :func:`explanations`.
        human: kind of the human scores, or a file of them for a single test set; may be left out
            where there is one kind.
        human_systems: whether outputs that are human translations count.
        scale: what the metrics' scores are divided by, 100 for metrics on 0 to 100: random
            importances, the control, lie in [0, 1].
        sample: so many of the judged segments of each test set, drawn with the seed over all
            systems; all by default.
        max_calls: most pairs of texts that may be scored for each experiment.
        explanations: files of explanations of one test set, made before, in the place of metrics
            and explainers: JSONL with system, segment, side, importance and score.
        grids: a file of correlations made before, .npz; see :func:`read_grids`.
        only: of these grids, some alone, by dataset, language_pair, metric, explainer or sides;
            several names as a list, or with commas.
        save_grids: a file for all correlations, .npz.
        p: exponents of the grid, rising; by default all tenths from -30 to 29.9.
        w: weights of the metric, rising, the last of them 1; by default all fifths.
        shift: how importances are made positive; that of the paper collapses for p < 0.
        held_out_by: what is held out in turn.
        held_out_rule: how p and w are chosen on the rest, see :func:`choose`; most-improving and
            largest-mean choose among w < 1 alone.
        held_back: experiments that p and w are not chosen on but judged on, by dataset,
            language_pair, metric, explainer or sides.
        fixed: p and w, two numbers, that are judged too: on what is held back, else on all.
        ridge: penalty of the ridge regression of gains on the names of experiments.
        curves: how many experiments are drawn over p, from the largest gain to the largest loss.
        splits: random splits of an experiment's own segments into halves; 0 for none.
        second_iteration: explain every metric once more as the first iteration boosts it, by the
            published p and w of the explainer or the fixed ones, and tell what that adds; with
            grids, set second iterations apart.
        second_iterations: second iterations and what they started from; by default those whose
            metric is a spec ``bmx(...)``.

    Returns:
        Tables ``settings`` (a row per explainer and rule), ``experiments``, ``halves``,
        ``density``, ``spread``, ``counts``, ``factors``, ``relation``, ``curves``,
        ``iterations``, ``grid_density`` (gains over all p and w), ``best_spread`` (the best p and w
        of every experiment), and what was held back: ``held_back`` (a row per explainer, data and
        rule), ``held_back_experiments``, ``held_back_density``, ``held_back_counts``,
        ``held_back_curves``.

    Raises:
        DataError: there is no experiment, or none but controls, or one comes twice; or people
            scored no segment.
        UsageError: an option is out of its range, or options contradict each other.
        GnomonError: whatever :func:`explained` and :func:`read_grids` raise.
    """
    made: Sequence[Explained] | Grids
    if grids is not None:
        made = _chosen(read_grids(grids), only or {})
    elif data is None:
        raise UsageError("there is nothing to tune: give test sets, experiments or grids")
    elif isinstance(data, Grids):
        made = data
    else:
        each: list[Any] = [data] if isinstance(data, TestSet) else list(data)
        if human is not None and human_files(human)[0]:
            each, human = _with_human_file(each, human)
        testsets = [data for data in each if isinstance(data, TestSet)]
        made = [data for data in each if isinstance(data, Explained)]
        explaining: dict[str, Any] = {
            "human": human,
            "sides": sides,
            "scale": scale,
            "sample": sample,
            "seed": draws.seed,
            "human_systems": human_systems,
            "max_calls": max_calls,
            "cache": cache,
            "progress": progress,
            "allow_code": allow_code,
        }
        if explanations:
            read = [read_explanations(path, testsets[0], human=human) for path in explanations]
            made += [_scaled(explanations, scale) for explanations in read]
        elif testsets:
            for testset in testsets:  # what is missing is said before anything is explained
                human_scores(testset, human, human_systems=human_systems)
            random = (
                [] if any(_is_control(explainer) for explainer in listed(explainers)) else [RANDOM]
            )
            several = [*listed(explainers), *random]
            pairs = [(testset, metric) for testset in testsets for metric in listed(metrics)]
            again = boosted_metrics(
                pairs, listed(explainers), fixed, (shift, sides, scale, max_calls, allow_code)
            ) if second_iteration else []  # fmt: skip
            first = [(*pair, explainer) for pair in pairs for explainer in several]
            made += [explained(*request, **explaining) for request in [*first, *again]]
    options = TuneOptions(
        shift,
        held_out_by,
        held_out_rule,
        ridge,
        curves,
        draws.resamples,
        draws.seed,
        draws.confidence,
    )
    every = () if isinstance(made, Grids) else tuple(made)
    if not isinstance(made, Grids):
        made = search(
            every, p=P if p is None else np.asarray(p, dtype=np.float64),
            w=W if w is None else np.asarray(w, dtype=np.float64), shift=shift,
        )  # fmt: skip
    if save_grids:
        write_grids(save_grids, made)
    second = found_iterations(made) if second_iterations is None else second_iterations
    apart = {iteration.second for iteration in second} if second_iteration else set()
    mine, controls, aside = _split_experiments(made, apart)
    others, back = _held_back(mine, held_back or {}, fixed)
    by_name = {explanations.experiment: explanations for explanations in every}
    tuned = [by_name[name] for name in others.experiments if name in by_name]
    return _finding(
        others,
        controls,
        options,
        [(family, outcomes(family, controls, by_name, options)) for family in _families(others)],
        [_halves(each, others, by_name, options, splits) for each in tuned if splits],
        list(iteration_rows(made, second)),
        by_name,
        _BackTables.of(back, others, controls, by_name, options, fixed),
        aside,
    )


def _scaled(explained: Explained, scale: float) -> Explained:
    """Explanations of a file in units of the scale; random ones have no units."""
    values = explained.values if explained.experiment.is_control else explained.values / scale
    return replace(explained, score=explained.score / scale, values=values)


def _held_back(
    grids: Grids, wanted: Mapping[str, str | Sequence[str]], fixed: Sequence[float] | None
) -> tuple[Grids, Grids]:
    """The experiments to choose on, and those that are held back.

    Without a word on these, a fixed setting is judged on all.
    """
    if not wanted:
        return grids, grids if fixed is not None else grids.take([])
    back = set(_chosen(grids, wanted).experiments)
    rest = [i for i, experiment in enumerate(grids.experiments) if experiment not in back]
    if not rest:
        raise DataError(
            f"all {len(grids.experiments)} experiments are held back, and none is left to choose p"
            " and w on; to judge a setting of your own on all, give it alone (--fixed P W)"
        )
    return grids.take(rest), grids.take([i for i in range(len(grids.experiments)) if i not in rest])


class _BackTables(NamedTuple):
    """What settings do on held-back data.

    - ``grids``: the experiments.
    - ``found``: their outcomes, explainer by explainer.
    - ``chosen``: whether p and w were chosen on other experiments.
    """

    grids: Grids
    found: list[tuple[Grids, list[RuleOutcome]]]
    chosen: bool

    @classmethod
    def of(
        cls,
        back: Grids,
        others: Grids,
        controls: Grids,
        by_name: Mapping[Experiment, Explained],
        options: TuneOptions,
        fixed: Sequence[float] | None,
    ) -> _BackTables:
        """Outcomes of every explainer; its settings are chosen on its other experiments."""
        chosen = back is not others
        families = []
        for family in _families(back):
            explainer, sides = family.experiments[0].explainer, family.experiments[0].sides
            same_explainer = [
                i
                for i, other in enumerate(others.experiments)
                if chosen and (other.explainer, other.sides) == (explainer, sides)
            ]
            published = PUBLISHED.get(explainer.split("(")[0])
            outcomes_found = held_back_outcomes(
                family,
                others.take(same_explainer),
                controls,
                by_name,
                options,
                published=None if published is None else (published.p, published.w),
                fixed=None if fixed is None else (float(fixed[0]), float(fixed[1])),
            )
            if outcomes_found:
                families.append((family, outcomes_found))
        return cls(back, families, chosen)

    @property
    def every(self) -> list[RuleOutcome]:
        """The outcomes of all explainers."""
        return [outcome for _, some in self.found for outcome in some]

    def rows(self, options: TuneOptions) -> dict[str, Sequence[Record]]:
        """Rows of the tables of what was held back; none where nothing was."""
        if not self.found:
            return {}
        rule = next((r for r in ("fixed", "median", "published") if r in self._rules), "")
        return {
            "held_back": [
                row for family, some in self.found for row in held_back_rows(family, some, options)
            ],
            "held_back_experiments": [
                row for family, some in self.found for row in experiment_rows(family, some)
            ],
            **held_back_figure_rows(self.grids, self.every, options, rule),
        }

    @property
    def _rules(self) -> set[str]:
        return {outcome.rule for outcome in self.every}


def _is_control(explainer: Any) -> bool:
    return find_explainer(explainer).name == RANDOM


def _chosen(grids: Grids, only: Mapping[str, str | Sequence[str]]) -> Grids:
    wanted = {
        factor: names.split(",") if isinstance(names, str) else list(names)
        for factor, names in only.items()
    }
    return grids.where(**wanted)


def _split_experiments(
    grids: Grids, apart: Collection[Experiment]
) -> tuple[Grids, Grids, Sequence[Experiment]]:
    """Experiments but for some that are set apart, their controls, and those that are no metrics.

    Random explainers are the controls. Random metrics and rows of faulty runs count as nothing.
    """
    seen = set()
    for experiment in grids.experiments:
        if experiment in seen:
            raise DataError(f"experiment {experiment} comes twice; give each once")
        seen.add(experiment)
    aside = [
        experiment
        for experiment in grids.experiments
        if experiment.is_of_random_metric or experiment.is_faulty
    ]
    left_out = {*apart, *aside}
    control = [
        i
        for i, experiment in enumerate(grids.experiments)
        if experiment.is_control and experiment not in left_out
    ]
    rest = [
        i
        for i, experiment in enumerate(grids.experiments)
        if not experiment.is_control and experiment not in left_out
    ]
    if not rest:
        raise DataError(
            f"nothing to tune: of {len(grids.experiments)} experiments none is of a metric and an"
            " explainer that are not random, which are the controls, or of a faulty run"
        )
    return grids.take(rest), grids.take(control), aside


def _families(grids: Grids) -> Iterator[Grids]:
    """The experiments explainer by explainer, and by whose words were explained."""
    for key in dict.fromkeys(
        (experiment.explainer, experiment.sides) for experiment in grids.experiments
    ):
        yield grids.where(explainer=key[0], sides=key[1])


def _halves(
    explained: Explained,
    grids: Grids,
    by_name: Mapping[Experiment, Explained],
    options: TuneOptions,
    splits: int,
) -> Record:
    controls = (
        other
        for name, other in by_name.items()
        if name.is_control and name.data == explained.experiment.data
    )
    control = next((other for other in controls if len(other.human) == len(explained.human)), None)
    halved = halves(
        explained,
        control,
        p=grids.p,
        w=grids.w,
        shift=options.shift,
        splits=splits,
        seed=options.seed,
    )
    return halves_row(explained.experiment, halved)


def _finding(
    grids: Grids,
    controls: Grids,
    options: TuneOptions,
    families: Sequence[tuple[Grids, list[RuleOutcome]]],
    halved: Sequence[Record],
    iterated: Sequence[IterationStart],
    by_name: Mapping[Experiment, Explained],
    back: _BackTables,
    aside: Sequence[Experiment],
) -> Finding:
    every = [outcome for _, some in families for outcome in some]
    rows: dict[str, Sequence[Record]] = {
        "settings": [
            row for family, some in families for row in setting_rows(family, some, options)
        ],
        "experiments": [row for family, some in families for row in experiment_rows(family, some)],
        "halves": halved,
        **figure_rows(grids, controls, every, iterated, options),
        **back.rows(options),
    }
    notes = {
        "factors": f"Ridge regression, penalty {options.ridge:g}: an indicator for every level,"
        " gains and indicators centred, the intercept not penalised.",
        "density": _KERNELS,
        "grid_density": f"All {len(grids.p)} p and the {len(grids.w) - 1} w below 1 of every"
        f" experiment; w = 1 is the metric alone. {_KERNELS}",
        "best_spread": "The first maximum of each experiment in order of p, then w: where nothing"
        f" beats w = 1, p is {grids.p[0]:g}.",
        "held_back": "p and w had no part in these experiments."
        if back.chosen
        else "Settings that were given or published.",
    }
    tables = {name: table(name, some, notes.get(name, "")) for name, some in rows.items() if some}
    return Finding(
        method="bmx tune",
        title="BMX: what explanations add to a metric",
        tables=tuple(tables.values()),
        signatures=_signatures(grids, options, by_name),
        views=views(tables),
        notices=(
            *_no_metric_notices(aside),
            *notices(grids, controls, options, _large(by_name)),
            *iteration_notices(iterated),
            *dict.fromkeys(notice for each in by_name.values() for notice in each.notices),
        ),
        facts=_facts(grids, controls),
    )


def _no_metric_notices(aside: Sequence[Experiment]) -> Iterator[str]:
    """Experiments that are left out because they are of no metric."""
    random = [experiment for experiment in aside if experiment.is_of_random_metric]
    faulty = [experiment for experiment in aside if experiment not in random]
    for some, what in (
        (random, "of random numbers in place of a metric"),
        (faulty, "of a faulty run, or of a metric that is not published"),
    ):
        if some:
            names = ", ".join(dict.fromkeys(experiment.metric for experiment in some))
            experiments = "1 experiment" if len(some) == 1 else f"{len(some)} experiments"
            yield f"Left out: {experiments} {what} ({names})."


def _large(by_name: Mapping[Experiment, Explained]) -> list[str]:
    """The metrics whose scores reach beyond ten times the largest random importance."""
    return list(
        dict.fromkeys(
            name.metric
            for name, experiment in by_name.items()
            if (abs(experiment.score) > _SCALE).any()
        )
    )


def _signatures(
    grids: Grids, options: TuneOptions, by_name: Mapping[Experiment, Explained]
) -> dict[str, str]:
    signature = Signature("bmx tune").adding(
        shift=options.shift,
        p=f"{grids.p[0]:g} to {grids.p[-1]:g} ({len(grids.p)})",
        w=",".join(f"{w:g}" for w in grids.w),
        held_out=f"{options.held_out_by} by {options.held_out_rule}",
        ridge=f"{options.ridge:g}",
        resamples=options.resamples,
        confidence=options.confidence,
        seed=options.seed,
    )
    of_experiments = {
        str(name): experiment.signature
        for name, experiment in by_name.items()
        if experiment.signature
    }
    return {"bmx tune": str(signature), **of_experiments}


def _facts(grids: Grids, controls: Grids) -> dict[str, str]:
    facts = {
        "experiments": f"{len(grids.experiments)} and {len(controls.experiments)} controls",
        "data": ", ".join(grids.levels("dataset")),
        "language pairs": ", ".join(grids.levels("language_pair")),
        "metrics": ", ".join(grids.levels("metric")),
        "explainers": ", ".join(grids.levels("explainer")),
    }
    if grids.used is not None:
        facts["segments"] = ", ".join(map(str, dict.fromkeys(grids.used)))
    return facts
