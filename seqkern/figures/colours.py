"""Colours, markers and dashes of all figures, and the fonts of those that are not drawn by matplotlib."""

# Okabe and Ito's colours, told apart with any colour vision; markers and dashes repeat what they say.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7a5c00", "#56b4e9", "#000000", "#e69f00")
MARKERS = ("o", "s", "^", "D", "v", "X", "P", "*")
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)))

POSITIVE, NEGATIVE = COLOURS[:2]
"""Of what speaks for the positive class, and against it."""

DIVERGING = ("#5c2600", NEGATIVE, "#f7c9a8", "#ffffff", "#a9cfe6", POSITIVE, "#00304d")
"""From far below zero to far above."""

INK, SOFT, PALE = "#1c1c1c", "#5a5a5a", "#c9c4b8"
FONT = "system-ui, -apple-system, 'Segoe UI', 'Liberation Sans', Arial, sans-serif"
