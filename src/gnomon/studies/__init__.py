"""Studies: many test sets, systems, metrics and methods; planned, run anywhere, kept.

A study is a TOML file. It is checked as a whole, becomes a plan of tasks that are keyed by what
they read, and fills a store that outlives it. Everything public is listed in ``__all__``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import lazy_exports

if TYPE_CHECKING:
    from gnomon.studies._config import read_study as read_study
    from gnomon.studies._plan import StudyPlan as StudyPlan
    from gnomon.studies._plan import plan as plan
    from gnomon.studies._requests import study_requests as study_requests
    from gnomon.studies.definition import SetSource as SetSource
    from gnomon.studies.definition import Step as Step
    from gnomon.studies.definition import Study as Study
    from gnomon.studies.engines import ENGINES as ENGINES
    from gnomon.studies.engines import TaskEngine as TaskEngine
    from gnomon.studies.engines import open_engine as open_engine
    from gnomon.studies.execution import RunOutcome as RunOutcome
    from gnomon.studies.execution import run as run
    from gnomon.studies.query import QueryResult as QueryResult
    from gnomon.studies.result_store import Store as Store
    from gnomon.studies.sources import PlannedSet as PlannedSet
    from gnomon.studies.study_pages import pages as pages
    from gnomon.studies.study_pages import verdicts as verdicts
    from gnomon.studies.tables import TableSchema as TableSchema
    from gnomon.studies.task_runs import Task as Task
    from gnomon.studies.task_runs import reporting as reporting

__getattr__, __dir__, __all__ = lazy_exports(__name__)
