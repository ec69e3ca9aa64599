"""Whether a comparison that was computed again came to the same figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gnomon.core.errors import DataError
from gnomon.serve._comparison import JOB, STORE, Job, now, read_record, write_record
from gnomon.studies.reading import StoreDifferences  # noqa: TC001  # records are read by their types

if TYPE_CHECKING:
    from pathlib import Path

_OUTCOME = "check.json"


class CheckOutcome(msgspec.Struct, kw_only=True):
    """What came out.

    Attributes:
        compared: when the comparison had finished that was computed again, UTC.
        finished: when this was known, UTC.
        gnomon: the version that computed again.
        was: the versions that had computed the comparison.
        found: what is not as it was.
    """

    compared: str
    finished: str
    gnomon: str
    was: list[str]
    found: StoreDifferences


def keep_outcome(folder: Path, checked: Path, begun: str) -> None:
    """Compare what was computed in a folder with the comparison that it is to check since then."""
    from gnomon.core.signature import VERSION
    from gnomon.studies import Store
    from gnomon.studies.reading import differences

    job = read_record(checked / JOB, Job)
    if job is None or job.finished is None or job.finished > begun:
        raise DataError("the comparison was changed meanwhile; compute it again")
    first = Store.open(checked / STORE)
    outcome = CheckOutcome(
        compared=job.finished,
        finished=now(),
        gnomon=VERSION,
        was=sorted({first.entries[key].gnomon for key in first.planned() if key in first.entries}),
        found=differences(first, Store.open(folder / STORE)),
    )
    write_record(folder / _OUTCOME, outcome)


def outcome_in(folder: Path) -> CheckOutcome | None:
    """What came out, if it is known."""
    return read_record(folder / _OUTCOME, CheckOutcome)
