"""The requests of a study to judges, before it runs."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from gnomon.judges.planned import planned_requests
from gnomon.studies.task_runs import execute

if TYPE_CHECKING:
    from gnomon.judges.planned import RequestPlan
    from gnomon.studies._plan import StudyPlan
    from gnomon.studies.result_store import Store

#: how the specs begin of what asks servers
_ASKING = ("judge(", "llm(")


def study_requests(plan: StudyPlan, store: Store | None = None) -> RequestPlan:
    """Plan the requests to judges of the tasks that are left; nothing is asked, nothing kept.

    Args:
        plan: of the study.
        store: where results are kept; without, all tasks are left.
    """
    done = store.entries if store else {}
    with planned_requests(made_up=True) as requests, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for task in plan.tasks:
            texts = (*task.metrics, task.options, *task.places.values())
            if task.key in done or not any(name in text for text in texts for name in _ASKING):
                continue
            try:
                execute(task)
            except Exception as error:  # noqa: BLE001  # a method may fail in any way for lack of answers
                requests.ended = f"{task.method} on {task.testset}: {error}"
    return requests
