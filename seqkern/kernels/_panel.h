/* So many records lie side by side in packed vectors and in tables of counts, table[feature][record]. */
#ifndef SEQKERN_PANEL_H
#define SEQKERN_PANEL_H

enum { PANEL = 16 };

#endif
