# ruff: noqa: PLC0414  # names are exported as in packages: lazily, for type checkers by "as"
"""What shows a store reads it by: its rows, its records, its files, and SQL that is quoted.

It is for the packages above this one (:mod:`gnomon.serve`); users have :class:`gnomon.study.Store`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import lazy_exports

if TYPE_CHECKING:
    from gnomon.studies._folder import LOCK as LOCK
    from gnomon.studies._folder import MANIFEST as MANIFEST
    from gnomon.studies._folder import PLAN as PLAN
    from gnomon.studies._folder import FinishedTask as FinishedTask
    from gnomon.studies._folder import is_store as is_store
    from gnomon.studies._folder import record_in as record_in
    from gnomon.studies._folder import replace_text as replace_text
    from gnomon.studies._folder import sealed as sealed
    from gnomon.studies._page_rows import PageSource as PageSource
    from gnomon.studies._pages import study_sets as study_sets
    from gnomon.studies._query import TASK as TASK
    from gnomon.studies._query import connect as connect
    from gnomon.studies._sources import PlanRecord as PlanRecord
    from gnomon.studies._tables import buffers_of as buffers_of
    from gnomon.studies._tables import cells_of as cells_of
    from gnomon.studies._tables import sql_files as sql_files
    from gnomon.studies._tables import sql_name as sql_name
    from gnomon.studies._tables import sql_text as sql_text

__getattr__, __dir__, __all__ = lazy_exports(__name__, checking=False)
