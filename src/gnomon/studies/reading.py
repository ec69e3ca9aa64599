# ruff: noqa: PLC0414  # names are exported as in packages: lazily, for type checkers by "as"
"""Read access to a store: its rows, records, files, and quoted SQL.

It is for the packages above this one (:mod:`gnomon.serve`); users have :class:`gnomon.study.Store`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import lazy_exports

if TYPE_CHECKING:
    from gnomon.studies.folder import LOCK as LOCK
    from gnomon.studies.folder import MANIFEST as MANIFEST
    from gnomon.studies.folder import PLAN as PLAN
    from gnomon.studies.folder import FinishedTask as FinishedTask
    from gnomon.studies.folder import is_store as is_store
    from gnomon.studies.folder import record_in as record_in
    from gnomon.studies.folder import replace_text as replace_text
    from gnomon.studies.folder import sealed as sealed
    from gnomon.studies.page_rows import PageSource as PageSource
    from gnomon.studies.query import TASK as TASK
    from gnomon.studies.query import connect as connect
    from gnomon.studies.sources import PlanRecord as PlanRecord
    from gnomon.studies.study_pages import study_sets as study_sets
    from gnomon.studies.tables import buffers_of as buffers_of
    from gnomon.studies.tables import cells_of as cells_of
    from gnomon.studies.tables import sql_files as sql_files
    from gnomon.studies.tables import sql_name as sql_name
    from gnomon.studies.tables import sql_text as sql_text

__getattr__, __dir__, __all__ = lazy_exports(__name__, checking=False)
