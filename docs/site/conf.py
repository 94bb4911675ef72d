"""Sphinx's settings. `build.py` calls Sphinx, on a copy of the repository with the generated pages in it."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import api

import fedsieve

project = "FedSieve"
author = "The FedSieve developers"
copyright = "The FedSieve developers, Apache-2.0"
release = version = fedsieve.__version__

extensions = ["myst_parser", "sphinx_gallery.gen_gallery"]
root_doc = "docs/index"
include_patterns = ["*.md", "docs/**", "examples/README.md", "tests/federation/chaos/record.md"]
include_patterns += ["benchmarks/paper/results/*.md", "benchmarks/published_search/results.md"]
exclude_patterns = ["docs/gallery/*.ipynb", "docs/gallery/*.py", "docs/gallery/searchindex*"]
exclude_patterns += ["src", "docs/gallery/sg_execution_times.rst", "sg_execution_times.rst"]

myst_heading_anchors = 4
highlight_language = "none"
suppress_warnings = ["config.cache"]

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "docs/gallery",
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "nested_sections": False,
    "write_computation_times": False,
    "within_subsection_order": "FileNameSortKey",
}

html_theme = "pydata_sphinx_theme"
html_title = "FedSieve"
html_show_sourcelink = False
html_theme_options = {"show_prev_next": False, "navigation_with_keys": False, "secondary_sidebar_items": ["page-toc"]}
html_sidebars = {"docs/index": []}


def link_names(_app: object, _page: str, source: list[str]) -> None:
    """A link from a public name to its file, which is what GitHub can show, leads to its entry here."""

    def entry(found: re.Match[str]) -> str:
        place = api.where(found["name"])
        return f"[`{found['name']}`](reference/api/{place})" if place else found[0]

    source[0] = re.sub(r"\[`(?P<name>[\w.]+)`\]\(\.\./src/fedsieve/[\w/]+\.py\)", entry, source[0])


def setup(app: object) -> None:
    """Sphinx calls this."""
    app.connect("source-read", link_names)  # type: ignore[attr-defined]
