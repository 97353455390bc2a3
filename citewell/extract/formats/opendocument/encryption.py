"""Encrypted OpenDocument packages (ODF 1.2 part 3 §3.4, and the whole-package encryption of newer LibreOffice)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidTag, UnsupportedAlgorithm
from cryptography.hazmat.decrepit.ciphers.algorithms import Blowfish
from cryptography.hazmat.decrepit.ciphers.modes import CFB
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from citewell.errors import CorruptFile, LimitExceeded, PasswordRequired, WrongPassword
from citewell.extract.core.safexml import MAX_XML_BYTES, XmlElement, local_name, parse_office_xml
from citewell.extract.core.safezip import SafeZip
from citewell.extract.formats.opendocument.package import attribute, child

MANIFEST = "META-INF/manifest.xml"
_WHOLE = "encrypted-package"
_CHECKED = 1024
_MAX_ITERATIONS = 2_000_000
_MAX_ARGON_KIB = 512 * 1024
_MAX_ARGON_PASSES = 50


@dataclass(frozen=True, slots=True)
class _Encryption:
    """How one member is encrypted."""

    algorithm: str
    vector: bytes
    start_key: str
    key_size: int
    salt: bytes
    iterations: int
    argon: tuple[int, int, int] | None
    checksum_type: str
    checksum: bytes


def encrypted_entries(archive: SafeZip) -> dict[str, XmlElement]:
    """Returns the manifest's encrypted entries by member name; empty for any other ZIP file."""
    if MANIFEST not in archive:
        return {}
    try:
        root = parse_office_xml(archive.read(MANIFEST, MAX_XML_BYTES))
    except CorruptFile:
        return {}
    entries = (element for element in root if local_name(element) == "file-entry")
    return {
        attribute(entry, "full-path") or "": entry for entry in entries if child(entry, "encryption-data") is not None
    }


def decrypt_package(archive: SafeZip, entries: dict[str, XmlElement], password: str | None, target: Path) -> None:
    """Writes the decrypted package to `target`.

    Raises `PasswordRequired`, `WrongPassword`, or `CorruptFile` for damage and unknown methods.
    """
    if not password:
        raise PasswordRequired
    try:
        if _WHOLE in entries:
            target.write_bytes(_plain(archive, _WHOLE, _entry(entries[_WHOLE]), password, archive.budget))
            return
        left = archive.budget
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as out:
            for name in archive.names():
                if name == MANIFEST or name.endswith("/"):
                    continue
                entry = entries.get(name)
                data = _plain(archive, name, _entry(entry), password, left) if entry is not None else archive.read(name)
                left -= len(data)
                out.writestr(name, data)
    except (ValueError, TypeError, KeyError, binascii.Error, zlib.error, UnsupportedAlgorithm) as error:
        raise CorruptFile("The encrypted file is damaged, or encrypted with an unsupported method.") from error


def _entry(element: XmlElement) -> _Encryption:
    data = child(element, "encryption-data")
    algorithm, derivation, start = (
        child(data, "algorithm"),
        child(data, "key-derivation"),
        child(data, "start-key-generation"),
    )
    if data is None or algorithm is None or derivation is None:
        raise ValueError("the encryption parameters are incomplete")
    memory = attribute(derivation, "argon2-memory")
    argon = (
        (_number(derivation, "argon2-iterations", 3), int(memory), _number(derivation, "argon2-lanes", 4))
        if memory
        else None
    )
    return _Encryption(
        algorithm=(attribute(algorithm, "algorithm-name") or "").lower(),
        vector=base64.b64decode(attribute(algorithm, "initialisation-vector") or ""),
        start_key=(attribute(start, "start-key-generation-name") or "sha1").lower() if start is not None else "sha1",
        key_size=_number(derivation, "key-size", 16),
        salt=base64.b64decode(attribute(derivation, "salt") or ""),
        iterations=_number(derivation, "iteration-count", 1024),
        argon=argon,
        checksum_type=(attribute(data, "checksum-type") or "").lower(),
        checksum=base64.b64decode(attribute(data, "checksum") or ""),
    )


def _plain(archive: SafeZip, name: str, entry: _Encryption, password: str, limit: int) -> bytes:
    """Returns a member decrypted and inflated to at most `limit` bytes."""
    packed = _decrypted(archive.read(name), entry, _key(entry, password))
    if entry.checksum:
        digest = hashlib.sha256 if "256" in entry.checksum_type else hashlib.sha1
        if digest(packed[:_CHECKED], usedforsecurity=False).digest() != entry.checksum:
            raise WrongPassword
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    data = inflater.decompress(packed, max(1, limit))
    if inflater.unconsumed_tail:
        raise LimitExceeded(f"Unpacked, the file exceeds the limit of {limit:,} bytes.")
    return data


def _key(entry: _Encryption, password: str) -> bytes:
    digest = hashlib.sha256 if "256" in entry.start_key else hashlib.sha1
    start = digest(password.encode(), usedforsecurity=False).digest()
    if entry.argon is not None:
        passes, memory, lanes = entry.argon
        if memory > _MAX_ARGON_KIB or passes > _MAX_ARGON_PASSES:
            raise LimitExceeded("Decrypting the file exceeds the work limit.")
        return Argon2id(
            salt=entry.salt, length=entry.key_size, iterations=passes, lanes=lanes, memory_cost=memory
        ).derive(start)
    if entry.iterations > _MAX_ITERATIONS:
        raise LimitExceeded("Decrypting the file exceeds the work limit.")
    return hashlib.pbkdf2_hmac("sha1", start, entry.salt, entry.iterations, entry.key_size)


def _decrypted(data: bytes, entry: _Encryption, key: bytes) -> bytes:
    if "gcm" in entry.algorithm:
        body = data[len(entry.vector) :] if data.startswith(entry.vector) else data
        try:
            return AESGCM(key).decrypt(entry.vector, body, None)
        except InvalidTag as error:
            raise WrongPassword from error
    if "aes" in entry.algorithm:
        decryptor = Cipher(AES(key), CBC(entry.vector)).decryptor()
        plain = decryptor.update(data) + decryptor.finalize()
        padding = plain[-1] if plain else 0
        return plain[:-padding] if 0 < padding <= 16 else plain
    if "blowfish" in entry.algorithm:
        decryptor = Cipher(Blowfish(key), CFB(entry.vector)).decryptor()
        return decryptor.update(data) + decryptor.finalize()
    raise ValueError(f"unknown encryption {entry.algorithm}")


def _number(element: XmlElement, name: str, default: int) -> int:
    text = attribute(element, name) or ""
    return int(text) if text.isdigit() else default
