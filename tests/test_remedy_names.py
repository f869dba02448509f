"""Every remedy in the source: the options, verbs, kernels, solvers, parameters and keys that it names exist."""

import inspect
import re
import tomllib
from pathlib import Path

from remedy_texts import GAP, missing_options, remedies

from seqkern.cli.main import VERBS
from seqkern.evaluation.fold_methods import METHODS
from seqkern.gram.transforms.gram_transform import TRANSFORMS
from seqkern.kernels.feature_transforms import FEATURE_TRANSFORMS
from seqkern.kernels.kernel_table import KERNELS
from seqkern.solvers.layers.chain import LAYERS
from seqkern.solvers.selection.selectors.selector_specs import SELECTORS
from seqkern.solvers.solver_specs import SOLVERS
from seqkern.study.study import study_schema

ROOT = Path(__file__).resolve().parent.parent
TABLES = (KERNELS, SOLVERS, SELECTORS, LAYERS, TRANSFORMS, FEATURE_TRANSFORMS)
NAMES = {name for table in TABLES for name in table.names}
CLASSES = [table.get(name) for table in TABLES for name in table.names]
PARAMETERS = {name for one in CLASSES for name in one.parameter_names()}
FOLD_OPTIONS = {name for method, _ in METHODS.values() for name in inspect.signature(method).parameters}
PYTHON = {"required_rows", "sparse_output", "kind", "pair"}
PYTHON |= {"SequenceSet", "FittedKernel", "ImplicitSource", "StoredGram"}
"""Arguments and classes of Python that remedies of functions name."""
RULES = {"sensitivity", "specificity", "cost"}
"""Of thresholds."""
LABEL_KEYS = {"from", "label", "superfamily", "family", "first_word", "positive"}
"""Below ``labels:``, where the schema lists no keys."""
CHOICES = {"one_hot"}
"""Values of parameters."""


def schema_words(node):
    """Return the keys and the values of the configuration's schema."""
    if isinstance(node, list):
        return {word for one in node for word in schema_words(one)}
    if not isinstance(node, dict):
        return set()
    words = {str(one) for one in node.get("enum", ())} | {str(node.get("const", ""))}
    if isinstance(node.get("properties"), dict):
        words |= set(node["properties"])
    return words.union(*map(schema_words, node.values()))


KEYS = schema_words(study_schema()) | LABEL_KEYS | FOLD_OPTIONS | set(METHODS)


def wrong(pattern, known):
    """Return the remedies in which a name matched by a pattern is not known."""
    return [f"{name}: {one}" for one in remedies() for name in re.findall(pattern, one.text) if name not in known]


def test_the_remedies_were_found():
    assert len(remedies()) > 900
    assert any(GAP in one.text for one in remedies())


def test_options_exist():
    assert [str(one) for one in remedies() if missing_options(one.text, *VERBS)] == []


def test_options_of_the_verb_that_raises():
    homes = {}
    for verb, entry in VERBS.items():
        homes.setdefault((entry.run or f"{verb}:run").partition(":")[0], []).append(verb)
    own = [(home, one) for home in homes for one in remedies() if one.module == f"seqkern.cli.{home}"]
    assert len({home for home, _ in own}) > len(homes) / 2
    assert [str(one) for home, one in own if missing_options(one.text, *homes[home])] == []


def test_verbs_exist():
    assert wrong(r"\bseqkern ([a-z]+)", VERBS) == []


def test_specifications_exist():
    pairs = [(name, key, one) for one in remedies() for name, key in re.findall(r"\b([a-z_]+):([a-z_]+)=", one.text)]
    assert pairs
    for name, key, one in pairs:
        if name != "name":  # name:parameter=value, which explains the form
            tables = [table for table in TABLES if name in table.names]
            assert any(key in table.get(name).parameter_names() for table in tables), str(one)


def test_parameters_exist():
    assert wrong(r"(?<![\w-])([a-z_]+)=(?!value)", PARAMETERS | RULES | PYTHON) == []


def test_kernels_and_solvers_exist():
    names = r"(?:--kernel|--solver|[Kk]ernel|[Ss]olver|choose) ([a-z]+_[a-z_]+)"
    assert wrong(names, NAMES | PARAMETERS | CHOICES | set(METHODS)) == []
    assert wrong(r"(?:--kernel|--solver) (?!and\b)([a-z]+)\b(?!_)", NAMES) == []


def test_names_with_underscores_exist():
    known = NAMES | PARAMETERS | KEYS | CHOICES | PYTHON
    assert wrong(r"(?<![\w/.-])[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?![\w(])", known) == []


def test_configuration_keys_exist():
    assert wrong(r"\{([a-z_]+): ", KEYS | NAMES | PARAMETERS | {"normalize", "floor"}) == []


def test_classes_of_python_exist():
    known = {one.__name__ for one in CLASSES} | PYTHON | {"GenBank", "NaN", "ExpressionScaler"}
    assert wrong(r"\b[A-Z][a-z]+(?:[A-Z][A-Za-z]*)+\b", known) == []


def test_extras_exist():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert wrong(r"seqkern\[([a-z]+)\]", extras) == []
