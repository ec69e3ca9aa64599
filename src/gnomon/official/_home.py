"""Where fetched sets lie."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["default_path"]


def default_path() -> Path:
    """The folder named by ``GNOMON_DATA``, else one among the user's data."""
    given = os.environ.get("GNOMON_DATA")
    if given:
        return Path(given).expanduser()
    import platformdirs

    return platformdirs.user_data_path("gnomon") / "sets"
