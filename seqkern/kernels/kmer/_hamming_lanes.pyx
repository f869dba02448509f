"""Stretches of windows, cut into the lanes of vectors."""

from libc.stdint cimport int32_t, int64_t, uint8_t

cdef enum:
    BLOCK_STEPS = 8  # what a block of lanes costs besides the windows of its longest, in windows


def find_stretches(
    const uint8_t[::1] letters,
    const int64_t[::1] starts,
    const int64_t[::1] stops,
    int length,
    int size,
    int64_t[::1] first,
    int64_t[::1] windows,
):
    """Write the first letter and the number of windows of each stretch of at least `length` letters below `size`."""
    cdef Py_ssize_t i, p, at = 0
    cdef int64_t run
    with nogil:
        for i in range(starts.shape[0]):
            run = 0
            for p in range(starts[i], stops[i]):
                run = run + 1 if letters[p] < size else 0
                if run >= length and (p + 1 == stops[i] or letters[p + 1] >= size):
                    first[at] = p - run + 1
                    windows[at] = run - length + 1
                    at += 1


def plan_lanes(const int64_t[::1] windows, int lanes, int64_t[:, ::1] numbers):
    """Return into pieces of how many windows at most stretches are best cut, and how many lanes that makes.

    The blocks are as costly as their longest lanes, so that stretches much longer than others are better cut.

    Parameters
    ----------
    windows : (stretches,)
    lanes : int
        Of a block.
    numbers : (2, longest + 1)
        Zeros.
    """
    cdef Py_ssize_t s, most = numbers.shape[1] - 1, best = most, n_lanes = 0
    cdef double cost, least = 0
    with nogil:
        for s in range(windows.shape[0]):
            numbers[0, windows[s]] += 1
        while most > 0:
            cost = _blocks_cost(numbers, most, lanes)
            if most == best or cost < least:
                best, least = most, cost
            most = most * 7 // 8
        for s in range(windows.shape[0]):
            n_lanes += (windows[s] + best - 1) // best
    return best, n_lanes


cdef double _blocks_cost(int64_t[:, ::1] numbers, Py_ssize_t most, Py_ssize_t lanes) noexcept nogil:
    """Return what all blocks cost, in windows, with pieces of at most `most` windows of numbers[0, n] stretches."""
    cdef Py_ssize_t n, pieces, last = 0
    cdef int64_t here, used = lanes
    cdef double cost = 0
    for n in range(1, numbers.shape[1]):
        if numbers[0, n]:
            pieces = (n + most - 1) // most
            numbers[1, (n + pieces - 1) // pieces] += pieces * numbers[0, n]
    for n in range(most, 0, -1):
        here = numbers[1, n]
        numbers[1, n] = 0
        while here:
            if used == lanes:
                cost += n + BLOCK_STEPS
                used = 0
                last = n
            pieces = min(here, lanes - used)
            here -= pieces
            used += pieces
    return cost - last + (last + lanes // used - 1) // (lanes // used) if used else cost


def cut_lanes(
    const int64_t[::1] first,
    const int64_t[::1] windows,
    const int32_t[::1] columns,
    Py_ssize_t most,
    int64_t[::1] places,
    int64_t[::1] lane_first,
    int64_t[::1] lane_windows,
    int32_t[::1] lane_columns,
):
    """Cut stretches into pieces of at most `most` windows, the longest pieces first.

    Parameters
    ----------
    first, windows, columns : (stretches,)
    places : (most + 2,)
        Zeros.
    lane_first, lane_windows, lane_columns : (lanes,)
        First letter, number of windows and column of each piece; filled.
    """
    cdef Py_ssize_t s, piece, pieces, n, at
    cdef int64_t letter
    with nogil:
        for s in range(windows.shape[0]):
            pieces = (windows[s] + most - 1) // most
            n = windows[s] // pieces
            places[n] += windows[s] % pieces
            if n:
                places[n - 1] += pieces - windows[s] % pieces
        # places[n]: how many pieces are longer than n + 1, where the next one of n + 1 windows goes
        at = 0
        for n in range(places.shape[0] - 1, -1, -1):
            piece = places[n]
            places[n] = at
            at += piece
        for s in range(windows.shape[0]):
            pieces = (windows[s] + most - 1) // most
            letter = first[s]
            for piece in range(pieces):
                n = windows[s] // pieces + (piece < windows[s] % pieces)
                at = places[n - 1]
                places[n - 1] += 1
                lane_first[at] = letter
                lane_windows[at] = n
                lane_columns[at] = columns[s]
                letter += n


def cut_last(
    Py_ssize_t start,
    Py_ssize_t used,
    Py_ssize_t pieces,
    int64_t[::1] lane_first,
    int64_t[::1] lane_windows,
    int32_t[::1] lane_columns,
):
    """Cut the lanes `start` … `used` into so many pieces each, some of them perhaps of no windows."""
    cdef Py_ssize_t lane, piece, at = start + (used - start) * pieces
    cdef int64_t n, letter
    with nogil:
        for lane in range(used - 1, start - 1, -1):
            n = lane_windows[lane]
            letter = lane_first[lane] + n
            for piece in range(pieces):
                at -= 1
                lane_windows[at] = n // pieces + (piece < n % pieces)
                letter -= lane_windows[at]
                lane_first[at] = letter
                lane_columns[at] = lane_columns[lane]
