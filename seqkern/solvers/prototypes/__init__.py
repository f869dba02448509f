"""Prototype classifiers: a sample belongs to the class of its nearest prototype."""
