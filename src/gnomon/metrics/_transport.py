"""The least cost of turning one distribution of weight into another, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.errors import MissingDependencyError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["load_transport", "transport_cost"]


def load_transport() -> Any:  # a module
    """The solver.

    Raises:
        MissingDependencyError: the package POT is not installed.
    """
    try:
        import ot.lp
    except ImportError:
        raise MissingDependencyError(
            "moverscore needs the package POT (optimal transport), which is not installed; install"
            " it with: pip install 'gnomon[models]'"
        ) from None
    return ot.lp


def transport_cost(
    supply: NDArray[np.float64], demand: NDArray[np.float64], cost: NDArray[np.float64]
) -> float:
    """Earth mover's distance: the minimum of sum f_ij c_ij over flows with the given margins.

    Rubner et al. (2000). Solved by the network simplex, without regularisation.

    Args:
        supply: float64 [n], positive; scaled to sum 1.
        demand: float64 [m], positive; scaled to sum 1.
        cost: float64 [n, m].
    """
    a, b = supply / supply.sum(), demand / demand.sum()
    if len(a) == 1 or len(b) == 1:
        return float(a @ cost @ b)  # there is only one flow
    flow = load_transport().emd(a, b, np.ascontiguousarray(cost))
    return float((flow * cost).sum())
