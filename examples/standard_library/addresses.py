"""IP addresses and networks, by `ipaddress`."""

from __future__ import annotations

import ipaddress
from itertools import islice
from typing import Annotated, Any

from pydantic import Field


def describe_ip_address(address: str) -> dict[str, Any]:
    """Tell what kind of address an IPv4 or IPv6 address is: private, loopback, multicast, global.

    Args:
        address: The IP address, such as "192.168.0.1".
    """
    ip = ipaddress.ip_address(address)
    kinds = ("private", "global", "loopback", "multicast", "link_local", "reserved", "unspecified")
    return {"version": ip.version, **{kind: getattr(ip, f"is_{kind}") for kind in kinds}}


def describe_network(network: str) -> dict[str, Any]:
    """Tell the netmask, broadcast address and size of an IP network (subnet calculator).

    Args:
        network: In CIDR form, such as "10.0.0.0/24".
    """
    net = ipaddress.ip_network(network, strict=False)
    return {
        "network": str(net.network_address),
        "broadcast": str(net.broadcast_address),
        "netmask": str(net.netmask),
        "prefix_length": net.prefixlen,
        "addresses": net.num_addresses,
    }


def is_address_in_network(address: str, network: str) -> bool:
    """Check whether an IP address belongs to a network.

    Args:
        address: The IP address.
        network: In CIDR form, such as "10.0.0.0/8".
    """
    return ipaddress.ip_address(address) in ipaddress.ip_network(network, strict=False)


def split_network(network: str, prefix_length: Annotated[int, Field(ge=1, le=128)]) -> list[str]:
    """Divide an IP network into smaller subnets; tells the first 256.

    Args:
        network: In CIDR form, such as "10.0.0.0/24".
        prefix_length: The prefix of each part, such as 26.
    """
    subnets = ipaddress.ip_network(network, strict=False).subnets(new_prefix=prefix_length)
    return [str(subnet) for subnet in islice(subnets, 256)]


def merge_networks(networks: list[str]) -> list[str]:
    """Merge neighbouring and overlapping IP networks into as few as possible.

    Args:
        networks: In CIDR form, all of one IP version.
    """
    parsed = [ipaddress.ip_network(network, strict=False) for network in networks]
    return [str(network) for network in ipaddress.collapse_addresses(parsed)]  # type: ignore[type-var]  # one version


def networks_overlap(first: str, second: str) -> bool:
    """Check whether two IP networks share addresses.

    Args:
        first: In CIDR form.
        second: In CIDR form, of the same IP version.
    """
    a, b = (ipaddress.ip_network(network, strict=False) for network in (first, second))
    return a.overlaps(b)


def hosts_of_network(network: str, limit: Annotated[int, Field(ge=1, le=256)] = 16) -> list[str]:
    """List the usable host addresses of an IP network.

    Args:
        network: In CIDR form, such as "192.168.1.0/29".
        limit: How many to tell at most.
    """
    return [str(host) for host in islice(ipaddress.ip_network(network, strict=False).hosts(), limit)]


def ip_range_to_networks(first: str, last: str) -> list[str]:
    """Cover a range of IP addresses with networks in CIDR form.

    Args:
        first: The first address.
        last: The last address.
    """
    start, end = ipaddress.ip_address(first), ipaddress.ip_address(last)
    return [str(network) for network in ipaddress.summarize_address_range(start, end)]


def expand_ipv6(address: str) -> str:
    """Write an IPv6 address in full, without the :: abbreviation.

    Args:
        address: The IPv6 address.
    """
    return ipaddress.IPv6Address(address).exploded


def compress_ipv6(address: str) -> str:
    """Write an IPv6 address in its shortest form.

    Args:
        address: The IPv6 address.
    """
    return ipaddress.IPv6Address(address).compressed


def ip_address_to_integer(address: str) -> int:
    """Convert an IP address to the whole number it stands for.

    Args:
        address: The IPv4 or IPv6 address.
    """
    return int(ipaddress.ip_address(address))


def integer_to_ip_address(number: Annotated[int, Field(ge=0, lt=2**32)]) -> str:
    """Convert a whole number to an IPv4 address.

    Args:
        number: From 0 to 4294967295.
    """
    return str(ipaddress.IPv4Address(number))


def reverse_dns_name(address: str) -> str:
    """Make the name under which DNS keeps the reverse (PTR) record of an IP address.

    Args:
        address: The IPv4 or IPv6 address.
    """
    return ipaddress.ip_address(address).reverse_pointer
