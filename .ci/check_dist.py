"""Checks what the built wheel and sdist hold: check_dist.py DIRECTORY."""

import sys
import tarfile
import zipfile
from pathlib import Path

(wheel,) = Path(sys.argv[1]).glob("*.whl")
(sdist,) = Path(sys.argv[1]).glob("*.tar.gz")
in_wheel = zipfile.ZipFile(wheel).namelist()
with tarfile.open(sdist) as archive:
    in_sdist = [name.partition("/")[2] for name in archive.getnames()]
foreign = [n for n in in_wheel if not n.startswith(("tool_search_processor/", "tool_search_processor-"))]
sources = {n for n in in_sdist if n.startswith("tool_search_processor/") and n.endswith((".py", ".typed"))}
problems = [
    *(f"the wheel holds {name}" for name in foreign),
    *(
        f"the wheel lacks {name}"
        for name in sorted({"tool_search_processor/py.typed", *sources} - set(in_wheel))
    ),
    *(
        "the wheel lacks the licence"
        for _ in [0]
        if not any(n.endswith("licenses/LICENSE") for n in in_wheel)
    ),
    *(
        f"the sdist lacks {name}"
        for name in (
            "LICENSE",
            "README.md",
            "CHANGELOG.md",
            "pyproject.toml",
            "examples/quickstart.py",
            "tests/conftest.py",
        )
        if name not in in_sdist
    ),
]
if problems:
    sys.exit("\n".join(problems))
print(f"{wheel.name}: {len(in_wheel)} files, {sdist.name}: {len(in_sdist)} files")
