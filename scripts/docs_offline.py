"""Fail where a page of the built documentation would load anything over a network.

python scripts/docs_offline.py docs/_build/html
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# links (<a href>) lead elsewhere when a reader follows them; these are fetched with the page
_FETCHED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed|object)\b[^>]*\b(?:src|data)=[\"'](?:https?:)?//"
    r"|<link\b(?=[^>]*\brel=[\"'](?:stylesheet|preload|icon|modulepreload|preconnect))[^>]*\bhref=[\"'](?:https?:)?//"
    r"|@import\s+(?:url\()?[\"']?(?:https?:)?//"
    r"|\burl\([\"']?(?:https?:)?//"
    r"|\bimport\s*\([\"'](?:https?:)?//",
    re.IGNORECASE,
)


def network_loads(folder: Path) -> Iterator[tuple[Path, str]]:
    """Pages, styles and scripts that load something over a network, and what they say there.

    Args:
        folder: where the documentation was built.
    """
    for path in sorted(folder.rglob("*")):
        if path.suffix in {".html", ".css", ".js"}:
            text = path.read_text(encoding="utf-8")
            yield from ((path, text[at.start() : at.end() + 60]) for at in _FETCHED.finditer(text))


if __name__ == "__main__":
    found = list(network_loads(Path(sys.argv[1])))
    for page, what in found:
        print(f"{page}: {what}")
    sys.exit(f"{len(found)} loads over a network" if found else 0)
