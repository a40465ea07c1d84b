"""Settings of the documentation site: ``make docs`` builds it into build/docs."""

import os
import re
import shutil
import sys
import warnings
from pathlib import Path

from docutils import nodes
from sphinx import addnodes

DOCS = Path(__file__).parent
ROOT = DOCS.parent
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "reproduction" / "src")]
os.environ.setdefault("SINKDIST_QUIET", "1")

import sinkdist

project = "sinkdist"
author = "The sinkdist developers"
copyright = author
version = release = sinkdist.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "README.md",
    "_generated",
    "paper/fig*/*.md",
]  # README.md is the index on GitHub
root_doc = "index"
default_role = "py:obj"
nitpicky = False  # docstrings name NumPy's and scikit-learn's classes in prose

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
suppress_warnings = [
    "config.cache"
]  # functions among the settings: the gallery is checked by content

autodoc_member_order = "bysource"
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_param = False  # types are prose: "array_like, shape (n, d)"
napoleon_use_rtype = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"sinkdist {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_generated/extra"]  # made below; Sphinx looks for it at once
(DOCS / "_generated" / "extra").mkdir(parents=True, exist_ok=True)
html_copy_source = False
html_show_sphinx = False

# Pictures look alike on a light and on a dark page: they keep their white paper.
sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_signature": False,
    "capture_repr": ("_repr_html_",),  # what shows itself; not "<Axes: >"
    "min_reported_time": 0,
    "within_subsection_order": "FileNameSortKey",
    "write_computation_times": False,  # each page says how long it took
    "copyfile_regex": r".*\.csv",
}
warnings.filterwarnings("ignore", message=".*UMAP.*")

_RESULTS = ROOT / "benchmarks" / "results"
_TABLE_PAGES = sorted(path.stem for path in _RESULTS.glob("*.md"))


def copy_tables(app: object) -> None:
    """The results of benchmarks as pages of the site."""
    folder = DOCS / "benchmarks"
    folder.mkdir(exist_ok=True)
    for name in _TABLE_PAGES:
        text = (_RESULTS / f"{name}.md").read_text(encoding="utf-8")
        if not text.startswith("# "):
            text = f"# {name}\n\n{text}"
        page = folder / f"{name}.md"
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def copy_report(app: object) -> None:
    """The paper's report and the files that it links to, beside the page about it."""
    shutil.copytree(
        DOCS / "paper", DOCS / "_generated" / "extra" / "paper", dirs_exist_ok=True,
        ignore=shutil.ignore_patterns("README.md"),
    )  # fmt: skip


def write_explorers(app: object) -> None:
    """The pages that explorer.md shows, once."""
    from sklearn.datasets import load_digits

    from sinkdist.explore import family_of, write_page
    from sinkdist_paper.demo import definitions

    folder = DOCS / "_generated" / "extra"
    out = folder / "explore-digits.html"
    if not out.exists():
        X, y = load_digits(return_X_y=True)
        ground = sinkdist.Ground.grid(8, 8).scaled()
        family = family_of(X, ground, labels=y, normalize=True)
        write_page(family, out, title="1,797 handwritten digits")
    out = folder / "explore-definitions.html"
    if not out.exists():
        table = definitions.load()
        ground = sinkdist.Ground.points(table.vectors).scaled()
        family = family_of(
            table.histograms, ground, labels=table.kinds, names=table.heads, bins=table.words,
            points=table.vectors,
        )  # fmt: skip
        write_page(family, out, title="1,600 dictionary definitions")


_INSIDE = {
    r"\.\./benchmarks/results/(\w+)\.md": r"benchmarks/\1.md",
    r"\.\./benchmarks/README\.md": "benchmarks.md",
    r"(?<=\()README\.md": "index.md",
    r"\.\./README\.md": "index.md",
}
#: Files of the repository that are no pages: what links to them is their name.
_OUTSIDE = re.compile(
    r"\[([^\]]+)\]\(((?:\.\./)+(?:src|examples|tests|benchmarks|reproduction|[A-Z]+\.md|CITATION)[^)]*)\)"
)


def keep_links_inside(app: object, name: str, source: list[str]) -> None:
    """Links that lead out of docs/ on GitHub lead to pages of the site here, or are names."""
    text = source[0]
    for pattern, page in _INSIDE.items():
        text = re.sub(pattern, page, text)
    text = text.replace("[report.html](report.html)", '<a href="report.html">report.html</a>')
    source[0] = _OUTSIDE.sub(r"\1", text)


_NAMES = re.compile(r"[a-z_]+(, [a-z_]+)*,?")


def join_names(
    app: object, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Names of parameters that run over two lines of a docstring, in one: napoleon reads one."""
    for k in range(len(lines) - 2, -1, -1):
        first, second = lines[k], lines[k + 1]
        if first.endswith(",") and _NAMES.fullmatch(first) and _NAMES.fullmatch(second):
            lines[k : k + 2] = [f"{first} {second}"]


def unlink_shapes(app: object, doctree: nodes.document) -> None:
    """The word "shape" in the type of an attribute is no link."""
    for link in list(doctree.findall(addnodes.pending_xref)):
        if link.get("reftarget", "").endswith("shape"):
            link.replace_self(link.children)


def let_tables_scroll(app: object, doctree: nodes.document, name: str) -> None:
    """Wide tables scroll within a box of their own."""
    for table in list(doctree.findall(nodes.table)):
        if isinstance(table.parent, nodes.container):
            continue
        box = nodes.container(classes=["wide"])
        table.replace_self(box)
        box += table


def setup(app: object) -> None:
    """Tell Sphinx."""
    app.connect("builder-inited", copy_tables, priority=100)
    app.connect("builder-inited", copy_report, priority=100)
    app.connect("builder-inited", write_explorers, priority=100)
    app.connect("autodoc-process-docstring", join_names, priority=100)
    app.connect("source-read", keep_links_inside)
    app.connect("doctree-read", unlink_shapes)
    app.connect("doctree-resolved", let_tables_scroll)
