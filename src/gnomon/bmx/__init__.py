"""BMX: explain any metric word by word, and let the explanations add to its score.

Everything public is listed in ``__all__``; names are imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.doors import door

if TYPE_CHECKING:
    from gnomon.bmx._choices import choose as choose
    from gnomon.bmx._correlations import read_grids as read_grids
    from gnomon.bmx._correlations import search as search
    from gnomon.bmx._correlations import write_grids as write_grids
    from gnomon.bmx._experiments import Experiment as Experiment
    from gnomon.bmx._experiments import Explained as Explained
    from gnomon.bmx._experiments import Grids as Grids
    from gnomon.bmx._experiments import explained as explained
    from gnomon.bmx._experiments import read_explanations as read_explanations
    from gnomon.bmx._explain import examine as examine
    from gnomon.bmx._explanations import Aggregable as Aggregable
    from gnomon.bmx._explanations import Explanations as Explanations
    from gnomon.bmx._explanations import SideWords as SideWords
    from gnomon.bmx._explanations import explain as explain
    from gnomon.bmx._judging import ErrorAgreement as ErrorAgreement
    from gnomon.bmx._judging import Faithfulness as Faithfulness
    from gnomon.bmx._judging import against_errors as against_errors
    from gnomon.bmx._judging import faithfulness as faithfulness
    from gnomon.bmx._outcomes import Iteration as Iteration
    from gnomon.bmx._outcomes import second_iteration_difference as second_iteration_difference
    from gnomon.bmx._power_mean import combine as combine
    from gnomon.bmx._power_mean import power_mean as power_mean
    from gnomon.bmx._power_mean import power_means as power_means
    from gnomon.bmx._score import Beside as Beside
    from gnomon.bmx._score import beside_base as beside_base
    from gnomon.bmx._score import boosted_scores as boosted_scores
    from gnomon.bmx._tune import tune as tune
    from gnomon.bmx.explainers import ExplainerDescription as ExplainerDescription
    from gnomon.bmx.explainers import describe_explainers as describe_explainers
    from gnomon.bmx.explainers import find_explainer as find_explainer
    from gnomon.bmx.metric import Bmx as Bmx

_HOMES = {
    "Aggregable": "_explanations",
    "Beside": "_score",
    "Bmx": "metric",
    "ErrorAgreement": "_judging",
    "Experiment": "_experiments",
    "Explained": "_experiments",
    "ExplainerDescription": "explainers",
    "Explanations": "_explanations",
    "Faithfulness": "_judging",
    "Grids": "_experiments",
    "Iteration": "_outcomes",
    "SideWords": "_explanations",
    "against_errors": "_judging",
    "beside_base": "_score",
    "boosted_scores": "_score",
    "choose": "_choices",
    "combine": "_power_mean",
    "describe_explainers": "explainers",
    "examine": "_explain",
    "explain": "_explanations",
    "explained": "_experiments",
    "faithfulness": "_judging",
    "find_explainer": "explainers",
    "power_mean": "_power_mean",
    "power_means": "_power_mean",
    "read_explanations": "_experiments",
    "read_grids": "_correlations",
    "search": "_correlations",
    "second_iteration_difference": "_outcomes",
    "tune": "_tune",
    "write_grids": "_correlations",
}

__all__ = [
    "Aggregable",
    "Beside",
    "Bmx",
    "ErrorAgreement",
    "Experiment",
    "Explained",
    "ExplainerDescription",
    "Explanations",
    "Faithfulness",
    "Grids",
    "Iteration",
    "SideWords",
    "against_errors",
    "beside_base",
    "boosted_scores",
    "choose",
    "combine",
    "describe_explainers",
    "examine",
    "explain",
    "explained",
    "faithfulness",
    "find_explainer",
    "power_mean",
    "power_means",
    "read_explanations",
    "read_grids",
    "search",
    "second_iteration_difference",
    "tune",
    "write_grids",
]


__getattr__ = door(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
