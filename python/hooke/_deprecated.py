"""Names of version 0.1 that still work, with a warning."""

from __future__ import annotations

import warnings


def deprecated(old: str, new: str) -> None:
    """Warns the caller of the function that calls this one."""
    warnings.warn(f"{old} is deprecated; use {new}", DeprecationWarning, stacklevel=3)
