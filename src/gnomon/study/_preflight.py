"""Before anything runs: is every worker like this process, and does it see the data?"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, entry_points
from importlib.metadata import version as installed
from typing import TYPE_CHECKING

from gnomon.errors import DataError
from gnomon.signature import version
from gnomon.study._needs import differing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.study._engines import Engine
    from gnomon.study._needs import Need
    from gnomon.study._plan import Plan

__all__ = ["Equipment", "equipment", "preflight"]

#: packages whose version can change a number
_PACKAGES = ("sacrebleu", "numpy", "spacy", "torch", "transformers", "nltk", "scipy")
_SHOWN = 10


@dataclass(frozen=True)
class Equipment:
    """What a worker has.

    Attributes:
        versions: of gnomon, of packages that numbers depend on (absent ones left out), and of
            plug-ins.
        missing: paths of test sets that it does not see.
        others: models, taggers and packages that are not those of the plan, in words.
    """

    versions: Mapping[str, str]
    missing: tuple[str, ...]
    others: tuple[str, ...] = ()


def equipment(paths: Sequence[str], needs: Mapping[Need, str] = {}) -> Equipment:
    """What this process has, and which of some paths and things it does not have."""
    found = {"gnomon": version()}
    plugins = {
        one.dist.name for one in entry_points(group="gnomon.metrics") if one.dist is not None
    }
    for name in (*_PACKAGES, *sorted(plugins)):
        try:
            found[name] = installed(name)
        except PackageNotFoundError:
            continue
    missing = tuple(path for path in paths if not os.path.exists(path))  # noqa: PTH110  # a string stays a string
    return Equipment(found, missing, tuple(differing(dict(needs))))


def preflight(plan: Plan, engine: Engine) -> None:
    """Compare every worker with this process.

    Raises:
        DataError: versions differ or test sets are out of reach; all workers are named.
    """
    paths = sorted({task.source.path for task in plan.tasks})
    # files are compared by every task that reads them
    needs = {n: i for task in plan.tasks for n, i in task.needs.items() if n.kind != "file"}
    mine = equipment(())
    problems = [
        f"  {name}: {said}"
        for name, theirs in engine.each(equipment, paths, needs).items()
        for said in _differences(mine, theirs)
    ]
    if problems:
        more = f"\n  and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
        raise DataError(
            "workers are not like this process; nothing was started:\n"
            + "\n".join(problems[:_SHOWN])
            + more
        )


def _differences(mine: Equipment, theirs: Equipment) -> list[str]:
    names = sorted(mine.versions.keys() | theirs.versions.keys())
    found = [
        f"has {name} {theirs.versions.get(name, '(none)')},"
        f" and here it is {mine.versions.get(name, '(none)')}; install the same"
        for name in names
        if mine.versions.get(name) != theirs.versions.get(name)
    ]
    return [*found, *theirs.others] + [
        f"does not see {path}; give all workers the same folders" for path in theirs.missing
    ]
