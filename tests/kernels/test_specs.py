"""Kernels from a config and from a line of text."""

import pytest

from seqkern.core.errors import ParameterError
from seqkern.kernels import KERNELS, Kernel, SpectrumKernel, build_kernel, parse_spec
from seqkern.kernels.kernel_specs import parse_value

EXAMPLES = [kernel for cls in KERNELS.classes.values() for kernel in cls.examples()]
S3 = {"kernel": "spectrum", "k": 3}


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("spectrum", {"kernel": "spectrum"}),
        ("mismatch:k=5,m=1", {"kernel": "mismatch", "k": 5, "m": 1}),
        (" mismatch : k = 5 , m = 1 ", {"kernel": "mismatch", "k": 5, "m": 1}),
        ("spectrum:k=1-3+5", {"kernel": "spectrum", "k": [1, 2, 3, 5]}),
        ("spectrum:k=1 + 3", {"kernel": "spectrum", "k": [1, 3]}),
        ("spectrum:k=3,part=0:40", {**S3, "part": "0:40"}),
        ("spectrum:k=3+linear", {"kernel": "sum", "parts": [S3, {"kernel": "linear"}]}),
        ("0.5*spectrum:k=3", {"kernel": "sum", "parts": [S3], "weights": [0.5]}),
        (
            "0.5*spectrum:k=3+2*linear",
            {"kernel": "sum", "parts": [S3, {"kernel": "linear"}], "weights": [0.5, 2]},
        ),
        ("1e-3*2*linear", {"kernel": "sum", "parts": [{"kernel": "linear"}], "weights": [0.002]}),
        ("linear*rbf", {"kernel": "product", "parts": [{"kernel": "linear"}, {"kernel": "rbf"}]}),
        ("((spectrum:k=3))", S3),
        (
            "rbf:gamma=1e+2,base=(spectrum:k=3 + spectrum:k=3)",
            {"kernel": "rbf", "gamma": 100.0, "base": {"kernel": "sum", "parts": [S3, S3]}},
        ),
        ("a:x=-3+b:y=+.5", {"kernel": "sum", "parts": [{"kernel": "a", "x": -3}, {"kernel": "b", "y": 0.5}]}),
        ('{"kernel": "spectrum", "k": 3}', S3),
    ],
)
def test_text_means_the_same_as_the_config_form(text, spec):
    assert parse_spec(text) == spec


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("3", 3),
        ("-3", -3),
        ("3.0", 3.0),
        ("1e2", 100.0),
        ("true", True),
        ("False", False),
        ("none", None),
        ("2-4", [2, 3, 4]),
        ("0:40", "0:40"),
        ("dna", "dna"),
        ("BLOSUM62", "BLOSUM62"),
        ("3e", "3e"),
        ("__import__('os')", "__import__('os')"),
    ],
)
def test_values_are_typed_without_eval(word, value):
    parsed = parse_value(word)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    "text",
    ["", "+", "spectrum:", "spectrum:k", "spectrum:k=", "(spectrum", "a+", "3", "3*", "a b"],
)
def test_unreadable_text_names_the_text_and_the_remedy(text):
    with pytest.raises(ParameterError, match=r"cannot read .*; write name:parameter=value.* write the kernel as JSON"):
        parse_spec(text)
    with pytest.raises(ParameterError, match=r"nested specifications in parentheses$"):
        parse_spec(text, "solver")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("spectrum:k=3)", "; write spectrum:k=3"),
        ("mismatch:k=5 m=1", "; write mismatch:k=5,m=1"),
        ("mismatch(k=5; m=1)", "; write mismatch:k=5,m=1"),
        ("spectum:k=3", "unknown kernel 'spectum'; did you mean 'spectrum'"),
        ("rbf:gama=1", "'gama'; did you mean 'gamma'"),
        ("rbf:base=(rbf:gama=1)", "'gama'; did you mean 'gamma'"),
        ("spectrum:k=3,k=4", "'k' is given twice"),
        ("motif", "needs the parameter 'motifs'; add motifs="),
        ("rbf:gamma=0", "gamma=0 is not possible; give a number > 0"),
        ("rbf:gamma=often", "gamma='often' is not possible"),
        ("spectrum:part=3", "part=3 is not possible; write it as 0:40"),
        ("spectrum:part=0:40:2", "part='0:40:2' is not possible"),
        ("spectrum:part=0:x", "part's stop='x' is not possible"),
        ("linear:part=0:3", "does not take sequences"),
        ("spectrum+linear", "take different data: features, sequences"),
        ({"k": 3}, "is not a kernel; write it as"),
        ({"kernel": 3}, "is not a kernel"),
        ({"kernel": "sum", "parts": []}, "needs kernels as parts"),
        ({"kernel": "sum", "parts": [S3], "weights": [-1]}, "weight=-1 is not possible; give a number ≥ 0"),
        ({"kernel": "sum", "parts": [S3], "weights": [1, 2]}, "2 weights for 1 parts"),
        ('{"kernel": ', "is not JSON"),
    ],
)
def test_what_cannot_be_built_is_a_parameter_error_with_the_remedy(spec, message):
    with pytest.raises(ParameterError) as error:
        build_kernel(spec)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_config_and_text_forms_build_the_same_kernel():
    config = {
        "kernel": "sum",
        "parts": [{"kernel": "spectrum", "k": "1-3", "part": [0, 40]}, "spectrum:k=3,part=42:"],
        "weights": [0.5, 1],
    }
    text = "0.5*spectrum:k=1+2+3,part=0:40 + spectrum:k=3,part=42:"
    kernel = build_kernel(config)
    assert kernel.spec() == build_kernel(text).spec()
    left, right = kernel.parts
    assert (left.start, left.stop, left.base.k) == (0, 40, [1, 2, 3])
    assert (right.start, right.stop) == (42, None)


def test_a_base_may_be_written_as_text_in_a_config():
    assert build_kernel({"kernel": "rbf", "base": "spectrum:k=3"}).base.k == 3


def test_a_kernel_is_returned_as_it_is():
    kernel = SpectrumKernel(k=2)
    assert build_kernel(kernel) is kernel
    assert isinstance(kernel, Kernel)


def test_the_package_has_no_other_names():
    import seqkern.kernels

    for name in ("nothing", "NoKernel"):
        with pytest.raises(AttributeError, match=name):
            getattr(seqkern.kernels, name)
