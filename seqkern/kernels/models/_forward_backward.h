/* Expected counts of a profile HMM by the forward and backward recursions, one sequence at a time.
 *
 * The model has match, insert and delete states in columns, passed from the begin to the end; on both sides of it a
 * state emits the rest of the sequence. Emissions are odds over the background and the loop of those two states, so
 * that these count 1 for every letter, and so does the begin state.
 *
 * Columns are striped: column c is at place (c % Q)·8 + c / Q, Q columns in each of 8 *lanes*, so that neighbours are in
 * neighbouring vectors, and in neighbouring lanes only where one lane ends. The columns after the last of the model are
 * passed by delete states alone, with probability 1; there is at least one, and the last is the end.
 *
 * Deletes follow each other within a row: d[c] = m[c − 1]·md[c] + d[c − 1]·dd[c]. Within a lane that is done from 0;
 * what comes from the lane before, the *carry*, is known when all lanes are done, and adds carry·Π dd.
 *
 * Every lane has an exponent of two of its own, fitted every RESCALE rows: values of a long model, or far from the only
 * good alignment, are neither too large nor too small for doubles. */
#ifndef SEQKERN_FORWARD_BACKWARD_H
#define SEQKERN_FORWARD_BACKWARD_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "_simd.h"

enum { WIDTH = 8, RESCALE = 16, APART = 512, STEPS = 7 };

/* Steps from state to state. MM … DD are stored at the column where they arrive, those into inserts where they are. */
enum { MM, MI, MD, IM, II, DM, DD };

typedef struct {
    ptrdiff_t columns;          /* Q */
    int letters;                /* the code of a masked letter */
    const double *emit;         /* (letters + 1, Q·8) */
    const double *steps[STEPS]; /* (Q·8) each; those into inserts times `insert` */
    double insert;              /* odds of a letter in an insert state */
    const double *ahead;        /* (Q·8): Π dd over the columns of the lane after the first, to this one */
    const double *behind;       /* (Q·8): Π dd over the columns of the lane after this one */
} profile;

/* What is kept of one sequence. A row has a match, an insert and a delete part; of sequences too long to keep all rows,
 * every `segment`-th is kept as a checkpoint, and the rows between are computed again when they are needed. */
typedef struct {
    ptrdiff_t segment;    /* rows in a segment, a multiple of RESCALE */
    ptrdiff_t others;     /* insert and delete rows at a time: `segment`, or 2 if they are not needed later */
    double *match;        /* (segment, Q·8) */
    double *other;        /* (others, 2·Q·8 + 8): insert, delete without carry, carry */
    double *checkpoints;  /* (checkpoints, 3·Q·8 + 8) */
    int32_t *exponents;   /* (rows / RESCALE + 1, 8) of the forward rows */
    double *arriving;     /* (Q·8) */
    double *deletes;      /* (Q·8), without carry */
    double *back_match;   /* (Q·8) */
    double *back_insert;  /* (Q·8) */
    double *counts;       /* (letters + 1, Q·8) */
    double *step_counts;  /* (7, Q·8), or NULL */
} workspace;

#ifdef SEQKERN_X86
#define NAME(name) name##_avx512
#define TARGET AVX512
#define LANES 8
typedef double reals_avx512 __attribute__((vector_size(64)));
#include "_forward_backward_lanes.h"

#define NAME(name) name##_avx2
#define TARGET AVX2
#define LANES 4
typedef double reals_avx2 __attribute__((vector_size(32)));
#include "_forward_backward_lanes.h"
#endif

#define NAME(name) name##_plain
#define TARGET
#if defined(__GNUC__)
#define LANES 2
typedef double reals_plain __attribute__((vector_size(16)));
#else
#define LANES 1
typedef double reals_plain;
#endif
#include "_forward_backward_lanes.h"

/* 2^power, 0 or the largest power where it is beyond doubles. */
static inline double two_to(int64_t power)
{
    return power < -1022 ? 0.0 : ldexp(1.0, power > 1000 ? 1000 : (int)power);
}

/* Fit the exponent of a lane to its largest value, at most APART below that of the lane before it; returns what the
 * values of the lane are to be multiplied with. */
static inline double fit_exponent(double largest, int64_t before, int32_t *exponent)
{
    int by;
    if (!(largest > 0)) {
        *exponent = (int32_t)before;
        return 1.0;
    }
    frexp(largest, &by);
    if (*exponent + by < before - APART)
        by = (int)(before - APART - *exponent);
    *exponent += by;
    return two_to(-(int64_t)by);
}

/* The state of the forward recursion besides its rows. */
typedef struct {
    int32_t exponent[WIDTH];
    double begin;          /* 1 in the exponent of lane 0 */
    double scale[WIDTH];   /* from the lane before to this one */
    double matched[WIDTH]; /* md of a lane's first column, and that scale */
    double deleted[WIDTH]; /* dd of it, and that scale */
    double total;          /* of what has reached the end, times 2^total_exponent */
    int64_t total_exponent;
    double end_scale;      /* from lane 7 to the total */
} forward_state;

static inline void set_forward_scales(const profile *p, forward_state *f)
{
    f->begin = two_to(-(int64_t)f->exponent[0]);
    f->scale[0] = 0.0;
    for (int z = 1; z < WIDTH; ++z)
        f->scale[z] = two_to((int64_t)f->exponent[z - 1] - f->exponent[z]);
    for (int z = 0; z < WIDTH; ++z) {
        f->matched[z] = p->steps[MD][z] * f->scale[z];
        f->deleted[z] = p->steps[DD][z] * f->scale[z];
    }
    f->matched[0] = p->steps[MD][0] * f->begin;
    if (f->total > 0) {
        int by;
        int64_t target;
        frexp(f->total, &by);
        target = f->total_exponent + by;
        if (target < (int64_t)f->exponent[WIDTH - 1] - APART)
            target = (int64_t)f->exponent[WIDTH - 1] - APART;
        f->total *= two_to(f->total_exponent - target);
        f->total_exponent = target;
    } else {
        f->total_exponent = f->exponent[WIDTH - 1];
    }
    f->end_scale = two_to(f->exponent[WIDTH - 1] - f->total_exponent);
}

/* Row 0: delete states reached from the begin. */
static void first_row(const profile *p, forward_state *f, double *match, double *other)
{
    const ptrdiff_t n = p->columns * WIDTH, last = n - WIDTH;
    double *carry = other + 2 * n, value = p->steps[MD][0];
    memset(match, 0, sizeof(double) * n);
    memset(other, 0, sizeof(double) * 2 * n);
    memset(f, 0, sizeof(*f));
    for (int z = 0; z < WIDTH; ++z) {
        f->exponent[z] = z ? f->exponent[z - 1] : 0;
        carry[z] = value * fit_exponent(value, f->exponent[z], &f->exponent[z]);
        value = carry[z] * p->ahead[last + z];
        if (z + 1 < WIDTH)
            value *= p->steps[DD][z + 1];
    }
    f->total = value;
    f->total_exponent = f->exponent[WIDTH - 1];
    set_forward_scales(p, f);
}

/* One more row, from (match, other) to (to_match, to_other), at a letter with the emissions `emit`. */
static void next_row(int level, const profile *p, forward_state *f, const double *emit, const double *match,
                     const double *other, double *to_match, double *to_other, int rescale)
{
    const ptrdiff_t n = p->columns * WIDTH, last = n - WIDTH;
    const double *insert = other + last, *deleted = insert + n, *carried = other + 2 * n;
    double in[3 * WIDTH], *carry = to_other + 2 * n, full = 0.0;
    in[0] = f->begin;
    in[WIDTH] = in[2 * WIDTH] = 0.0;
    for (int z = 1; z < WIDTH; ++z) {
        in[z] = match[last + z - 1] * f->scale[z];
        in[WIDTH + z] = insert[z - 1] * f->scale[z];
        in[2 * WIDTH + z] = (deleted[z - 1] + carried[z - 1] * p->ahead[last + z - 1]) * f->scale[z];
    }
    CALL_LEVEL(level, forward_row, p, emit, in, match, other, to_match, to_other);
    deleted = to_other + n + last;
    in[0] = f->matched[0];
    for (int z = 1; z < WIDTH; ++z)
        in[z] = to_match[last + z - 1] * f->matched[z];
    for (int z = 0; z < WIDTH; ++z) {
        /* full = deleted + carry · ahead, with less to wait for from lane to lane */
        const double alone = deleted[z] + in[z] * p->ahead[last + z];
        carry[z] = in[z] + full * f->deleted[z];
        full = alone + full * (f->deleted[z] * p->ahead[last + z]);
    }
    f->total += full * f->end_scale;
    if (rescale) {
        double largest[WIDTH], factor[WIDTH];
        memcpy(largest, carry, sizeof(largest));
        CALL_LEVEL(level, largest_values, n, to_match, largest);
        CALL_LEVEL(level, largest_values, 2 * n, to_other, largest);
        for (int z = 0; z < WIDTH; ++z)
            factor[z] = fit_exponent(largest[z], z ? f->exponent[z - 1] : 0, &f->exponent[z]);
        CALL_LEVEL(level, scale_values, n, to_match, factor);
        CALL_LEVEL(level, scale_values, 2 * n + WIDTH, to_other, factor);
        set_forward_scales(p, f);
    }
}

/* Forward rows `first` + 1 … `last`, row `first` being in its place, to their places. */
static void forward_rows(int level, const profile *p, workspace *w, forward_state *f, const uint8_t *x,
                         ptrdiff_t first, ptrdiff_t last, int keep)
{
    const ptrdiff_t n = p->columns * WIDTH, size = 2 * n + WIDTH;
    for (ptrdiff_t i = first + 1; i <= last; ++i) {
        const int letter = x[i - 1] < p->letters ? x[i - 1] : p->letters;
        double *match = w->match + i % w->segment * n, *other = w->other + i % w->others * size;
        next_row(level, p, f, p->emit + letter * n, w->match + (i - 1) % w->segment * n,
                 w->other + (i - 1) % w->others * size, match, other, i % RESCALE == 0);
        if (i % RESCALE == 0)
            memcpy(w->exponents + i / RESCALE * WIDTH, f->exponent, sizeof(f->exponent));
        if (keep && i % w->segment == 0) {
            double *checkpoint = w->checkpoints + i / w->segment * (n + size);
            memcpy(checkpoint, match, sizeof(double) * n);
            memcpy(checkpoint + n, other, sizeof(double) * size);
        }
    }
}

/* Rows start … stop − 1 of a segment again, from its checkpoint. */
static void forward_again(int level, const profile *p, workspace *w, const uint8_t *x, ptrdiff_t start, ptrdiff_t stop)
{
    const ptrdiff_t n = p->columns * WIDTH, size = 2 * n + WIDTH;
    const double *checkpoint = w->checkpoints + start / w->segment * (n + size);
    forward_state f;
    memset(&f, 0, sizeof(f));
    memcpy(f.exponent, w->exponents + start / RESCALE * WIDTH, sizeof(f.exponent));
    set_forward_scales(p, &f);
    memcpy(w->match + start % w->segment * n, checkpoint, sizeof(double) * n);
    memcpy(w->other + start % w->others * size, checkpoint + n, sizeof(double) * size);
    forward_rows(level, p, w, &f, x, start, stop - 1, 0);
}

/* The state of the backward recursion besides its row. */
typedef struct {
    int32_t exponent[WIDTH];
    double scale[WIDTH];  /* from the lane after to this one; of the last, 1 in its exponent */
    double deleted[WIDTH]; /* dd of the first column of the lane after, and that scale */
    double carry[WIDTH];
} backward_state;

static inline void set_backward_scales(const profile *p, backward_state *b)
{
    for (int z = 0; z + 1 < WIDTH; ++z) {
        b->scale[z] = two_to((int64_t)b->exponent[z + 1] - b->exponent[z]);
        b->deleted[z] = p->steps[DD][z + 1] * b->scale[z];
    }
    b->scale[WIDTH - 1] = two_to(-(int64_t)b->exponent[WIDTH - 1]);
}

/* Before the last row: exponents for what leads to the end by delete states alone. */
static void start_backward(const profile *p, workspace *w, backward_state *b)
{
    const size_t bytes = sizeof(double) * p->columns * WIDTH;
    double value = 1.0;
    memset(w->back_match, 0, bytes);
    memset(w->back_insert, 0, bytes);
    for (int z = WIDTH - 1; z >= 0; --z) {
        const int32_t before = z + 1 < WIDTH ? b->exponent[z + 1] : 0;
        b->exponent[z] = before;
        value *= fit_exponent(value, before, &b->exponent[z]);
        value *= p->behind[z] * p->steps[DD][z];
    }
    set_backward_scales(p, b);
}

/* The backward row of a position from that after it, and what it adds to the counts.
 *
 * `emit` are the emissions of the next letter, `factor` makes products of forward and backward values probabilities;
 * those of the match states are added to `counts`. */
static void previous_row(int level, const profile *p, workspace *w, backward_state *b, const double *emit,
                         const double *match, const double *other, const forward_state *f, const double *factor,
                         double *counts, int rescale)
{
    const ptrdiff_t n = p->columns * WIDTH;
    double first[WIDTH], full[WIDTH], in[2 * WIDTH];
    for (int z = 0; z < WIDTH; ++z)
        first[z] = emit[z] * w->back_match[z];
    for (int z = 0; z < WIDTH; ++z)
        in[z] = z + 1 < WIDTH ? p->steps[DM][z + 1] * first[z + 1] * b->scale[z] : 0.0;
    CALL_LEVEL(level, backward_deletes, p, emit, in, w->back_match, w->arriving, w->deletes);
    b->carry[WIDTH - 1] = b->scale[WIDTH - 1];
    full[WIDTH - 1] = w->deletes[WIDTH - 1] + b->carry[WIDTH - 1] * p->behind[WIDTH - 1];
    for (int z = WIDTH - 2; z >= 0; --z) {
        b->carry[z] = full[z + 1] * b->deleted[z];
        full[z] = w->deletes[z] + full[z + 1] * (b->deleted[z] * p->behind[z]);
    }
    in[WIDTH - 1] = in[2 * WIDTH - 1] = 0.0;
    for (int z = 0; z + 1 < WIDTH; ++z) {
        in[z] = (p->steps[MM][z + 1] * first[z + 1] + p->steps[MD][z + 1] * full[z + 1]) * b->scale[z];
        in[WIDTH + z] = p->steps[IM][z + 1] * first[z + 1] * b->scale[z];
    }
    if (w->step_counts) {
        const ptrdiff_t last = n - WIDTH;
        double before[3 * WIDTH];
        before[0] = f->begin;
        before[WIDTH] = before[2 * WIDTH] = 0.0;
        for (int z = 1; z < WIDTH; ++z) {
            before[z] = match[last + z - 1] * f->scale[z];
            before[WIDTH + z] = other[last + z - 1] * f->scale[z];
            before[2 * WIDTH + z] =
                (other[n + last + z - 1] + other[2 * n + z - 1] * p->ahead[last + z - 1]) * f->scale[z];
        }
        CALL_LEVEL(level, count_steps, p, before, match, other, w->arriving, w->deletes, b->carry, w->back_insert,
                   factor, w->step_counts);
    }
    CALL_LEVEL(level, backward_row, p, in, w->arriving, w->deletes, b->carry, match, factor, w->back_match,
               w->back_insert, counts);
    if (rescale) {
        double largest[WIDTH], scale[WIDTH];
        memcpy(largest, b->carry, sizeof(largest));
        CALL_LEVEL(level, largest_values, n, w->back_match, largest);
        CALL_LEVEL(level, largest_values, n, w->back_insert, largest);
        for (int z = WIDTH - 1; z >= 0; --z)
            scale[z] = fit_exponent(largest[z], z + 1 < WIDTH ? b->exponent[z + 1] : 0, &b->exponent[z]);
        CALL_LEVEL(level, scale_values, n, w->back_match, scale);
        CALL_LEVEL(level, scale_values, n, w->back_insert, scale);
        set_backward_scales(p, b);
    }
}

/* Set w->counts and w->step_counts of a sequence of n letters (of the latter, expected numbers over probabilities), and
 * return the logarithm of its odds without the loops; −infinity if the model cannot emit it.
 *
 * With `posteriors`, zeros (n, Q·8), what would be counted is added there, for each letter. */
static double expected_counts(int level, const profile *p, workspace *w, const uint8_t *x, ptrdiff_t length,
                              double *posteriors)
{
    const ptrdiff_t n = p->columns * WIDTH, size = 2 * n + WIDTH;
    ptrdiff_t start = length / w->segment * w->segment;
    forward_state f;
    backward_state b;
    double total, factor[WIDTH];
    int64_t total_exponent;
    memset(w->counts, 0, sizeof(double) * n * (p->letters + 1));
    if (w->step_counts)
        memset(w->step_counts, 0, sizeof(double) * n * STEPS);
    first_row(p, &f, w->match, w->other);
    memcpy(w->exponents, f.exponent, sizeof(f.exponent));
    memcpy(w->checkpoints, w->match, sizeof(double) * n);
    memcpy(w->checkpoints + n, w->other, sizeof(double) * size);
    forward_rows(level, p, w, &f, x, 0, length, 1);
    total = f.total;
    total_exponent = f.total_exponent;
    if (!(total > 0))
        return -INFINITY;
    start_backward(p, w, &b);
    for (ptrdiff_t i = length; i >= 0; --i) {
        const int letter = i < length && x[i] < p->letters ? x[i] : p->letters;
        const int here = i > 0 && x[i - 1] < p->letters ? x[i - 1] : p->letters;
        if (i < start) {
            forward_again(level, p, w, x, start - w->segment, start);
            start -= w->segment;
        }
        if (i == length || (i + 1) % RESCALE == 0) {
            memcpy(f.exponent, w->exponents + i / RESCALE * WIDTH, sizeof(f.exponent));
            set_forward_scales(p, &f);
            for (int z = 0; z < WIDTH; ++z)
                factor[z] = two_to((int64_t)f.exponent[z] + b.exponent[z] - total_exponent) / total;
        }
        previous_row(level, p, w, &b, p->emit + letter * n, w->match + i % w->segment * n,
                     w->other + i % w->others * size, &f, factor,
                     posteriors && i > 0 ? posteriors + (i - 1) * n : w->counts + here * n, i % RESCALE == 0);
    }
    return log(total) + total_exponent * 0.69314718055994530942;
}

#endif
