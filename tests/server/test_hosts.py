"""Names of hosts, and which of them lead to this machine alone."""

import pytest

from tool_search_processor.errors import ConfigurationError
from tool_search_processor.server.hosts import LOOPBACK, host_name, is_loopback, names_for


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("localhost", True),
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("0.0.0.0", False),
        ("::", False),
        ("", False),
        ("192.168.1.5", False),
        ("example.com", False),
    ],
)
def test_other_machines_need_a_token(host, loopback):
    assert is_loopback(host) == loopback
    assert names_for(host, "secret") == (LOOPBACK if loopback else None)
    if loopback:
        assert names_for(host, None) == LOOPBACK
    else:
        with pytest.raises(ConfigurationError, match="can be reached from other machines: give a token"):
            names_for(host, None)


@pytest.mark.parametrize(
    ("netloc", "name"),
    [("a:1", "a"), ("A", "a"), ("[::1]:80", "::1"), ("[::1", ""), ("", ""), ("a:b:c", "")],
)
def test_a_hosts_name_stands_before_its_port(netloc, name):
    assert host_name(netloc) == name


@pytest.mark.parametrize("token", [None, "secret"])
def test_a_port_in_the_place_of_a_host_is_told(token):
    with pytest.raises(
        ConfigurationError, match="host must be a name or an address, found 8000: a port goes into"
    ):
        names_for(8000, token)
