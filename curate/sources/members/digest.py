"""WARC-Block-Digest and WARC-Payload-Digest: checked where no CRC vouches for the bytes."""

import base64
import hashlib

from curate.sources.members.warc_record import WarcHeader

ALGORITHMS = {
    "sha1": "sha1",
    "sha-1": "sha1",
    "sha256": "sha256",
    "sha-256": "sha256",
    "md5": "md5",
    "sha512": "sha512",
}


def matches(declared: str, data: bytes) -> bool | None:
    """Whether `declared` (`algorithm:value`, base 32 or hexadecimal) is the digest of `data`; None if unknown."""
    label, colon, value = declared.partition(":")
    algorithm = ALGORITHMS.get(label.strip().lower())
    if not colon or algorithm is None:
        return None
    digest = hashlib.new(algorithm, data, usedforsecurity=False).digest()
    value = value.strip()
    if len(value) == 2 * len(digest):
        return value.lower() == digest.hex()
    return value.upper().rstrip("=") == base64.b32encode(digest).decode().rstrip("=")


def block_matches(header: WarcHeader, block: bytes) -> bool | None:
    """The block against WARC-Block-Digest; None where there is none."""
    return matches(header.get("warc-block-digest"), block)


def mismatch(header: WarcHeader, block: bytes, payloads: tuple[bytes, ...]) -> bool | None:
    """Whether the record's digest contradicts its bytes: the block's, else the payload's; None without either.

    Writers differ in whether a payload's digest is that of the body as sent or as decoded, so each form in
    `payloads` may match.
    """
    verdict = block_matches(header, block)
    if verdict is None:
        declared = header.get("warc-payload-digest")
        verdicts = [matches(declared, payload) for payload in payloads] if declared else []
        known = [v for v in verdicts if v is not None]
        return not any(known) if known else None
    return not verdict
