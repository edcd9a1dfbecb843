"""Runs the command: `python -m tool_search_processor`."""

import sys

from tool_search_processor.cli.program import main

if __name__ == "__main__":
    sys.exit(main())
