/* The functions of `_panels.h` for one type of counts, COUNT, of which SHIFTED(kind) is added to packed ones; PART squares of counts fit into SQUARES, or wrap where
 * the caller will refuse the sum. */

/* Raise *peak to the largest absolute count; set the sum of the counts of each record, and of their squares. */
ALWAYS_INLINE void TYPED(measure_body)(const COUNT *table, ptrdiff_t width, int32_t *peak, uint64_t *totals,
                                       uint64_t *squares)
{
    COUNT largest[PANEL] = {0};
    memset(totals, 0, PANEL * sizeof *totals);
    memset(squares, 0, PANEL * sizeof *squares);
    for (ptrdiff_t first = 0; first < width; first += PART) {
        const ptrdiff_t last = first + PART < width ? first + PART : width;
        SQUARES some[PANEL] = {0}, all[PANEL] = {0};
        for (ptrdiff_t feature = first; feature < last; ++feature)
            for (int r = 0; r < PANEL; ++r) {
                const COUNT count = table[feature * PANEL + r], size = (COUNT)MAGNITUDE(count);
                largest[r] = size > largest[r] ? size : largest[r];
                all[r] += (SQUARES)count;
                some[r] += (SQUARES)count * (SQUARES)count;
            }
        for (int r = 0; r < PANEL; ++r) {
            totals[r] += all[r];
            squares[r] += some[r];
        }
    }
    for (int r = 0; r < PANEL; ++r)
        *peak = (int32_t)largest[r] > *peak ? (int32_t)largest[r] : *peak;
}

/* Write the counts of one panel: `kind` bytes for each, so many in a step as fit. */
ALWAYS_INLINE void TYPED(pack_kind)(const COUNT *table, ptrdiff_t width, const int kind, uint8_t *panel)
{
    const int per_step = STEP_BYTES / kind;
    const uint32_t mask = 0xffffffffu >> 8 * (4 - kind);
    for (ptrdiff_t feature = 0; feature < width; feature += per_step, panel += PANEL * STEP_BYTES) {
        const int here = width - feature < per_step ? (int)(width - feature) : per_step;
        const COUNT *from = table + feature * PANEL;
        uint32_t step[PANEL];
        if (here == per_step)
            for (int r = 0; r < PANEL; ++r) {
                uint32_t word = (uint32_t)(from[r] + SHIFTED(kind)) & mask;
                for (int e = 1; e < per_step; ++e)
                    word |= ((uint32_t)(from[e * PANEL + r] + SHIFTED(kind)) & mask) << 8 * kind * e;
                step[r] = word;
            }
        else
            for (int r = 0; r < PANEL; ++r) {
                step[r] = 0;
                for (int e = 0; e < per_step; ++e) {
                    const uint32_t count = (uint32_t)((e < here ? from[e * PANEL + r] : 0) + SHIFTED(kind));
                    step[r] |= (count & mask) << 8 * kind * e;
                }
            }
        memcpy(panel, step, sizeof step);
    }
}

ALWAYS_INLINE void TYPED(pack_body)(const COUNT *table, ptrdiff_t width, int kind, uint8_t *panel)
{
    /* Constants: the loops are unrolled. Counts of 8 bits have one byte each; of unsigned 16 bits, up to four. */
    if (kind == 1)
        TYPED(pack_kind)(table, width, 1, panel);
    else if (kind == 2 && sizeof(COUNT) > 1)
        TYPED(pack_kind)(table, width, 2, panel);
    else if (sizeof(COUNT) > 1)
        TYPED(pack_kind)(table, width, 4, panel);
}

DEFINE_NARROW_TYPED_LEVELS(TYPED(measure_at), TYPED(measure_body),
                           (const COUNT *table, ptrdiff_t width, int32_t *peak, uint64_t *totals, uint64_t *squares),
                           (table, width, peak, totals, squares))
DEFINE_NARROW_TYPED_LEVELS(TYPED(pack_at), TYPED(pack_body),
                           (const COUNT *table, ptrdiff_t width, int kind, uint8_t *panel), (table, width, kind, panel))

static void TYPED(measure)(int level, const COUNT *table, ptrdiff_t width, int32_t *peak, uint64_t *totals,
                           uint64_t *squares)
{
    CALL_NARROW_TYPED_LEVEL(level, TYPED(measure_at), table, width, peak, totals, squares);
}

static void TYPED(pack)(int level, const COUNT *table, ptrdiff_t width, int kind, uint8_t *panel)
{
    CALL_NARROW_TYPED_LEVEL(level, TYPED(pack_at), table, width, kind, panel);
}
