"""Parameters declared once: the constructor, the checks and the documentation that follow from them."""

import copy
import inspect
import pickle
from typing import Literal

import pytest
from sklearn.base import BaseEstimator, clone

from seqkern.core.errors import ParameterError
from seqkern.core.parameters import (
    Parameters,
    alphabet_name,
    anything,
    changed,
    choice,
    fixed,
    flag,
    integer,
    labels,
    numbers,
    numbers_by_name,
    real,
    text,
)
from seqkern.gram.transforms import TRANSFORMS
from seqkern.kernels import KERNELS
from seqkern.kernels.feature_transforms import FEATURE_TRANSFORMS
from seqkern.solvers import SOLVERS
from seqkern.solvers.layers import LAYERS
from seqkern.solvers.selection.selectors import SELECTORS, ExpressionScaler

REGISTRIES = (KERNELS, TRANSFORMS, FEATURE_TRANSFORMS, LAYERS, SOLVERS, SELECTORS)
CLASSES = [*(cls for registry in REGISTRIES for cls in registry.classes.values()), ExpressionScaler]


class Base(Parameters):
    """What the classes here share.

    Attributes
    ----------
    shared_ : int
    """

    last_parameters = ("seed", "threads")

    k: int | list[int] = integer(default=3, low=1, high=9, several=True, kw_only=False, doc="Length.")
    threads: int | None = integer(default=None, low=1, execution=True, doc="How many.")
    seed: int = integer(default=1, low=0)


class Both(Base, BaseEstimator):
    """One of several.

    A second paragraph.

    Notes
    -----
    Some.
    """

    size: int = integer(default=3, kw_only=False)
    m: int = integer(default=1, low=0, high="size", kw_only=False, doc="Mismatches.")
    mode: Literal["fast", "exact"] | None = choice(default="exact", doc="How.")
    gamma: float | str = real(default="scale", low=0, open_low=True, words=("scale", "median"))
    C: float = real(default=1.0, low=0, open_low=True, infinite=True)
    share: float = real(default=0.5, low=0, high=1, open_high=True)
    weights: list[float] | None = numbers(default=None, low=0)
    shape: str | list[float] = numbers(default="flat", low=0, words=("flat", "peak"), each="weight")
    costs: dict[str, float] | str | None = numbers_by_name(
        value=real(low=0, open_low=True),
        default=None,
        words=("balanced",),
        each="cost of",
        remedy="give a cost for each class",
    )
    letters: str | None = alphabet_name(default=None)
    note: str | None = text(default=None)
    table: str | list[list[float]] = text(default="BLOSUM62", rows=True)
    order: list[str] | None = labels(default=None, list_parameter=True)
    file: str | None = text(default=None, path=True, remedy="give a file")
    each: list[float] | None = numbers(default=None, length="size")
    loud: bool = flag(default=False)
    other: object = anything(default=0)


class Child(Both):
    """Inherits, and changes."""

    k: int | list[int] = changed(default=5, high=6)
    mode: None = fixed(None)


class NoDefault(Base):
    """Needs one."""

    parts: list[int] = integer(several=True, kw_only=False)
    k: None = fixed(None)


class ByHand(Base):
    """Writes its constructor."""

    def __init__(self, k=4, *, colour="red"):
        self.k = k
        self.colour = colour


OWN = [
    *("size", "m", "mode", "gamma", "C", "share", "weights", "shape"),
    *("costs", "letters", "note", "table", "order", "file", "each", "loud", "other"),
]


def test_the_signature_is_real():
    signature = inspect.signature(Both)
    assert list(signature.parameters) == ["k", *OWN, "seed", "threads"]
    kinds = {name: item.kind for name, item in signature.parameters.items()}
    positional = {name for name, kind in kinds.items() if kind is inspect.Parameter.POSITIONAL_OR_KEYWORD}
    assert positional == {"k", "size", "m"}
    assert signature.parameters["m"].default == 1
    assert signature.parameters["threads"].annotation == int | None
    assert next(iter(inspect.signature(Both.__init__).parameters)) == "self"
    assert Both.parameter_names() == list(signature.parameters)


def test_arguments_become_plain_attributes():
    many = [1, 2]
    one = Both(many, 3, 2, mode="fast")
    assert (one.k is many, one.m, one.mode, one.seed) == (True, 2, "fast", 1)
    assert set(vars(one)) == set(Both.parameter_names())
    assert not any(hasattr(type(value), "__get__") for value in vars(Both()).values())


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [((1, 2, 3, "fast"), {}, "positional"), ((), {"kk": 1}, "kk"), ((1,), {"k": 1}, "'k'")],
)
def test_what_the_constructor_does_not_take_is_a_type_error(args, kwargs, message):
    with pytest.raises(TypeError, match=message):
        Both(*args, **kwargs)


def test_a_parameter_without_default_is_required():
    assert inspect.signature(NoDefault).parameters["parts"].default is inspect.Parameter.empty
    assert not hasattr(NoDefault, "parts")
    with pytest.raises(TypeError, match="parts"):
        NoDefault()


def test_inherited_parameters_may_be_changed_and_taken_away():
    assert Child().k == 5
    assert Child().mode is None
    assert "mode" not in Child.parameter_names()
    assert Child.parameter_names() == [name for name in Both.parameter_names() if name != "mode"]
    with pytest.raises(TypeError, match="mode"):
        Child(mode="fast")
    with pytest.raises(ParameterError, match=r"k=7 is not possible; give an integer from 1 to 6"):
        Child(7).check_parameters()
    Child(7, m=3).set_params(k=6).check_parameters()


def test_only_what_is_inherited_can_be_changed():
    with pytest.raises(TypeError, match="changes nothing_there, which it does not inherit"):
        type("Wrong", (Base,), {"nothing_there": changed(default=1), "__annotations__": {"nothing_there": int}})


def test_a_constructor_written_by_hand_is_kept():
    assert ByHand.parameter_names() == ["k", "colour"]
    assert ByHand(7, colour="blue").get_params() == {"k": 7, "colour": "blue"}
    with pytest.raises(ParameterError, match="k=0"):
        ByHand(0).check_parameters()


def test_clone_pickle_and_copy():
    one = Both([1, 2], mode=None, costs={"a": 2.0})
    for same in (clone(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert same is not one
        assert same.get_params() == one.get_params()
    assert repr(one) == "Both(k=[1, 2], mode=None, costs={'a': 2.0})"
    with pytest.raises(ParameterError, match="'mod'; did you mean 'mode'"):
        one.set_params(mod=1)


GOOD = [
    {"k": [1, 9]},
    {"k": (2, 3)},
    {"threads": 4},
    {"mode": None},
    {"gamma": "median"},
    {"gamma": 0.1},
    {"C": float("inf")},
    {"share": 0},
    {"weights": [0, 1.5]},
    {"shape": "peak"},
    {"shape": [1, 2]},
    {"costs": "balanced"},
    {"costs": {"a": 0.5}},
    {"note": "01"},
    {"table": [[1, 0], [0, 1]]},
    {"order": ["a", 1]},
    {"file": "a.hmm"},
    {"each": [1, 2, 3]},
    {"loud": True},
    pytest.param({"other": object()}, id="other"),
]
BAD = [
    ({"k": 0}, "k=0 is not possible; give an integer from 1 to 9"),
    ({"k": 2.0}, "k=2.0 is not possible"),
    ({"k": True}, "k=True is not possible"),
    ({"k": [1, 10]}, "k=10 is not possible"),
    ({"k": None}, "k=None is not possible"),
    ({"m": 4}, "m=4 is not possible; give an integer from 0 to 3"),
    ({"threads": 0}, "threads=0 is not possible; give an integer at least 1"),
    ({"mode": "slow"}, "mode='slow' is not possible; choose None or fast or exact"),
    ({"gamma": 0}, "gamma=0 is not possible; give a number > 0"),
    ({"gamma": "often"}, "gamma='often' is not possible; give a number > 0, scale or median"),
    ({"gamma": float("nan")}, "gamma=nan is not possible"),
    ({"C": float("-inf")}, "C=-inf is not possible"),
    ({"share": 1}, "share=1 is not possible; give a number ≥ 0 and < 1"),
    ({"share": float("inf")}, "share=inf is not possible"),
    ({"weights": 1}, "weights=1 is not possible; give a list of numbers"),
    ({"weights": [1, -1]}, "weights=-1 is not possible; give a number ≥ 0"),
    ({"shape": [-1]}, "weight=-1 is not possible"),
    ({"shape": "round"}, "shape='round' is not possible; choose flat, peak, or give a list of numbers"),
    ({"costs": 3}, "costs=3 is not possible; give a cost for each class"),
    ({"costs": {"a": 0}}, "cost of a=0 is not possible; give a number > 0"),
    ({"note": 1}, "note=1 is not possible; give text"),
    ({"table": 3}, "table=3 is not possible; give a name, or rows of numbers"),
    ({"file": 12}, "file=12 is not a path; give a file"),
    ({"each": [1, 2]}, "each=[1, 2] is not possible; give a list of 3 numbers"),
    ({"each": 1}, "each=1 is not possible; give a list of 3 numbers"),
    ({"loud": "yes"}, "loud='yes' is not possible; give true or false"),
]


@pytest.mark.parametrize("params", GOOD, ids=str)
def test_a_value_of_the_domain(params):
    Both(**params).check_parameters()


@pytest.mark.parametrize(("params", "message"), BAD, ids=str)
def test_a_value_outside_the_domain_is_one_line_with_the_remedy(params, message):
    one = Both(**params)  # stored unchecked, as scikit-learn wants it
    with pytest.raises(ParameterError) as error:
        one.check_parameters()
    assert str(error.value).startswith(message)


def test_the_documentation_has_a_section_of_parameters():
    lines = inspect.getdoc(Both).splitlines()
    start = lines.index("Parameters")
    assert lines[:2] == ["One of several.", ""]
    assert lines[start : start + 6] == [
        "Parameters",
        "----------",
        "k : int from 1 to 9 or list of int, default 3",
        "    Length.",
        "size : int, default 3",
        "m : int from 0 to `size`, default 1",
    ]
    for line in (
        'mode : {None, "fast", "exact"}, default "exact"',
        'gamma : {"scale", "median"} or float > 0, default "scale"',
        "C : float > 0 or infinity, default 1.0",
        "share : float ≥ 0 and < 1, default 0.5",
        "weights : list of float ≥ 0, optional",
        "note : str, optional",
        'table : str or list of list of float, default "BLOSUM62"',
        "loud : bool, default False",
        "threads : int ≥ 1, optional",
    ):
        assert line in lines
    assert lines.index("Notes") > start
    assert inspect.getdoc(Base).index("Parameters") < inspect.getdoc(Base).index("Attributes")


def test_a_section_written_by_hand_is_kept():
    written = "One.\n\n    Parameters\n    ----------\n    k : int\n    "
    assert inspect.getdoc(type("Written", (Base,), {"__doc__": written})) == inspect.cleandoc(written)


def test_no_registered_class_writes_its_constructor():
    for cls in CLASSES:
        assert hasattr(cls.__init__, "declared"), cls
        assert cls.declarations().keys() == inspect.signature(cls).parameters.keys(), cls
        documented = inspect.getdoc(cls)
        for name, item in cls.declarations().items():
            assert f"\n{name} : " in documented, cls
            assert item.doc or name in ("base",), f"{name} of {cls.__name__} says nothing"
