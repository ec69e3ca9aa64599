"""gnomon in a browser: comparisons, studies and their segments, on one's own machine or a team's.

Everything public is listed in ``__all__``. It needs ``pip install 'gnomon[serve]'``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import lazy_exports

if TYPE_CHECKING:
    from gnomon.serve._app import make_app as make_app
    from gnomon.serve._settings import Settings as Settings

__getattr__, __dir__, __all__ = lazy_exports(__name__, checking=False)
