"""The keys of a configuration, from the JSON schema of their declarations."""

from collections.abc import Iterator, Mapping
from typing import Any

import rst
import yaml

from seqkern.study.study import study_schema

Schema = Mapping[str, Any]


def pages() -> dict[str, str]:
    """Return the page by file name."""
    schema = study_schema()
    dataset, kernel, solver = (
        schema["properties"][name]["additionalProperties"] for name in ("datasets", "kernels", "solvers")
    )
    sections = [
        ("The study", schema, ""),
        ("A data set", dataset, "datasets.NAME."),
        ("A kernel", kernel["else"], "kernels.NAME."),
        ("A choice among kernels", kernel["then"], "kernels.NAME."),
        ("A solver", solver, "solvers.NAME."),
    ]
    text = (
        rst.title("Keys of the schema") + "\nAll keys of a configuration, as the classes of its entries declare them. "
        ":doc:`configuration` explains them; ``seqkern kernels NAME`` and ``seqkern solvers NAME`` list the "
        "parameters that a kernel or a solver adds.\n"
    )
    for name, part, prefix in sections:
        rows = [row for key, entry in part["properties"].items() for row in rows_of(prefix + key, entry)]
        text += "\n" + rst.title(name, "-") + "\n"
        text += rst.table(("key", "values", "default", "meaning"), rows, "25 25 12 38")
    return {"config-keys.rst": text}


def rows_of(key: str, entry: Schema) -> Iterator[tuple[str, str, str, str]]:
    """Yield a row for a key, and for the keys of a mapping with fixed keys."""
    default = f"``{yaml_text(entry['default'])}``" if "default" in entry else ""
    yield f"``{key}``", values(entry), default, rst.escape(entry.get("description", ""))
    for name, child in entry.get("properties", {}).items():
        yield from rows_of(f"{key}.{name}", child)


def values(entry: Schema) -> str:
    """Return the values that an entry takes."""
    if "enum" in entry:
        return ", ".join(f"``{yaml_text(value)}``" for value in entry["enum"])
    if "form" in entry:
        return rst.escape(entry["form"])
    if "anyOf" in entry:
        return " or ".join(dict.fromkeys(values(one) for one in entry["anyOf"]))
    kinds = entry.get("type", "any")
    words = [{"array": "list", "object": "mapping", "null": "null"}.get(kind, kind) for kind in aslist(kinds)]
    if "minimum" in entry:
        words[0] += f" ≥ {entry['minimum']}"
    return " or ".join(words)


def aslist(value: str | list[str]) -> list[str]:
    """Return the types as a list."""
    return [value] if isinstance(value, str) else value


def yaml_text(value: object) -> str:
    """Return a value as YAML writes it."""
    return yaml.safe_dump(value, default_flow_style=True).removesuffix("...\n").strip()
