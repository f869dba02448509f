"""Features that words count for by a rule: lists of them, shares of letters, and the walk through the tree of all."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memset

cdef extern from "_panel.h":
    enum:
        PANEL

cdef extern from "_trie.h" nogil:
    enum:
        MOST_LETTERS
        COSTS
        SUBSEQUENCES
        PLACES
    ctypedef struct feature_rule:
        int kind
        Py_ssize_t length
        Py_ssize_t k
        Py_ssize_t size
        int64_t limit
        const int64_t *costs
        const uint8_t *letters
        const int64_t *least
    int64_t first_state(const feature_rule *rule, const uint8_t *word)
    int64_t count_features(const feature_rule *rule, const uint8_t *word, Py_ssize_t depth, int64_t state)
    double guess_features(const feature_rule *rule, const uint8_t *word, int64_t state, uint64_t *random)
    uint64_t *list_features(
        const feature_rule *rule, const uint8_t *word, Py_ssize_t depth, int64_t state, uint64_t code, uint64_t *out)
    void share_feature(
        const feature_rule *rule, const uint8_t *word, const uint8_t *feature, double *ways, double *shares)

    ctypedef struct trie_side:
        const feature_rule *rule
        const uint8_t *letters
        const int32_t *record
        const int32_t *count
    ctypedef struct trie_walk:
        bint presence
        trie_side rows
        trie_side cols
        bint upper
        int32_t row
        int32_t first
        Py_ssize_t width
        int64_t factor
        int32_t *sums32
        int64_t *sums64
        int64_t *squares
        double *rounded
    int walk_trie(trie_walk *w, int64_t row_from, int64_t row_to, int64_t col_from, int64_t col_to)

ctypedef fused count_t:
    uint8_t
    uint16_t
    int32_t

ctypedef fused count_sum_t:
    int32_t
    int64_t


cdef class Rule:
    """A rule as `_rules.h` reads it.

    Parameters
    ----------
    length, k, size : int
        Letters of a word (bytes, for the number of a place), of a feature, of the alphabet.
    costs, letters, least : ndarray
        As in `feature_rule`; without letters for subsequences.
    limit : int
    places : bool
        Whether costs are those of places, rather than of letters of words.
    """

    cdef feature_rule c
    cdef readonly tuple arrays

    def __init__(
        self,
        int length,
        int k,
        int size,
        const int64_t[:, ::1] costs,
        const uint8_t[:, ::1] letters,
        const int64_t[::1] least,
        int64_t limit,
        bint places=False,
    ):
        assert 0 < k and (places or k <= length) and 0 < size <= MOST_LETTERS
        self.arrays = (costs, letters, least)
        self.c.kind = PLACES if places else SUBSEQUENCES if least.shape[0] == 0 else COSTS
        self.c.length = length
        self.c.k = k
        self.c.size = size
        self.c.limit = limit
        if least.shape[0]:
            self.c.costs = &costs[0, 0]
            self.c.letters = &letters[0, 0]
            self.c.least = &least[0]


def guess(Rule rule, const uint8_t[:, ::1] words, int ways):
    """Return about how many features a word counts for, on average, from so many random ways down for each."""
    cdef Py_ssize_t i
    cdef int64_t state
    cdef int _
    cdef uint64_t random = 1
    cdef double total = 0
    with nogil:
        for i in range(words.shape[0]):
            state = first_state(&rule.c, &words[i, 0])
            for _ in range(ways if state > 0 else 0):
                total += guess_features(&rule.c, &words[i, 0], state, &random)
    return total / max(1, words.shape[0] * ways)


def count(Rule rule, const uint8_t[:, ::1] words, int64_t[::1] numbers):
    """Write to `numbers` how many features each word counts for."""
    cdef Py_ssize_t i
    cdef int64_t state
    with nogil:
        for i in range(words.shape[0]):
            state = first_state(&rule.c, &words[i, 0])
            numbers[i] = count_features(&rule.c, &words[i, 0], 0, state) if state > 0 else 0


def write_lists(Rule rule, const uint8_t[:, ::1] words, uint64_t[::1] features):
    """Write the codes of the features of each word, all of those that `count` counts."""
    cdef Py_ssize_t i
    cdef int64_t state
    cdef uint64_t *out
    if features.shape[0] == 0:
        return
    out = &features[0]
    with nogil:
        for i in range(words.shape[0]):
            state = first_state(&rule.c, &words[i, 0])
            if state > 0:
                out = list_features(&rule.c, &words[i, 0], 0, state, 0, out)


def count_lists(
    const int64_t[::1] start,
    const int32_t[::1] word,
    const int32_t[::1] times,
    const int64_t[::1] list_start,
    const int32_t[::1] listed,
    int32_t[::1] slot,
    int64_t[::1] entry_start,
    int32_t[::1] feature,
    int32_t[::1] count,
):
    """Count the features of each record; return the number of (record, feature) entries.

    Parameters
    ----------
    start : (n + 1,)
    word, times : (entries of words,)
        The distinct words of record i are ``word[start[i]:start[i + 1]]``, and occur so often.
    list_start : (words + 1,)
    listed : (features of all words,)
        The features of each word.
    slot : (features that there can be,)
        Filled with −1; holds the last entry of each feature.
    entry_start : (n + 1,)
        Filled with where each record's entries start.
    feature, count : (entries,)
        Filled with the feature and the count of each entry.
    """
    cdef Py_ssize_t i, q, p
    cdef int32_t at = 0, first, place
    with nogil:
        for i in range(start.shape[0] - 1):
            first = at
            entry_start[i] = at
            for q in range(start[i], start[i + 1]):
                for p in range(list_start[word[q]], list_start[word[q] + 1]):
                    place = slot[listed[p]]
                    if place >= first:
                        count[place] += times[q]
                    else:
                        slot[listed[p]] = at
                        feature[at] = listed[p]
                        count[at] = times[q]
                        at += 1
        entry_start[start.shape[0] - 1] = at
    return at


def tally_lists(
    const int64_t[::1] start,
    const int32_t[::1] word,
    const int32_t[::1] times,
    const int64_t[::1] list_start,
    const int32_t[::1] listed,
    Py_ssize_t row,
    count_t[:, :, ::1] tables,
):
    """Add to tables[i // 16, f, i % 16] how often record row + i has feature f.

    The other parameters are as in `count_lists`.
    """
    cdef Py_ssize_t i, q, p, records = min(tables.shape[0] * PANEL, start.shape[0] - 1 - row)
    with nogil:
        for i in range(records):
            for q in range(start[row + i], start[row + i + 1]):
                for p in range(list_start[word[q]], list_start[word[q] + 1]):
                    tables[i // PANEL, listed[p], i % PANEL] += <count_t>times[q]


cdef void _set_side(
    trie_side *side, Rule rule, const uint8_t[:, ::1] letters, const int32_t[::1] record, const int32_t[::1] times
) noexcept:
    side.rule = &rule.c
    side.letters = &letters[0, 0]
    side.record = &record[0]
    side.count = &times[0]


def square(
    Rule rule,
    const uint8_t[:, ::1] letters,
    const int32_t[::1] record,
    const int32_t[::1] times,
    bint presence,
    int64_t[::1] squares,
    double[::1] rounded,
):
    """Add Φ(x)·Φ(x) of each record to `squares`, and rounded, even where it overflows, to `rounded`.

    Parameters
    ----------
    letters : (entries, length)
        Distinct words of each record, record after record.
    record, times : (entries,)
        The record of each, and how often it occurs there.
    presence : bool
        1 instead of counts.
    """
    cdef trie_walk w
    cdef int failed
    if record.shape[0] == 0:
        return
    memset(&w, 0, sizeof(w))
    w.presence = presence
    _set_side(&w.rows, rule, letters, record, times)
    w.squares = &squares[0]
    w.rounded = &rounded[0]
    with nogil:
        failed = walk_trie(&w, 0, record.shape[0], 0, 0)
    if failed:
        raise MemoryError


def multiply(
    Rule rule,
    Rule col_rule,
    const uint8_t[:, ::1] row_letters,
    const int32_t[::1] row_record,
    const int32_t[::1] row_times,
    const int64_t[::1] row_start,
    const uint8_t[:, ::1] col_letters,
    const int32_t[::1] col_record,
    const int32_t[::1] col_times,
    const int64_t[::1] col_start,
    bint presence,
    Py_ssize_t row,
    Py_ssize_t first,
    Py_ssize_t last,
    int64_t factor,
    bint upper,
    count_sum_t[:, ::1] sums,
):
    """Add factor × Φ(row)·Φ(column) to `sums`, the rows from `row` on, the columns `first` … `last`.

    With `upper` only those of columns behind their row. The other parameters are those of `square`, for both sides,
    whose rules differ in the costs of places only; ``start`` (n + 1,) says where the entries of each record start.
    """
    cdef trie_walk w
    cdef int failed
    cdef Py_ssize_t behind = max(first, row + 1) if upper else first
    if sums.shape[0] == 0 or last <= behind or row_record.shape[0] == 0 or col_record.shape[0] == 0:
        return
    memset(&w, 0, sizeof(w))
    w.presence = presence
    _set_side(&w.rows, rule, row_letters, row_record, row_times)
    _set_side(&w.cols, col_rule, col_letters, col_record, col_times)
    w.upper = upper
    w.row = <int32_t>row
    w.first = <int32_t>first
    w.width = sums.shape[1]
    w.factor = factor
    if count_sum_t is int32_t:
        w.sums32 = &sums[0, 0]
    else:
        w.sums64 = &sums[0, 0]
    with nogil:
        failed = walk_trie(&w, row_start[row], row_start[row + sums.shape[0]], col_start[behind], col_start[last])
    if failed:
        raise MemoryError


def share(
    Rule rule,
    const uint8_t[:, ::1] letters,
    const int64_t[::1] window_start,
    const int32_t[::1] word,
    const int64_t[::1] place,
    const uint8_t[::1] reverse,
    const int64_t[::1] list_start,
    const int32_t[::1] listed,
    const uint8_t[:, ::1] feature_letters,
    const double[::1] values,
    bint presence,
    int32_t[::1] slot,
    double[::1] ways,
    double[::1] out,
):
    """Share the values of the features of each window among its letters.

    Parameters
    ----------
    letters : (words, length)
    window_start : (n + 1,)
        The windows of record i are ``window_start[i]`` to ``window_start[i + 1]``.
    word, place, reverse : (windows,)
        The word that is read there, the window's first letter in `out`, whether it is read on the other strand.
    list_start, listed
        As in `count_lists`.
    feature_letters : (features, k)
    values : (features,)
        What a feature adds for each window that counts for it; with `presence` for all windows of a record
        together, which have equal shares.
    slot : (features,)
        Room for how many windows of a record count for each feature; zeros.
    ways : (2 (k + 1) (length + 1) + length,)
        Room.
    out : (letters of all records,)
        What is added to.
    """
    cdef Py_ssize_t i, q, p, s, length = rule.c.k if rule.c.kind == PLACES else rule.c.length
    cdef double value
    cdef double *shares = &ways[2 * (rule.c.k + 1) * (length + 1)]
    cdef int32_t f
    with nogil:
        for i in range(window_start.shape[0] - 1):
            for q in range(window_start[i], window_start[i + 1] if presence else window_start[i]):
                for p in range(list_start[word[q]], list_start[word[q] + 1]):
                    slot[listed[p]] += 1
            for q in range(window_start[i], window_start[i + 1]):
                for p in range(list_start[word[q]], list_start[word[q] + 1]):
                    f = listed[p]
                    if values[f] == 0:
                        continue
                    value = values[f] / slot[f] if presence else values[f]
                    share_feature(&rule.c, &letters[word[q], 0], &feature_letters[f, 0], &ways[0], shares)
                    for s in range(length):
                        out[place[q] + (length - 1 - s if reverse[q] else s)] += value * shares[s]
            for q in range(window_start[i], window_start[i + 1] if presence else window_start[i]):
                for p in range(list_start[word[q]], list_start[word[q] + 1]):
                    slot[listed[p]] = 0
