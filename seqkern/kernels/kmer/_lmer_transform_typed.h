/* The functions of `_lmer_transform.h` for one type of numbers, REAL. */

/* Two stages, with 4 · inner numbers in a group. */
ALWAYS_INLINE void TYPED(letter_stage)(REAL *table, ptrdiff_t groups, ptrdiff_t inner)
{
    for (ptrdiff_t group = 0; group < groups; group++, table += 4 * inner) {
        REAL *restrict a = table, *restrict c = a + inner, *restrict g = c + inner, *restrict t = g + inner;
        for (ptrdiff_t u = 0; u < inner; u++) {
            REAL ac = a[u] + c[u], a_c = a[u] - c[u], gt = g[u] + t[u], g_t = g[u] - t[u];
            a[u] = ac + gt;
            c[u] = a_c + g_t;
            g[u] = ac - gt;
            t[u] = a_c - g_t;
        }
    }
}

/* All letters of 4^letters groups of `inner` numbers. */
ALWAYS_INLINE void TYPED(letter_stages)(REAL *table, int letters, ptrdiff_t inner)
{
    ptrdiff_t groups = (ptrdiff_t)1 << 2 * letters >> 2;
    for (int i = 0; i < letters; i++, groups >>= 2, inner <<= 2) {
        if (inner == 1) /* constants: the loops are unrolled */
            TYPED(letter_stage)(table, groups, 1);
        else if (inner == 4)
            TYPED(letter_stage)(table, groups, 4);
        else
            TYPED(letter_stage)(table, groups, inner);
    }
}

/* Transform rows of 4^letters numbers. */
ALWAYS_INLINE void TYPED(rows_body)(REAL *table, ptrdiff_t rows, int letters)
{
    for (ptrdiff_t row = 0; row < rows; row++)
        TYPED(letter_stages)(table + (row << 2 * letters), letters, 1);
}

DEFINE_TYPED_LEVELS(TYPED(rows_at), TYPED(rows_body), (REAL *table, ptrdiff_t rows, int letters), (table, rows, letters))

static void TYPED(lmer_rows)(int level, REAL *table, ptrdiff_t rows, int letters)
{
    CALL_TYPED_LEVEL(level, TYPED(rows_at), table, rows, letters);
}

/* Transform the columns `first` to `last`, multiply by the eigenvalue of each number's count of letters that are not
 * constant, and transform back; `strip` has 4^letters · STRIP numbers, `width` is that of a row. */
ALWAYS_INLINE void TYPED(columns_body)(REAL *table, int letters, ptrdiff_t width, ptrdiff_t first, ptrdiff_t last,
                                       const REAL *eigenvalue, REAL *strip)
{
    const ptrdiff_t rows = (ptrdiff_t)1 << 2 * letters;
    for (; first < last; first += STRIP) {
        const ptrdiff_t wide = last - first < STRIP ? last - first : STRIP;
        REAL factor[MOST_LETTERS + 1][STRIP];
        for (int n = 0; n <= letters; n++)
            for (ptrdiff_t u = 0; u < wide; u++)
                factor[n][u] = eigenvalue[n + odd_letters((uint32_t)(first + u))];
        for (ptrdiff_t row = 0; row < rows; row++)
            memcpy(strip + row * wide, table + row * width + first, (size_t)wide * sizeof(REAL));
        TYPED(letter_stages)(strip, letters, wide);
        for (ptrdiff_t row = 0; row < rows; row++) {
            const REAL *own = factor[odd_letters((uint32_t)row)];
            for (ptrdiff_t u = 0; u < wide; u++)
                strip[row * wide + u] *= own[u];
        }
        TYPED(letter_stages)(strip, letters, wide);
        for (ptrdiff_t row = 0; row < rows; row++)
            memcpy(table + row * width + first, strip + row * wide, (size_t)wide * sizeof(REAL));
    }
}

DEFINE_TYPED_LEVELS(TYPED(columns_at), TYPED(columns_body),
              (REAL *table, int letters, ptrdiff_t width, ptrdiff_t first, ptrdiff_t last, const REAL *eigenvalue,
               REAL *strip),
              (table, letters, width, first, last, eigenvalue, strip))

static void TYPED(lmer_columns)(int level, REAL *table, int letters, ptrdiff_t width, ptrdiff_t first, ptrdiff_t last,
                                const REAL *eigenvalue, REAL *strip)
{
    CALL_TYPED_LEVEL(level, TYPED(columns_at), table, letters, width, first, last, eigenvalue, strip);
}

/* Add the entry of the reverse complement to each entry of a small table. */
static void TYPED(fold_simply)(REAL *table, int letters)
{
    for (uint32_t code = 0; code >> 2 * letters == 0; code++) {
        uint32_t reverse = other_strand(code, letters);
        if (code <= reverse)
            table[code] = table[reverse] = table[code] + table[reverse];
    }
}

/* The same for l-mers whose middle has the code `middle`: tiles of TILE first times TILE last letters. The other
 * strand's tile is copied, because its rows, a power of two apart, share their place in the cache. */
static void TYPED(fold_tile)(REAL *table, int letters, uint32_t middle, REAL *tile)
{
    const int inside = letters - 2 * TILE_LETTERS;
    const uint32_t opposite = other_strand(middle, inside);
    const ptrdiff_t stride = (ptrdiff_t)1 << 2 * (letters - TILE_LETTERS);
    REAL *mine = table + (ptrdiff_t)middle * TILE, *others = table + (ptrdiff_t)opposite * TILE;
    uint32_t reverse[TILE];
    if (opposite < middle)
        return; /* done with the other one */
    for (uint32_t i = 0; i < TILE; i++)
        reverse[i] = other_strand(i, TILE_LETTERS);
    for (ptrdiff_t i = 0; i < TILE; i++) /* tile[a][c]: the reverse complement of a, middle, c */
        for (ptrdiff_t j = 0; j < TILE; j++)
            tile[reverse[j] * TILE + reverse[i]] = others[i * stride + j];
    for (ptrdiff_t i = 0; i < TILE; i++)
        for (ptrdiff_t j = 0; j < TILE; j++)
            mine[i * stride + j] = tile[i * TILE + j] = mine[i * stride + j] + tile[i * TILE + j];
    if (opposite > middle)
        for (ptrdiff_t i = 0; i < TILE; i++)
            for (ptrdiff_t j = 0; j < TILE; j++)
                others[i * stride + j] = tile[reverse[j] * TILE + reverse[i]];
}

static void TYPED(lmer_fold)(REAL *table, int letters, REAL *tile)
{
    if (letters < 2 * TILE_LETTERS) {
        TYPED(fold_simply)(table, letters);
        return;
    }
    for (uint32_t middle = 0; middle >> 2 * (letters - 2 * TILE_LETTERS) == 0; middle++)
        TYPED(fold_tile)(table, letters, middle, tile);
}
