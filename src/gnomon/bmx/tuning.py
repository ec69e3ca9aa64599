"""Search of the exponent and weight that agree best with people, and its analyses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from gnomon.bmx.aggregation import Shift
from gnomon.bmx.choices import Rule, choose, halves, judge, judge_held_out
from gnomon.bmx.correlations import search
from gnomon.bmx.engine import Progress
from gnomon.bmx.experiments import RANDOM, Experiment, Explained, Grids, explained, human_scores
from gnomon.bmx.explain_checks import explainer_faults, listed
from gnomon.bmx.explained_texts import MAX_CALLS, ExplainedSides
from gnomon.bmx.explainers import Explainers, find_explainer
from gnomon.bmx.gain_intervals import explained_interval
from gnomon.bmx.tuning_notices import tuning_notices
from gnomon.bmx.tuning_tables import (
    HALVES,
    HELD_BACK,
    IN_TURN,
    TunedFamily,
    TunedGain,
    TuningPoint,
    curve_points,
    gain_rows,
    gain_views,
)
from gnomon.bmx.verdict import tune_verdict
from gnomon.core.cache import Cache
from gnomon.core.data_cautions import select_messages
from gnomon.core.errors import DataError, UnknownNameError, UsageError
from gnomon.core.findings import Finding
from gnomon.core.options import (
    FILES,
    DrawOptions,
    Group,
    Limits,
    Metavar,
    Positive,
    Rare,
    expand_fields,
)
from gnomon.core.records import table
from gnomon.core.registry import method
from gnomon.core.signature import Signature
from gnomon.core.testset import TestSet
from gnomon.data.formats import add_judgements, human_files
from gnomon.metrics.base import Metrics

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gnomon.bmx.choices import Halves, Judged, Setting
    from gnomon.core.options import BoundOptions
    from gnomon.core.outline import Outline
    from gnomon.core.validation import Problem
    from gnomon.messages import Message
    from gnomon.stats.resampling import Interval

__all__ = ["tune"]


_EXAMPLES = """\
examples:
  gnomon bmx tune -t wmt17/cs-en wmt17/de-en wmt17/fi-en -m chrf --explainers erasure lime
  gnomon bmx tune -t wmt21/en-de -m bertscore --human mqm --sample 200 --html report.html
  gnomon bmx tune -t wmt17/cs-en wmt17/de-en wmt17/fi-en -m chrf --test-on wmt17/fi-en
  gnomon bmx tune -t wmt17/cs-en wmt17/de-en -m chrf --rule median --scale 100

The test sets need human scores of segments. p and w are chosen on the test sets of other language
pairs and judged on each test set in turn; where there is one test set, on halves of its segments.
The random explainer runs beside the others: it costs no scores, and tells how much of a gain any
numbers would bring.
"""
_DATA = Group("explanations")
_SEARCH = Group("the search")


def check_tune(outline: Outline | None, options: BoundOptions) -> Iterator[Problem]:
    """Check options of :func:`gnomon.bmx.tune` that fit each alone."""
    yield from explainer_faults(
        outline, options.metrics, options.explainers, allow_code=options.allow_code
    )


@method(
    "bmx.tune",
    purpose="choose p and w by which a metric and its explanations agree best with people",
    title="BMX: choice of p and w",
    unread=("documents", "domains"),
    examples=_EXAMPLES,
    data=("data",),
    given="testsets",
    rows={"gains": TunedGain, "curve": TuningPoint},
    metrics="all",
    human=True,
    judged=True,
    check=check_tune,
    verdict=tune_verdict,
)
@expand_fields(draws=DrawOptions)
def tune(
    data: TestSet | Sequence[TestSet] | Sequence[Explained] | Grids,
    metrics: Metrics = "bleu",
    explainers: Explainers = "erasure",
    *,
    human: Annotated[str | None, FILES, Metavar("KIND|FILE"), _DATA] = None,
    sides: Annotated[ExplainedSides, _DATA] = "both",
    scale: Annotated[float, Limits(1e-9, 1e9), Metavar("X"), _DATA] = 1.0,
    sample: Annotated[Positive | None, _DATA] = None,
    max_calls: Annotated[Positive, _DATA, Rare()] = MAX_CALLS,
    shift: Annotated[Shift, _SEARCH] = "paper",
    rule: Annotated[Rule, _SEARCH] = "largest-mean",
    test_on: Annotated[str | None, Metavar("SET"), _SEARCH] = None,
    draws: DrawOptions,
    cache: Cache | None = None,
    progress: Progress | None = None,
    allow_code: bool = False,
) -> Finding:
    """Which exponent p and weight w make a metric and its explanations agree best with people?

    The whole grid of correlations (p from -30 to 29.9 in tenths, w in fifths) follows from
    explanations that are computed once (Leiter et al., 2022; another grid: :func:`search`). What p
    and w gain is judged on data that had no part in their choice, against the metric alone and
    against the random explainer.

    Args:
        data: test sets with human scores of segments, which are explained, by the random explainer,
            too; or experiments that :func:`explained` made; or grids. Experiments of the explainer
            ``random`` are the controls of all others.
        metrics: one or several, as in :func:`explanations`.
        human: the kind of human scores, or a file of them for a single test set; by default the
            only kind.
        scale: the number by which metrics' scores are divided, such as 100 for metrics on 0 to 100:
            random importances, the control, lie in [0, 1].
        sample: number of judged segments to draw from each test set, with the seed, over all
            systems; by default all.
        max_calls: the largest number of pairs of texts to score for each experiment.
        shift: the way in which importances are made positive; "paper" collapses for p < 0.
        rule: the rule that chooses p and w; "median" of the best on each set, "most-improving":
            better on most sets, "largest-mean": the largest mean gain; the last two choose among w
            < 1 alone.
        test_on: a test set on which p and w are judged and not chosen, by name ("wmt17/de-en"), by
            data ("wmt17") or by language pair ("de-en").

    Returns:
        Tables ``gains`` (of each explainer all test sets together, then a row per test set and
        metric) and ``curve`` (correlation over p for each w).

    Raises:
        UsageError: an option is out of its range, or the metric cannot be explained so.
        DataError: there are no human segment scores, or nothing is left to choose p and w on.
        GnomonError: whatever :func:`explained` raises.
    """
    every: Sequence[Explained] = ()
    left_out: Sequence[Message] = ()
    if isinstance(data, Grids):
        grids = data
    else:
        every = _list_explained(
            data,
            listed(metrics),
            listed(explainers),
            test_on,
            {
                "human": human,
                "sides": sides,
                "scale": scale,
                "sample": sample,
                "seed": draws.seed,
                "max_calls": max_calls,
                "cache": cache,
                "progress": progress,
                "allow_code": allow_code,
            },
        )
        every, left_out = _drop_circular(every, test_on)
        grids = search(every, shift=shift)
    mine, controls, aside = _split_experiments(grids)
    by_name = {explanations.experiment: explanations for explanations in every}
    tuning = _Tuning(controls, by_name, rule, shift, draws)
    others, back = _hold_back(mine, test_on)
    explained_by = dict.fromkeys((one.explainer, one.sides) for one in mine.experiments)
    families = [
        family
        for explainer in explained_by
        for family in tuning.families(
            *(_select_explainer(grids, explainer) for grids in (others, back))
        )
    ]
    curves = [
        point for each in explained_by for point in curve_points(_select_explainer(mine, each))
    ]
    tables = (
        table("gains", _TITLE, TunedGain, list(gain_rows(families, draws)), note=_NOTE),
        table("curve", "Correlation over p", TuningPoint, curves),
    )
    return Finding(
        method="bmx tune",
        title="BMX: what explanations add to a metric",
        tables=tables,
        signatures=tuning.signatures(mine),
        views=tuple(gain_views(mine.levels("sides"))),
        notices=(
            *tuning_notices(mine, controls, aside, families, rule, by_name),
            *left_out,
            *dict.fromkeys(notice for each in every for notice in each.notices),
        ),
        facts=_facts(mine, controls),
    )


_TITLE = "Gains on data that p and w were not chosen on"
_NOTE = (
    "Rows of all test sets have the p and w that are chosen on all of them, or on all that are not"
    " held back; their gains are means over language pairs (of one pair, test sets) of experiments,"
    " each at a p and w that it had no part in."
)
#: notices on human scores that cannot judge a metric
_CIRCULAR = "metaeval.circular"
#: random splits of the segments of the one test set
_SPLITS = 10


def _list_explained(
    data: TestSet | Sequence[TestSet] | Sequence[Explained],
    metrics: Sequence[Any],
    explainers: Sequence[Any],
    test_on: str | None,
    options: dict[str, Any],
) -> list[Explained]:
    """Experiments as they were given, and those of test sets, with the random explainer's."""
    each: list[Any] = [data] if isinstance(data, TestSet) else list(data)
    human = options["human"]
    if human is not None and human_files(human)[0]:
        each, options["human"] = _add_human_file(each, human)
    testsets = [data for data in each if isinstance(data, TestSet)]
    made = [data for data in each if isinstance(data, Explained)]
    named = [Experiment(testset.name, "", "", testset.language_pair or "") for testset in testsets]
    if test_on is not None:
        _matching(test_on, [*named, *(one.experiment for one in made)])
    for testset in testsets:  # what is missing is said before anything is explained
        human_scores(testset, options["human"])
    controlled = any(find_explainer(explainer).name == RANDOM for explainer in explainers)
    several = [*explainers, *([] if controlled else [RANDOM])]
    requests = [(t, m, e) for t in testsets for m in metrics for e in several]
    return [*made, *(explained(*request, **options) for request in requests)]


def _drop_circular(
    every: Sequence[Explained], test_on: str | None
) -> tuple[Sequence[Explained], Sequence[Message]]:
    """Without experiments whose human scores cannot judge the metric, and what says so.

    All stay where p and w could not be chosen, or not be judged, without them.
    """
    kept = [one for one in every if not select_messages(_CIRCULAR, one.notices)]
    if _list_parts(kept, test_on) != _list_parts(every, test_on):
        return every, ()
    left_out = [
        replace(said, params={**said.params, "left_out": True}).about(
            testsets=[one.experiment.testset]
        )
        for one in every
        for said in select_messages(_CIRCULAR, one.notices)
    ]
    return kept, list(dict.fromkeys(left_out))


def _list_parts(every: Sequence[Explained], test_on: str | None) -> set[bool]:
    """List the parts that have experiments: to choose on (False), and held back (True)."""
    return {
        test_on is not None and _is_named(test_on, one.experiment)
        for one in every
        if not one.experiment.is_control
    }


def _add_human_file(each: Sequence[Any], human: str) -> tuple[list[Any], str]:
    """A test set with the human scores of a file, and the kind that these are."""
    testsets = [data for data in each if isinstance(data, TestSet)]
    if len(testsets) != 1:
        raise UsageError(
            f"human is the file {human}, which is of one test set, and {len(testsets)} are given;"
            " give one test set, or name a kind"
        )
    judged, kinds = add_judgements(testsets[0], human)
    if len(kinds) != 1:
        raise UsageError(f"{human} holds several kinds of human scores: {', '.join(kinds)}")
    return [judged if data is testsets[0] else data for data in each], kinds[0]


def _is_named(name: str, experiment: Experiment) -> bool:
    """True if an experiment is of a test set, of data, or of a language pair of this name."""
    return name in (experiment.dataset, experiment.language_pair) or f"/{name}".endswith(
        f"/{experiment.testset}"
    )


def _matching(test_on: str, experiments: Sequence[Experiment]) -> list[int]:
    """The experiments of a test set, of data, or of a language pair."""
    places = [i for i, experiment in enumerate(experiments) if _is_named(test_on, experiment)]
    if not places:
        known = dict.fromkeys(experiment.testset for experiment in experiments)
        raise UnknownNameError("test set", test_on, known)
    if len(places) == len(experiments):
        raise DataError(
            f"{test_on} is all that there is, and none is left to choose p and w on; give another"
            " test set"
        )
    return places


def _hold_back(grids: Grids, test_on: str | None) -> tuple[Grids, Grids]:
    """The experiments to choose on, and those that are held back."""
    back = [] if test_on is None else _matching(test_on, grids.experiments)
    rest = [i for i in range(len(grids.experiments)) if i not in back]
    return grids.take(rest), grids.take(back)


def _select_explainer(grids: Grids, explainer: tuple[str, str]) -> Grids:
    return grids.take(
        [i for i, e in enumerate(grids.experiments) if (e.explainer, e.sides) == explainer]
    )


@dataclass(frozen=True)
class _Tuning:
    """Choice of p and w, and how it is judged."""

    controls: Grids
    by_name: Mapping[Experiment, Explained]
    rule: Rule
    shift: Shift
    draws: DrawOptions

    def families(self, others: Grids, back: Grids) -> Iterator[TunedFamily]:
        """Gains of an explainer on what was held back, and on its other test sets."""
        if back.experiments:
            judged = judge(back, others, self.controls, self.rule)
            yield self._family(back, HELD_BACK, judged[0].setting, judged)
        judged = judge_held_out(others, self.controls, self.rule) if others.experiments else []
        if judged:
            yield self._family(others, IN_TURN, self._choose(others), judged)
        elif not back.experiments:
            halved = [self._halves(e, others) for e in others.experiments if e in self.by_name]
            setting = self._choose(others)
            yield TunedFamily(others, HALVES if halved else None, setting, (), halved, {})

    def _family(
        self, grids: Grids, data: str, setting: Setting | None, judged: Sequence[Judged]
    ) -> TunedFamily:
        intervals: dict[Experiment, Interval] = {}
        for one in judged:
            explanations = self.by_name.get(one.experiment)
            if explanations is not None and one.setting is not None:
                interval = explained_interval(explanations, one.setting, self.shift, self.draws)
                intervals |= {one.experiment: interval} if interval else {}
        return TunedFamily(grids, data, setting, judged, (), intervals)

    def _choose(self, grids: Grids) -> Setting | None:
        try:
            return choose(grids, self.rule)
        except DataError:
            return None

    def _halves(self, experiment: Experiment, grids: Grids) -> Halves:
        mine = self.by_name[experiment]
        controls = (
            other
            for name, other in self.by_name.items()
            if name.is_control and name.data == experiment.data
        )
        control = next((other for other in controls if len(other.human) == len(mine.human)), None)
        return halves(
            mine,
            control,
            p=grids.p,
            w=grids.w,
            shift=self.shift,
            splits=_SPLITS,
            seed=self.draws.seed,
        )

    def signatures(self, grids: Grids) -> dict[str, Signature]:
        """Signatures of the choice of p and w, and of each experiment."""
        signature = Signature("bmx tune").adding(
            shift=self.shift,
            p=f"{grids.p[0]:g} to {grids.p[-1]:g} ({len(grids.p)})",
            w=",".join(f"{w:g}" for w in grids.w),
            rule=self.rule,
            resamples=self.draws.resamples,
            confidence=self.draws.confidence,
            seed=self.draws.seed,
        )
        made = self.by_name.items()
        of_experiments = {str(name): one.signature for name, one in made if one.signature}
        return {"bmx tune": signature, **of_experiments}


def _split_experiments(grids: Grids) -> tuple[Grids, Grids, Sequence[Experiment]]:
    """Experiments, their controls, and those that are no metrics.

    Random explainers are the controls. Random metrics count as nothing.
    """
    seen = set()
    for experiment in grids.experiments:
        if experiment in seen:
            raise DataError(f"experiment {experiment} comes twice; give each once")
        seen.add(experiment)
    control: list[int] = []
    rest: list[int] = []
    for i, experiment in enumerate(grids.experiments):
        if not experiment.is_of_random_metric:
            (control if experiment.is_control else rest).append(i)
    if not rest:
        raise DataError(
            f"nothing to tune: of {len(grids.experiments)} experiments none is of a metric and an"
            " explainer that are not random, which are the controls"
        )
    aside = [experiment for experiment in grids.experiments if experiment.is_of_random_metric]
    return grids.take(rest), grids.take(control), aside


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
