"""Decides which tool gets a name that several tools want."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from tool_search_processor.errors import ConfigurationError, DuplicateToolError, ReservedToolNameError
from tool_search_processor.providers.refusals import RefusedTool
from tool_search_processor.tools import Tool
from tool_search_processor.tools.tool_names import hashed_tool_name

GIVEN_DIRECTLY = ""
"""The place of tools that a user gave directly, which come before those of providers."""

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool that wants a name."""

    tool: Tool
    """Its name is the one that it wants."""
    place: str
    """Which of the catalog's sources it is from; `GIVEN_DIRECTLY` for none."""
    origin: str
    """What errors and status call that source."""

    @property
    def key(self) -> Key:
        """What distinguishes the tool from all others, however the lists change."""
        return (self.place, self.tool.original_name, self.tool.name)

    @property
    def is_made(self) -> bool:
        """Whether its name was made from another one."""
        return self.tool.original_name != self.tool.name

    @property
    def rank(self) -> tuple[bool, bool]:
        """Its rank among the tools that want the same name; between equals the order of the lists decides."""
        return self.is_made, self.place != GIVEN_DIRECTLY


@dataclass(eq=False)
class GivenNames:
    """Which tool has which name."""

    named: Callable[[], Iterable[tuple[str, Offer]]] = tuple
    """Returns each name with its tool; called only where several tools want one name."""
    are_wanted: bool = True
    """Whether every tool has the name that it wants."""

    @cached_property
    def by_key(self) -> Mapping[Key, str]:
        """The names by the keys of their tools."""
        return {offer.key: name for name, offer in self.named()}


NO_NAMES = GivenNames()


@dataclass(kw_only=True, eq=False)
class NameRegister:
    """Assigns names, which don't depend on the order of the lists.

    A tool that had a name keeps it. Among new tools, a name that is valid unchanged stays with its tool, and
    a name made from an invalid one gets a hash of it if it clashes with others. Tools of equal
    originals clash: the ones given directly come first, then the earlier ones; the others are refused.
    """

    taken: Mapping[str, Tool]
    """Tools that have their names already; only looked into, so that a request pays for its own tools."""
    reserved: Collection[str] = ()
    """Names that no tool may have; in a mapping, each with the option that changes it."""
    strict: bool = False
    """Whether to raise at the first clash."""
    before: GivenNames = NO_NAMES
    """The `given` of the register before this one."""
    refused: list[RefusedTool] = field(default_factory=list)
    _entered: dict[str, Offer] = field(default_factory=dict)
    _given: GivenNames | None = None

    @property
    def given(self) -> GivenNames:
        """Which tool has which name now."""
        if self._given is not None:
            return self._given
        entered = self._entered.items()
        return GivenNames(lambda: entered, are_wanted=all(name == offer.tool.name for name, offer in entered))

    @property
    def places(self) -> dict[str, str]:
        """The place of each tool that `settle` gave a name, by that name."""
        return {name: offer.place for name, offer in self._entered.items()}

    def give_all(self, tools: Sequence[Tool], offers: Callable[[], Sequence[Offer]]) -> bool:
        """Give each tool the name that it wants, if that is what `settle` would do for all of them.

        This is the usual case, and costs a tenth of `settle`.

        Args:
            tools: All that want a name.
            offers: Returns the same tools as offers, in case a later register needs them.

        Returns:
            Whether the names were given. If not, nothing has changed.
        """
        names = {tool.name for tool in tools}
        if (
            len(names) < len(tools)
            or not self.before.are_wanted
            or not names.isdisjoint(self.reserved)
            or any(map(self.taken.__contains__, names))
        ):
            return False
        self._given = GivenNames(lambda: [(offer.tool.name, offer) for offer in offers()])
        return True

    def settle(self, offers: Sequence[Offer]) -> list[Tool | None]:
        """Return each tool under the name that it gets, and None for each that is refused.

        Raises:
            DuplicateToolError: Where tools of equal originals want a name, in a strict register.
            ReservedToolNameError: Where a name is reserved, in a strict register.
        """
        wanting: dict[str, list[Offer]] = {}
        before = self.before.by_key
        for offer in offers:
            held = before.get(offer.key)
            if held is None or not self._enter(held, offer):
                wanting.setdefault(offer.tool.name, []).append(offer)
        # Hashed names come last, so that they never take a name that is valid unchanged.
        told_apart = [
            offer
            for name, rivals in wanting.items()
            if len(rivals) > 1 or not self._enter(name, rivals[0])
            for offer in self._contest(name, rivals)
        ]
        for offer in told_apart:
            name = hashed_tool_name(offer.tool.name, offer.tool.original_name)
            if not self._enter(name, offer):
                self._refuse(name, offer)
        named = {id(offer): _renamed(offer.tool, name) for name, offer in self._entered.items()}
        return [named.get(id(offer)) for offer in offers]

    def _contest(self, name: str, rivals: Sequence[Offer]) -> list[Offer]:
        """Assign a name that is taken or that several tools want; return the tools that need a hash."""
        told_apart: list[Offer] = []
        ranked = sorted(rivals, key=lambda offer: offer.rank)
        is_plain = not ranked[0].is_made or len({offer.tool.original_name for offer in ranked}) == 1
        if is_plain and self._enter(name, ranked[0]):
            del ranked[0]
        holder = self._holder(name)
        for offer in ranked:
            is_same = holder is not None and holder[0] == offer.tool.original_name
            if offer.is_made and not is_same and name not in self.reserved:
                told_apart.append(offer)
            else:
                self._refuse(name, offer)
        return told_apart

    def _enter(self, name: str, offer: Offer) -> bool:
        """Give a tool a name if the name is free. Return whether it was."""
        if name in self._entered or name in self.taken or name in self.reserved:
            return False
        self._entered[name] = offer
        return True

    def _holder(self, name: str) -> tuple[str, str] | None:
        """Return the original name of the tool that has a name, and where it came from."""
        if (shared := self.taken.get(name)) is not None:
            return shared.original_name, "the tools that all requests share"
        offer = self._entered.get(name)
        return None if offer is None else (offer.tool.original_name, offer.origin)

    def _refuse(self, name: str, offer: Offer) -> None:
        holder = self._holder(name)
        error: ConfigurationError
        if holder is None:
            option = self.reserved.get(name) if isinstance(self.reserved, Mapping) else None
            error = _reserved_error(name, offer.origin, option=option)
        else:
            error = DuplicateToolError(name, (holder[1], offer.origin))
        is_mistake = holder is None or holder[0] == offer.tool.original_name
        if self.strict and is_mistake:
            raise error
        reason = str(error) if is_mistake else _held_text(name, *holder)  # type: ignore[misc]  # is_mistake
        self.refused.append(RefusedTool(name=name, provider=offer.origin, reason=reason))


def _renamed(tool: Tool, name: str) -> Tool:
    if tool.name == name:
        return tool
    return tool.replace(name=name, metadata={**tool.metadata, "original_name": tool.original_name})


def _held_text(name: str, original: str, origin: str) -> str:
    return (
        f"the name {name!r} was given to the tool {original!r} of {origin} before, and stays with it as long "
        "as it is listed: put one of them in a namespace"
    )


def _reserved_error(name: str, origin: str, *, option: str | None) -> ReservedToolNameError:
    options = f"{option}=" if option else "search_tool_name= and the like"
    return ReservedToolNameError(
        f"the tool {name!r} from {origin} has the name of a meta-tool: rename it, put it in a namespace, "
        f"or give the meta-tool another name ({options})"
    )
