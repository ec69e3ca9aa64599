import numpy as np
import pytest
from tests.methods.bmx.invented import experiments, invented

from gnomon import bmx
from gnomon.core.errors import FormatError, MissingFileError
from gnomon.methods.bmx._experiments import Experiment


def test_grids_of_their_own_are_tuned_without_explanations(tmp_path):
    made = bmx.search(experiments())
    bmx.write_grids(tmp_path / "grids.npz", made)
    read = bmx.read_grids(tmp_path / "grids.npz")
    np.testing.assert_array_equal(read.correlations, made.correlations)
    assert (read.experiments, read.p.tolist()) == (made.experiments, made.p.tolist())
    found, direct = (bmx.tune(grids, resamples=50) for grids in (read, made))
    assert found.to_dict("counts") == direct.to_dict("counts")
    assert found.rows[0]["collapsed"] is None
    assert direct.rows[0]["collapsed"] is not None


@pytest.mark.parametrize(
    "named",
    [
        Experiment("no pair", "erasure", "bleu", "", "candidate"),
        Experiment("a__b", "lime", "bleu", "de-en"),
        Experiment("_edge_", "lime", "my__own_", "de-en"),
    ],
)
def test_experiments_of_any_names_come_back_from_a_file(tmp_path, named):
    bmx.write_grids(tmp_path / "x.npz", bmx.search([invented(20, named=named)]))
    assert bmx.read_grids(tmp_path / "x.npz").experiments == (named,)


def test_grids_that_are_none_are_refused(tmp_path):
    with pytest.raises(MissingFileError):
        bmx.read_grids(tmp_path / "none.npz")
    (tmp_path / "text.npz").write_text("p\n")
    with pytest.raises(FormatError, match="archive"):
        bmx.read_grids(tmp_path / "text.npz")
    np.savez(tmp_path / "objects.npz", name=np.array([{}], dtype=object))
    with pytest.raises(FormatError, match="archive"):
        bmx.read_grids(tmp_path / "objects.npz")
    np.savez(tmp_path / "part.npz", name=np.array(["a__b__c__d"]), p=np.zeros(1))
    with pytest.raises(FormatError, match="lacks w, corr"):
        bmx.read_grids(tmp_path / "part.npz")
    np.savez(tmp_path / "shape.npz", name=np.array(["a__b__c__d"]), p=[0.0], w=[1.0], corr=[0.1])
    with pytest.raises(FormatError, match="shape"):
        bmx.read_grids(tmp_path / "shape.npz")
    np.savez(tmp_path / "named.npz", name=np.array(["a"]), p=[0.0], w=[1.0], corr=[[[0.1]]])
    with pytest.raises(FormatError, match="DATASET__EXPLAINER__METRIC__PAIR"):
        bmx.read_grids(tmp_path / "named.npz")
