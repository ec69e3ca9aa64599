"""Pure functions on arrays: agreement of scores, and tests of it. No text, no metrics.

Missing values are NaN. Whatever is undefined (fewer than two points, a constant side) is NaN too,
never an error. Where two kinds of scores are compared, people's come first; metrics are oriented
so that higher is better. Arrays are [systems, items], and [metrics, systems, items] for many.
"""

from gnomon.stats.agreement import (
    Decisions,
    TieCalibration,
    acc_eq,
    acc_eq_held_out,
    calibrate_ties,
    darr,
    darr_pairs,
    pairwise_accuracy,
    pairwise_decisions,
)
from gnomon.stats.bootstrap import BootstrapTest, bootstrap_p_value, bootstrap_test
from gnomon.stats.changed_decisions import (
    ChangedDecisions,
    OrderedPairs,
    changed_decisions,
    ordered_pairs,
)
from gnomon.stats.correlation import (
    WilliamsResult,
    correlation_p,
    correlation_tests,
    kendall_b,
    kendall_c,
    pairwise_difference_pearson,
    pearson,
    spearman,
    williams,
    williams_from_correlations,
)
from gnomon.stats.error_spans import (
    Confusion,
    GradedSpan,
    SpanCounts,
    character_counts,
    matthews,
    precision_recall_f1,
    roc_area,
    span_counts,
)
from gnomon.stats.families import (
    Comparisons,
    Family,
    exchange_test,
    family_draws,
    family_test,
)
from gnomon.stats.holm import holm, holm_levels
from gnomon.stats.interim import look_levels, obrien_fleming
from gnomon.stats.isotonic import isotonic_regression
from gnomon.stats.jackknife import Jackknife, design_effect, jackknife, jackknife_test
from gnomon.stats.left_out import DocumentTest, decisions_by_document, document_test
from gnomon.stats.leniency import Leniency, RaterRidge, adjusted_means, rater_ridge
from gnomon.stats.measures import SoftPairwiseAccuracy, spa, system_p_values
from gnomon.stats.p_values import EarlyStopping, PValue, RandomDraws, p_value
from gnomon.stats.permutation import (
    PairTest,
    input_swap_test,
    permutation_test,
)
from gnomon.stats.power import needed_units, power_of_t
from gnomon.stats.ranking import clusters, outliers, ranks, top
from gnomon.stats.reliability import cohens_kappa, krippendorff_alpha
from gnomon.stats.resampling import Interval, bootstrap_interval, resamples
from gnomon.stats.sampling import (
    proportional_allocation,
)
from gnomon.stats.shared_task_rules import PRESETS, TaskRules, rules
from gnomon.stats.system_families import FamilyPair, SystemFamily
from gnomon.stats.system_tests import (
    resampled_scores,
    system_bootstrap_test,
)

__all__ = [
    "PRESETS",
    "BootstrapTest",
    "ChangedDecisions",
    "Comparisons",
    "Confusion",
    "Decisions",
    "DocumentTest",
    "EarlyStopping",
    "Family",
    "FamilyPair",
    "GradedSpan",
    "Interval",
    "Jackknife",
    "Leniency",
    "OrderedPairs",
    "PValue",
    "PairTest",
    "RandomDraws",
    "RaterRidge",
    "SoftPairwiseAccuracy",
    "SpanCounts",
    "SystemFamily",
    "TaskRules",
    "TieCalibration",
    "WilliamsResult",
    "acc_eq",
    "acc_eq_held_out",
    "adjusted_means",
    "bootstrap_interval",
    "bootstrap_p_value",
    "bootstrap_test",
    "calibrate_ties",
    "changed_decisions",
    "character_counts",
    "clusters",
    "cohens_kappa",
    "correlation_p",
    "correlation_tests",
    "darr",
    "darr_pairs",
    "decisions_by_document",
    "design_effect",
    "document_test",
    "exchange_test",
    "family_draws",
    "family_test",
    "holm",
    "holm_levels",
    "input_swap_test",
    "isotonic_regression",
    "jackknife",
    "jackknife_test",
    "kendall_b",
    "kendall_c",
    "krippendorff_alpha",
    "look_levels",
    "matthews",
    "needed_units",
    "obrien_fleming",
    "ordered_pairs",
    "outliers",
    "p_value",
    "pairwise_accuracy",
    "pairwise_decisions",
    "pairwise_difference_pearson",
    "pearson",
    "permutation_test",
    "power_of_t",
    "precision_recall_f1",
    "proportional_allocation",
    "ranks",
    "rater_ridge",
    "resampled_scores",
    "resamples",
    "roc_area",
    "rules",
    "spa",
    "span_counts",
    "spearman",
    "system_bootstrap_test",
    "system_p_values",
    "top",
    "williams",
    "williams_from_correlations",
]
