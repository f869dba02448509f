"""Damaged copies of seqkern's own files, for tests: bytes, arrays and JSON fields changed by a random generator.

Archives are written again with right checksums, as a file from elsewhere has them; only `damaged_bytes` leaves them.
"""

import copy
import json
import zipfile

import numpy as np

OTHERS = [None, True, -1, 0, 3, 1 << 62, 1 << 70, 1e300, float("nan"), "", "x", "é" * 300, [], {}, [[]], {"a": 1}]
OTHERS += [["x"], [0], [None, None], [1.5], "-1", list(range(9))]
DTYPES = ["<i1", "<u1", "<i4", "<i8", "<u8", "<f4", "<f8", "<c16", "<U1", "<U7", "S1", "?", "<M8[s]", ">i8", "<f2"]
DTYPES += ["<m8[s]"]


def damaged_bytes(content, rng):
    """Return bytes with flipped or zeroed ones, a part cut out, twice, or the end cut off."""
    kind, data = rng.integers(6), bytearray(content)
    place = int(rng.integers(len(data)))
    size = int(rng.integers(1, 64))
    if kind == 0:
        data[place] ^= 1 << int(rng.integers(8))
    elif kind == 1:
        data[place : place + size] = bytes(min(size, len(data) - place))
    elif kind == 2:
        del data[place : place + size]
    elif kind == 3:
        data[place:place] = data[place : place + size]
    elif kind == 4:
        del data[place:]
    else:
        data[place : place + size] = rng.bytes(min(size, len(data) - place))
    return bytes(data)


def paths_of(value, path=()):
    """Return the paths of all values in JSON."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    below = [paths_of(item, (*path, key)) for key, item in list(inner)[:12]]
    return [path, *[one for paths in below for one in paths]]


def damaged_json(value, rng):
    """Return JSON with one value replaced, removed, repeated, or two swapped."""
    value = copy.deepcopy(value)
    paths = paths_of(value)[1:]
    if not paths:
        return OTHERS[int(rng.integers(len(OTHERS)))]
    path = paths[int(rng.integers(len(paths)))]
    parent = value
    for key in path[:-1]:
        parent = parent[key]
    kind = rng.integers(5)
    if kind == 0:
        del parent[path[-1]]
    elif kind == 1 and isinstance(parent, list):
        parent.append(parent[path[-1]])
    elif kind == 2:
        keys = list(parent) if isinstance(parent, dict) else list(range(len(parent)))
        other = keys[int(rng.integers(len(keys)))]
        parent[path[-1]], parent[other] = parent[other], parent[path[-1]]
    else:
        parent[path[-1]] = OTHERS[int(rng.integers(len(OTHERS)))]
    return value


def damaged_arrays(arrays, rng):
    """Return arrays with one removed, swapped with another, cut, reshaped, of another type, or with other values."""
    arrays, names = dict(arrays), list(arrays)
    name, other = (names[int(rng.integers(len(names)))] for _ in range(2))
    array = np.array(arrays[name])
    kind = rng.integers(9)
    if kind == 0:
        del arrays[name]
    elif kind == 1:
        arrays[name], arrays[other] = arrays[other], arrays[name]
    elif kind == 2:
        arrays[name] = array.reshape(-1)[: int(rng.integers(array.size + 1))]
    elif kind == 3:
        arrays[name] = np.concatenate([array.reshape(-1)] * 2)
    elif kind == 4:
        arrays[name] = array.reshape([(1, -1), (-1, 1), (1, 1, -1)][int(rng.integers(3))])
    elif kind == 5:
        arrays[name] = array.reshape(-1)[0] if array.size else np.float64(0)
    elif kind == 6:
        dtype = np.dtype(DTYPES[int(rng.integers(len(DTYPES)))])
        size = -(-array.nbytes // dtype.itemsize) * dtype.itemsize
        arrays[name] = np.frombuffer(array.tobytes().ljust(size, b"\0"), dtype)
    elif kind == 7 and array.dtype.kind in "iuf":
        chosen = rng.choice([0, 1, 127, np.iinfo(np.int64).max] if array.dtype.kind != "f" else [0, -1, np.nan, 1e308])
        flat = array.reshape(-1)
        if array.size:
            with np.errstate(all="ignore"):
                flat[int(rng.integers(array.size))] = np.array(chosen).astype(array.dtype)
    else:
        data = damaged_bytes(array.tobytes() or b"\0", rng)
        data = data[: len(data) // array.dtype.itemsize * array.dtype.itemsize] if array.dtype.itemsize else b""
        arrays[name] = np.frombuffer(data, array.dtype)
    return arrays


def read_npz(path):
    """Return (JSON, arrays) of an archive."""
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    return json.loads(arrays.pop("json").tobytes()), arrays


def write_npz(path, header, arrays):
    """Write an archive with right checksums; names may repeat and arrays may be of any kind."""
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    with zipfile.ZipFile(path, "w") as file:
        for name, array in {"json": text, **arrays}.items():
            with file.open(f"{name}.npy", "w") as entry:
                np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)


def damage(source, target, rng):
    """Write a damaged copy of an archive."""
    kind = rng.integers(3)
    if kind == 0:
        target.write_bytes(damaged_bytes(source.read_bytes(), rng))
        return
    header, arrays = read_npz(source)
    if kind == 1:
        header = damaged_json(header, rng)
    else:
        arrays = damaged_arrays(arrays, rng)
    write_npz(target, header, arrays)
