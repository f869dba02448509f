"""Pages of the repository that lie outside docs/: copied into the site, with links that lead to its own pages."""

import os.path
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

# page of the repository: its copy in the site
COPIES = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "config/README.md": "configuration.md",
}
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#:]+)(#[^)\s]*)?\)")
GENERATED = "docs/reference/generated"


def pages(root: Path) -> dict[str, str]:
    """Return the copies by file name."""
    return {
        copy: with_links((root / page).read_text(encoding="utf-8"), page, f"{GENERATED}/{copy}", root)
        for page, copy in COPIES.items()
    }


def with_links(text: str, page: str, place: str, root: Path) -> str:
    """Return a page's text for another place: links to pages of the site lead there, others become plain text."""

    def moved(link: re.Match[str]) -> str:
        label, target, anchor = link[1], link[2], link[3] or ""
        file = os.path.normpath(os.path.join(os.path.dirname(page), target))
        if file in COPIES:
            file = f"{GENERATED}/{COPIES[file]}"
        elif not file.startswith("docs/"):
            return label if label.startswith("`") else f"`{file}`" if label.endswith(Path(file).name) else label
        return f"[{label}]({os.path.relpath(file, os.path.dirname(place))}{anchor})"

    return LINK.sub(moved, text)


def on_read(app: Sphinx, document: str, content: list[str]) -> None:
    """Do the same to links of pages in docs/ that lead out of it."""
    path = app.env.doc2path(document)
    if str(path).endswith(".md") and "generated" not in document:
        place = f"docs/{os.path.relpath(path, app.srcdir)}"
        content[0] = with_links(content[0], place, place, Path(app.srcdir).parent)


def setup(app: Sphinx) -> dict[str, Any]:
    """Run on each page before it is parsed."""
    app.connect("source-read", on_read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
