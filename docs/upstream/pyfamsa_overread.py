"""Align two equal sequences and a third with pyfamsa 0.7.0, which reads behind the end of a block on the heap.

Run it by: valgrind python docs/upstream/pyfamsa_overread.py
"""

from pyfamsa import Aligner, Sequence

texts = [b"ACDEFGHIKL", b"ACDEFGHIKL", b"MNPQRSTVWY"]
Aligner(threads=1).align([Sequence(b"%d" % i, text) for i, text in enumerate(texts)])
