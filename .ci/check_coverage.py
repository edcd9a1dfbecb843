"""Checks the share of lines that the tests run: check_coverage.py COVERAGE_JSON PERCENT."""

import json
import sys
from pathlib import Path

report = json.loads(Path(sys.argv[1]).read_text("utf-8"))
totals = report["totals"]
if not totals["num_statements"]:
    sys.exit("the coverage report holds no lines: was the installed package measured?")
for path, file in sorted(report["files"].items()):
    if file["missing_lines"]:
        name = path.partition("site-packages/")[2] or path
        print(f"  {name}: not run {' '.join(map(str, file['missing_lines'][:8]))}")
percent = 100 * totals["covered_lines"] / totals["num_statements"]
print(f"lines {percent:.1f} %")
if percent < float(sys.argv[2]):
    sys.exit(f"{percent:.1f} % of lines are covered: {sys.argv[2]} % are needed")
