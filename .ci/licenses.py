"""Lists the licences of all that is installed, and fails for one that is neither permissive nor MPL.

To be run in an environment that holds the package with the extras that are meant.
"""

import re
import sys
from importlib.metadata import Distribution, distributions

ALLOWED = frozenset(
    {"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "ISC", "MIT", "MIT-0"}
    | {"MPL-2.0", "PSF-2.0", "Unlicense", "Zlib"}
)
# What older metadata says in the place of an SPDX expression: the beginning of the field, or the classifier.
SPOKEN = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
    "MIT license": "MIT",
    "MIT, BSD": "MIT AND BSD-3-Clause",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "The MIT License (MIT)": "MIT",
}


def licence_of(distribution: Distribution) -> str:
    """Return the SPDX expression of a distribution; what it says itself where that is unknown."""
    metadata = distribution.metadata
    expression: str | None = metadata.get("License-Expression")
    if expression:
        return expression
    line = (metadata.get("License") or "").partition("\n")[0].strip()
    classifiers = [
        value.rpartition(" :: ")[2]
        for value in metadata.get_all("Classifier", [])
        if value.startswith("License ::")
    ]
    known = SPOKEN.get(line, line)
    if known and is_allowed(known):
        return known
    return " OR ".join(SPOKEN.get(value, value) for value in classifiers) or line or "unknown"


def is_allowed(expression: str) -> bool:
    """Tell whether each licence of an `AND` is on the list, and one of each `OR`."""
    flat = re.sub(r"\(([^()]*)\)", lambda match: "MIT" if is_allowed(match[1]) else "no", expression)
    return any(set(re.split(r"\s+AND\s+", choice.strip())) <= ALLOWED for choice in flat.split(" OR "))


found = {item.metadata["Name"]: item for item in distributions()}
rows = [
    (name, item.version, licence_of(item))
    for name, item in sorted(found.items(), key=lambda row: row[0].lower())
]
width = max(len(name) + len(version) for name, version, _ in rows) + 1
for name, version, licence in rows:
    print(f"{name + ' ' + version:{width}}  {licence}")
refused = [f"{name}: {licence}" for name, _, licence in rows if not is_allowed(licence)]
if refused:
    sys.exit("licences that are not on the list:\n" + "\n".join(refused))
print(f"{len(rows)} packages, every licence is permissive or the MPL")
