"""Inputs of methods about judges: judges by their specs, and checks of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.errors import UsageError
from gnomon.core.validation import Problem, problems
from gnomon.judges.metric import ChatJudge
from gnomon.judges.panels import JudgePanel
from gnomon.messages.audiences import flag
from gnomon.metrics.base import list_metrics
from gnomon.metrics.registry import check_metric, resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.outline import Outline
    from gnomon.metrics.base import AnyMetric, Metrics

_HOW = flag("metrics", "\"judge('gemba-da', model='NAME')\"")


def list_judges(metrics: Metrics, *, allow_code: bool) -> Iterator[tuple[str, ChatJudge]]:
    """The judges of a request, each by the name that it was given; those of panels one by one."""
    for name, judge in list_judges_and_panels(metrics, allow_code=allow_code):
        if isinstance(judge, JudgePanel):
            yield from ((member.spec, member) for member in judge.judges)
        else:
            yield name, judge


def list_judges_and_panels(
    metrics: Metrics, *, allow_code: bool
) -> Iterator[tuple[str, ChatJudge | JudgePanel]]:
    """Likewise, and panels as they are."""
    for given in list_metrics(metrics):
        judge = chat_judge(given, allow_code=allow_code)
        yield given if isinstance(given, str) else judge.spec, judge


def chat_judge(given: AnyMetric, *, allow_code: bool = False) -> ChatJudge | JudgePanel:
    """A judge, or a panel of them, from its spec."""
    judge = resolve(given, allow_code=allow_code)  # type: ignore[arg-type]  # scores are refused there
    if not isinstance(judge, ChatJudge | JudgePanel):
        raise UsageError(f"{judge.spec!r} is no judge; name one (", _HOW, ")")
    return judge


def judge_faults(
    outline: Outline | None, metrics: Metrics, *, allow_code: bool
) -> Iterator[Problem]:
    """Problems with the judges of a request.

    ``outline``: of the test set; None: not known yet.
    """
    every = list_metrics(metrics)
    if not every:
        yield Problem("metrics", UsageError("name a judge (", _HOW, ")"))
    for number, metric in enumerate(every):
        where = f"metrics[{number}]"
        wrong = list(problems(where, chat_judge, metric, allow_code=allow_code))
        yield from wrong or problems(where, check_metric, metric, outline, allow_code=allow_code)  # type: ignore[arg-type]  # scores are refused there
