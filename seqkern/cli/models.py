"""``seqkern models``: pack the models of a folder into one file, and list the models of such a file."""

from __future__ import annotations

import sys
from dataclasses import astuple, fields
from pathlib import Path

from seqkern.cli.requests_models import ModelsRequest
from seqkern.core.archive import check_writable
from seqkern.core.errors import ParameterError
from seqkern.core.memory import format_bytes
from seqkern.core.text_files import is_standard_output
from seqkern.core.tsv import write_tsv
from seqkern.methods.loading import PackedModel, is_pack, pack_folder, read_pack


def run(request: ModelsRequest) -> None:
    """Run the verb."""
    (_pack if request.action == "pack" else _list)(request)


def _pack(request: ModelsRequest) -> None:
    """Write the models of a folder to one file."""
    if request.output is None or is_standard_output(request.output):
        raise ParameterError("models pack writes a file", remedy="add -o FILE")
    if not Path(request.source).is_dir():
        raise ParameterError(f"{request.source} is not a folder", remedy="give a folder of model files")
    check_writable(request.output)
    count, others = pack_folder(request.source, request.output)
    for path in others:
        what = "holds several models" if is_pack(path) else "not a model"
        print(f"seqkern: {path}: {what}, left out", file=sys.stderr)
    size = format_bytes(Path(request.output).stat().st_size)
    print(f"seqkern: {request.output}: {count} models, {size}", file=sys.stderr)


def _list(request: ModelsRequest) -> None:
    """Print a table of the models in a file."""
    columns = [field.name for field in fields(PackedModel)]
    write_tsv(request.output or "-", columns, map(astuple, read_pack(request.source)))
