"""gnomon in a browser: comparisons, studies and their segments, on one's own machine or a team's.

Everything public is listed in ``__all__``. It needs ``pip install 'gnomon[serve]'``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import lazy_exports

if TYPE_CHECKING:
    from gnomon.serve.access import Access as Access
    from gnomon.serve.app import make_app as make_app
    from gnomon.serve.server import listen as listen
    from gnomon.serve.server import open_browser as open_browser
    from gnomon.serve.server import run_server as run_server
    from gnomon.serve.settings import LOOPBACK as LOOPBACK
    from gnomon.serve.settings import PORT as PORT
    from gnomon.serve.settings import ServerLimits as ServerLimits
    from gnomon.serve.settings import Settings as Settings
    from gnomon.serve.settings import address_of as address_of
    from gnomon.serve.settings import read_config as read_config

__getattr__, __dir__, __all__ = lazy_exports(__name__, checking=False)
