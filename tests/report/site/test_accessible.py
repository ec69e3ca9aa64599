"""axe-core finds nothing serious on any page, wide or narrow, light or dark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.report.conftest import barriers

from gnomon.report.site import write_site

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from types import ModuleType

pytestmark = [pytest.mark.browser, pytest.mark.slow]

_ROUTES = (
    "systems",
    "system/0/2",
    "method/package.features",
    "method/package.hard",
    "segments/0?f=0&s=1&m=0&o=worst",
    "segment/0/7?f=3&s=2",
    "segment/0/7?f=2",
    "provenance",
    "tables",
    "table/1",
)
_OF_SEVERAL = (
    "overview",
    "method/package.people",
    "method/package.features",
    "systems/1",
)


@pytest.mark.parametrize(
    ("several", "width", "scheme", "part"),
    [
        (False, 1280, "light", slice(0, None, 2)),
        pytest.param(False, 390, "dark", slice(1, None, 2), marks=pytest.mark.verify),
        pytest.param(True, 1280, "dark", slice(0, None, 2), marks=pytest.mark.verify),
        (True, 390, "light", slice(1, None, 2)),
        *(
            pytest.param(several, width, scheme, slice(None), marks=pytest.mark.verify)
            for several in (False, True)
            for width in (1280, 390)
            for scheme in ("light", "dark")
        ),
    ],
)
def test_axe_finds_nothing_serious(
    made: ModuleType,
    visit: Callable[..., Any],
    tmp_path: Path,
    axe: str,
    several: bool,
    width: int,
    scheme: str,
    part: slice,
) -> None:
    write_site(tmp_path / "r", made.several() if several else made.study(12, 30))
    page = visit(tmp_path / "r", width=width, color_scheme=scheme)
    check(page, (_OF_SEVERAL if several else _ROUTES)[part], axe)


def check(seen: Any, routes: Sequence[str], axe: str) -> None:
    for route in routes:
        page = seen.go(route)
        assert barriers(page, axe) == [], route
    assert seen.problems == []
