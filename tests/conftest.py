"""What every test needs: no network of litellm's own, and properties tried on the same examples each time.

`HYPOTHESIS_PROFILE=long` tries others at each run. No example is timed.
"""

import os

from hypothesis import settings

os.environ["LITELLM_OFFLINE_MODE"] = "true"
os.environ["DISABLE_AIOHTTP_TRANSPORT"] = "True"
settings.register_profile("tests", deadline=None, derandomize=os.environ.get("HYPOTHESIS_PROFILE") != "long")
settings.load_profile("tests")
