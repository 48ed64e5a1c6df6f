"""What the registries say of a method and its parameters, as Python shows it: docstrings and defaults."""

from __future__ import annotations

import keyword
from typing import Any

__all__ = ["argument_of", "default_of", "describe", "parameter_of"]

#: Bounds of a parameter beyond this are none.
NO_BOUND = 1e299


def argument_of(name: str) -> str:
    """The argument of a parameter: its name, with _ after it where that is a word of Python, as in from_."""
    return f"{name}_" if keyword.iskeyword(name) else name


def parameter_of(argument: str) -> str:
    """The parameter of an argument."""
    return argument[:-1] if argument.endswith("_") and keyword.iskeyword(argument[:-1]) else argument


def default_of(param: dict[str, Any]) -> Any:
    """The default of a parameter; None where there is none that Python could write down."""
    first = param["default"][0]
    kind = param["kind"]
    if kind == "vector":
        return tuple(param["default"])
    if kind == "number":
        return None if first != first else first
    if kind == "integer":
        return int(first)
    if kind == "boolean":
        return bool(first)
    if kind == "choice":
        return param["choices"].split("|")[int(first)]
    return None


def range_of(param: dict[str, Any]) -> str:
    """What values a parameter takes."""
    low, high, kind = param["min"], param["max"], param["kind"]
    if kind == "choice":
        return f"one of {param['choices'].replace('|', ', ')}"
    if kind == "table":
        return f"rows of {param['columns']}"
    if kind == "method":
        return f"a {param['family']}"
    if kind not in ("number", "integer"):
        return str(kind)
    if low > -NO_BOUND and high < NO_BOUND:
        return f"{low:g} to {high:g}"
    if low > -NO_BOUND:
        return f"at least {low:g}"
    return f"at most {high:g}" if high < NO_BOUND else "any"


def describe(schema: dict[str, Any]) -> str:
    """The docstring of a method: summary, equation, parameters with units."""
    lines = [schema["summary"][0].upper() + schema["summary"][1:] + "."]
    if schema["formula"]:
        lines += ["", f"    {schema['formula']}"]
    if schema["params"]:
        lines += ["", "Parameters", "----------"]
    for param in schema["params"]:
        unit = f" [{param['unit']}]" if param["unit"] not in ("", "1") else ""
        value = default_of(param)
        default = "not given" if value is None else repr(value)
        lines.append(f"{argument_of(param['name'])}{unit} : {range_of(param)}, default {default}")
        lines.append(f"    {param['help']}")
    return "\n".join(lines)
