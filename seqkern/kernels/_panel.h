/* So many records lie side by side in packed vectors and in tables of counts, table[feature][record]. */
#ifndef SEQKERN_PANEL_H
#define SEQKERN_PANEL_H

enum { PANEL = 16 };
/* Vectors of counts are cut into steps of so many bytes; so much is added to signed bytes. */
enum { STEP_BYTES = 4, BIAS = 128 };

#endif
