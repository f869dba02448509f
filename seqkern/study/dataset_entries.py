"""The data sets of a study: their data, splits and methods."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from seqkern.core.declarations import Parameter
from seqkern.core.errors import ConfigError, check_known
from seqkern.core.parameters import choice, flag, integer, real, text
from seqkern.evaluation.fold_methods import options_of
from seqkern.simulate import parameters
from seqkern.study.data_entry import DATA_KEYS, SOURCES, DataEntry, check_file
from seqkern.study.schema import (
    NAME,
    OPTIONAL_PATH,
    Either,
    Listing,
    Pattern,
    Places,
    Section,
    configured,
    keys_of,
)

if TYPE_CHECKING:
    from seqkern.solvers.psvm.path import SignificanceTest

# Data sets from a simulated genome with peaks: files are generated first, and then read like any others.

KIND = "peaks"
FASTA, PEAKS, VARIANTS, MOTIFS = "genome.fa", "peaks.narrowPeak", "variants.vcf", "motifs.meme"
FILES = (FASTA, PEAKS, "sites.bed", VARIANTS, MOTIFS)
TRUTH = "EFFECT"
POSITIVE = "peak"


@dataclass(frozen=True)
class SimulatedGenome:
    """A genome simulated for a data set by `seqkern simulate peaks`, with its files in `folder`."""

    options: Mapping[str, Any]  # Parameters of `seqkern.simulate.peaks.peak_genome`, perhaps with ``seed``
    folder: str  # Where its files are

    @classmethod
    def parse(cls, given: Mapping[str, Any], folder: str) -> "SimulatedGenome | None":
        """Return the simulated genome of an entry, or None if it has none."""
        others = [key for key in (*SOURCES, "genome") if key in given and key != "simulate"]
        if given.get("simulate", {}).get("kind") != KIND or others:
            return None
        return cls({key: value for key, value in given["simulate"].items() if key != "kind"}, folder)

    def check(self) -> None:
        """Raise ParameterError for an unknown parameter, suggesting the nearest name."""
        known = [*parameters(KIND), "seed"]
        check_known(f"parameter of {KIND!r}", self.options, known)

    def file(self, name: str) -> str:
        """Return the path of one of the `FILES` by name."""
        return f"{self.folder}/{name}"

    def resolved(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the entry with the files of the genome in place of its simulation.

        Keys of the entry override the files; by default there are as many background regions as peaks.
        """
        entry: dict[str, Any] = {"fasta": {POSITIVE: self.file(PEAKS)}, "genome": self.file(FASTA), "background": 1}
        entry |= {key: value for key, value in given.items() if key != "simulate"}
        if "variants" in given:
            own = {"file": self.file(VARIANTS), "genome": self.file(FASTA), "truth": TRUTH}
            entry["variants"] = own | dict(given["variants"])
        if "motifs" in given:
            entry["motifs"] = {"known": self.file(MOTIFS), **given["motifs"]}
        return entry

    def words(self, seed: int) -> list[str]:
        """Return the command-line options for ``seqkern simulate``; `seed` is used unless the entry has one."""
        options = {"seed": seed, **self.options}
        return sorted(f"--{key.replace('_', '-')}={value}" for key, value in options.items())


# Methods that a study trains for one purpose: scoring variants or finding motifs.


INFO_FIELD: Any = Pattern(default=None, pattern="^[A-Za-z_][0-9A-Za-z_.]*$", form="the name of a field of INFO")
TWO_INTEGERS: Any = Listing(default=None, value=integer(), least=2, most=2)


@configured
class VariantEffects:
    """A method trained on each training set, to show variant effects on held-out chromosomes."""

    key: ClassVar[str] = "variants"
    kernel: str = NAME
    solver: str = NAME
    file: str = OPTIONAL_PATH.but(doc="The variants, VCF or BCF; by default those of the simulated genome.")
    genome: str = OPTIONAL_PATH.but(doc="Their genome; by default that of the data set.")
    truth: str | None = INFO_FIELD.but(doc="Field of INFO with the known effect of each allele, a number or a flag.")
    threshold: float = real(default=0.0, low=0, doc="True are known effects above ± this number.")

    @classmethod
    def parse(cls, given: Mapping[str, Any], genome: str | None) -> "VariantEffects":
        """Return the settings of a ``variants`` entry; `genome` is the data set's, the default."""
        settings = {"genome": genome, **given}
        if "file" not in settings:
            raise ConfigError("has no file", remedy="add file: variants.vcf")
        if settings["genome"] is None:
            raise ConfigError("has no genome", remedy="add genome: FASTA, to the data set or here")
        return cls(**settings)


@configured
class MotifSearch:
    """A method trained on all samples, to show its learned motifs."""

    key: ClassVar[str] = "motifs"
    kernel: str = NAME
    solver: str = NAME
    known: str | None = OPTIONAL_PATH.but(doc="Known motifs to compare with: JASPAR, MEME or TRANSFAC.")


NOT_OF_THE_DATA = ("kernels", "solvers", "importance", "variants", "motifs", "selection_bias", "significance", "track")
"""Keys about methods and reporting; changing them does not cause a data set to be read again."""


@dataclass(frozen=True)
class FoldSettings:
    """Settings for the splits into training and test sets.

    Attributes
    ----------
    method : str
        One of `seqkern.evaluation.fold_methods`.
    options : mapping
        Options of the method.

    Examples
    --------
    >>> FoldSettings.parse({"method": "stratified", "k": 5})
    FoldSettings(method='stratified', options={'k': 5})
    """

    method: str
    options: Mapping[str, Any]

    @classmethod
    def parse(cls, given: Mapping[str, Any]) -> "FoldSettings":
        """Return the settings of an entry.

        Parameters
        ----------
        given : mapping
            The value of ``folds``.

        Returns
        -------
        FoldSettings

        Raises
        ------
        ParameterError
            For an unknown method or option, with the nearest name.
        """
        options = {key: value for key, value in given.items() if key != "method"}
        known = options_of(given["method"])
        check_known(f"option of fold method {given['method']!r}", options, known)
        return cls(given["method"], options)


@configured
class Importance:
    """A method to train on all windows; the report shows the importance of each position.

    Examples
    --------
    >>> wanted = Importance.parse({"kernel": "degree", "solver": "svm", "site": 31, "section": [-10, 10]})
    >>> wanted.site, wanted.section
    (31, (-10, 10))
    """

    key: ClassVar[str] = "importance"
    kernel: str = NAME
    solver: str = NAME
    order: int | None = integer(default=None, low=1, high=3, doc="Length of the longest k-mers.")
    background: str = choice(
        default="frequencies",
        choices=("frequencies", "uniform"),
        doc="Background distribution of letters: as in the model's windows, or uniform.",
    )
    site: int | None = integer(default=None, low=1, doc="Position in the windows, from 1, labelled 0 in the figures.")
    section: tuple[int, int] | None = TWO_INTEGERS.but(
        doc="First and last position of a section to enlarge, as offsets from the site if there is one."
    )
    pair: str | None = text(default=None, doc="Multi-class: show the classifier of classes A:B.")

    @classmethod
    def parse(cls, given: Mapping[str, Any]) -> "Importance":
        """Return the importance settings of an entry.

        Parameters
        ----------
        given : mapping
            The value of ``importance``, valid under the schema.

        Returns
        -------
        Importance
        """
        section = given.get("section")
        return cls(**{**given, "section": None if section is None else tuple(section)})


DATASET_KEYS: dict[str, Parameter] = {
    **DATA_KEYS,
    "track": text(doc="For residues, the chain that the report draws; by default one of median accuracy."),
    "folds": Section(
        others=True,
        keys={"method": text(), "k": integer(low=2), "seed": integer(low=0)},
        needed=("method",),
    ),
    "kernels": Listing(value=NAME, least=0, doc="Only these kernels; by default all that accept this kind of data."),
    "solvers": Listing(value=NAME, least=0),
    "selection_bias": flag(
        doc="For solvers that select features, also report the inflated scores from selecting on the test data.",
    ),
    "significance": Either(
        forms=(
            text(),
            Section(keys={"statistic": text(), "permutations": integer(low=1)}),
        ),
        doc="Test the features that P-SVMs select, by permuting the labels of each training set.",
    ),
    "importance": Section(
        keys=keys_of(Importance),
        needed=("kernel", "solver"),
        doc="A method to train on all windows; the report shows the importance of each position.",
    ),
    "motifs": Section(
        keys=keys_of(MotifSearch),
        needed=("kernel", "solver"),
        doc="A method to train on all samples; the report shows the motifs that it has learned.",
    ),
    "variants": Section(
        keys=keys_of(VariantEffects),
        needed=("kernel", "solver"),
        doc="A method to train on each training set; the report shows its effects of variants on the chromosomes held "
        "out.",
    ),
}


@dataclass(frozen=True, eq=False)
class DatasetEntry:
    """A data set of a study.

    Attributes
    ----------
    name : str
        Its name in the study.
    given : mapping
        The entry as configured.
    data : DataEntry
        Its data.
    folds : FoldSettings, optional
        Settings for splitting the samples.
    kernels, solvers : tuple of str, optional
        The only ones to run on it.
    selection_bias : bool
        Whether to report the inflated scores from selecting features on the test data.
    significance : SignificanceTest, optional
        The test of the features that P-SVMs select.
    importance : Importance, optional
        The method for the importance of positions.
    variants : VariantEffects, optional
        The method for effects of variants, and the variants.
    motifs : MotifSearch, optional
        The method for motifs.
    track : str, optional
        The name of the chain that the report draws.
    simulated : SimulatedGenome, optional
        The genome that is simulated for it; `given` has its files.

    Examples
    --------
    >>> given = {"simulate": {"kind": "donor"}, "folds": {"method": "stratified"}, "solvers": ["svm"]}
    >>> entry = DatasetEntry.parse(given, "donors", Places({"datasets": {"donors": given}}))
    >>> entry.kind, entry.solvers, sorted(entry.to_dict())
    ('sequences', ('svm',), ['folds', 'simulate'])
    """

    name: str
    given: Mapping[str, Any]
    data: DataEntry
    folds: FoldSettings | None = None
    kernels: tuple[str, ...] | None = None
    solvers: tuple[str, ...] | None = None
    selection_bias: bool = False
    significance: "SignificanceTest | None" = None
    importance: Importance | None = None
    variants: VariantEffects | None = None
    motifs: MotifSearch | None = None
    track: str | None = None
    simulated: SimulatedGenome | None = None

    @classmethod
    def parse(cls, given: Mapping[str, Any], name: str, places: Places) -> "DatasetEntry":
        """Return an entry, checked and typed.

        Parameters
        ----------
        given : mapping
            Valid under the schema.
        name : str
            Its name in the study.
        places : Places
            Places of the study, for messages.

        Returns
        -------
        DatasetEntry

        Raises
        ------
        ConfigError
            Unless it has one source, and a known source of labels and fold method.
        """
        with places.within("datasets", name, "simulate"):
            simulated = _simulated(given, name, places.config)
            if simulated is not None:
                simulated.check()
        given = given if simulated is None else simulated.resolved(given)
        data = DataEntry.parse(given, lambda *keys: places.within("datasets", name, *keys))
        if "track" in given and not data.of_residues:
            remedy = "add residues: {window: 15}, or remove track"
            problem = "track needs residues"
            raise places.error(("datasets", name), problem, remedy=remedy, at=("datasets", name, "track"))
        with places.within("datasets", name, "folds"):
            folds = FoldSettings.parse(given["folds"]) if "folds" in given else None
        with places.within("datasets", name, "significance"):
            _significance(given)
        with places.within("datasets", name, "variants"):
            choices = _choices(given, data)
        return cls(name, given, data, folds, simulated=simulated, **choices)

    @classmethod
    def of_results(cls, given: Mapping[str, Any], name: str) -> "DatasetEntry":
        """Return the readable part of the entry of a finished study, perhaps of another version.

        Parameters
        ----------
        given : mapping
            The entry as configured.
        name : str
            Its name in the study.

        Returns
        -------
        DatasetEntry
        """
        simulated = _simulated(given, name, {"study": ""})
        given = given if simulated is None else simulated.resolved(given)
        folds = given.get("folds") or {}
        settings = FoldSettings(str(folds["method"]), folds) if folds.get("method") else None
        data = DataEntry.of_results(given)
        return cls(name, given, data, settings, simulated=simulated, **_choices(given, data))

    @property
    def kind(self) -> str:
        """Kind of data, one of `seqkern.study.KINDS`; empty if unknown."""
        return self.data.kind

    @property
    def of_residues(self) -> bool:
        """Whether samples are residues of chains."""
        return self.data.of_residues

    @property
    def searches(self) -> bool:
        """Whether profiles are built by search."""
        return self.data.profiles is not None and self.data.profiles.search is not None

    @property
    def audited(self) -> bool:
        """Whether the test parts are audited, as for an official split of sequences."""
        source = self.data.source
        sequences = source is not None and source.kind == "sequences" and self.data.residues is None
        return sequences and self.fold_options().get("method") == "predefined"

    def fold_options(self) -> dict[str, Any]:
        """Return the fold settings of the entry, for a job; empty if there are none."""
        return dict(self.given.get("folds", {}))

    def to_dict(self) -> dict[str, Any]:
        """Return the data part of the entry, for a job; independent of the methods, so that these cause no rerun."""
        return {key: value for key, value in self.given.items() if key not in NOT_OF_THE_DATA}

    def check_files(self, places: Places) -> None:
        """Raise ConfigError unless all local files of the entry exist."""
        made = [] if self.simulated is None else [self.simulated.file(name) for name in FILES]
        self.data.check_files(lambda *keys: places.within("datasets", self.name, *keys), made)
        wanted = {"variants": ("file", "genome"), "motifs": ("known",)}
        for key, settings in (("variants", self.variants), ("motifs", self.motifs)):
            for option in wanted[key] if settings is not None else ():
                path = getattr(settings, option)
                with places.within("datasets", self.name, key, option):
                    if path is not None and path not in made:
                        check_file(path)

    def check_section(self) -> None:
        """Raise ConfigError if the section to enlarge is empty."""
        section = None if self.importance is None else self.importance.section
        if section is not None and section[0] > section[1]:
            raise ConfigError(f"{list(section)} is empty", remedy="give the first and the last position")


def _simulated(given: Mapping[str, Any], name: str, config: Mapping[str, Any]) -> SimulatedGenome | None:
    """Return the genome to simulate; None outside of a study, which has no folder for its files."""
    results = config.get("results") or (f"results/{config['study']}" if "study" in config else None)
    return None if results is None else SimulatedGenome.parse(given, f"{results}/simulated/{name}")


def _significance(given: Mapping[str, Any]) -> "SignificanceTest | None":
    """Return the test of features of an entry, if it has one."""
    if given.get("significance") is None:
        return None
    from seqkern.solvers.psvm.path import SignificanceTest  # loads a solver

    return SignificanceTest.parse(given["significance"])


def _choices(given: Mapping[str, Any], data: DataEntry) -> dict[str, Any]:
    """Return the attributes of a data set entry that concern methods."""
    wanted, variants, motifs = (given.get(key) for key in ("importance", "variants", "motifs"))
    genome = None if data.genome is None else data.genome.reading.genome
    return {
        "kernels": tuple(given["kernels"]) if given.get("kernels") else None,
        "solvers": tuple(given["solvers"]) if given.get("solvers") else None,
        "selection_bias": bool(given.get("selection_bias")),
        "significance": _significance(given),
        "importance": None if wanted is None else Importance.parse(wanted),
        "variants": None if variants is None else VariantEffects.parse(variants, genome),
        "motifs": None if motifs is None else MotifSearch(**motifs),
        "track": given.get("track"),
    }
