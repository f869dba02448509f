"""Loops over occurrences of features at positions; see `_positions.h`."""

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

cdef extern from "_positions.h" nogil:
    ctypedef struct fixed_t:
        int64_t high
        int64_t low
    ctypedef struct posting_lists:
        const int64_t *bounds
        const int32_t *position
        const int32_t *record
    double as_double(fixed_t sum)
    int64_t window_start(
        const posting_lists *lists, int32_t feature, int32_t position, int64_t reach, int64_t start, int32_t last)
    void walk_positions(
        const int32_t *feature, const int32_t *position, int64_t n, const posting_lists *lists,
        const fixed_t *weights, int64_t reach, Py_ssize_t first, Py_ssize_t last, fixed_t *sums)
    void smooth_positions(
        const int32_t *feature, const int32_t *position, int64_t n, const fixed_t *weights, int64_t reach,
        int64_t width, int32_t *place, fixed_t *table)
    fixed_t look_up(
        const int32_t *feature, const int32_t *position, int64_t n, const int32_t *place, const fixed_t *table)
    fixed_t square_positions(
        const int32_t *feature, const int32_t *position, int64_t n, const fixed_t *weights, int64_t reach)
    double window_sum(
        const posting_lists *lists, const double *coefficients, const double *weights, int64_t reach, int32_t position,
        int64_t start, int64_t end)

# Two records have at most 4/3 of the geometric mean of what `squares` counts for each: fewer than 2^34 pairs.
cdef int64_t MOST_PAIRS = 3 * (<int64_t>1 << 32)
LIMIT = MOST_PAIRS


def sort_by(const int32_t[::1] keys, const int32_t[::1] order, int64_t[::1] cursor, int32_t[::1] result):
    """Write `order` to `result`, sorted stably by keys[order]; `cursor` has a place for each key, and one more."""
    cdef Py_ssize_t s, key
    cdef int64_t at
    with nogil:
        memset(&cursor[0], 0, cursor.shape[0] * sizeof(int64_t))
        for s in range(keys.shape[0]):
            cursor[keys[s] + 1] += 1
        for key in range(1, cursor.shape[0]):
            cursor[key] += cursor[key - 1]
        for s in range(order.shape[0]):
            at = cursor[keys[order[s]]]
            cursor[keys[order[s]]] = at + 1
            result[at] = order[s]


def squares(
    const int64_t[::1] start,
    const int32_t[::1] feature,
    const int32_t[::1] position,
    const int64_t[:, ::1] weights,
    double[::1] values,
    int64_t[::1] pairs,
):
    """Set values[i] to the sum of the weights of all pairs of occurrences of record i, pairs[i] to a bound of their
    number.

    The occurrences of a record are sorted by (feature, position), `weights` is (distances, 2).
    """
    cdef Py_ssize_t i
    cdef int64_t s, run, n, reach = weights.shape[0]
    cdef const fixed_t *table = NULL
    if reach:
        table = <const fixed_t *>&weights[0, 0]
    with nogil:
        for i in range(values.shape[0]):
            n = start[i + 1] - start[i]
            values[i] = 0
            pairs[i] = 0
            run = 0
            for s in range(start[i], start[i + 1]):
                run = run + 1 if s > start[i] and feature[s] == feature[s - 1] else 1
                pairs[i] += min(2 * run - 1, 2 * reach - 1)
            if n and reach and pairs[i] < MOST_PAIRS:
                values[i] = as_double(square_positions(&feature[start[i]], &position[start[i]], n, table, reach))


def pair_sums(
    const int64_t[::1] start,
    const int32_t[::1] feature,
    const int32_t[::1] position,
    const int64_t[::1] col_start,
    const int32_t[::1] col_feature,
    const int32_t[::1] col_position,
    const int64_t[::1] bounds,
    const int32_t[::1] list_position,
    const int32_t[::1] list_record,
    const int64_t[:, ::1] weights,
    int32_t[::1] place,
    int64_t[:, ::1] table,
    int64_t width,
    Py_ssize_t row,
    Py_ssize_t first,
    Py_ssize_t last,
    bint upper,
    int64_t[:, ::1] buffer,
    double[:, ::1] sums,
):
    """Add the sums over pairs of occurrences of the rows from `row` on and the columns `first` … `last` to `sums`.

    Parameters
    ----------
    start, feature, position
        The rows' occurrences, those of a row sorted by (feature, position).
    col_start, col_feature, col_position
        The columns'.
    bounds, list_position, list_record
        The columns' again, as posting lists.
    weights : (distances, 2)
    place : (features,)
        All 0.
    table : (entries, 2)
        Rows of which it holds the smoothed features are compared by them, others by the lists.
    width : int
        Positions of the columns.
    upper : bool
        Only the columns j ≥ i of row i.
    buffer : (last − first, 2)
    sums : (rows, last − first)
    """
    cdef Py_ssize_t i, j, low
    cdef int64_t s, q, n, distinct, reach = weights.shape[0]
    cdef posting_lists lists
    cdef const fixed_t *distance_weights
    cdef fixed_t *totals
    cdef fixed_t *smoothed = NULL
    if reach == 0 or feature.shape[0] == 0 or col_feature.shape[0] == 0 or last <= first:
        return
    lists.bounds = &bounds[0]
    lists.position = &list_position[0]
    lists.record = &list_record[0]
    distance_weights = <const fixed_t *>&weights[0, 0]
    totals = <fixed_t *>&buffer[0, 0]
    if table.shape[0]:
        smoothed = <fixed_t *>&table[0, 0]
    with nogil:
        for i in range(sums.shape[0]):
            s = start[row + i]
            n = start[row + i + 1] - s
            if n == 0:
                continue
            low = max(first, row + i) if upper else first
            distinct = 1
            for q in range(s + 1, s + n):
                distinct += feature[q] != feature[q - 1]
            if (distinct + 1) * width <= table.shape[0]:
                smooth_positions(&feature[s], &position[s], n, distance_weights, reach, width, &place[0], smoothed)
                for j in range(low, last):
                    q = col_start[j]
                    if q < col_start[j + 1]:
                        sums[i, j - first] += as_double(
                            look_up(&col_feature[q], &col_position[q], col_start[j + 1] - q, &place[0], smoothed))
                for q in range(s, s + n):
                    place[feature[q]] = 0
                continue
            memset(totals, 0, (last - low) * sizeof(fixed_t))
            walk_positions(&feature[s], &position[s], n, &lists, distance_weights, reach, low, last, totals)
            for j in range(low, last):
                sums[i, j - first] += as_double(totals[j - low])


def merge_records(
    const int64_t[::1] bounds,
    const int32_t[::1] list_position,
    const int32_t[::1] list_record,
    Py_ssize_t first,
    const double[::1] coefficients,
    int64_t[::1] merged_bounds,
    int32_t[::1] merged_position,
    double[::1] merged,
):
    """Add up the coefficients of the records ``first + j`` that have a feature at one position; return how many sums.

    The merged lists have one entry for each position, in `merged_position` and `merged`.
    """
    cdef Py_ssize_t f
    cdef int64_t q, begin, at = 0
    cdef int64_t j
    with nogil:
        merged_bounds[0] = 0
        for f in range(bounds.shape[0] - 1):
            begin = at
            for q in range(bounds[f], bounds[f + 1]):
                j = list_record[q] - first
                if j < 0 or j >= coefficients.shape[0]:
                    continue
                if at > begin and merged_position[at - 1] == list_position[q]:
                    merged[at - 1] += coefficients[j]
                else:
                    merged_position[at] = list_position[q]
                    merged[at] = coefficients[j]
                    at += 1
            merged_bounds[f + 1] = at
    return at


def weigh(
    const int64_t[::1] start,
    const int32_t[::1] feature,
    const int32_t[::1] position,
    Py_ssize_t row,
    Py_ssize_t n_rows,
    const int64_t[::1] bounds,
    const int32_t[::1] list_position,
    const double[::1] coefficients,
    const double[::1] weights,
    double[::1] values,
):
    """Write for each occurrence of the records from `row` on the sum of weight × coefficient over its feature's
    list."""
    cdef Py_ssize_t i
    cdef int64_t s, origin = start[row], begin = 0, reach = weights.shape[0]
    cdef int32_t last
    cdef posting_lists lists
    if reach == 0 or coefficients.shape[0] == 0 or feature.shape[0] == 0:
        values[:] = 0
        return
    lists.bounds = &bounds[0]
    lists.position = &list_position[0]
    lists.record = NULL
    with nogil:
        for i in range(row, row + n_rows):
            last = -1
            for s in range(start[i], start[i + 1]):
                begin = window_start(&lists, feature[s], position[s], reach, begin, last)
                last = feature[s]
                values[s - origin] = window_sum(
                    &lists, &coefficients[0], &weights[0], reach, position[s], begin, bounds[last + 1])
