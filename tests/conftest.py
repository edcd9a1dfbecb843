"""What every test needs: no network of litellm's own."""

import os

os.environ["LITELLM_OFFLINE_MODE"] = "true"
os.environ["DISABLE_AIOHTTP_TRANSPORT"] = "True"
