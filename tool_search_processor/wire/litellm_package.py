"""Imports the package litellm (extra `agent`) when it is needed; nothing else imports it."""

from __future__ import annotations

import importlib
import logging
from typing import Any

logger = logging.getLogger(__name__)

_FETCHING = ("model cost map fetch attempt", "Failed to fetch remote model cost map")


def import_litellm() -> Any:
    """Return the module litellm.

    At its import, litellm asks for a newer list of models than its own. It is left to do so, since the list
    has models that are younger than the package; but where there is no network, its own list is fine, and its
    warnings (one for each retry) go to this module's logger at level DEBUG. `LITELLM_OFFLINE_MODE=true` in
    the environment makes litellm ask nobody.

    Raises:
        ImportError: It is not installed, or broken.
    """
    logging.getLogger("LiteLLM").addFilter(_is_worth_a_warning)  # which adds it once
    return importlib.import_module("litellm")


def _is_worth_a_warning(record: logging.LogRecord) -> bool:
    text = record.getMessage()
    if not any(part in text for part in _FETCHING):
        return True
    logger.debug("%s", text)
    return False
