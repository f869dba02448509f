"""The keys of a configuration, from its JSON schema."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import rst
import yaml

Schema = Mapping[str, Any]


def pages(root: Path) -> dict[str, str]:
    """Return the page by file name."""
    schema = yaml.safe_load((root / "workflow" / "schemas" / "config.schema.yaml").read_text(encoding="utf-8"))
    sections = [
        ("The study", schema, ""),
        ("A data set", schema["$defs"]["dataset"], "datasets.NAME."),
        ("A kernel", schema["$defs"]["kernel"]["else"], "kernels.NAME."),
        ("A choice among kernels", schema["$defs"]["kernel"]["then"], "kernels.NAME."),
        ("A solver", schema["$defs"]["solver"], "solvers.NAME."),
    ]
    text = (
        rst.title("Keys of the schema")
        + "\nAll keys of a configuration, as ``workflow/schemas/config.schema.yaml`` declares them. "
        ":doc:`configuration` explains them; ``seqkern kernels NAME`` and ``seqkern solvers NAME`` list the "
        "parameters that a kernel or a solver adds.\n"
    )
    for name, part, prefix in sections:
        rows = [row for key, entry in part["properties"].items() for row in rows_of(prefix + key, entry, schema)]
        text += "\n" + rst.title(name, "-") + "\n"
        text += rst.table(("key", "values", "default", "meaning"), rows, "25 25 12 38")
    return {"config-keys.rst": text}


def rows_of(key: str, entry: Schema, schema: Schema) -> Iterator[tuple[str, str, str, str]]:
    """Yield a row for a key, and for the keys of a mapping with fixed keys."""
    entry = resolved(entry, schema)
    default = f"``{yaml_text(entry['default'])}``" if "default" in entry else ""
    yield f"``{key}``", values(entry, schema), default, rst.escape(entry.get("description", ""))
    for name, child in entry.get("properties", {}).items():
        yield from rows_of(f"{key}.{name}", child, schema)


def resolved(entry: Schema, schema: Schema) -> Schema:
    """Return an entry with what it refers to; its own words win."""
    reference = entry.get("$ref")
    return {**schema["$defs"][reference.rpartition("/")[2]], **entry} if reference else entry


def values(entry: Schema, schema: Schema) -> str:
    """Return the values that an entry takes."""
    entry = resolved(entry, schema)
    if "enum" in entry:
        return ", ".join(f"``{yaml_text(value)}``" for value in entry["enum"])
    if "form" in entry:
        return rst.escape(entry["form"])
    if "anyOf" in entry:
        return " or ".join(dict.fromkeys(values(one, schema) for one in entry["anyOf"]))
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
