from __future__ import annotations

from typing import TYPE_CHECKING

from tests.serve.comparisons import choices, finished, two_systems

from gnomon.studies import Store, verdicts

if TYPE_CHECKING:
    from gnomon.serve._jobs import Queue


def test_two_files_are_compared_by_a_process(queue: Queue) -> None:
    comparison = queue.create(two_systems(queue.workspace), choices("compare"))
    done = finished(queue.workspace, comparison.id)
    assert done.job.state == "done", done.job
    (verdict,) = verdicts(Store(done.store))
    assert verdict.verdict[0].text.startswith("b is worse than a by ")


def test_files_are_looked_at_by_a_process(queue: Queue) -> None:
    inspection = queue.inspect(two_systems(queue.workspace))
    assert [(file.role, file.segments) for file in inspection.files] == [
        ("reference", 30),
        ("output", 30),
        ("output", 30),
    ]
    assert inspection.ready
    assert inspection.segments == 30
