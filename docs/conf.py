"""Configuration of the documentation site: see docs/README.md for how to build it."""

import sys
from pathlib import Path

from seqkern import __version__

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))

project = "seqkern"
author = "The seqkern developers"
project_copyright = "The seqkern developers"
release = version = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "docstrings",
    "generated",
    "mathml",
    "repository",
]
exclude_patterns = ["_build", "README.md", "gallery", "courses", "upstream", "**/README.txt"]
default_role = "code"
# -- of options stays as it is
smartquotes = False
nitpicky = False
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
# README-style blocks without a language are commands: nothing to colour
highlight_language = "text"

autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

copybutton_exclude = ".linenos, .gp, .go"

sphinx_gallery_conf = {
    "examples_dirs": ["gallery", "courses"],
    "gallery_dirs": ["auto_gallery", "auto_courses"],
    "filename_pattern": r"/plot_",
    "copyfile_regex": "",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e6,
    "write_computation_times": False,
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": False,
    "image_scrapers": ("matplotlib",),
    "ignore_repr_types": "matplotlib",
    "remove_config_comments": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "seqkern"
html_static_path = ["_static"]
# pages of models, which docs/build makes
html_extra_path = [path for path in ("_build/live",) if (Path(__file__).parent / path).is_dir()]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathml"
html_last_updated_fmt = None
html_theme_options = {
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "show_prev_next": True,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars: dict[str, list[str]] = {
    "results": [],
    "performance": [],
    "benchmark_protocol": [],
    "index": [],
}  # wide tables
