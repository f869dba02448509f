"""Classifiers by prototypes: a sample belongs to the class of the nearest one."""
