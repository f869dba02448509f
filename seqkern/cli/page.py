"""``seqkern page``: a model as a web page that scores sequences."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import cast

from seqkern.cli.output import log, print_output
from seqkern.cli.requests_models import PageRequest
from seqkern.core.archive import atomic_write, check_writable
from seqkern.core.errors import naming
from seqkern.core.memory import format_bytes
from seqkern.core.text_files import file_sha256
from seqkern.methods.loading import load_model
from seqkern.methods.model import Model
from seqkern.methods.page_export import export_model


def run(request: PageRequest) -> None:
    """Run the verb."""
    check_writable(request.output)
    model, name = load_model(request.model), Path(request.model).name
    with naming(request.model):
        export = export_model(model, request.exact, request.allow_sequences)
    export |= {"name": name, "digest": file_sha256(request.model)}
    # imported here: few verbs make a page
    from seqkern.report.model_page import render_model_page

    flags = [f"--{one.replace('_', '-')}" for one in ("exact", "allow_sequences") if getattr(request, one)]
    command = shlex.join(["seqkern", "page", name, *flags, "-o", Path(request.output).name])
    page = render_model_page(cast("Model", model), export, name, command)  # a ResidueModel is refused above
    with atomic_write(request.output, "w") as file:
        file.write(page)
    held = "the training sequences that its kernel needs" if export["holds_sequences"] else "no training sequences"
    log(f"{request.output}: {format_bytes(len(page.encode()))}, holds {held}; open it in a browser")
    print_output(request.output)
