import numpy as np
import pytest

from gnomon import bmx
from gnomon.core.errors import FormatError, MissingFileError


@pytest.mark.parametrize(
    ("name", "experiment"),
    [
        ("wmt17__LimeExplainer__bleu__de-en", bmx.Experiment("wmt17", "lime", "bleu", "de-en")),
        ("a__own__b__de-en__only_hyp", bmx.Experiment("a", "own", "b", "de-en", "candidate")),
    ],
)
def test_grids_have_the_names_of_their_experiments(tmp_path, name, experiment):
    table = np.array([[[0.2, 0.5], [0.3, 0.5]]])
    p = [0.30000000000000004, 1.0]  # a sum of tenths
    np.savez(tmp_path / "x.npz", name=np.array([name]), p=p, w=[0.0, 1.0], corr=table)
    read = bmx.read_grids(tmp_path / "x.npz")
    assert read.experiments == (experiment,)
    assert read.p.tolist() == [0.3, 1.0]
    np.testing.assert_array_equal(read.correlations, table)


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
