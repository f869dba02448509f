"""What pages show: figures, tables, numbers, one style. The report and the explanation of a model draw with it.

Figures of statistics are matplotlib's (`matplotlib_svg.py` makes them part of a page). Profiles, logos and tracks
repeat a few shapes thousands of times: they are written as SVG directly (`svg.py` says why).
"""
