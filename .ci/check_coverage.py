"""Checks the share of branches that the tests take: check_coverage.py COVERAGE_JSON PERCENT."""

import json
import sys
from pathlib import Path

report = json.loads(Path(sys.argv[1]).read_text("utf-8"))
totals = report["totals"]
if not totals["num_branches"]:
    sys.exit("the coverage report holds no branches: was the installed package measured?")
percent = 100 * totals["covered_branches"] / totals["num_branches"]
for path, file in sorted(report["files"].items()):
    missing = [f"{source}→{target}" for source, target in file["missing_branches"]]
    if missing:
        name = path.partition("site-packages/")[2] or path
        print(f"  {name}: {len(missing)} not taken, {' '.join(missing[:6])}")
print(f"branches {percent:.1f} %, lines {100 * totals['covered_lines'] / totals['num_statements']:.1f} %")
if percent < float(sys.argv[2]):
    sys.exit(f"{percent:.1f} % of branches are covered: {sys.argv[2]} % are needed")
