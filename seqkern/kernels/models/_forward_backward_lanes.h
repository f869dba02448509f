/* One row of the recursions of _forward_backward.h, for one set of instructions: included once for each, by that file.
 *
 * NAME, TARGET and LANES, how many of the 8 lanes are in one vector, say which. Lanes do not meet here, so that the
 * numbers do not depend on LANES. */
typedef NAME(reals) NAME(stored)
#if defined(__GNUC__)
    __attribute__((aligned(8), may_alias))
#endif
    ;

#define VECTOR NAME(reals)
#define AT(address) (*(const NAME(stored) *)(address))
#define TO(address) (*(NAME(stored) *)(address))

/* From a row to the next: match, insert and, without carry, delete states. `in` (3, 8) are match, insert and delete
 * states before the first column of each lane. */
TARGET static void NAME(forward_row)(const profile *p, const double *emit, const double *in, const double *match,
                                     const double *other, double *to_match, double *to_other)
{
    const ptrdiff_t n = p->columns * WIDTH;
    const double *const *s = p->steps;
    for (int z = 0; z < WIDTH; z += LANES) {
        const VECTOR carry = AT(other + 2 * n + z);
        VECTOR m = AT(in + z), i = AT(in + WIDTH + z), d = AT(in + 2 * WIDTH + z);
        VECTOR here = {0}, gone = {0};
        for (ptrdiff_t c = z; c < n; c += WIDTH) {
            const VECTOR next = AT(emit + c) * (m * AT(s[MM] + c) + i * AT(s[IM] + c) + d * AT(s[DM] + c));
            gone = here * AT(s[MD] + c) + gone * AT(s[DD] + c);
            here = next;
            m = AT(match + c);
            i = AT(other + c);
            d = AT(other + n + c) + carry * AT(p->ahead + c);
            TO(to_match + c) = next;
            TO(to_other + c) = m * AT(s[MI] + c) + i * AT(s[II] + c);
            TO(to_other + n + c) = gone;
        }
    }
}

/* What a match state of the next position adds where it is reached, and the delete states without carry. `in` (8) is
 * what comes to the last column of each lane from the match state after it. */
TARGET static void NAME(backward_deletes)(const profile *p, const double *emit, const double *in,
                                          const double *back_match, double *arriving, double *deletes)
{
    const double *const *s = p->steps;
    for (int z = 0; z < WIDTH; z += LANES) {
        VECTOR d = AT(in + z);
        for (ptrdiff_t c = (p->columns - 1) * WIDTH + z; c >= 0; c -= WIDTH) {
            const VECTOR m = AT(emit + c) * AT(back_match + c);
            TO(arriving + c) = m;
            TO(deletes + c) = d;
            d = AT(s[DM] + c) * m + AT(s[DD] + c) * d;
        }
    }
}

/* The match and insert states of a position from those of the next, in place, and the probabilities of the match states
 * to `counts`. `in` (2, 8) is what comes to match and insert states of the last column of each lane. */
TARGET static void NAME(backward_row)(const profile *p, const double *in, const double *arriving,
                                      const double *deletes, const double *carry, const double *match,
                                      const double *factor, double *back_match, double *back_insert, double *counts)
{
    const double *const *s = p->steps;
    for (int z = 0; z < WIDTH; z += LANES) {
        const VECTOR g = AT(carry + z), f = AT(factor + z);
        VECTOR m = AT(in + z), i = AT(in + WIDTH + z);
        for (ptrdiff_t c = (p->columns - 1) * WIDTH + z; c >= 0; c -= WIDTH) {
            const VECTOR after = AT(back_insert + c), a = AT(arriving + c);
            m = m + AT(s[MI] + c) * after;
            TO(back_match + c) = m;
            TO(back_insert + c) = i + AT(s[II] + c) * after;
            TO(counts + c) = AT(counts + c) + AT(match + c) * f * m;
            m = AT(s[MM] + c) * a + AT(s[MD] + c) * (AT(deletes + c) + g * AT(p->behind + c));
            i = AT(s[IM] + c) * a;
        }
    }
}

/* Add to `counts` (7, n) how often each step is expected, over its probability. `in` is that of `forward_row`. */
TARGET static void NAME(count_steps)(const profile *p, const double *in, const double *match, const double *other,
                                     const double *arriving, const double *deletes, const double *carry,
                                     const double *back_insert, const double *factor, double *counts)
{
    const ptrdiff_t n = p->columns * WIDTH;
    for (int z = 0; z < WIDTH; z += LANES) {
        const VECTOR f = AT(factor + z), before = AT(other + 2 * n + z), after = AT(carry + z);
        VECTOR m = AT(in + z) * f, i = AT(in + WIDTH + z) * f, d = AT(in + 2 * WIDTH + z) * f;
        for (ptrdiff_t c = z; c < n; c += WIDTH) {
            const VECTOR a = AT(arriving + c), gone = AT(deletes + c) + after * AT(p->behind + c);
            const VECTOR insert = AT(back_insert + c);
            TO(counts + MM * n + c) = AT(counts + MM * n + c) + m * a;
            TO(counts + IM * n + c) = AT(counts + IM * n + c) + i * a;
            TO(counts + DM * n + c) = AT(counts + DM * n + c) + d * a;
            TO(counts + MD * n + c) = AT(counts + MD * n + c) + m * gone;
            TO(counts + DD * n + c) = AT(counts + DD * n + c) + d * gone;
            m = AT(match + c) * f;
            i = AT(other + c) * f;
            d = (AT(other + n + c) + before * AT(p->ahead + c)) * f;
            TO(counts + MI * n + c) = AT(counts + MI * n + c) + m * insert;
            TO(counts + II * n + c) = AT(counts + II * n + c) + i * insert;
        }
    }
}

/* Raise `largest` (8) to the largest of n values of each lane. */
TARGET static void NAME(largest_values)(ptrdiff_t n, const double *values, double *largest)
{
    for (ptrdiff_t c = 0; c < n; c += WIDTH)
        for (int z = 0; z < WIDTH; ++z)
            largest[z] = values[c + z] > largest[z] ? values[c + z] : largest[z];
}

/* Multiply n values by the factor of their lane. */
TARGET static void NAME(scale_values)(ptrdiff_t n, double *values, const double *factor)
{
    for (ptrdiff_t c = 0; c < n; c += WIDTH)
        for (int z = 0; z < WIDTH; ++z)
            values[c + z] *= factor[z];
}

#undef AT
#undef TO
#undef VECTOR
#undef NAME
#undef TARGET
#undef LANES
