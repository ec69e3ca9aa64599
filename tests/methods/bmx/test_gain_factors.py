import numpy as np
import pytest

from gnomon.bmx import Experiment, ridge_coefficients
from gnomon.core.errors import UsageError


def test_ridge_coefficients_minimise_what_they_say():
    generator = np.random.default_rng(1)
    names = [Experiment("d", e, m, "x") for e in ("lime", "shap", "random") for m in ("a", "b")] * 4
    y = generator.normal(size=len(names))
    found = ridge_coefficients(names, y, ("explainer", "metric", "dataset"), ridge=0.7)
    assert [(one.factor, one.level, one.n) for one in found] == [
        ("explainer", "lime", 8),
        ("explainer", "shap", 8),
        ("explainer", "random", 8),
        ("metric", "a", 12),
        ("metric", "b", 12),
    ]
    x = np.array([[getattr(n, one.factor) == one.level for one in found] for n in names], float)
    x, y = x - x.mean(axis=0), y - y.mean()
    b = np.array([one.value for one in found])
    np.testing.assert_allclose(x.T @ (y - x @ b), 0.7 * b, atol=1e-12)
    assert sum(b[:3]) == pytest.approx(0, abs=1e-12)


def test_ridge_leaves_undefined_gains_out_and_refuses_no_penalty():
    names = [Experiment("d", e, "m", "x") for e in ("lime", "shap", "lime")]
    found = ridge_coefficients(names, np.array([1.0, 0.0, np.nan]), ("explainer",))
    assert [one.n for one in found] == [1, 1]
    # two centred points, +-.5: (x'x + ridge) b = x'y with x'x = 1 in the one direction that counts
    assert [one.value for one in found] == pytest.approx([0.25, -0.25])
    assert ridge_coefficients(names[:1], np.array([1.0]), ("explainer",)) == []
    with pytest.raises(UsageError, match="above 0"):
        ridge_coefficients(names, np.zeros(3), ("explainer",), ridge=0)
