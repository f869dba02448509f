"""Write damaged HMMER files, and show what pyhmmer does with each: ``python pyhmmer_without_alph.py``."""

import io
import subprocess
import sys
import tempfile
from pathlib import Path

READ = """
import sys
from pyhmmer.plan7 import HMMFile
with HMMFile(sys.argv[1]) as file:
    for hmm in file:
        print("read; match emissions of state 1 sum to", round(sum(hmm.match_emissions[1]), 3))
        hmm.validate()
"""


def minimal() -> str:
    """Return the text of an HMM of one match state."""
    from pyhmmer.easel import Alphabet, TextMSA, TextSequence
    from pyhmmer.plan7 import Background, Builder

    dna = Alphabet.dna()
    msa = TextMSA(name=b"one", sequences=[TextSequence(name=b"1", sequence="A")]).digitize(dna)
    file = io.BytesIO()
    Builder(dna).build_msa(msa, Background(dna))[0].write(file)
    return file.getvalue().decode()


def sum_of_2(text: str) -> str:
    """Return the text with probability 1 of the first letter in match state 1."""
    before, after = text.split("\n      1   ")
    return f"{before}\n      1   0.00000{after[7:]}"


def main() -> None:
    """Read each file in a process of its own, and print how it ended."""
    import pyhmmer

    print("pyhmmer", pyhmmer.__version__, "Python", sys.version.split()[0])
    text = minimal()
    damaged = {
        "intact": text,
        "no ALPH line": text.replace("ALPH  DNA\n", ""),
        "probabilities that sum to more than 1": sum_of_2(text),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, content in damaged.items():
            path = Path(folder) / "x.hmm"
            path.write_text(content)
            done = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=False)
            last = (done.stderr.strip().splitlines() or [""])[-1]
            print(f"{name}: exit status {done.returncode}; {done.stdout.strip()} {last}".rstrip())


if __name__ == "__main__":
    main()
