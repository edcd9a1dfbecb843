"""Checks what the built wheel and sdist hold: check_dist.py DIRECTORY."""

import sys
import tarfile
import zipfile
from pathlib import Path

PACKAGE = "tool_search_processor/"
IN_SDIST = {
    *("LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml"),
    *(".ci/run", ".github/CONTRIBUTING.md", "tests/conftest.py"),
}
LICENCES = {"LICENSE", "bert-base-uncased-vocab.LICENSE.txt"}

(wheel,) = Path(sys.argv[1]).glob("*.whl")
(sdist,) = Path(sys.argv[1]).glob("*.tar.gz")
in_wheel = set(zipfile.ZipFile(wheel).namelist())
with tarfile.open(sdist) as archive:
    in_sdist = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}

metadata = {name for name in in_wheel if ".dist-info/" in name}
modules = {name for name in in_sdist if name.startswith(PACKAGE)} | {PACKAGE + "py.typed"}
problems = [
    *(f"the wheel lacks {name}" for name in sorted(modules - in_wheel)),
    *(f"the wheel holds {name}" for name in sorted(in_wheel - modules - metadata)),
    *(f"the sdist lacks {name}" for name in sorted(IN_SDIST - in_sdist)),
]
licences = {name.rpartition("/")[2] for name in metadata if "/licenses/" in name}
problems += [f"the wheel lacks the licence {name}" for name in sorted(LICENCES - licences)]
if problems:
    sys.exit("\n".join(problems))
print(f"{wheel.name}: {len(in_wheel)} files, {sdist.name}: {len(in_sdist)} files")
