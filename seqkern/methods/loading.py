"""Models from files: one, packs of many, and those that a command line names."""

import contextlib
import difflib
import inspect
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from seqkern.core.archive import JSON_ENTRY, as_bytes, from_bytes, load_archive, nest, save_archive, unnest
from seqkern.core.errors import FileError, GramError, ModelError, ParameterError, SeqkernError, SequenceError
from seqkern.core.file_kinds import MODEL, PACK
from seqkern.core.progress import progress_bar
from seqkern.core.text_files import ZIP, open_lines
from seqkern.core.threads import given_threads
from seqkern.core.types import Array, Arrays, Floats, PathLike
from seqkern.formats.residues import Residues
from seqkern.gram.transforms.gram_transform import transform_from_state
from seqkern.kernels.kernel_specs import kernel_from_state
from seqkern.methods.model import DATA, MEANS_KEY, Model
from seqkern.methods.residue_model import ResidueModel
from seqkern.sequences.sequence_set import SequenceSet
from seqkern.solvers.solver_specs import solver_from_state

if TYPE_CHECKING:
    from seqkern.kernels.kernel import Kernel
    from seqkern.methods.table_model import KmerTables


# Recognition of LS-GKM model files by their first line, without the import of their reader.

FIRST = "svm_type"


def is_lsgkm(path: PathLike) -> bool:
    """Return whether a file, plain or compressed, starts like an LS-GKM model."""
    try:
        if not Path(path).is_file():
            return False
        with open_lines(path) as (lines, _):
            return next(lines).split()[:1] == [FIRST]
    except (SeqkernError, OSError, ValueError):
        return False


# Trial decisions of a model just loaded, so that damage shows before a user's samples are read.
#
# Arrays that do not fit each other may pass every check of a single part; a decision about one of the model's own
# samples uses them all. Its kernel is computed with a single support sample, so that its cost does not depend on their
# number.

LETTERS = 60
"""Number of residues of the sample for a model that keeps none."""


def try_model(model: Model) -> None:
    """Make a decision about one sample: one of the model's own, or an artificial one if it keeps none.

    Any exception means that the parts of the model do not fit each other.
    """
    X = model.support.take(slice(0, 1))
    with given_threads(1), contextlib.suppress(SequenceError, GramError):  # a rejected sample says nothing of the model
        if len(X):
            # not `decision`, which may first fold all weights into a table
            sample, K = model.kernel.prepare(X), np.zeros((1, len(model.columns)))
            model.kernel.block(sample, sample, K[:, :1])
            values = model.by_values(K, sample.diagonal)
        elif isinstance(X, SequenceSet):
            letters = (X.alphabet.letters * LETTERS)[: LETTERS if model.window is None else model.window.length]
            values = model.decision(SequenceSet.from_strings([letters], X.alphabet), n_threads=1)
        else:
            return
        if not model.projects:
            model.classify(values)


def try_chain(model: ResidueModel) -> None:
    """Make decisions about the residues of a short chain, and, if the model has layers, about scores of 0.

    Any exception means that the parts of the model do not fit each other.
    """
    if model.alphabet is None:
        raise ModelError("a model of residues without an alphabet")
    chain = SequenceSet.from_strings([model.alphabet.letters[:3]], model.alphabet)
    with contextlib.suppress(SequenceError, GramError):  # as above, such as for a chain without a profile
        model.decide(chain, n_threads=1)
    if model.layers is not None:
        residues = Residues.of_chains(chain, model.window)
        model.layers.decide(np.zeros((len(residues), len(model.classes))), residues)


# Files of several models: ``zoo.seqkern`` means all of them, ``zoo.seqkern:NAME`` one.
#
# The file is an archive (`seqkern.core.archive`), and its JSON part lists the models. The entries of model
# number i have the prefix ``i/``, so that the name of a model never becomes part of a path.

NAME = re.compile(r"[\w.+-]+")


@dataclass(frozen=True)
class PackedModel:
    """The description of one model in a file of several models."""

    name: str  # Of the model
    alphabet: str  # In words, for the list of models
    kernel: str  # In words, for the list of models
    classes: str  # In words, for the list of models
    support: int  # How many support samples it has
    file: str  # Name of the file that it was read from


def split_model_arg(word: PathLike) -> tuple[PathLike, str | None]:
    """Return the file named by ``FILE`` or ``FILE:NAME``, and the name of the model in it, or None.

    >>> split_model_arg("model.seqkern"), split_model_arg("missing.seqkern:CTCF")
    (('model.seqkern', None), ('missing.seqkern:CTCF', None))
    """
    file, _, name = str(word).rpartition(":")
    if name and Path(file).is_file() and not Path(word).exists():
        return file, name
    return word, None


def is_pack(path: PathLike) -> bool:
    """Return whether a file holds several models."""
    try:
        if not Path(path).is_file() or not zipfile.is_zipfile(path):
            return False
        header, _ = load_archive(path, wanted=lambda name: False)
    except (SeqkernError, OSError):
        return False
    return isinstance(header, dict) and header.get("format") == PACK.format


def read_pack(path: PathLike) -> "tuple[PackedModel, ...]":
    """Return the descriptions of the models in a file of several models, without their arrays."""
    header, _ = load_archive(path, PACK, wanted=lambda name: False)
    with PACK.damaged(path, "is not usable"):
        found = tuple(PackedModel(**one) for one in header["models"])
        if not found or len({one.name for one in found}) < len(found):
            raise ValueError("no models, or two of one name")
        for one in found:
            if not NAME.fullmatch(one.name) or type(one.support) is not int:
                raise ValueError("an invalid entry")
    return found


def read_packed(path: PathLike, name: str) -> tuple[dict[str, Any], Arrays]:
    """Return the header and arrays of one model in a file of several models, as if in its own file."""
    found = read_pack(path)
    names = [one.name for one in found]
    if name not in names:
        near = difflib.get_close_matches(name, names, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ModelError(f"has no model {name!r}", file=path, remedy=f"{hint}seqkern models list {path} lists them")
    start = f"{names.index(name)}/"
    _, arrays = load_archive(path, PACK, wanted=lambda entry: entry.startswith(start))
    with PACK.damaged(path, "is not usable"):
        arrays = unnest(start[:-1], arrays)
        header = from_bytes(arrays.pop(JSON_ENTRY))
        MODEL.check(header, f"{path}:{name}")
        return header, arrays


def write_pack(path: PathLike, models: "Sequence[tuple[PackedModel, dict[str, Any], Arrays]]") -> None:
    """Write several models to one file; equal models give equal bytes."""
    arrays: Arrays = {}
    for number, (_, header, own) in enumerate(models):
        arrays.update(nest(str(number), {JSON_ENTRY: as_bytes(header), **own}))
    entries = [asdict(model) for model, _, _ in models]
    save_archive(path, {**PACK.stamp(), "models": entries}, arrays)


# The reader of model files of any kind.

LONGEST_HEAD = 4096


def load_model(path: str | Path) -> Model | ResidueModel:
    """Read a model of `Model.save`, or of LS-GKM (`seqkern.methods.lsgkm`).

    Parameters
    ----------
    path : path-like
        The file; of several models in one file ``FILE:NAME``.

    Returns
    -------
    Model or ResidueModel

    Raises
    ------
    ModelError
        If the file is not a model, corrupted, or of a newer version, or if this version of seqkern computes
        different kernel values than the version that trained the model.
    FileError
        If there is no such file, or it is a pipe.
    """
    packed, name = split_model_arg(path)
    if name is not None:
        return model_from_archive(path, *read_packed(packed, name))
    if Path(path).is_fifo():  # its bytes can be read once only
        raise FileError("is a pipe, but a model is read in parts", file=path, remedy="write it to a file first")
    if is_lsgkm(path):
        from seqkern.methods.lsgkm import read_lsgkm  # imported here for fast start-up

        return read_lsgkm(path)
    try:
        content = load_archive(path, MODEL)
    except ModelError as error:
        error.problem, error.remedy = _what_it_is(path) or (error.problem, error.remedy)
        raise
    return model_from_archive(path, *content)


def model_from_archive(path: str | Path, header: dict[str, Any], arrays: dict[str, Array]) -> Model | ResidueModel:
    """Return the model contained in an archive."""
    with MODEL.damaged(path, "is not usable"):
        model = model_from_state(header, arrays)
        if "residues" in header:
            of_residues = ResidueModel.from_state(model, header["residues"], unnest("residues", arrays))
            try_chain(of_residues)
            return of_residues
    return model


def _what_it_is(path: str | Path) -> tuple[str, str] | None:
    """Return the problem and remedy for an empty file, FASTA, or a truncated model; None for other files."""
    with Path(path).open("rb") as file:
        head = file.read(LONGEST_HEAD)
    if not head:
        return "is empty", "copy the model again, or train it again"
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b">"):
        return "is FASTA, not a model", "the model comes first, then the sequences"
    if head.startswith(ZIP) and not zipfile.is_zipfile(path):
        return "is cut off or damaged", "copy the model again, or train it again"
    return None


def model_from_state(header: dict[str, Any], arrays: dict[str, Array]) -> Model:
    """Return a checked Model from the header and arrays of `Model.state`, as read from a file."""
    model = _from_parts(header, arrays)
    _check_whole(model)
    try_model(model)
    return model


def _from_parts(header: dict[str, Any], arrays: dict[str, Array]) -> Model:
    """Return the Model from the content of a file."""
    # what a count names must be there, so that no count can make a list of any length
    transforms = _named(header, "transform", header["n_transforms"])
    kind: type[Model] = Model
    own: dict[str, Any] = {}
    if "features" in header:
        from seqkern.methods.feature_model import FeatureModel  # imported here for fast start-up

        columns = unnest("features", arrays)["columns"]
        kind, own = FeatureModel, {"features": columns, "names": tuple(header["features"]["names"])}
    if "tally" in header:
        from seqkern.methods.table_model import TableModel  # imported here for fast start-up

        sums = unnest("tally", arrays)
        kind, own = TableModel, {"tally": tuple(sums[name] for name in _named(sums, "", header["tally"]["n"]))}
    return kind(
        kernel=kernel_from_state(header["kernel"], unnest("kernel", arrays)),
        transforms=[transform_from_state(header[name], unnest(name, arrays)) for name in transforms],
        solver=solver_from_state(header["solver"], unnest("solver", arrays)),
        support=DATA[header["data"]].from_state(header["support"], unnest("support", arrays)),
        diagonal=arrays["diagonal"],
        kind=header["kind"],
        classes=tuple(header["classes"]),
        policies=dict(header["policies"]),
        record=header["record"],
        **own,
    )


def _named(parts: Mapping[str, Any], prefix: str, count: int) -> list[str]:
    """Return `count` names: the prefix and a number from 0; raise ValueError if there are fewer parts."""
    if not 0 <= count <= len(parts):
        raise ValueError(f"{count} parts, but {len(parts)} are there")
    return [f"{prefix}{number}" for number in range(count)]


def _check_whole(model: Model) -> None:
    """Raise an error unless the parts are consistent and work: compiled code relies on the columns."""
    X, solver = model.support, model.solver
    model.check_own()
    good = len(X.ids) == len(X) and solver.support_.dtype == np.int64 and solver.support_.ndim == 1
    width = model.n_columns
    good = good and solver.n_features_in_ == width
    good = good and np.all((solver.support_ >= 0) & (solver.support_ < width))
    good = good and all(transform.n_columns_ == width for transform in model.transforms)
    if not good or model.kind not in solver.targets:
        raise ValueError("inconsistent parts")
    for transform in model.transforms:
        with contextlib.suppress(GramError):  # it may reject a sample unlike all others
            transform.transform(np.zeros((1, width)), np.ones(1))
    # weights that are not finite would affect every result
    constant = solver.decision_function(np.zeros((1, width)))
    arrays = solver.state()[1].values()
    if not all(np.isfinite(array).all() for array in (constant, *arrays) if array.dtype.kind == "f"):
        raise ValueError("the solver contains numbers that are not finite")
    _check_window(model)
    if not isinstance(model.record.get("recognised", {}), dict):
        raise ValueError("the table of recognised classes is invalid")
    rows = model.record.get("summary", [])
    if not isinstance(rows, list) or not all(len(row) == 2 and all(type(text) is str for text in row) for row in rows):
        raise ValueError("the summary is invalid")
    if MEANS_KEY in model.record:
        means = model.record[MEANS_KEY]
        if set(means) != {"least", "greatest"} or not all(isinstance(mean, float) for mean in means.values()):
            raise ValueError("the means of the training samples are invalid")
    if (model.calibration is not None or model.threshold is not None) and model.kind != "binary":
        raise ValueError("probabilities or a threshold without two classes")
    if model.cut.widths is not None and not (model.kind == "real" and solver.traits.variances):
        raise ValueError("calibrated variances without variances of numbers")
    if model.projects:
        if constant.shape != (1, len(model.classes)):
            raise ValueError("the components do not match the solver")
    elif model.kind != "real" and (len(model.classes) != len(solver.classes_) or len(set(model.classes)) < 2):
        raise ValueError("the classes do not match the solver")


def _check_window(model: Model) -> None:
    """Raise an error if the window in the record is invalid, or does not match the support."""
    window = model.window
    X = model.support
    if window is not None and (not isinstance(X, SequenceSet) or np.any(X.lengths != window.length)):
        raise ValueError(f"the sequences are not windows {window}")


# The models named on a command line: files, folders of model files, and files of several models.

ENDINGS = (".gz", ".txt", ".seqkern", ".model", ".weights")
"""Endings left out of the names of models in a folder, in this order."""


@dataclass(frozen=True)
class ModelArg:
    """A model and its location, a file or ``FILE:NAME``, as read by `seqkern.methods.loading.load_model`."""

    name: str  # For columns and messages
    word: str  # What `seqkern.methods.loading.load_model` reads: a file, or ``FILE:NAME``

    @property
    def file(self) -> str:
        """The file that contains the model."""
        return str(split_model_arg(self.word)[0])


def parse_model_args(words: Iterable[str]) -> "list[ModelArg]":
    """Return the models named by command-line arguments, each with a unique name.

    Models are in the order of the arguments, in a folder by name. Files are named up to the first dot of
    the name; later models of the same name get a number.

    >>> [one.name for one in parse_model_args(["a/ctcf.seqkern", "b/ctcf.seqkern", "gata1.model.txt"])]
    ['ctcf', 'ctcf_2', 'gata1']
    """
    out: dict[str, ModelArg] = {}
    for word in words:
        for stem, source in _models_of_arg(word):
            name, number = stem, 1
            while name in out:
                number += 1
                name = f"{stem}_{number}"
            out[name] = ModelArg(name, source)
    return list(out.values())


def _models_of_arg(word: str) -> list[tuple[str, str]]:
    """Return (name, word) for each model named by an argument."""
    if Path(word).is_dir():
        return [(model_name(path), str(path)) for path in models_in(word)[0]]
    if is_pack(word):
        return [(one.name, f"{word}:{one.name}") for one in read_pack(word)]
    name = split_model_arg(word)[1]
    return [(name or Path(word).name.partition(".")[0] or "model", word)]


def model_name(path: PathLike) -> str:
    """Return the name of a model in a folder: its file name without the endings of model files.

    >>> model_name("zoo/GATA5.10mer.model.txt.gz"), model_name("zoo/ctcf.v2.seqkern")
    ('GATA5.10mer', 'ctcf.v2')
    """
    name = Path(path).name
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    return name


def models_in(folder: PathLike) -> tuple[list[Path], list[Path]]:
    """Return the models in a folder by name, and its other files, including files of several models.

    Models are seqkern and LS-GKM files, intact or not, and files of k-mer weights; hidden files and folders are
    ignored.
    """
    from seqkern.methods.table_model import is_kmer_weights  # imported here for fast start-up

    found = (path for path in Path(folder).iterdir() if path.is_file() and not path.name.startswith("."))
    files = sorted(found, key=lambda path: (model_name(path), path.name))
    alone = [path for path in files if not is_pack(path)]
    models = [path for path in alone if zipfile.is_zipfile(path) or is_lsgkm(path) or is_kmer_weights(path)]
    if not models:
        raise ModelError("no models in the folder", file=folder, remedy="give a folder of model files")
    return models, [path for path in files if path not in models]


# Packing of a folder's models into one file.


def pack_folder(folder: PathLike, path: PathLike) -> tuple[int, list[Path]]:
    """Write all models of a folder to one file, and return their number and the files that are not single models."""
    files, others = models_in(folder)
    found: dict[str, tuple[PackedModel, dict[str, Any], Arrays]] = {}
    for file in progress_bar(files, "models"):
        name = model_name(file)
        if not NAME.fullmatch(name):
            raise ModelError(
                "a name of a model has letters, digits and the characters ._+- alone", file=file, remedy="rename it"
            )
        if name in found:
            raise ModelError(f"and {found[name][0].file} get one name, {name}", file=file, remedy="rename one of them")
        found[name] = _packed(name, file)
    write_pack(path, list(found.values()))
    return len(found), [file for file in others if not file.samefile(path)]


def _packed(name: str, file: Path) -> "tuple[PackedModel, dict[str, Any], Arrays]":
    """Return the description, header and arrays of a model file, which is loaded as a model to check it."""
    lsgkm = is_lsgkm(file)
    if not lsgkm and not zipfile.is_zipfile(file):
        raise ModelError("has weights of k-mers, not a model", file=file, remedy="move it out of the folder")
    model = load_model(file)
    header, arrays = model.state() if lsgkm else load_archive(file)
    windows = model if isinstance(model, Model) else model.windows
    alphabet = "features" if windows.alphabet is None else windows.alphabet.name
    words = alphabet, _kernel_text(windows.kernel), ", ".join(windows.classes), windows.n_columns, file.name
    return PackedModel(name, *words), header, arrays


def _kernel_text(kernel: "Kernel") -> str:
    """Return a kernel as on the command line, with l, k and the parameters that differ from their defaults."""
    declared = inspect.signature(type(kernel)).parameters
    shown = [
        f"{name}={str(value).lower() if isinstance(value, bool) else value}"
        for name, value in kernel.get_params(deep=False).items()
        if declared[name].kind is not inspect.Parameter.KEYWORD_ONLY or value != declared[name].default
    ]
    return f"{kernel.name}{':' * bool(shown)}{','.join(shown)}"


# A model's decision as a sum over the k-mers of a sequence: one table of weights for each length.


def kmer_tables(model: Model) -> "KmerTables":
    """Return the k-mer weights of a model; raise ParameterError if its decision is not a sum over k-mers."""
    from seqkern.methods.table_model import KmerTables  # imported here for fast start-up

    form, kernel = model.form(), model.kernel
    if model.alphabet is None:
        raise ParameterError("the model is of numbers, not of sequences", remedy="give a model of sequences")
    tables = form.kmer_tables()
    if tables is None:
        raise ParameterError(
            f"the decisions of kernel {kernel.name!r} are not sums over k-mers",
            remedy="choose a kernel such as gapped_kmer (with l up to 12 for DNA), without center_weighted",
        )
    merged: dict[int, Floats] = {}
    for length, weights in tables:
        merged[length] = merged[length] + weights if length in merged else weights
    return KmerTables(model.alphabet, merged, form.constant, kernel.normalize, _counts_both_strands(kernel))


def _counts_both_strands(kernel: "Kernel") -> bool:
    """Return whether a kernel, or each of its parts, counts both strands."""
    parts = getattr(kernel, "bases", ())
    if parts:
        return all(_counts_both_strands(part) for part in parts)
    return bool(getattr(kernel, "reverse_complement", False))


def load_kmer_tables(path: PathLike) -> "KmerTables":
    """Read k-mer weights from a seqkern or LS-GKM model, or from a weight file for deltaSVM."""
    from seqkern.methods.table_model import is_kmer_weights, read_kmer_weights  # imported here for fast start-up

    if is_kmer_weights(path):
        return read_kmer_weights(path)
    model = load_model(Path(path))
    if not isinstance(model, Model):
        raise ModelError(
            "is a model of residues, without weights of k-mers", file=path, remedy="give a model of whole sequences"
        )
    try:
        return kmer_tables(model)
    except ParameterError as error:
        raise ModelError(error.problem, file=path, remedy=error.remedy) from error
