"""Methods with their parameters, one function each, made from the registries of the library.

    hooke.shapes.grid(nx=41, ny=41)          hooke.forces.gravity(g=1.62)
    hooke.integrators.bdf2(minimizer=hooke.minimizers.newton(tolerance=1e-8))

Each function has a docstring with the equation and every parameter with unit, default and range:
help(hooke.shapes.grid). dir(hooke.forces) lists them. A parameter whose name is a word of Python has _
after it: hooke.obstacles.capsule(from_=(0, 0, 0)).
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from typing import Any, Callable

import numpy as np

from . import _core
from ._arrays import plain, to_json
from ._schemas import argument_of, default_of, describe, parameter_of
from .errors import Error, InvalidError

__all__ = ["Method", "Namespace"]

_FAMILIES: dict[str, int] = {name: number for number, name in enumerate(_core.families())}


class Method:
    """A method and what was set in it: a shape, a force, a motion, an integrator ...

    `params` holds every parameter, those not given with their defaults. Two methods with the same
    values are equal. `replace` makes another one.
    """

    __slots__ = ("_given", "_params", "family", "name")

    def __init__(self, family: str, name: str, /, **params: Any) -> None:  # params may have a "name"
        self.family = family
        self.name = name
        self._given: dict[str, Any] = {}
        known = {param["name"]: param for param in _schema(family, name)["params"]}
        for argument, value in params.items():
            if value is None:
                continue
            key = parameter_of(argument)
            kind = known[key]["kind"] if key in known else ""
            self._given[key] = selection(value) if kind == "select" else plain(value, key)
        text = json.dumps({"type": name, **self._given})
        try:
            whole = json.loads(_core.method(_FAMILIES[family], text))
        except Error as error:
            unknown = [key for key in self._given if key not in known]
            if unknown:
                raise TypeError(f"{name}(): {error}") from None
            raise
        del whole["type"]
        self._params: dict[str, Any] = whole

    @property
    def params(self) -> dict[str, Any]:
        """Every parameter with its value, as a copy."""
        return dict(self._params)

    @property
    def _has_mask(self) -> bool:
        return any(isinstance(value, MaskSelection) for value in self._given.values())

    def __getitem__(self, param: str) -> Any:
        return self._params[param]

    def replace(self, **params: Any) -> Method:
        """The same method with some parameters changed."""
        changed = {parameter_of(argument): value for argument, value in params.items()}
        return Method(self.family, self.name, **{**self._given, **changed})

    def _as_json(self) -> dict[str, Any]:
        return {"type": self.name, **self._given}

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Method)
            and (self.family, self.name) == (other.family, other.name)
            and self._params == other._params
        )

    def __hash__(self) -> int:
        return hash((self.family, self.name))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.family, self.name, self._given)

    def __repr__(self) -> str:
        given = ", ".join(f"{argument_of(key)}={value!r}" for key, value in self._given.items())
        return f"{self.name}({given})"


class Namespace:
    """The methods of one family as functions."""

    def __init__(self, family: str, summary: str) -> None:
        self._family = family
        self._names = [schema["name"] for schema in _core.schemas(_FAMILIES[family])]
        self.__doc__ = f"{summary}: {', '.join(self._names)}."

    def __getattr__(self, name: str) -> Callable[..., Method]:
        if name.startswith("_") or name not in self._names:
            known = ", ".join(self._names)
            raise AttributeError(f"there is no {self._family} '{name}'; there are {known}")
        function = _function(self._family, name)
        setattr(self, name, function)
        return function

    def __dir__(self) -> list[str]:
        return list(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __repr__(self) -> str:
        return f"<hooke {self._family}: {', '.join(self._names)}>"


def as_method(value: Method | str | dict[str, Any], family: str, name: str) -> Method:
    """What a user gave for a method: itself, its name, or a dict as in scene files."""
    if isinstance(value, Method):
        if value.family != family:
            raise TypeError(f"{name}: {value.name} is a {value.family}, expected a {family}")
        return value
    if isinstance(value, str):
        value = {"type": value}
    if not isinstance(value, dict):
        raise TypeError(f"{name}: expected a {family}, its name or a dict, got {value!r}")
    params = {str(key): item for key, item in value.items() if key != "type"}
    kind = value.get("type")
    if not isinstance(kind, str):
        raise InvalidError(f'{name}: "type" is missing: which {family}?')
    return Method(family, kind, **params)


class MaskSelection(dict[str, Any]):
    """The vertices of a mask, as in scene files. It knows the length of the mask, which has to be
    the number of vertices; that is checked where the vertices are known."""

    size: int

    def check(self, vertices: int, name: str) -> None:
        """Refuses a mask that has not one entry for each vertex."""
        if self.size != vertices:
            raise InvalidError(
                f"{name}: the mask has {self.size} entries, but there are {vertices} vertices"
            )


def check_masks(method: Method, vertices: int) -> None:
    """Refuses a method with a mask that has not one entry for each vertex."""
    for key, value in method._given.items():
        if isinstance(value, MaskSelection):
            value.check(vertices, f"{method.name}.{key}")


def selection(value: Any, body: str | None = None) -> Any:
    """What a user gave for vertices: the name of a set, a dict as in scene files, numbers or a mask."""
    if isinstance(value, MaskSelection) and body is None:
        return value
    if isinstance(value, (str, dict)):
        chosen: dict[str, Any] = {"set": value}
        if value == "all":
            chosen = {"all": True}
        elif isinstance(value, dict):
            chosen = {str(key): plain(item, str(key)) for key, item in value.items()}
        return chosen if body is None else {**chosen, "body": body}
    array = np.atleast_1d(np.asarray(value))
    mask = array if array.dtype == np.bool_ and array.ndim == 1 else None
    if mask is not None:
        array = np.flatnonzero(mask)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise TypeError(
            f"select: expected the name of a set, a dict, vertex numbers or a mask, got {value!r}"
        )
    numbers = [int(q) for q in array]
    chosen = {"vertices": numbers} if body is None else {"indices": numbers, "body": body}
    if mask is None:
        return chosen
    masked = MaskSelection(chosen)
    masked.size = len(mask)
    return masked


def _restore(family: str, name: str, given: dict[str, Any]) -> Method:
    return Method(family, name, **given)


def _schema(family: str, name: str) -> dict[str, Any]:
    for schema in _core.schemas(_FAMILIES[family]):
        if schema["name"] == name:
            return schema
    to = json.dumps({"type": name})
    _core.method(_FAMILIES[family], to)  # raises, and says what is near
    raise AssertionError(name)


def _function(family: str, name: str) -> Callable[..., Method]:
    schema = _schema(family, name)

    def make(**params: Any) -> Method:
        return Method(family, name, **params)

    make.__name__ = make.__qualname__ = name
    make.__doc__ = describe(schema)
    make.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(
                argument_of(param["name"]), inspect.Parameter.KEYWORD_ONLY, default=default_of(param)
            )
            for param in schema["params"]
            if param["name"].isidentifier()
        ],
        return_annotation=Method,
    )
    return make


def method_text(value: Method | str | dict[str, Any] | None, family: str, name: str) -> str | None:
    """The JSON of a method for the library; None stays None."""
    return None if value is None else to_json(as_method(value, family, name))
