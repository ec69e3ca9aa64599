"""Worlds whose lines are wrong, and one in which they are right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.truth.worlds import outputs, planted, world

import gnomon as gn

if TYPE_CHECKING:
    from gnomon.findings import Finding

_FEW = 50


@world(
    "a file shifted by one line",
    says=["data.doubtful"],
    without=["shifted is worse", "is better than shifted"],
)
def shifted() -> Finding:
    own = outputs()
    return gn.compare(planted({"fine": own, "shifted": [*own[1:], own[0]]}), resamples=_FEW)


@world("files whose lines are right", silent=["data.doubtful"])
def in_order() -> Finding:
    ts = planted({"fine": outputs(), "other": outputs("apertium-french")})
    return gn.compare(ts, resamples=_FEW)
