"""Writes hooke/_registry.pyi, the types of hooke.shapes, hooke.forces ...: make_stubs.py MODULE FILE

MODULE is the compiled hooke._core, whose registries know every method with its parameters. Type
checkers and editors then know each function with names, types and defaults. Nothing but Python itself
is needed, since wheels are built without numpy."""

from __future__ import annotations

import importlib.util
import math
import os
import sys
import textwrap

HEAD = '''"""Written by python/make_stubs.py from the registries of the library. Types only: see hooke.methods."""

import os
from collections.abc import Iterator
from typing import Any, Literal, Union

import numpy as np
import numpy.typing as npt

from .methods import Method

_Number = Union[float, np.floating[Any], np.integer[Any]]
_Integer = Union[int, np.integer[Any]]
_Text = Union[str, os.PathLike[str]]
_Vector = npt.ArrayLike
_Table = npt.ArrayLike
_Select = Union[str, dict[str, Any], npt.ArrayLike]
_Method = Union[Method, str, dict[str, Any]]

class _Family:
    def __iter__(self) -> Iterator[str]: ...
    def __contains__(self, name: object) -> bool: ...
'''

TYPES = {
    "number": "_Number",
    "integer": "_Integer",
    "boolean": "bool",
    "vector": "_Vector",
    "text": "_Text",
    "table": "_Table",
    "select": "_Select",
    "method": "_Method",
}


def load_core(path):
    spec = importlib.util.spec_from_file_location("hooke._core", path)
    core = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(core)
    return core


def load_schemas(folder):
    """hooke._schemas, without the package, which needs numpy."""
    spec = importlib.util.spec_from_file_location("schemas", os.path.join(folder, "_schemas.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def class_name(family):
    return family.title().replace("_", "")


def type_of(param):
    if param["kind"] == "choice":
        return f"Literal[{', '.join(repr(word) for word in param['choices'].split('|'))}]"
    return TYPES[param["kind"]]


def default_text(value):
    numbers = value if isinstance(value, tuple) else (value,)
    finite = all(not isinstance(q, float) or math.isfinite(q) for q in numbers)
    return repr(value) if finite else "..."


def function(schema, schemas):
    """One method of a family; parameters whose names Python cannot write are left to **more."""
    lines = ["    @staticmethod", f"    def {schema['name']}("]
    plain = [p for p in schema["params"] if p["name"].isidentifier()]
    if plain:
        lines.append("        *,")
    for param in plain:
        default = default_text(schemas.default_of(param))
        lines.append(f"        {schemas.argument_of(param['name'])}: Union[{type_of(param)}, None] = {default},")
    if len(plain) < len(schema["params"]):
        lines.append("        **more: Any,")
    lines.append("    ) -> Method:")
    text = schemas.describe(schema).replace("\\", "\\\\")
    lines.append(textwrap.indent(f'"""{text}\n"""', " " * 8))
    return "\n".join(lines)


def main():
    module, target = sys.argv[1:]
    core = load_core(module)
    schemas = load_schemas(os.path.join(os.path.dirname(os.path.abspath(__file__)), "hooke"))
    every = {family: core.schemas(number) for number, family in enumerate(core.families())}
    parts = [HEAD]
    for family, found in every.items():
        parts.append(f"class {class_name(family)}(_Family):")
        parts += [function(schema, schemas) + "\n" for schema in found] or ["    ...\n"]
    with open(target + ".tmp", "w", encoding="utf-8") as file:
        file.write("\n".join(parts))
    os.replace(target + ".tmp", target)


if __name__ == "__main__":
    main()
