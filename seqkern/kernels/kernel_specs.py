"""Conversion of kernels from and to configurations and text; `seqkern.core.specs` defines the forms."""

import inspect
import numbers
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from seqkern.core.declarations import parse_value
from seqkern.core.errors import ParameterError
from seqkern.core.registry import Kind, add_kind
from seqkern.core.specs import build_named, parse_spec, spec_alternatives
from seqkern.core.types import Arrays, Header
from seqkern.kernels.decisions import is_deferred, sample
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.kernel_table import KERNELS

__all__ = ["build_kernel", "check_kind", "kernel_from_state", "kernel_text", "parse_spec", "parse_value"]


def build_kernel(spec: Any) -> Kernel:
    """Return the kernel that a spec describes.

    Parameters
    ----------
    spec : str, mapping or Kernel
        Text or configuration. A Kernel is returned unchanged.

    Returns
    -------
    Kernel

    Raises
    ------
    ParameterError
        If the text cannot be read, a kernel or parameter is unknown (with the nearest name), or a value is
        outside its domain.

    Examples
    --------
    >>> from seqkern.kernels import build_kernel
    >>> build_kernel("mismatch:k=4,m=1")
    MismatchKernel(k=4)
    >>> build_kernel({"kernel": "spectrum", "k": 2, "part": [0, 40]})
    PartKernel(base=SpectrumKernel(k=2), start=0, stop=40)
    >>> build_kernel("spectrum:k=2,view=heavy")
    ViewKernel(base=SpectrumKernel(k=2), view='heavy')
    """
    if isinstance(spec, Kernel):
        return spec
    if isinstance(spec, str):
        spec = one_kernel(spec)
    if not isinstance(spec, Mapping) or not isinstance(spec.get("kernel"), str):
        raise ParameterError(f"{spec!r} is not a kernel", remedy="write it as {kernel: spectrum, k: 3} or spectrum:k=3")
    own = {"kernel", "part"} if "view" in KERNELS.get(spec["kernel"]).declarations() else {"kernel", "part", "view"}
    kernel = build_named("kernel", spec["kernel"], {key: value for key, value in spec.items() if key not in own})
    if spec.get("part") is not None:
        start, stop = _ends(spec["part"])
        kernel = KERNELS.build("part", base=kernel, start=start, stop=stop)
        kernel.check_parameters()
    if "view" in own and spec.get("view") is not None:
        kernel = build_named("kernel", "view", {"base": kernel, "view": spec["view"]})
    return kernel


def one_kernel(given: str | Mapping[str, Any]) -> dict[str, Any]:
    """Return the spec of a text or configuration without alternatives."""
    found = spec_alternatives(given)
    if len(found) > 1:
        raise ParameterError(
            f"{given!r} gives {len(found)} alternatives, but nothing is chosen here",
            remedy="give one value (one kernel of several k is k=3+4); seqkern train and seqkern cv choose among them",
        )
    return found[0]


def check_kind(kernel: Kernel, kind: str, file: Any = None) -> None:
    """Raise ParameterError unless a kernel takes a kind of data.

    Parameters
    ----------
    kernel : Kernel
        The kernel.
    kind : {"sequences", "features", "similarities", "dissimilarities"}
        The kind of the data. Kernels that accept similarities also take dissimilarities.
    file : path-like, optional
        Named in messages.

    Raises
    ------
    ParameterError
        If the kernel takes another kind.

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel, check_kind
    >>> check_kind(SpectrumKernel(), "features")
    Traceback (most recent call last):
        ...
    seqkern.core.errors.ParameterError: kernel 'spectrum' takes sequences, the data are features...
    """
    if not kind.endswith(kernel.traits.accepts):
        raise ParameterError(
            f"kernel {kernel.name!r} takes {kernel.traits.accepts}, the data are {kind}",
            file=file,
            remedy="choose another kernel; seqkern kernels lists the input of each",
        )


def kernel_from_state(header: Header, arrays: Arrays) -> Kernel:
    """Restore a kernel from its `state`, fitted if it was fitted.

    Parameters
    ----------
    header : dict
        The JSON part of `Kernel.state`.
    arrays : dict of str to ndarray
        Its arrays.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> from seqkern.kernels import SpectrumKernel, kernel_from_state
    >>> kernel_from_state(*SpectrumKernel(k=2).state())
    SpectrumKernel(k=2)
    """
    kernel = build_kernel(header["spec"])
    if header["fitted"] or arrays:
        kernel.restore_fitted(header["fitted"], arrays)
    return kernel


def kernel_text(kernel: Kernel) -> str:
    """Return a kernel as readable text, without default values except for leading numbers such as k.

    >>> from seqkern.kernels import SpectrumKernel
    >>> kernel_text(SpectrumKernel(k=4, normalize=False))
    'spectrum:k=4,normalize=false'
    >>> kernel_text(build_kernel("spectrum:k=2,view=heavy"))
    'spectrum:k=2,view=heavy'
    """
    if kernel.name == "view" and "view" not in kernel.base.declarations():  # type: ignore[attr-defined]
        base = kernel_text(kernel.base)  # type: ignore[attr-defined]
        return f"{base}{',' if ':' in base else ':'}view={kernel.view}"  # type: ignore[attr-defined]
    declared = kernel.declarations()
    shown = {name: _value_text(value, declared[name].summed) for name, value in _shown(kernel).items()}
    text = ",".join(f"{name}={value}" for name, value in shown.items())
    return f"{kernel.name}:{text}" if text else str(kernel.name)


def _shown(kernel: Kernel) -> dict[str, Any]:
    """Return the parameters to show: those that differ from their default, kernels, and leading numbers such as k."""
    signature = inspect.signature(type(kernel)).parameters
    return {
        name: value
        for name, value in kernel.get_params(deep=False).items()
        if isinstance(value, Kernel)
        or value != signature[name].default
        or (isinstance(value, numbers.Real) and signature[name].kind is not inspect.Parameter.KEYWORD_ONLY)
    }


UNSPOKEN = ("normalize", "short", "zero_diagonal", "alphabet", "algorithm", "estimator", "reverse_complement")
"""Parameters that are not part of a kernel in words, or have words of their own."""


def kernel_words(kernel: Kernel) -> str:
    """Return what a kernel does: its summary, in which the value of a parameter takes the place of its letter.

    >>> kernel_words(build_kernel("mismatch:k=6,m=1,reverse_complement=true"))
    'counts the 6-mers that two sequences share, allowing up to 1 mismatch, on both strands'
    >>> kernel_words(build_kernel("weighted_degree:degree=5"))
    'compares two sequences position by position; longer matching stretches count more (degree=5)'
    """
    values, spoken = kernel.get_params(deep=False), set[str]()

    def _value(found: re.Match[str]) -> str:
        value = values.get(found[0])
        if isinstance(value, bool) or not isinstance(value, (int, float, list)):
            return found[0]
        spoken.add(found[0])
        *first, last = map(str, value if isinstance(value, list) else [value])
        return f"{'-, '.join(first)}- and {last}" if first else last

    text = re.sub(r"(?<![\w-])[A-Za-z]\b", _value, kernel.summary.rstrip("."))
    text = re.sub(r"\b(1 (?:\w+ch(?=es)|\w+?(?=s\b)))e?s\b", r"\1", text[:1].lower() + text[1:])
    text += ", on both strands" * bool(values.get("reverse_complement"))
    shown = {name: value for name, value in _shown(kernel).items() if name not in {*UNSPOKEN, *spoken}}
    parts = [one for value in values.values() for one in (value if isinstance(value, list) else [value])]
    parts = [one for one in parts if isinstance(one, Kernel)]
    more = ", ".join(f"{name}={_value_text(value)}" for name, value in shown.items() if name not in ("base", "parts"))
    texts = [re.sub(",(short|zero_diagonal)=zero", "", kernel_text(one)) for one in parts]
    inner = kernel_words(parts[0]) if len(parts) == 1 else " and ".join(texts)
    return text + f" ({more})" * bool(more) + f": {inner}" * bool(inner)


def _value_text(value: Any, summed: bool = False) -> str:
    """Return the value of a parameter in text form."""
    if isinstance(value, Kernel):
        return f"({kernel_text(value)})"
    if isinstance(value, (list, tuple)):
        texts = list(map(_value_text, value))
        return "+".join(texts) if summed and len(texts) > 1 else f"[{','.join(texts)}]"
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return getattr(value, "name", None) or str(value)


def _ends(part: Any) -> Any:
    """Return (start, stop) of a part written as ``[0, 40]`` or ``"0:40"``; either end may be open."""
    ends = part
    if isinstance(part, str):
        ends = [parse_value(end or "none") for end in part.split(":")]
    if not isinstance(ends, (list, tuple)) or len(ends) != 2:
        raise ParameterError(f"part={part!r} is not possible", remedy="write it as 0:40 or [0, 40]")
    return ends


add_kind(
    Kind(
        "kernel",
        "Kernel",
        build=build_kernel,
        example="spectrum:k=3",
        registry=KERNELS,
        parse=partial(parse_spec, key="kernel"),
    )
)


# The rule that chooses the input of solvers from a kernel: a Gram matrix, features, or products with the matrix.

LARGEST_GRAM = 4 << 30
"""Bytes of a Gram matrix above which products replace it; fixed, so that every machine chooses alike."""
SMALL_FEATURES = 1 << 28
"""Bytes of feature vectors up to which products are not considered."""


def solver_input(kernel: Kernel, wanted: str, accepts_operator: bool, X: Any, transforms: Sequence[Any] = ()) -> str:
    """Return the kind of input that solvers get from a kernel; the same for the same samples on every computer.

    Solvers that accept products with the matrix get them

    - instead of a Gram matrix of more than `LARGEST_GRAM`,
    - instead of features if the kernel has none, or if they take more memory than the products and more than
      `SMALL_FEATURES`.
    """
    if not accepts_operator or transforms or not has_operator(kernel):
        return wanted
    if wanted == "gram":
        return "operator" if 8 * len(X) ** 2 > LARGEST_GRAM else "gram"
    if not gives(kernel, wanted):
        return "operator"
    some, ratio = sample(X) if is_deferred(X) else (X, 1.0)
    features = ratio * getattr(kernel, wanted).bytes(some)
    return "operator" if features > max(SMALL_FEATURES, ratio * kernel.operator.bytes(some)) else wanted


def has_operator(kernel: Kernel) -> bool:
    """Return whether a kernel provides products with its matrix, and can be fitted without one."""
    return bool(kernel.operator)


def gives(kernel: Kernel, wanted: str, accepts_operator: bool = False) -> bool:
    """Return whether a kernel provides the input of solvers."""
    return wanted == "gram" or (accepts_operator and has_operator(kernel)) or bool(getattr(kernel, wanted))
