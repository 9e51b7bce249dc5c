"""E-mail addresses and public IP addresses in a text.

Their own boundaries on both sides keep out what only looks like one: `logo@2x.png`, `python@2.7`, versions of four
parts, times. Reserved names (RFC 2606) and networks that are nobody's (RFC 6890) are left alone.
"""

import re
from collections.abc import Iterator
from ipaddress import AddressValueError, IPv6Address

from stages.personal.span import PersonalSpan, before

_LOCAL = r"[\w%+'-]++(?:\.[\w%+'-]++)*+"
_LABEL = r"[^\W_](?:[\w-]{0,61}[^\W_])?"
_EMAIL = re.compile(rf"(?<![\w.%+'/@-]){_LOCAL}@((?:{_LABEL}\.)+[^\W\d_]{{2,24}})(?![\w@-])")
_BRACKETED_AT = re.compile(
    rf"(?<![\w.%+'/@-]){_LOCAL} ?(?:\[at\]|\(at\)) ?"
    rf"((?:{_LABEL}(?:\.| ?(?:\[dot\]|\(dot\)) ?))+[^\W\d_]{{2,24}})(?![\w@-])",
    re.IGNORECASE,
)
_DOT = re.compile(r" ?[\[(]dot[\])] ?", re.IGNORECASE)
_NOBODYS = re.compile(r"(?:^|\.)(?:example(?:\.(?:com|org|net|edu))?|test|invalid|localhost)$")
_FILES = frozenset("png jpg jpeg gif svg webp ico css js html htm php pdf json xml txt md mp3 mp4 zip".split())

_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IPV4 = re.compile(rf"(?<![\w.-]){_OCTET}(?:\.{_OCTET}){{3}}(?![\w-]|\.\w)")
_IPV6 = re.compile(r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:]|\.\d)")
_VERSION = re.compile(
    r"(?:\bv|\b(?:ver|version|release|firmware|build|driver|section|chapter|clause)s?)[. :]{0,2}$", re.I
)
_HOST = re.compile(r"\b(?:ip|ips|address|server|host|dns|gateway|from|client|ping)\b", re.IGNORECASE)
_RESOLVERS = frozenset("8.8.8.8 8.8.4.4 1.1.1.1 1.0.0.1 9.9.9.9 208.67.222.222 208.67.220.220".split())
# RFC 6890; a table of our own, since what Python calls global differs between its versions.
_SPECIAL_NETWORKS = tuple(
    (
        sum(int(octet) << shift for octet, shift in zip(network.split("."), (24, 16, 8, 0))) >> 32 - int(bits),
        32 - int(bits),
    )
    for network, _, bits in (
        block.partition("/")
        for block in (
            "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 "
            "192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3"
        ).split()
    )
)


def emails(text: str) -> Iterator[PersonalSpan]:
    """E-mail addresses with a top-level domain of letters, also `name (at) host (dot) org`."""
    if "@" in text:
        for found in _EMAIL.finditer(text):
            host = found[1].lower()
            if not _NOBODYS.search(host) and host.rpartition(".")[2] not in _FILES:
                yield PersonalSpan(*found.span(), "email", found[0].lower())
    lower = text.lower()
    if "(at)" in lower or "[at]" in lower:
        for found in _BRACKETED_AT.finditer(text):
            host = _DOT.sub(".", found[1]).lower()
            if not _NOBODYS.search(host):
                local = re.split(r" ?[\[(]at", found[0].lower())[0]
                yield PersonalSpan(*found.span(), "email", f"{local}@{host}")


def is_public(address: str) -> bool:
    """Whether an IPv4 address is one of the public internet, and no well-known name server."""
    number = sum(int(octet) << shift for octet, shift in zip(address.split("."), (24, 16, 8, 0)))
    return address not in _RESOLVERS and all(number >> shift != net for net, shift in _SPECIAL_NETWORKS)


def ip_addresses(text: str) -> Iterator[PersonalSpan]:
    """Public IPv4 and IPv6 addresses; no versions, and four single digits only where words speak of a host."""
    for found in _IPV4.finditer(text):
        context = before(text, found.start())
        if not is_public(found[0]) or _VERSION.search(context):
            continue
        if len(found[0]) > 7 or _HOST.search(context):
            yield PersonalSpan(*found.span(), "ip", found[0])
    if text.count(":") < 2:
        return
    for found in _IPV6.finditer(text):
        if "::" in found[0] or found[0].count(":") == 7:
            address = _public_ipv6(found[0])
            if address:
                yield PersonalSpan(*found.span(), "ip", address)


def _public_ipv6(candidate: str) -> str:
    """The short form of a global unicast address (2000::/3) that is none for documentation, or nothing."""
    try:
        address = IPv6Address(candidate)
    except AddressValueError:
        return ""
    number = int(address)
    documentation = number >> 96 == 0x20010DB8 or number >> 108 == 0x3FFF0
    return str(address) if number >> 125 == 1 and not documentation else ""
