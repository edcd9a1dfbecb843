"""What this computer and interpreter are, by `platform`, `sys`, `os`, `shutil` and `time`."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import time
from typing import Any


def python_version() -> dict[str, str]:
    """Tell the version and implementation of the running Python."""
    return {"version": platform.python_version(), "implementation": platform.python_implementation()}


def operating_system() -> dict[str, str]:
    """Tell the operating system, its release and the machine's architecture."""
    return {"system": platform.system(), "release": platform.release(), "machine": platform.machine()}


def processor_count() -> int:
    """Count the processor cores (CPUs) of this computer."""
    return os.cpu_count() or 1


def disk_space() -> dict[str, float]:
    """Tell the total and free space of the disk, in gigabytes."""
    usage = shutil.disk_usage(os.sep)
    return {"total_gb": round(usage.total / 1e9, 1), "free_gb": round(usage.free / 1e9, 1)}


def byte_order() -> str:
    """Tell whether this computer is big or little endian."""
    return sys.byteorder


def floating_point_limits() -> dict[str, float]:
    """Tell the largest, smallest and most exact floating point numbers."""
    info = sys.float_info
    return {"largest": info.max, "smallest": info.min, "epsilon": info.epsilon, "digits": info.dig}


def process_cpu_time() -> float:
    """Tell how many seconds of CPU time this process has used."""
    return time.process_time()


def size_of_number(number: int) -> dict[str, Any]:
    """Tell how many bits a whole number needs, and how many of them are 1.

    Args:
        number: The whole number.
    """
    return {"bits": number.bit_length(), "ones": number.bit_count(), "binary": bin(number)}


def standard_library_modules(prefix: str = "") -> list[str]:
    """List the modules of Python's standard library.

    Args:
        prefix: Only those whose names start so.
    """
    return sorted(n for n in sys.stdlib_module_names if n.startswith(prefix) and not n.startswith("_"))
