"""BMX: show which words a score rests on, and let that improve the score.

Everything public is listed in ``__all__``; names are imported when first used. The package is
called as its method :func:`score`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.core.lazy import callable_package, lazy_exports

if TYPE_CHECKING:
    from gnomon.methods.bmx._choices import best_settings as best_settings
    from gnomon.methods.bmx._choices import choose as choose
    from gnomon.methods.bmx._choices import count_gains as count_gains
    from gnomon.methods.bmx._choices import gains_at as gains_at
    from gnomon.methods.bmx._choices import grid_setting as grid_setting
    from gnomon.methods.bmx._choices import improving as improving
    from gnomon.methods.bmx._correlations import search as search
    from gnomon.methods.bmx._direct import explainer as explainer
    from gnomon.methods.bmx._experiments import Experiment as Experiment
    from gnomon.methods.bmx._experiments import Explained as Explained
    from gnomon.methods.bmx._experiments import Grids as Grids
    from gnomon.methods.bmx._experiments import explained as explained
    from gnomon.methods.bmx._explain import explain as explain
    from gnomon.methods.bmx._explanations import Aggregable as Aggregable
    from gnomon.methods.bmx._explanations import Explanations as Explanations
    from gnomon.methods.bmx._explanations import SideWords as SideWords
    from gnomon.methods.bmx._explanations import explanations as explanations
    from gnomon.methods.bmx._judging import ErrorAgreement as ErrorAgreement
    from gnomon.methods.bmx._judging import Faithfulness as Faithfulness
    from gnomon.methods.bmx._judging import against_errors as against_errors
    from gnomon.methods.bmx._judging import faithfulness as faithfulness
    from gnomon.methods.bmx._pairs import TextWords as TextWords
    from gnomon.methods.bmx._power_mean import combine as combine
    from gnomon.methods.bmx._power_mean import power_mean as power_mean
    from gnomon.methods.bmx._power_mean import power_means as power_means
    from gnomon.methods.bmx.explainers import BoundExplainer as BoundExplainer
    from gnomon.methods.bmx.explainers import CheckingExplainer as CheckingExplainer
    from gnomon.methods.bmx.explainers import DirectExplainer as DirectExplainer
    from gnomon.methods.bmx.explainers import Explainer as Explainer
    from gnomon.methods.bmx.explainers import NoticingExplainer as NoticingExplainer
    from gnomon.methods.bmx.explainers import PairImportances as PairImportances
    from gnomon.methods.bmx.explainers import PerturbationPlan as PerturbationPlan
    from gnomon.methods.bmx.explainers import PerturbingExplainer as PerturbingExplainer
    from gnomon.methods.bmx.explainers import SidedExplainer as SidedExplainer
    from gnomon.methods.bmx.explainers import TextPair as TextPair
    from gnomon.methods.bmx.explainers import describe_explainers as describe_explainers
    from gnomon.methods.bmx.explainers import explainer_names as explainer_names
    from gnomon.methods.bmx.explainers import find_explainer as find_explainer
    from gnomon.methods.bmx.explanation_files import ExplanationFile as ExplanationFile
    from gnomon.methods.bmx.explanation_files import write_explanations as write_explanations
    from gnomon.methods.bmx.gain_factors import ridge_coefficients as ridge_coefficients
    from gnomon.methods.bmx.grid_files import read_grids as read_grids
    from gnomon.methods.bmx.metric import Bmx as Bmx
    from gnomon.methods.bmx.metric import score as score
    from gnomon.methods.bmx.tuning import tune as tune

__getattr__, __dir__, __all__ = lazy_exports(__name__)
callable_package(__name__, "score")
