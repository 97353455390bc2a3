"""Decrypts office files (OOXML, Office 97, OpenDocument) with the uploader's password, before a reader sees them."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, Protocol, cast
from xml.parsers.expat import ExpatError

import msoffcrypto
from msoffcrypto.exceptions import DecryptionError, EncryptionError, FileFormatError, InvalidKeyError, ParseError
from msoffcrypto.format.ooxml import OOXMLFile

from citewell.errors import CorruptFile, LimitExceeded, PasswordRequired, WrongPassword
from citewell.extract.core.compound import SIGNATURE
from citewell.extract.core.damage import LIBRARY_DAMAGE
from citewell.extract.core.safezip import SafeZip
from citewell.extract.formats.opendocument.encryption import decrypt_package, encrypted_entries
from citewell.types import ExtractOptions

_ZIP = b"PK\x03\x04"
_DAMAGE = (FileFormatError, ParseError, EncryptionError, ExpatError, *LIBRARY_DAMAGE)
# Excel encrypts with this password if the user "protects" a file without setting one.
_EXCEL_DEFAULT = "VelvetSweatshop"


class _OfficeFile(Protocol):
    """The part of `msoffcrypto`'s readers used here."""

    def is_encrypted(self) -> bool: ...
    def load_key(self, password: str, **options: bool) -> None: ...
    def decrypt(self, outfile: BinaryIO) -> None: ...


def decrypted(path: Path, options: ExtractOptions, scratch: Path) -> Path:
    """Returns the file itself if it is not encrypted, or else a decrypted copy in `scratch`.

    Raises `PasswordRequired` without a password, `WrongPassword` for a wrong one, `CorruptFile` for damage.
    """
    target = scratch / "decrypted"
    with path.open("rb") as file:
        head = file.read(8)
        if head.startswith(_ZIP):
            return target if _decrypt_open_document(path, options, target) else path
        if head != SIGNATURE:
            return path
        file.seek(0)
        office = _encrypted_office(file)
        if office is None:
            return path
        password = options.password
        for candidate in (password, _EXCEL_DEFAULT) if password else (_EXCEL_DEFAULT,):
            if _decrypt(office, candidate, target):
                return target
    if password:
        raise WrongPassword
    raise PasswordRequired


def _decrypt_open_document(path: Path, options: ExtractOptions, target: Path) -> bool:
    """Decrypts an encrypted OpenDocument package into `target`; False if the file is not one."""
    try:
        archive = SafeZip(path, options)
    except (CorruptFile, LimitExceeded):
        return False
    with archive:
        entries = encrypted_entries(archive)
        if entries:
            decrypt_package(archive, entries, options.password, target)
        return bool(entries)


def _encrypted_office(file: BinaryIO) -> _OfficeFile | None:
    """Returns a reader for an encrypted Office file; None for anything else (Outlook, plain Office 97, damage)."""
    try:
        office = cast(_OfficeFile, msoffcrypto.OfficeFile(file))
        return office if office.is_encrypted() else None
    except DecryptionError as error:
        raise CorruptFile(
            "The file is encrypted with an unsupported method. Save it without encryption and upload it again."
        ) from error
    except _DAMAGE:
        return None


def _decrypt(office: _OfficeFile, password: str, target: Path) -> bool:
    """Decrypts the file into `target`; False if `password` does not fit."""
    try:
        # Readers of Office 97 files always check the password; the OOXML reader checks only if asked.
        options = {"verify_password": True} if isinstance(office, OOXMLFile) else {}
        office.load_key(password, **options)
        with target.open("wb") as out:
            office.decrypt(out)
    except InvalidKeyError:
        return False
    except (DecryptionError, *_DAMAGE) as error:
        raise CorruptFile("The encrypted file is damaged.") from error
    return True
