"""Shared by all: errors, declared parameters, archives, text and tables, memory, threads, progress."""
