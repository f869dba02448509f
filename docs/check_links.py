"""Check the local links of the built site: every file and every anchor that a page links to exists.

python docs/check_links.py docs/_build/html
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links and anchors of a page.

    Parameters
    ----------
    text : str
        HTML.
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loads: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag links to or loads, and the names that it has."""
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if "href" in found:
            self.links.add(found["href"])
        if "src" in found:
            self.links.add(found["src"])
        if tag in ("script", "img", "iframe") and "src" in found:
            self.loads.add(found["src"])
        if tag == "link" and "stylesheet" in found.get("rel", ""):
            self.loads.add(found["href"])


def faults(folder: Path) -> list[str]:
    """Return one line for each link that leads nowhere, and for each page that loads something from the network.

    Parameters
    ----------
    folder : Path
        The built site.

    Returns
    -------
    list of str
    """
    pages = {
        path.resolve(): Page(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.html"))
        if "_static" not in path.parts
    }
    found = []
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        found += [f"{name}: loads {link}" for link in sorted(page.loads) if urlsplit(link).netloc]
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                found.append(f"{name}: no file {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{name}: no anchor {link}")
    return found


def main() -> int:
    """Print the faults of the site that is named on the command line."""
    if len(sys.argv) != 2:
        print("usage: python docs/check_links.py SITE", file=sys.stderr)
        return 2
    found = faults(Path(sys.argv[1]))
    print(*found, sep="\n", end="\n" if found else "")
    return min(len(found), 1)


if __name__ == "__main__":
    sys.exit(main())
