"""The trivial baselines, defined once: name in tables, name in figures and sentences, and what each one does."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Baseline:
    """A trivial baseline in words.

    Attributes
    ----------
    name : str
        In tables and on the command line.
    title : str
        In figures and tables of a report.
    phrase : str
        In a sentence that compares a method with it.
    sentence : str
        What it does.

    Examples
    --------
    >>> BASELINES["nearest"].title
    'best alignment'
    """

    name: str
    title: str
    phrase: str
    sentence: str


BASELINES = {
    one.name: one
    for one in (
        Baseline(
            "majority",
            "the majority class",
            "the majority class",
            "Predicts the most frequent class of the training set.",
        ),
        Baseline("mean", "the mean label", "the mean label", "Predicts the mean label of the training set."),
        Baseline(
            "composition",
            "length and composition",
            "a linear model of length and composition",
            "A linear model of the length and the frequency of each residue or base (ridge or logistic regression).",
        ),
        Baseline(
            "nearest",
            "best alignment",
            "the best alignment to a training sequence",
            "Searches the training set by Smith-Waterman alignment. The decision value is the best −ln E, with E "
            "corrected for both lengths: of any positive training sequence for two classes, of each class for several. "
            "For real labels, predicts the label of the best hit.",
        ),
        Baseline(
            "alignment",
            "mean alignment",
            "the mean alignment score to the training sequences",
            "As the best alignment, but with the mean −ln E over the positive training sequences, or over those of "
            "each class.",
        ),
        Baseline(
            "kmers",
            "6-mers",
            "a linear model of 6-mers",
            "A linear model of the frequencies of 6-mers, for DNA on both strands (ridge or logistic regression).",
        ),
        Baseline(
            "pwm",
            "position weight matrix",
            "a position weight matrix",
            "Adds up the log odds of each residue or base at its position, positives against negatives, or each class "
            "against the others.",
        ),
        Baseline(
            "residue",
            "residue frequencies",
            "the frequencies of residues",
            "Predicts the most frequent state of the residue at hand.",
        ),
    )
}
"""By name, in the order of tables."""
