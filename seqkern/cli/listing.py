"""``seqkern kernels``, ``seqkern solvers`` and ``seqkern models``: lists of classes, and of packed models."""

from __future__ import annotations

import inspect
import textwrap
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

from seqkern.cli.output import log, output_writer
from seqkern.cli.requests_models import ModelsRequest
from seqkern.cli.requests_studies import KernelsRequest, SolversRequest
from seqkern.core.archive import check_writable
from seqkern.core.errors import ParameterError, check_known
from seqkern.core.memory import format_bytes
from seqkern.core.text_files import is_standard_output
from seqkern.core.tsv import write_tsv
from seqkern.gram.transforms.gram_transform import TRANSFORMS
from seqkern.kernels.feature_transforms.transforms import FEATURE_TRANSFORMS
from seqkern.kernels.kernel import Kernel
from seqkern.kernels.kernel_table import KERNELS

SCALER = "scaler"


def run_kernels(request: KernelsRequest) -> None:
    """Print the list, or one kernel in full."""
    if request.name in TRANSFORMS.names or request.name in FEATURE_TRANSFORMS.names:
        table = TRANSFORMS if request.name in TRANSFORMS.names else FEATURE_TRANSFORMS
        print(in_full(table.get(request.name)))
    elif request.name:
        cls = KERNELS.get(request.name)
        print(f"{in_full(cls)}\n\n{traits(cls)}")
    else:
        print("Kernels. In a configuration: {kernel: spectrum, k: 3}. On the command line: spectrum:k=3, + for a sum.")
        print("seqkern kernels NAME shows one in full.\n")
        for cls in KERNELS.classes.values():
            print(entry(cls, traits(cls)))
        print("Transforms of features, fitted on the training set, ahead of those of the Gram matrix. In a kernel's")
        print("configuration: transforms: [impute, pca:n_components=5].\n")
        for cls in FEATURE_TRANSFORMS.classes.values():
            print(entry(cls))
        print("Gram transforms, fitted on the training set. In a kernel's configuration: transforms: [centre].")
        print("Negative eigenvalues have their own key, repair: clip, flip, shift or empirical_map.\n")
        for cls in TRANSFORMS.classes.values():
            print(entry(cls))


def run_solvers(request: SolversRequest) -> None:
    """Print the list, or one solver, selector, layer or the scaler in full."""
    # imported here: a list of kernels does not need solvers, nor SciPy
    from seqkern.solvers.layers.chain import LAYERS
    from seqkern.solvers.selection.selectors.scaling import ExpressionScaler
    from seqkern.solvers.selection.selectors.selector_specs import SELECTORS
    from seqkern.solvers.solver_specs import SOLVERS

    known = {**SOLVERS.classes, **SELECTORS.classes, SCALER: ExpressionScaler, **LAYERS.classes}
    if request.name:
        check_known("solver", [request.name], known)
        print(in_full(known[request.name], request.name))
        if request.name in SOLVERS.classes:
            print(f"\n{_taken(known[request.name])}; {_targets(known[request.name])}")
        return
    print("Solvers. In a configuration: {solver: csvc, C: [0.1, 1]}; a list is a grid. On the command line: csvc:C=1.")
    print("A parameter that is itself a solver takes a name, binary=csvc, or a specification in parentheses,")
    print("binary=(csvc:C=1). seqkern solvers NAME shows one in full.\n")
    for cls in SOLVERS.classes.values():
        grid = ", ".join(f"{name} in {values}" for name, values in cls.declared.search.grid.items())
        print(entry(cls, f"{_taken(cls)}; {_targets(cls)}", *([f"searched by default: {grid}"] if grid else [])))
    print("Feature selectors, for the solver selected. Configuration: selector: {selector: golub}; command line:")
    print("selected:selector=golub,predictor=csvc or selector=(psvm:ranking=leave_one_out).\n")
    for cls in SELECTORS.classes.values():
        print(entry(cls, _targets(cls)))
    print("The scaler of the solver selected. Configuration: scaler: {normalize: log, floor: 20}; command line:")
    print("scaler=quantile, or the whole solver as JSON.\n")
    print(entry(ExpressionScaler, name=SCALER))
    print(
        "Layers after a solver, most for residues of chains. Configuration of the solver: layers: [{layer: structure,"
    )
    print("window: 15}, …]; command line: --layers structure:window=15 segments.\n")
    for cls in LAYERS.classes.values():
        print(entry(cls))


def traits(cls: type[Kernel]) -> str:
    """Return one line on a kernel: its input, whether it is positive semi-definite, whether it is fitted.

    >>> from seqkern.kernels import SpectrumKernel
    >>> traits(SpectrumKernel)
    'input: sequences; positive semi-definite'
    """
    traits = cls.traits
    definite = {
        True: "positive semi-definite",
        False: "not positive semi-definite",
        None: "positive semi-definite for some parameters only",
    }
    learns = {
        True: ["fitted on the training set"],
        False: [],
        None: ["fitted on the training set for some parameters only"],
    }
    words = [definite[traits.positive_semidefinite], *learns[traits.data_dependent]]
    return "; ".join([f"input: {traits.accepts or traits.accepts_words}", *words])


def _taken(cls: Any) -> str:
    """Return one line on the kernel input that a solver accepts."""
    from seqkern.solvers.solver_specs import TAKES  # imported here, as above

    if isinstance(cls.input, str):
        return f"input: {TAKES[cls.input]}"
    return "input: as for its base solver" if cls.nested_solvers() else f"input: {TAKES['gram']} or {TAKES['features']}"


def _targets(cls: Any) -> str:
    """Return one line on the labels that a class learns from."""
    kinds = {"none": "none (unsupervised)", "real": "real (regression)"}
    return "labels: " + ", ".join(kinds.get(kind, kind) for kind in cls.targets)


WIDTH = 100


def entry(cls: Any, *lines: str, name: str | None = None) -> str:
    """Return a class in brief: name, first sentence of the docstring, `lines`, parameters with defaults.

    >>> from seqkern.kernels import SpectrumKernel
    >>> print(entry(SpectrumKernel, "takes sequences").splitlines()[0])
    spectrum
    """
    parameters = [_parameter(parameter) for parameter in inspect.signature(cls).parameters.values()]
    about = [summary(cls), *lines, "parameters: " + (", ".join(parameters) or "none")]
    return "\n".join([name or cls.name, *(_indent(text) for text in about), ""])


def in_full(cls: Any, name: str | None = None) -> str:
    """Return the docstring of a class under its name."""
    return f"{name or cls.name} ({cls.__name__})\n\n{inspect.getdoc(cls)}"


def summary(cls: Any) -> str:
    """Return the first line of a class's docstring."""
    return (inspect.getdoc(cls) or "").splitlines()[0]


def _parameter(parameter: inspect.Parameter) -> str:
    """Return a parameter as ``name=default``, or as ``name`` if it is required."""
    required = parameter.default is inspect.Parameter.empty
    return parameter.name if required else f"{parameter.name}={_text(parameter.default)}"


def _text(value: object) -> str:
    """Return a value as written in configurations."""
    return str(value).lower() if isinstance(value, bool | None) else str(value)


def _indent(text: str) -> str:
    """Return `text` wrapped as an indented paragraph of an entry."""
    return textwrap.fill(text, WIDTH, initial_indent="    ", subsequent_indent="        ", break_on_hyphens=False)


def run_models(request: ModelsRequest) -> None:
    """Run the verb."""
    (_pack if request.action == "pack" else _list)(request)


def _pack(request: ModelsRequest) -> None:
    """Write the models of a folder to one file."""
    # imported here, as below: lists of classes load no models
    from seqkern.methods.loading import is_pack, pack_folder

    if request.output is None or is_standard_output(request.output):
        raise ParameterError("models pack writes a file", remedy="add -o FILE")
    if not Path(request.source).is_dir():
        raise ParameterError(f"{request.source} is not a folder", remedy="give a folder of model files")
    check_writable(request.output)
    count, others = pack_folder(request.source, request.output)
    for path in others:
        what = "holds several models" if is_pack(path) else "not a model"
        log(f"{path}: {what}, left out")
    size = format_bytes(Path(request.output).stat().st_size)
    log(f"{request.output}: {count} models, {size}")


def _list(request: ModelsRequest) -> None:
    """Print a table of the models in a file, or what a single model is and how it was trained."""
    # imported here: kernels are listed without them
    from seqkern.cli.train import detail_lines, first_lines
    from seqkern.methods.loading import PackedModel, is_pack, load_model, read_pack

    if not is_pack(request.source):
        model = load_model(request.source)
        with output_writer(request.output) as write:
            write("".join(f"{line}\n" for line in (*first_lines(model, request.source), *detail_lines(model))))
        return
    columns = [field.name for field in fields(PackedModel)]
    write_tsv(request.output or "-", columns, map(astuple, read_pack(request.source)))
