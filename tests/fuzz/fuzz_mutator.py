"""Changes of valid inputs, as damage, haste and malice make them; the same seed gives the same inputs."""

import gzip
import io
import json
import random
import re
import zipfile
from collections.abc import Callable, Sequence

LARGEST = 1 << 16
NUMBERS = [
    *(b"0 -0 1 -1 2 +1 0.5 1e5 1e308 -1e308 1e309 1e-320 nan -nan inf -inf Infinity 1_000 0x10 1,5 .5 5. .".split()),
    *(b"127 128 255 256 32767 65535 65536 2147483647 2147483648 4294967295 4294967296 9223372036854775807".split()),
    *(b"9223372036854775808 -9223372036854775808 18446744073709551615 18446744073709551616".split()),
    b"1" * 30,
    b"9" * 400,
    b"7" * 5000,  # Python converts at most 4300 digits
    "٣".encode(),  # a digit to str.isdecimal
    "²".encode(),  # a digit to str.isdigit
    "−5".encode(),
]
TEXTS = [
    b"",
    b" ",
    b"\0",
    b"\x1b[31m",
    b"\r",
    b"\n\n",
    b"\t\t",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\xfe\xff",
    b"\xe2\x80\xa8",
    b"\x85",
    b"\x1c",
    b'"',
    b"'",
    b"\\",
    b"#",
    b">",
    b"*",
    b"-",
    b".",
    b"..",
    b"../../etc/passwd",
    b"/dev/null",
    b"=1+1",
    b"<script>",
    b"%s%n{0}",
    b"None",
    b"true",
    b"[]",
    b"{}",
    b"[" * 3000,
    b"(" * 300,
    b"N",
    b"U",
    b"a" * 300,
    b"A" * 5000,
]
VALUES = [
    None,
    True,
    -1,
    0,
    1,
    2**31,
    2**63,
    2**64,
    -(2**63),
    10**30,
    1e308,
    0.5,
    float("nan"),
    float("inf"),
    "",
    "x",
    [],
    {},
    [[]],
]
NUMBER = re.compile(rb"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?")
SEPARATORS = (b"\t", b",", b";", b" ")

Change = Callable[[random.Random, bytes], bytes]


def mutate(seeds: Sequence[bytes], rng: random.Random, form: str = "plain", largest: int = LARGEST) -> bytes:
    """Return a changed input.

    Parameters
    ----------
    seeds : sequence of bytes
        Valid inputs.
    rng : random.Random
    form : {"plain", "gzip", "zip"}
        Packed inputs are mostly changed inside.
    largest : int
        Bytes, at most.

    Returns
    -------
    bytes
    """
    data = rng.choice(seeds)
    if form != "plain" and rng.random() < 0.85:
        return _inside(data, seeds, rng, form, largest)
    data = _changed(data, seeds, rng)[:largest]
    if form == "plain" and rng.random() < 0.01:
        return gzip.compress(data, 1, mtime=0)
    return data


def _changed(data: bytes, seeds: Sequence[bytes], rng: random.Random) -> bytes:
    """Return bytes after one or a few changes."""
    for _ in range(1 + min(int(rng.expovariate(1.2)), 8)):
        change = rng.choice(CHANGES)
        data = change(rng, data) if change is not _splice else _splice(rng, data, rng.choice(seeds))
        data = data[: 2 * LARGEST]
    return data


def _inside(data: bytes, seeds: Sequence[bytes], rng: random.Random, form: str, largest: int) -> bytes:
    """Return a packed input with changed content."""
    if form == "gzip":
        try:
            return gzip.compress(_changed(gzip.decompress(data), [b">a\nACGT\n"], rng)[:largest], 1, mtime=0)
        except (OSError, EOFError):
            return _changed(data, seeds, rng)[:largest]
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(list(parts))
    if "json.npy" in parts and rng.random() < 0.5:
        name = "json.npy"
    kind = rng.random()
    if kind < 0.05:
        del parts[name]
    elif kind < 0.1:
        parts[name] = parts[rng.choice(list(parts))]
    else:
        parts[name] = _array(parts[name], rng)
    with zipfile.ZipFile(out, "w") as archive:
        for name, part in parts.items():
            archive.writestr(zipfile.ZipInfo(name), part)
    return out.getvalue()


def _array(data: bytes, rng: random.Random) -> bytes:
    """Return a changed ``.npy``: its values, its type and shape, or its JSON."""
    head = data.find(b"\n") + 1
    if not data.startswith(b"\x93NUMPY") or head <= 10:
        return _changed(data, [data], rng)
    header, values = data[10:head], data[head:]
    kind = rng.random()
    if values.startswith((b"{", b"[")) and kind < 0.8:
        values = _json(rng, values) if kind < 0.6 else _changed(values, [values], rng)
        header = re.sub(rb"\(\d+,\)", b"(%d,)" % len(values), header)
    elif kind < 0.4:
        header = rng.choice([_number, _text, _dtype, _shape])(rng, header)
    elif values:
        values = rng.choice([_flip, _cell_of_bytes, _cut, _flip])(rng, values)
    header = header.rstrip() + b" " * (-(10 + len(header.rstrip()) + 1) % 64) + b"\n"
    return data[:8] + len(header).to_bytes(2, "little") + header + values


def _dtype(rng: random.Random, header: bytes) -> bytes:
    new = rng.choice(
        [b"<f8", b"<f4", b"<i8", b"<u8", b"|u1", b"|b1", b"<U3", b"|S2", b"|O", b"<c16", b"<M8[s]", b">i8", b"|V8"]
    )
    return re.sub(rb"'descr': '[^']*'", b"'descr': '" + new + b"'", header)


def _shape(rng: random.Random, header: bytes) -> bytes:
    new = rng.choice(
        [
            b"()",
            b"(0,)",
            b"(1,)",
            b"(2, 2)",
            b"(1, 1, 1)",
            b"(9223372036854775807,)",
            b"(0, 4294967296)",
            b"(-1,)",
            b"(3,)",
        ]
    )
    return re.sub(rb"'shape': \([^)]*\)", b"'shape': " + new, header)


def _cell_of_bytes(rng: random.Random, data: bytes) -> bytes:
    """Set eight bytes to an extreme number."""
    at = 8 * rng.randrange(max(1, len(data) // 8))
    new = rng.choice(
        [
            b"\xff" * 8,
            b"\0" * 8,
            b"\0" * 7 + b"\x80",
            b"\xff" * 7 + b"\x7f",
            b"\0" * 6 + b"\xf8\x7f",
            b"\0" * 6 + b"\xf0\x7f",
        ]
    )
    return data[:at] + new[: len(data) - at] + data[at + 8 :]


def _span(rng: random.Random, size: int) -> tuple[int, int]:
    start = rng.randrange(size + 1)
    return start, min(size, start + int(rng.expovariate(0.1)) + 1)


def _flip(rng: random.Random, data: bytes) -> bytes:
    if not data:
        return b"\1"
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def _byte(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def _insert(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(TEXTS) + data[at:]


def _remove(rng: random.Random, data: bytes) -> bytes:
    start, stop = _span(rng, len(data))
    return data[:start] + data[stop:]


def _repeat(rng: random.Random, data: bytes) -> bytes:
    start, stop = _span(rng, len(data))
    times = rng.choice([1, 1, 1, 2, 10, 1000])
    return data[:start] + data[start:stop] * times + data[start:]


def _cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _splice(rng: random.Random, data: bytes, other: bytes = b"") -> bytes:
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


def _number(rng: random.Random, data: bytes) -> bytes:
    """Replace a number."""
    found = list(NUMBER.finditer(data[:20000]))
    if not found:
        return _insert(rng, data)
    one = rng.choice(found)
    return data[: one.start()] + rng.choice(NUMBERS) + data[one.end() :]


def _text(rng: random.Random, data: bytes) -> bytes:
    """Replace some bytes."""
    start, stop = _span(rng, len(data))
    return data[:start] + rng.choice(TEXTS) + data[stop:]


def _lines(change: Callable[[random.Random, list[bytes]], None]) -> Change:
    """Return a change of bytes that changes a list of lines."""

    def changed(rng: random.Random, data: bytes) -> bytes:
        lines = data.split(b"\n")
        change(rng, lines)
        return b"\n".join(lines)

    return changed


def _repeat_line(rng: random.Random, lines: list[bytes]) -> None:
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(lines))


def _drop_line(rng: random.Random, lines: list[bytes]) -> None:
    del lines[rng.randrange(len(lines))]


def _swap_lines(rng: random.Random, lines: list[bytes]) -> None:
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[i], lines[j] = lines[j], lines[i]


def _blank_line(rng: random.Random, lines: list[bytes]) -> None:
    lines.insert(rng.randrange(len(lines) + 1), rng.choice([b"", b" ", b"\t", b"#", b"\r"]))


def _line_ends(rng: random.Random, lines: list[bytes]) -> None:
    end = rng.choice([b"\r", b"\r", b" ", b"\t", b"\0"])
    lines[:] = [line + end for line in lines]


def _cells(rng: random.Random, lines: list[bytes]) -> None:
    """Change the cells of one line, or a column of all lines."""
    which = rng.randrange(len(lines))
    mark = next((mark for mark in SEPARATORS if mark in lines[which]), b"\t")
    all_lines = range(len(lines)) if rng.random() < 0.3 else [which]
    kind, i, j = rng.randrange(5), rng.randrange(12), rng.randrange(12)
    new = rng.choice(NUMBERS if rng.random() < 0.6 else TEXTS)
    for one in all_lines:
        cells = lines[one].split(mark)
        a, b = i % len(cells), j % len(cells)
        if kind == 0:
            cells[a], cells[b] = cells[b], cells[a]
        elif kind == 1:
            del cells[a]
        elif kind == 2:
            cells.insert(a, cells[b])
        elif kind == 3:
            cells[a] = b""
        else:
            cells[a] = new
        lines[one] = mark.join(cells)


def _json(rng: random.Random, data: bytes) -> bytes:
    """Change a value, or a key, of JSON."""
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError):
        return _text(rng, data)
    places: list[tuple[list | dict, int | str]] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict | list):
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            places += [(node, key) for key in keys]
            waiting += [node[key] for key in keys]
    if not places:
        return json.dumps(rng.choice(VALUES)).encode()
    node, key = rng.choice(places)
    kind = rng.random()
    if kind < 0.15:
        del node[key]
    elif kind < 0.3:
        other, place = rng.choice(places)
        node[key] = other[place]
    elif kind < 0.4:
        node[key] = [node[key]]
    elif kind < 0.5 and isinstance(node, dict):
        node[rng.choice(["", "x", "format", str(key) * 2])] = node.pop(key)
    else:
        node[key] = rng.choice(VALUES)
    try:
        return json.dumps(tree).encode()
    except (ValueError, RecursionError):  # it contains itself
        return data


CHANGES: list[Change] = [
    _flip,
    _byte,
    _insert,
    _remove,
    _repeat,
    _cut,
    _splice,
    _number,
    _number,
    _text,
    _json,
    _lines(_repeat_line),
    _lines(_drop_line),
    _lines(_swap_lines),
    _lines(_blank_line),
    _lines(_line_ends),
    _lines(_cells),
    _lines(_cells),
    _lines(_cells),
]
