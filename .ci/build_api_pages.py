"""Builds the pages of the public API from the docstrings: build_api_pages.py DIRECTORY.

Run it where `tests` can be imported, which lists the modules. A warning ends it.
"""

import importlib
import sys
import warnings
from pathlib import Path

import pdoc

from tests.test_docstrings import PUBLIC

warnings.simplefilter("error")
for path in PUBLIC:  # pdoc lists what is there already, and some names are imported when they are asked for
    module = importlib.import_module(path)
    for name in getattr(module, "__all__", ()):
        setattr(module, name, getattr(module, name))
pdoc.pdoc(*PUBLIC, output_directory=Path(sys.argv[1]))
print(f"{len(list(Path(sys.argv[1]).rglob('*.html')))} pages")
