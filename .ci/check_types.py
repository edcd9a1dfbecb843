"""Checks strictly typed programs of a user: those under tests/typing, and the Python blocks of the README.

Each is checked by mypy --strict and by pyright in strict mode, against the SDKs that are installed.

    python .ci/check_types.py
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def python_blocks(page: str) -> list[str]:
    """Return the fenced blocks of Python on a page, in order."""
    return re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)


def write_programs(folder: Path) -> None:
    """Put each program into a file of its own, beside pyright's configuration."""
    for path in (ROOT / "tests/typing").glob("*.py"):
        (folder / path.name).write_text(path.read_text("utf-8"), "utf-8")
    for number, block in enumerate(python_blocks((ROOT / "README.md").read_text("utf-8"))):
        (folder / f"readme_{number}.py").write_text(block, "utf-8")
    (folder / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "strict"}), "utf-8")


def run(folder: Path, *command: str) -> bool:
    """Run a checker over the folder and return True if it found nothing."""
    print("$", *command)
    done = subprocess.run([sys.executable, "-m", *command, "."], cwd=folder, check=False)  # noqa: S603 - ours
    return done.returncode == 0


def main() -> None:
    """Check everything, and exit with 1 if something was found."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_programs(folder)
        passed = [
            run(folder, "mypy", "--strict", "--config-file="),
            run(folder, "pyright", "--pythonpath", sys.executable),
        ]
    sys.exit(0 if all(passed) else 1)


if __name__ == "__main__":
    main()
