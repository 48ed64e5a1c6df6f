"""Exceptions. Each carries the sentence of the library and, where there is one, the place in a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = [
    "BlowupError",
    "Error",
    "FileError",
    "FormatError",
    "InvalidError",
    "MissingFileError",
    "OutOfMemoryError",
    "UnsupportedError",
]


class Error(Exception):
    """Something that Hooke refuses, in one sentence with a way out.

    file is "" and line, column are 0 where there is no place; they count from 1.
    """

    status: str = ""
    file: str = ""
    line: int = 0
    column: int = 0


class InvalidError(Error, ValueError):
    """An argument or a value makes no sense."""

    status = "HK_ERROR_INVALID"


class FormatError(Error, ValueError):
    """The content of a file or a text is wrong."""


class FileError(Error, OSError):
    """A file cannot be opened, read or written."""

    status = "HK_ERROR_IO"


class MissingFileError(FileError, FileNotFoundError):
    """There is no file of that name, or no folder for it."""


class OutOfMemoryError(Error, MemoryError):
    """Out of memory, or an estimate says that memory would not be enough."""


class UnsupportedError(Error, NotImplementedError):
    """Valid, but not something Hooke does."""

    status = "HK_ERROR_UNSUPPORTED"


class BlowupError(Error, ArithmeticError):
    """The motion is no longer finite, or its energy left the bound."""


_BY_STATUS: dict[str, type[Error]] = {
    "HK_ERROR_INVALID": InvalidError,
    "HK_ERROR_FORMAT": FormatError,
    "HK_ERROR_IO": FileError,
    "HK_ERROR_MEMORY": OutOfMemoryError,
    "HK_ERROR_UNSUPPORTED": UnsupportedError,
    "HK_ERROR_BLOWUP": BlowupError,
}


def make_error(status: str, text: str, file: str, line: int, column: int) -> Error:
    """The exception of a status of the library."""
    kind = _BY_STATUS.get(status, Error)
    if kind is FileError and file and not os.path.lexists(file):
        kind = MissingFileError
    error = kind(text)
    error.status, error.file = status, file
    if file:  # a line of no file is one of the text that Python made of the scene
        error.line, error.column = line, column
    return error


@contextmanager
def file_errors(path: str) -> Iterator[None]:
    """Turns what the system says about a file into a FileError."""
    try:
        yield
    except Error:
        raise
    except OSError as error:
        raise make_error("HK_ERROR_IO", f"{path}: {error.strerror or error}", path, 0, 0) from None
