"""The Fisher kernel: how sequences would change a model of the positives (Jaakkola et al. 2000)."""

import warnings
from dataclasses import asdict
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from seqkern.core.archive import nest, unnest
from seqkern.core.errors import LabelError, ParameterError, SequenceError
from seqkern.core.parameters import changed, choice, flag, integer, real, text
from seqkern.core.types import Arrays, Header
from seqkern.kernels.additive import spread_evenly
from seqkern.kernels.hmm import _forward_backward
from seqkern.kernels.hmm.building import build_profile, check_alphabet
from seqkern.kernels.hmm.empirical_information import EmpiricalInformation
from seqkern.kernels.hmm.markov import MarkovChain
from seqkern.kernels.hmm.profile_hmm import ProfileHMM
from seqkern.kernels.hmm.reading import read_profiles
from seqkern.kernels.one_entry_cache import OneEntryCache
from seqkern.kernels.planner import Workload
from seqkern.kernels.prepared import Plan
from seqkern.kernels.products import _product
from seqkern.kernels.products.product import FeatureKernel, Term, TermBlocks
from seqkern.kernels.products.real import PRODUCT_NS, RealDenseBlock
from seqkern.sequences.alphabets import Alphabet, alphabet_from_state
from seqkern.sequences.sequence_set import SequenceSet

MODELS: dict[str, Any] = {"profile": ProfileHMM, "markov": MarkovChain}
MOST_WORDS = 1 << 16
CELL_NS = (4.4, 2.9, 2.7)  # a letter and a column, for each level of instructions
STEPS_COST = 1.7  # how many times more with transitions
WORD_NS = 40.0
SCORE_NS = 3.0  # a score: written, scaled, put where products read it
CACHE = OneEntryCache()  # features of the support set


class FisherKernel(FeatureKernel):
    r"""Fisher kernel: how sequences would change a model of the positives.

    It suits protein families and other classes that a profile HMM or a Markov chain describes.

    `fit` aligns the positives and builds the HMM as hmmbuild does, or counts k-mers. The positives are the
    examples of the greater of two labels; all examples if there are no labels, or only positive ones. With several
    classes there is one model for each, and their vectors U are concatenated. One positive suffices, because of the
    priors; without any positive that has unmasked residues, the profile HMM is one column with the background
    frequencies. Both cases give a warning. Negative labels alone are an error.

    The profile HMM is passed from begin to end, once, anywhere in x. Insert states and the two flanking states emit
    background frequencies, which are not parameters; a flanking state emits one more residue with probability 350/351.
    A masked residue is emitted with probability 1 by any state, and is not counted.

    With the radial basis function of Jaakkola et al.: ``rbf:gamma=jaakkola,base=(fisher:normalize=false)``.

    Notes
    -----
    With θ the parameters of the model and I the Fisher information, its diagonal or (``information="full"``) all of it,

    .. math:: K(x, y) = U_x^T I^{−1} U_y,  U_x = ∇_θ \ln P(x | θ)

    Each probability distribution θ_s (the residues of a match state, the transitions of a state, the residues after a
    context) stays normalised when one θ_s(a) changes, so that U_x(a, s) = E_s(a)/θ_s(a) − Σ_b E_s(b), with E the
    expected counts given x. Where θ_s(a) = 0, and for a sequence that a model cannot emit, U is 0.

    The full information is that of the positives, I = (1/m)·Σ U_x U_xᵀ + λ·mean(diag)·1 with λ the `ridge`. It takes
    into account that parameters change together; it needs many positives, and costs O(m·parameters) more per sequence.

    Complexity: O(M·|x|) per sequence for a profile HMM of M columns (forward-backward), O(|x|) for a Markov chain; then
    the number of parameters per pair.

    Definiteness: positive semi-definite.

    References
    ----------
    Jaakkola, Diekhans, Haussler: A discriminative framework for detecting remote protein homologies. Journal of
    Computational Biology 7, 2000.

    Examples
    --------
    >>> from seqkern.kernels import FisherKernel
    >>> chain = FisherKernel(model="markov", order=0, alphabet="dna").fit(["AAAC", "AACA"], [1, 1])
    >>> chain(["AAAA"], ["AAAC", "GGGG"]).round(3)
    array([[ 0.775, -0.397]])
    """

    name = "fisher"
    summary = "Compares how two sequences would change a model of the positive examples."

    model: str = choice(
        default="profile",
        choices=MODELS,
        doc="Model of the positives. Profile HMMs need dna, rna or protein; a Markov chain takes any alphabet.",
    )
    hmm: str | None = text(
        default=None,
        path=True,
        remedy="give the path of a HMMER3 text file",
        doc="HMMER3 file (text, compressed or not; or ``public:NAME``) to use instead of building a "
        "profile HMM; then nothing is learned. The U of several models are concatenated.",
    )
    transitions: bool = flag(
        default=False, doc="Use the transition probabilities of the profile HMM as parameters, not only its emissions."
    )
    information: Literal["diagonal", "identity", "full"] = choice(
        default="diagonal",
        doc="I: the diagonal of the Fisher information expected by the model, n_s·(1 − θ_s(a))/θ_s(a) "
        "with n_s visits of state s per passage (``diagonal``); 1 (``identity``); or the whole matrix, as observed on "
        "the positives (``full``).",
    )
    ridge: float = real(
        default=0.1,
        low=0,
        open_low=True,
        doc="λ: added to the full information, as a share of its mean diagonal.",
    )
    order: int = integer(default=2, low=0, doc="Order of the Markov chain: residues in a context.")
    pseudocount: float = real(default=1.0, low=0, open_low=True, doc="Added to each k-mer count of the Markov chain.")
    zero_diagonal: Literal["error", "zero"] = changed(
        default="error",
        doc="When normalising, what to do with a sequence with U = 0, as if all is masked: raise an "
        "error, or return zeros.",
    )

    @classmethod
    def examples(cls) -> list["FisherKernel"]:
        """Return kernels for the contract suite."""
        return [
            cls(),
            cls(transitions=True, information="identity", normalize=False),
            cls(alphabet="protein"),
            cls(model="markov", order=1, alphabet="HEC"),
            cls(transitions=True, information="full"),
        ]

    @property
    def data_dependent(self) -> bool:  # type: ignore[override]  # here it follows from the parameters
        """Whether the model is learned from the data, or the full information."""
        return self.hmm is None or self.information == "full"

    def files(self) -> tuple[str, ...]:
        """Return the path of the HMMER3 file, if there is one."""
        return () if self.hmm is None else (self.hmm,)

    def _check_parameters(self) -> None:
        if self.model == "markov" and (self.hmm is not None or self.transitions):
            given = "transitions" if self.hmm is None else "hmm"
            raise ParameterError(
                f"{given} does not apply to a Markov chain", remedy=f"remove {given}, or choose model=profile"
            )

    # ---- the models -----------------------------------------------------------------------------

    def _fit(self, X: SequenceSet, y: npt.ArrayLike | None) -> None:
        if self.hmm is None:
            self._check_alphabet(X.alphabet)
            self.models_ = [self._learn(part) for part in _examples(X, y)]
            self.alphabet_ = X.alphabet
        if self.information == "full":
            parts, models = _examples(X, y), self._models_for(X)
            if self.hmm is not None:  # which model is of which class is not known
                parts = [parts[0] if len(parts) == 1 else X] * len(models)
            pairs = zip(models, parts, strict=True)
            scores = (model.score(part, self.transitions, n_threads=self.n_threads)[0] for model, part in pairs)
            self.information_ = [EmpiricalInformation.of(U, float(self.ridge)) for U in scores]

    def _learn(self, X: SequenceSet) -> Any:
        """Return the model of some sequences; warn if there are too few."""
        with_letters = sum(bool(set(text) - {"*"}) for text in X.strings())
        if with_letters == 0:
            warnings.warn(
                f"{len(X)} positives, 0 with unmasked residues: the model is the background alone", stacklevel=2
            )
        elif with_letters == 1 and self.model == "profile":
            warnings.warn(
                f"{len(X)} positives, 1 with unmasked residues: the profile HMM mostly reflects its priors",
                stacklevel=2,
            )
        return build_profile(X) if self.model == "profile" else MarkovChain.learn(X, self.order, self.pseudocount)

    def _check_alphabet(self, alphabet: Alphabet) -> None:
        """Raise an error if there is no model for an alphabet."""
        if self.model == "profile":
            check_alphabet(alphabet)
        elif alphabet.size ** (self.order + 1) > MOST_WORDS:
            raise ParameterError(
                f"order={self.order} is too large: it needs {alphabet.size ** (self.order + 1)} probabilities",
                remedy=f"choose an order with at most {MOST_WORDS}",
            )

    def _models(self) -> tuple[Any, Alphabet]:
        """Return (models, their alphabet); a file is read when first needed, and again only if it changes."""
        if self.hmm is None:
            return self.models_, self.alphabet_
        read = getattr(self, "_read", None)
        if read is None or read[0] != self.hmm:
            self._read = read = self.hmm, *read_profiles(self.hmm)
        return read[1:]

    def fitted_state(self) -> tuple[Header, Arrays]:
        """Return (JSON dict, dict of arrays): the models, learned or from the file, and their alphabet."""
        if self.data_dependent and not self.fitted:
            return {}, {}
        models, alphabet = self._models()
        arrays = {}
        for number, model in enumerate(models):
            arrays.update(nest(f"models/{number}", model.arrays()))
        if self.information == "full" and self.fitted:
            for number, known in enumerate(self.information_):
                arrays.update(nest(f"information/{number}", known.arrays()))
        return {"alphabet": asdict(alphabet), "models": len(models)}, arrays

    def restore_fitted(self, header: Header, arrays: Arrays) -> None:
        """Restore what `fitted_state` returned.

        Parameters
        ----------
        header : dict
            Its JSON part.
        arrays : dict of str to ndarray
            Its arrays.
        """
        if not header:
            return
        if header["models"] > len(arrays):
            raise ValueError("more models than arrays")
        numbers = range(header["models"])
        stored = [unnest(f"models/{number}", arrays) for number in numbers]
        models = [MODELS[self.model].from_arrays(parts) for parts in stored]
        alphabet = alphabet_from_state(header["alphabet"])
        if self.hmm is None:
            self.models_, self.alphabet_ = models, alphabet
        else:
            self._read = self.hmm, models, alphabet
        if self.information == "full":
            known = [unnest(f"information/{number}", arrays) for number in numbers]
            self.information_ = [EmpiricalInformation.from_arrays(parts) for parts in known]

    # ---- the scores -----------------------------------------------------------------------------

    def features(self, X: Any) -> npt.NDArray[np.float64]:
        """Return I^(−1/2)·U_x of each record, float64 (n, parameters), one model after the other.

        The matrix times its transpose is the kernel matrix, not normalised. A profile HMM has the emissions, column
        after column, letters in alphabetical order; then, with `transitions`, the steps MM, MI, MD, IM, II, DM, DD out
        of the begin and each column but the last.

        Parameters
        ----------
        X : SequenceSet or list of str, n records
            Sequences with the alphabet of the model.

        Returns
        -------
        ndarray of float64, shape (n, parameters)

        Raises
        ------
        SequenceError
            If the sequences have another alphabet than the model.
        ParameterError
            If the kernel is not fitted.
        """
        self.check_parameters()
        self.check_fitted()
        X = self.coerce(X)
        parts = []
        for number, model in enumerate(self._models_for(X)):
            scores = model.score(X, self.transitions, n_threads=self.n_threads)[0]
            parts.append(self._whitened(number, model, scores))
        return parts[0] if len(parts) == 1 else np.hstack(parts)

    def _models_for(self, X: SequenceSet) -> list[Any]:
        """Return the models; SequenceError if sequences have another alphabet."""
        models, alphabet = self._models()
        if X.alphabet != alphabet:
            raise SequenceError(
                f"the sequences have the alphabet {X.alphabet.name}, the model has {alphabet.name}",
                file=self.hmm,
                remedy="read them with that alphabet, or choose another model",
            )
        return models

    def _whitened(self, number: int, model: Any, scores: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return I^(−1/2) times each row, float64 (n, parameters of a model); 0 where nothing is known."""
        if self.information == "identity":
            return scores
        if self.information == "full":
            return self.information_[number].whiten(scores)
        known = model.information(self.transitions)
        return scores * np.divide(1.0, np.sqrt(known), out=np.zeros_like(known), where=known > 0)

    def _prepare(self, X: SequenceSet, like: TermBlocks | None) -> TermBlocks:
        return TermBlocks([Term(1.0, [(1, RealDenseBlock(self.features(X)))])])

    def plan(self, X: Any, Y: Any = None) -> Plan:
        """Return the Plan for this kernel on `X` (against `Y`).

        Parameters
        ----------
        X : SequenceSet or list of str, n records
            The rows.
        Y : the same, m records, optional
            The columns; by default `X`.

        Returns
        -------
        Plan
        """
        self.check_parameters()
        X = self.coerce(X)
        work = Workload.of(X, None if Y is None else self.coerce(Y))
        total = work.output(self.n_threads)
        if self.data_dependent and not self.fitted:
            size = X.alphabet.size
            columns = max(1, work.letters // max(1, work.records))  # the model is about as long as the records
            widths = [size ** (self.order + 1) if self.model == "markov" else size * columns]
        else:
            models, _ = self._models()
            widths = [model.width(self.transitions) for model in models]
            columns = sum(getattr(model, "length", 0) for model in models)
        if self.model == "markov":
            scoring = WORD_NS * work.letters * len(widths)
        else:
            cell = CELL_NS[_forward_backward.level()] * (STEPS_COST if self.transitions else 1.0)
            scoring = cell * work.letters * columns
        products = work.pairs * sum(widths)
        if self.information == "full":
            rank = [len(known.vectors) for known in self.information_] if self.fitted else [work.rows] * len(widths)
            products += 2.0 * work.records * sum(min(m, d) * d for m, d in zip(rank, widths, strict=True))
        scoring += SCORE_NS * work.records * sum(widths)
        seconds = (scoring + PRODUCT_NS[_product.level()] * products) * 1e-9
        reason = f"{sum(widths)} scores of each sequence, {scoring * 1e-9:.2g} s; {products:.3g} products"
        return Plan("dense", total.seconds + seconds, total.bytes + 24 * work.records * sum(widths), reason)

    # ---- explanations ---------------------------------------------------------------------------

    def _attribute(
        self, X: SequenceSet, support: SequenceSet, coefficients: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.float64]:
        """Share U_x(a, s)·w(a, s) by the probabilities of the residues of x in state s, or equally in a k-mer.

        The contributions of transitions are shared equally by all residues.
        """
        features = CACHE.get(support, self.identity(), lambda: self.features(support))
        weights = np.zeros(features.shape[1])
        for value, coefficient in zip(features, coefficients, strict=True):
            weights += coefficient * value
        shares, first = np.zeros(int(X.lengths.sum())), 0
        for number, model in enumerate(self._models()[0]):
            here = self._whitened(number, model, weights[None, first : first + model.width(self.transitions)])[0]
            first += len(here)
            letters = model.width(transitions=False)
            shares += model.shares(X, here[:letters])
            if self.transitions:
                shares += spread_evenly(X, model.score(X, True)[0][:, letters:] @ here[letters:])
        return shares


def _examples(X: SequenceSet, y: npt.ArrayLike | None) -> list[SequenceSet]:
    """Return the training sets of the models: the positives, or the examples of each class."""
    if y is None:
        return [X]
    y = np.asarray(y)
    if y.shape != (len(X),):
        raise LabelError(f"{len(y)} labels for {len(X)} sequences", remedy="give one for each sequence")
    classes = np.unique(y)
    if len(classes) > 2 and np.issubdtype(y.dtype, np.floating):
        raise LabelError("kernel 'fisher' needs class labels, and the labels are numbers", remedy="give classes")
    if len(classes) == 0 or (len(classes) == 1 and classes.dtype.kind in "biuf" and classes[0] <= 0):
        raise LabelError(
            f"kernel 'fisher' learns from positives, and there are none among {len(y)} labels",
            remedy="choose a training set with positives, or give no labels if all samples are positive",
        )
    chosen = classes if len(classes) > 2 else classes[-1:]
    return [X.take(np.flatnonzero(y == one)) for one in chosen]
