"""The least cost of turning one distribution of weight into another, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnomon.errors import MissingDependencyError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["load_transport", "transport_cost", "transport_flow"]


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

    Rubner et al. (2000). Arguments are those of :func:`transport_flow`.
    """
    return float((transport_flow(supply, demand, cost) * cost).sum())


def transport_flow(
    supply: NDArray[np.float64], demand: NDArray[np.float64], cost: NDArray[np.float64]
) -> NDArray[np.float64]:
    """A flow f of least cost sum f_ij c_ij with the given margins, float64 [n, m], of sum 1.

    Solved by the network simplex, without regularisation.

    Args:
        supply: float64 [n], positive; scaled to sum 1.
        demand: float64 [m], positive; scaled to sum 1.
        cost: float64 [n, m].
    """
    a, b = supply / supply.sum(), demand / demand.sum()
    if len(a) == 1 or len(b) == 1:
        return np.outer(a, b)  # there is only one flow
    flow: NDArray[np.float64] = load_transport().emd(a, b, np.ascontiguousarray(cost))
    return flow
