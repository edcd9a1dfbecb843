"""What every test needs: no network of litellm's own, and no example of a property timed."""

import os

from hypothesis import settings

os.environ["LITELLM_OFFLINE_MODE"] = "true"
os.environ["DISABLE_AIOHTTP_TRANSPORT"] = "True"
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
