"""Opening encrypted office files (OOXML, Office 97, OpenDocument) with the uploader's password, before any reader sees them."""

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
# Excel opens files that were "protected" without a password of the user's own by this one.
_EXCEL_DEFAULT = "VelvetSweatshop"


class _OfficeFile(Protocol):
    """The part of `msoffcrypto`'s readers that is used here."""

    def is_encrypted(self) -> bool: ...
    def load_key(self, password: str, **options: bool) -> None: ...
    def decrypt(self, outfile: BinaryIO) -> None: ...


def decrypted(path: Path, options: ExtractOptions, scratch: Path) -> Path:
    """The file itself when it is not encrypted, else a decrypted copy inside `scratch`.

    Raises `PasswordRequired` without a password, `WrongPassword` when it does not fit, `CorruptFile` for a damaged container.
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
    """Whether the file was an encrypted OpenDocument package, which is now in `target` without its encryption."""
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
    """A reader for an encrypted Office file; None when it is not one (an Outlook message, a plain Office 97 file, damage)."""
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
    """Whether `password` opens the file; the plain bytes are then in `target`."""
    try:
        # Readers of Office 97 files check the password in every case; the one for OOXML only when asked.
        options = {"verify_password": True} if isinstance(office, OOXMLFile) else {}
        office.load_key(password, **options)
        with target.open("wb") as out:
            office.decrypt(out)
    except InvalidKeyError:
        return False
    except (DecryptionError, *_DAMAGE) as error:
        raise CorruptFile("The encrypted file is damaged.") from error
    return True
