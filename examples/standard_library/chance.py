"""Random choices with a seed, secrets and identifiers, by `random`, `secrets` and `uuid`."""

from __future__ import annotations

import random
import secrets
import string
import uuid
from typing import Annotated, Literal

from pydantic import Field

Length = Annotated[int, Field(ge=1, le=256)]


def random_integer(low: int, high: int, *, seed: int | None = None) -> int:
    """Draw a random whole number from a range, both ends included.

    Args:
        low: The smallest number.
        high: The largest number.
        seed: Makes the draw repeatable.
    """
    return random.Random(seed).randint(low, high)


def roll_dice(
    count: Annotated[int, Field(ge=1, le=1000)], sides: int = 6, *, seed: int | None = None
) -> list[int]:
    """Roll dice.

    Args:
        count: How many dice.
        sides: How many sides a die has.
        seed: Makes the rolls repeatable.
    """
    dice = random.Random(seed)
    return [dice.randint(1, sides) for _ in range(count)]


def pick_random_items(items: list[str], count: int = 1, *, seed: int | None = None) -> list[str]:
    """Draw items from a list by lot, none twice (raffle, sample).

    Args:
        items: The items.
        count: How many to draw.
        seed: Makes the draw repeatable.
    """
    return random.Random(seed).sample(items, count)


def shuffle_list(items: list[str], seed: int | None = None) -> list[str]:
    """Put a list into random order.

    Args:
        items: The items.
        seed: Makes the order repeatable.
    """
    return random.Random(seed).sample(items, len(items))


def weighted_random_choice(weights: dict[str, float], seed: int | None = None) -> str:
    """Choose one item by chance, where some are likelier than others.

    Args:
        weights: Each item with its weight.
        seed: Makes the choice repeatable.
    """
    return random.Random(seed).choices(list(weights), list(weights.values()))[0]


def normal_random_numbers(
    mean: float, deviation: float, *, count: Length = 10, seed: int | None = None
) -> list[float]:
    """Draw normally distributed (Gaussian) random numbers.

    Args:
        mean: The mean.
        deviation: The standard deviation.
        count: How many numbers.
        seed: Makes the draw repeatable.
    """
    source = random.Random(seed)
    return [source.gauss(mean, deviation) for _ in range(count)]


def generate_password(length: Annotated[int, Field(ge=8, le=256)] = 16) -> str:
    """Generate a strong random password of letters, digits and punctuation.

    Args:
        length: How many characters.
    """
    alphabet = string.ascii_letters + string.digits + "!#$%&()*+,-./:;<=>?@[]^_{|}~"
    return "".join(secrets.choice(alphabet) for _ in range(length))


def generate_token(size: Length = 32, form: Literal["hex", "url"] = "url") -> str:
    """Generate a secure random token, such as an API key or a session secret.

    Args:
        size: How many random bytes.
        form: Hexadecimal, or Base64 that is safe in URLs.
    """
    return secrets.token_hex(size) if form == "hex" else secrets.token_urlsafe(size)


def random_uuid() -> str:
    """Generate a random UUID (version 4)."""
    return str(uuid.uuid4())


def name_based_uuid(name: str, space: Literal["dns", "url", "oid", "x500"] = "dns") -> str:
    """Make the UUID (version 5) that always belongs to a name.

    Args:
        name: The name, such as a host name.
        space: What kind of name it is.
    """
    return str(uuid.uuid5(getattr(uuid, f"NAMESPACE_{space.upper()}"), name))


def describe_uuid(identifier: str) -> dict[str, str | int | None]:
    """Check a UUID and tell its version, variant and number.

    Args:
        identifier: The UUID, with or without hyphens.
    """
    parsed = uuid.UUID(identifier)
    return {"uuid": str(parsed), "version": parsed.version, "variant": parsed.variant, "hex": parsed.hex}
