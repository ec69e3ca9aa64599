"""Challenge sets: kinds of errors that a metric scores below the same text without them.

``gnomon.stress`` may be called itself. Everything public is listed in ``__all__``; names are
imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import callable_package, lazy_exports

if TYPE_CHECKING:
    from gnomon.stress.detection import stress as stress
    from gnomon.stress.detection import stress_pairs as stress_pairs
    from gnomon.stress.outcomes import Detection as Detection
    from gnomon.stress.outputs import OtherOutputs as OtherOutputs
    from gnomon.stress.outputs import Output as Output
    from gnomon.stress.perturbations import Crossed as Crossed
    from gnomon.stress.perturbations import Perturbation as Perturbation
    from gnomon.stress.perturbations import describe_perturbations as describe_perturbations
    from gnomon.stress.perturbations import perturbation as perturbation

__getattr__, __dir__, __all__ = lazy_exports(__name__)
callable_package(__name__, "stress")
