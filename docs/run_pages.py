"""Run the commands of the tutorials and how-to pages, and compare what they print with what the pages show.

    python docs/run_pages.py                      compare
    python docs/run_pages.py --update             write what they print into the pages
    python docs/run_pages.py splice_sites         one page

In a page, a block of bash or python is run, the block of text right after it is what it prints, and a block with a
caption is a file of that name.
"""

import argparse
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import seqkern

HERE = Path(__file__).resolve().parent
PAGES = [
    path
    for path in sorted(HERE.glob("tutorials/*.md")) + sorted(HERE.glob("howto/*.md"))
    if "```text" in path.read_text("utf-8")
]
BLOCK = re.compile(r"^```(\{code-block\} )?(\w+)\n(?::caption: (\S+)\n\n)?(.*?)^```\n", re.MULTILINE | re.DOTALL)
PROGRESS = re.compile(r"seqkern: .* elapsed, .* in use")  # written every 30 seconds, so by slow machines only
NUMBER = re.compile(r"[-−]?\d[\d,]*\.?\d*(?:e-?\d+)?")


def run(page: str, folder: Path, programs: str = "") -> tuple[str, list[tuple[str, str, str]]]:
    """Run a page.

    Parameters
    ----------
    page : str
        Its text.
    folder : Path
        Where its commands run.
    programs : str
        A folder of programs that are found first.

    Returns
    -------
    str
        The page with what was printed.
    list of (str, str, str)
        Of each block with output: the command, what the page shows, what was printed.
    """
    environment = surroundings(folder)
    environment["PATH"] = os.pathsep.join(filter(None, [programs, environment["PATH"]]))
    compared, pieces, end, printed, command = [], [], 0, None, ""
    for found in BLOCK.finditer(page):
        between, (_, language, file, text) = page[end : found.start()], found.groups()
        pieces.append(between)
        whole = found.group()
        if file:
            (folder / file).write_text(text, encoding="utf-8")
        elif language in ("bash", "python"):
            command, printed = text, execute(language, text, folder, environment)
        elif language == "text" and printed is not None and not between.strip():
            compared.append((command, text, printed))
            whole = f"```text\n{printed}```\n"
            printed = None
        pieces.append(whole)
        end = found.end()
    return "".join([*pieces, page[end:]]), compared


def surroundings(folder: Path) -> dict[str, str]:
    """Return the environment: `seqkern` and `python` are those of this Python, whatever is on the path."""
    programs = folder / ".bin"
    programs.mkdir(exist_ok=True)
    for name, arguments in {
        "seqkern": "-P -m seqkern.cli.main",
        "python": "-P",
        "snakemake": "-P -m snakemake",
    }.items():
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n')
        (programs / name).chmod(0o755)
    package = str(Path(seqkern.__file__).resolve().parent.parent)
    return {
        **os.environ,
        "PATH": os.pathsep.join([str(programs), os.environ["PATH"]]),
        "PYTHONPATH": package,
        "XDG_CACHE_HOME": str(folder / ".cache"),
        "COLUMNS": "100",
    }


def execute(language: str, text: str, folder: Path, environment: dict[str, str]) -> str:
    """Return what a block prints; one that fails ends the run."""
    program = ["bash", "-eu", "-c"] if language == "bash" else ["python", "-c"]
    # the blocks are one session: where one leaves off, the next begins
    place = folder / ".place"
    here = place.read_text(encoding="utf-8").strip() if place.exists() else folder
    session = text if language == "python" else f"{text}pwd > '{place}'\n"
    done = subprocess.run(
        [*program, session], cwd=here, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    printed = done.stdout.decode()
    if done.returncode:
        raise RuntimeError(f"exit code {done.returncode}\n{text}\n{printed}")
    return "".join(line.rstrip() + "\n" for line in printed.splitlines() if not PROGRESS.fullmatch(line))


def alike(shown: str, printed: str) -> bool:
    """Return whether two outputs have the same words, and numbers that agree but for the last digits.

    Parameters
    ----------
    shown, printed : str
        On the page, and now.

    Returns
    -------
    bool
    """
    if NUMBER.sub("#", " ".join(shown.split())) != NUMBER.sub("#", " ".join(printed.split())):
        return False
    pairs = zip(*(map(number, NUMBER.findall(text)) for text in (shown, printed)), strict=True)
    return all(math.isclose(old, new, rel_tol=0.1, abs_tol=0.02) for old, new in pairs)


def number(text: str) -> float:
    """Return the value of a number as it is printed."""
    return float(text.replace(",", "").replace("−", "-").rstrip("."))


def main() -> int:
    """Run the pages that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pages", nargs="*", help="names without an ending (default: all)")
    parser.add_argument("--update", action="store_true", help="write what is printed into the pages")
    args = parser.parse_args()
    differences = 0
    for path in PAGES:
        if args.pages and path.stem not in args.pages:
            continue
        with tempfile.TemporaryDirectory() as folder:
            page, compared = run(path.read_text(encoding="utf-8"), Path(folder))
        for command, shown, printed in compared:
            if not alike(shown, printed):
                differences += 1
                print(f"== {path.name}\n{command}-- page\n{shown}-- now\n{printed}")
        if args.update:
            path.write_text(page, encoding="utf-8")
    return 0 if args.update else min(differences, 1)


if __name__ == "__main__":
    sys.exit(main())
