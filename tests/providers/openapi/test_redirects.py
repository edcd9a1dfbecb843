"""How far inside a host is; that redirects are followed accordingly is tested with calls."""

import pytest

from tool_search_processor.providers.openapi.redirects import depth_inside


@pytest.mark.parametrize(
    ("hosts", "depth"),
    [
        (["example.com", "8.8.8.8", "134744072", "2001:4860:4860::8888", "::ffff:8.8.8.8"], 0),
        (["10.0.0.1", "192.168.1.1", "fd00:ec2::254", "::ffff:10.0.0.1", "10.1"], 1),
        (
            [
                "localhost",
                "a.localhost.",
                "127.0.0.1",
                "127.1",
                "2130706433",
                "0x7f.1",
                "0.0.0.0",
                "::1",
                "::",
            ],
            2,
        ),
        (["169.254.169.254", "169.254.169.254.", "2852039166", "fe80::1", "::ffff:169.254.169.254"], 3),
    ],
)
def test_how_far_inside_a_host_is_whatever_its_form(hosts, depth):
    assert [depth_inside(host) for host in hosts] == [depth] * len(hosts)
