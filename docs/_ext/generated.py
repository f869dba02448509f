"""Pages of the reference that come from the code, written before Sphinx reads the sources."""

from pathlib import Path
from typing import Any

import api_pages
import class_pages
import cli_pages
import config_page
import repository
from sphinx.application import Sphinx


def write(app: Sphinx, config: Any) -> None:
    """Write all pages; one that is as before keeps its time, so that Sphinx does not read it again."""
    folder = Path(app.srcdir) / "reference" / "generated"
    pages = {
        **class_pages.pages(folder),
        **cli_pages.pages(),
        **config_page.pages(),
        **api_pages.pages(),
        **repository.pages(Path(app.srcdir).parent),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for old in [*folder.glob("*.rst"), *folder.glob("*.md")]:
        if old.name not in pages:
            old.unlink()
    for old in folder.glob("api/*.rst"):
        if f"   {old.stem}\n" not in pages["api.rst"]:
            old.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Run before Sphinx lists the sources, and autosummary looks for its tables in them."""
    app.connect("config-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
