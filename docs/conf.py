"""How the documentation is built: ``sphinx-build -W docs build/docs``."""

from visual_search import __version__

project = "Visual Search"
author = "The Visual Search authors"
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["build"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
myst_enable_extensions = ["dollarmath", "deflist", "colon_fence"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_google_docstring = False
napoleon_numpy_docstring = True
napoleon_custom_sections = ["Convention", "How to read it", "Formula", "Source"]

smartquotes = False  # options begin with two dashes
html_theme = "furo"
html_title = "Visual Search"
