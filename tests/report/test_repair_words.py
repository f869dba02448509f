"""Every transform that makes a matrix positive semi-definite has its sentence."""

from seqkern.gram.transforms import TRANSFORMS
from seqkern.report.sections.fitting import REPAIRS


def test_every_repairing_transform_has_a_sentence():
    repairing = [name for name, cls in TRANSFORMS.classes.items() if cls.semidefinite and name != "repair"]
    assert set(repairing) <= set(REPAIRS)
    assert "kernel_pca" in repairing
