"""The HTTP clients that litellm keeps."""

import asyncio


async def close_litellm() -> None:
    """Close the clients that litellm keeps for a loop, so that no socket is left to the collector."""
    import litellm

    cache = litellm.in_memory_llm_clients_cache
    for client in list(cache.cache_dict.values()):
        close = getattr(client, "aclose", None) or getattr(client, "close", None)
        closing = close() if close else None
        if asyncio.iscoroutine(closing):
            await closing
    cache.flush_cache()
