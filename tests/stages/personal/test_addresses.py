"""E-mail and IP addresses: what is one, and what only looks like one."""

import pytest

from stages.personal.addresses import emails, ip_addresses, is_public


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Write to Anna.Berg@mail-host.org.", ["anna.berg@mail-host.org"]),
        ("(bob_k+news@uni.town.ac.uk)", ["bob_k+news@uni.town.ac.uk"]),
        ("jürgen@müller.de", ["jürgen@müller.de"]),
        ("jo (at) kern (dot) net", ["jo@kern.net"]),
        ("jo[at]kern.net", ["jo@kern.net"]),
        ("jo at kern dot net", []),
        ("logo@2x.png and python@2.7", []),
        ("jo@example.com, jo@mail.example, jo@host.test", []),
        ("follow @jo or https://host.org/@jo.kern", []),
        ("jo@kern", []),
        ("a@b@kern.net", []),
    ],
)
def test_emails(text: str, values: list[str]) -> None:
    assert [span.value for span in emails(text)] == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("from 91.198.174.192, twice.", ["91.198.174.192"]),
        ("http://91.198.174.192:80/", ["91.198.174.192"]),
        ("2001:470:1:18::115", ["2001:470:1:18::115"]),
        ("10.0.0.1 192.168.1.1 203.0.113.9 127.0.0.1 224.0.0.251", []),
        ("8.8.8.8", []),
        ("version 14.32.31.332, v91.198.174.192", []),
        ("91.198.174.192.7 and 1.91.198.174.192", []),
        ("256.198.174.192", []),
        ("see 4.5.6.7 there", []),
        ("the server 4.5.6.7", ["4.5.6.7"]),
        ("12:30:45 and 2001:db8::1 and fe80::1 and a::b", []),
    ],
)
def test_ip_addresses(text: str, values: list[str]) -> None:
    assert [span.value for span in ip_addresses(text)] == values


@pytest.mark.parametrize(
    ("inside", "outside"),
    [("172.16.0.0", "172.15.255.255"), ("172.31.255.255", "172.32.0.0"), ("100.127.255.255", "100.128.0.0")],
)
def test_networks_that_are_nobodys_end_where_the_registry_says(inside: str, outside: str) -> None:
    assert not is_public(inside) and is_public(outside)
