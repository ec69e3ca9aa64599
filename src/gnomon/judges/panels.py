"""Several judges of the same outputs, as one metric: ``judge([judge(...), judge(...)])``."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gnomon.core.errors import SpecError, UsageError
from gnomon.core.signature import Signature
from gnomon.judges.metric import BoundChatJudge, ChatJudge
from gnomon.messages import message
from gnomon.metrics.base import Metric, OfOptions
from gnomon.metrics.spec import Options, ordered_fields, unknown_argument
from gnomon.metrics.titles import metric_titles

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from gnomon.core.batch import Batch
    from gnomon.core.dependencies import Dependency
    from gnomon.core.outline import Outline
    from gnomon.core.testset import TestSet
    from gnomon.messages import Message
    from gnomon.metrics.base import Input

_HOW = (
    "judge([judge('gemba-da', model='A'), judge('gemba-da', model='B')]), or"
    " judge(['gemba-da', 'gemba-sqm'], model='A')"
)
#: the scale of a panel whose rubrics have several
_COMMON = (0.0, 100.0)


@dataclass(frozen=True)
class JudgePanel(Options, Metric):
    """Several judges of the same outputs: the mean of their scores.

    ``judge([judge('gemba-da', model='A'), judge('gemba-da', model='B')])``. Where rubrics differ in
    their scale or direction, each score is carried linearly from its rubric's scale to 0 to 100,
    higher is better. An output has a score where all judges have one.

    Attributes:
        judges: two or more, all different, that score outputs.

    Raises:
        SpecError: fewer than two judges, one twice, or judges that cannot be combined.
    """

    name: ClassVar[str] = "judge"
    pooled: ClassVar[bool] = False
    masks: ClassVar[frozenset[str]] = frozenset(("",))  # whatever is asked
    positional: ClassVar[str] = "judges"

    judges: tuple[ChatJudge, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "judges", tuple(self.judges))
        super().__post_init__()
        every: tuple[object, ...] = self.judges  # in a spec, any metric may stand there
        strangers = [
            getattr(given, "spec", given) for given in every if not isinstance(given, ChatJudge)
        ]
        if strangers:
            raise SpecError(
                f"a panel is of judges, each with a rubric; got {strangers[0]!r}: {_HOW}"
            )
        if len(self.judges) < 2:
            raise SpecError(f"a panel is of two judges or more; got {len(self.judges)}: {_HOW}")
        twice = [spec for spec, n in Counter(judge.spec for judge in self.judges).items() if n > 1]
        if twice:
            raise SpecError(f"a panel has {twice[0]} twice; repeats= asks a judge several times")

    @property
    def needs(self) -> frozenset[Input]:
        """Inputs that any of the judges is shown."""
        return frozenset(need for judge in self.judges for need in judge.needs)

    @property
    def has_one_scale(self) -> bool:
        """True if scores of all judges are on one scale, with one direction, as they are."""
        if all(judge.calibration is not None for judge in self.judges):
            return True  # people's
        return (
            len({(judge.full_rubric.scale, judge.higher_is_better) for judge in self.judges}) == 1
        )

    @property
    def higher_is_better(self) -> bool:
        """As of the judges; True where scores were carried to one scale."""
        return self.judges[0].higher_is_better if self.has_one_scale else True

    @property
    def label(self) -> str:
        """The spec with names of files alone."""
        label = self.spec
        for judge in self.judges:
            label = label.replace(judge.spec, judge.label)
        return label

    def requires(self, language: str | None) -> tuple[Dependency, ...]:
        """The files that its judges name."""
        every = [need for judge in self.judges for need in judge.requires(language)]
        return tuple(dict.fromkeys(every))

    def check_outline(self, outline: Outline | None) -> None:
        """Refuse what any of the judges refuses, and judges that cannot be combined.

        Raises:
            UsageError: as :meth:`ChatJudge.check_outline`; or some judges are calibrated and some
                are not.
        """
        self.check_combination()
        for judge in self.judges:
            judge.check_outline(outline)

    def check_combination(self) -> None:
        """Refuse judges whose answers cannot be combined.

        Raises:
            UsageError: they cannot.
        """
        if any(judge.is_pairwise for judge in self.judges):
            raise UsageError(
                "judges of pairs make no panel, as they score no output; ask each by gnomon compare"
            )
        if len({judge.calibration is None for judge in self.judges}) > 1:
            raise UsageError(
                "some judges of the panel are calibrated and some are not, so that their scores are"
                " on two scales; calibrate all, or none"
            )

    def bind(self, testset: TestSet) -> BoundJudgePanel:
        """The judges of a test set in its languages; nothing is asked yet.

        Raises:
            DataError, UsageError: as of any of the judges.
        """
        self.check_outline(None)
        return BoundJudgePanel(self, [judge.bind(testset) for judge in self.judges])

    def bound(self, language_pair: str | None) -> BoundJudgePanel:
        """The judges of texts in some languages; nothing is looked at."""
        return BoundJudgePanel(self, [judge.bound(language_pair) for judge in self.judges])


def panel_of(items: Sequence[object], options: Mapping[str, Any]) -> JudgePanel:
    """A panel of judges and rubrics; options are those of the rubrics.

    Raises:
        SpecError: an option is unknown, or given for judges that have their own.
    """
    fields = [option.name for option in ordered_fields(ChatJudge) if option.name != "rubric"]
    for name in options:
        if name not in fields:
            raise unknown_argument("judge", name, fields)
    if options and not any(isinstance(item, str) for item in items):
        raise SpecError(
            f"judge: {', '.join(options)} goes with rubrics in the list, and all of it are judges"
            " with options of their own"
        )
    judges = [ChatJudge(item, **options) if isinstance(item, str) else item for item in items]
    return JudgePanel(tuple(judges))  # type: ignore[arg-type]  # checked there


class BoundJudgePanel(OfOptions):
    """Several judges, ready to be asked.

    Attributes:
        metric: the options.
        judges: each of them.
    """

    metric: JudgePanel

    def __init__(self, metric: JudgePanel, judges: Sequence[BoundChatJudge]) -> None:
        self.metric = metric
        self.judges = tuple(judges)

    @property
    def informed_by(self) -> tuple[str, ...]:
        """Kinds of human scores of the test set that calibrate any of the judges."""
        return tuple(dict.fromkeys(kind for judge in self.judges for kind in judge.informed_by))

    @property
    def signature(self) -> Signature:
        """The spec, and of each judge its rubric's hash and who answers."""
        signature = Signature(self.metric.label)
        for number, judge in enumerate(self.judges, start=1):
            said = [f"{key}={value}" for key, value in judge.signature.items()]
            signature = signature.adding({f"judge{number}": " ".join(said)})
        if not self.metric.has_one_scale:
            signature = signature.adding(scale="{:g}-{:g}".format(*_COMMON))
        return signature

    @property
    def max_calls(self) -> int:
        """Most answers that one request may cost, of all judges."""
        return sum(judge.max_calls for judge in self.judges)

    def cost(self, batch: Batch) -> int:
        """Largest number of answers that a batch takes, of all judges."""
        return sum(judge.cost(batch) for judge in self.judges)

    def segments(self, batch: Batch) -> NDArray[np.float64]:
        """Means of the judges' scores, float64 [K, N]; NaN where one of them has none.

        Raises:
            UsageError: more answers of a judge are needed than allowed; none is asked then.
            ServerFailedError: a server stopped answering; what was answered is kept.
        """
        return np.asarray(self.scores(batch).mean(axis=0))

    def scores(self, batch: Batch) -> NDArray[np.float64]:
        """Scores of each judge on the panel's scale, float64 [M, K, N]; NaN where it has none.

        Raises:
            UsageError, ServerFailedError: as :meth:`segments`.
        """
        self.check_budget(batch)
        scores = [judge.segments(batch) for judge in self.judges]
        if not self.metric.has_one_scale:
            pairs = zip(scores, self.judges, strict=True)
            scores = [_rescale(values, judge) for values, judge in pairs]
        return np.stack(scores)

    def check_budget(self, batch: Batch) -> None:
        """Refuse more answers than allowed, before the first judge is asked.

        Raises:
            UsageError: a judge needs more than its ``max_calls``.
        """
        for judge in self.judges:
            judge.check_budget(judge.users(batch))

    def remarks(self, batch: Batch) -> dict[tuple[int, int], dict[str, str]]:
        """Scores, reasons and answers of each judge, by system and segment, named by the judge."""
        remarks: dict[tuple[int, int], dict[str, str]] = {}
        titles = metric_titles(judge.metric.spec for judge in self.judges)
        for judge in self.judges:
            title = titles[judge.metric.spec]
            scores = judge.segments(batch)
            for (k, i), words in judge.remarks(batch).items():
                score = float(scores[k, i])
                said = {"score": f"{score:g}"} if np.isfinite(score) else {}
                named = {f"{title}: {what}": text for what, text in (said | words).items()}
                remarks.setdefault((k, i), {}).update(named)
        return remarks

    def notices(self, batch: Batch) -> tuple[Message, ...]:
        """Notices of all judges, and of outputs that have no score."""
        scores = self.segments(batch)
        lacking, number = int(np.isnan(scores).sum()), len(self.judges)
        counts: dict[str, Any] = {"judges": number, "lacking": lacking, "outputs": scores.size}
        own = [message("note.judges.panel", **counts)] if lacking else []
        return (*own, *(notice for judge in self.judges for notice in judge.notices(batch)))


def _rescale(scores: NDArray[np.float64], judge: BoundChatJudge) -> NDArray[np.float64]:
    """Scores on a rubric's scale as scores from 0 to 100, higher is better."""
    worst, best = judge.rubric.scale
    if not judge.rubric.higher_is_better:
        worst, best = best, worst
    low, high = _COMMON
    return low + (high - low) * (scores - worst) / (best - worst)
