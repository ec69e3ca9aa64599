"""BMX: show which words a score rests on, and boost metrics by them.

Everything public is listed in ``__all__``; names are imported when first used. The package is
called as its method :func:`score`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import callable_package, lazy_exports

if TYPE_CHECKING:
    from gnomon.bmx._direct import explainer as explainer
    from gnomon.bmx.aggregation import combine as combine
    from gnomon.bmx.aggregation import power_mean as power_mean
    from gnomon.bmx.aggregation import power_means as power_means
    from gnomon.bmx.choices import best_settings as best_settings
    from gnomon.bmx.choices import choose as choose
    from gnomon.bmx.choices import count_gains as count_gains
    from gnomon.bmx.choices import gains_at as gains_at
    from gnomon.bmx.choices import grid_setting as grid_setting
    from gnomon.bmx.choices import improving as improving
    from gnomon.bmx.correlations import search as search
    from gnomon.bmx.experiments import Experiment as Experiment
    from gnomon.bmx.experiments import Explained as Explained
    from gnomon.bmx.experiments import Grids as Grids
    from gnomon.bmx.experiments import explained as explained
    from gnomon.bmx.explained_texts import Aggregable as Aggregable
    from gnomon.bmx.explained_texts import Explanations as Explanations
    from gnomon.bmx.explained_texts import SideWords as SideWords
    from gnomon.bmx.explained_texts import explanations as explanations
    from gnomon.bmx.explainers import BoundExplainer as BoundExplainer
    from gnomon.bmx.explainers import CheckingExplainer as CheckingExplainer
    from gnomon.bmx.explainers import DirectExplainer as DirectExplainer
    from gnomon.bmx.explainers import Explainer as Explainer
    from gnomon.bmx.explainers import NoticingExplainer as NoticingExplainer
    from gnomon.bmx.explainers import PairImportances as PairImportances
    from gnomon.bmx.explainers import PerturbationPlan as PerturbationPlan
    from gnomon.bmx.explainers import PerturbingExplainer as PerturbingExplainer
    from gnomon.bmx.explainers import SidedExplainer as SidedExplainer
    from gnomon.bmx.explainers import TextPair as TextPair
    from gnomon.bmx.explainers import describe_explainers as describe_explainers
    from gnomon.bmx.explainers import explainer_names as explainer_names
    from gnomon.bmx.explainers import find_explainer as find_explainer
    from gnomon.bmx.explanation_files import ExplanationFile as ExplanationFile
    from gnomon.bmx.explanation_files import write_explanations as write_explanations
    from gnomon.bmx.gain_factors import ridge_coefficients as ridge_coefficients
    from gnomon.bmx.grid_files import read_grids as read_grids
    from gnomon.bmx.importance import explain as explain
    from gnomon.bmx.judging import ErrorAgreement as ErrorAgreement
    from gnomon.bmx.judging import Faithfulness as Faithfulness
    from gnomon.bmx.judging import against_errors as against_errors
    from gnomon.bmx.judging import faithfulness as faithfulness
    from gnomon.bmx.metric import Bmx as Bmx
    from gnomon.bmx.pairs import TextWords as TextWords
    from gnomon.bmx.scoring import score as score
    from gnomon.bmx.tuning import tune as tune

__getattr__, __dir__, __all__ = lazy_exports(__name__)
callable_package(__name__, "score")
