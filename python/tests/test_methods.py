"""What is made from the registries: a function each, with signature and units."""

import inspect
import pickle

import hooke
import pytest

FAMILIES = [hooke.shapes, hooke.forces, hooke.motions, hooke.obstacles, hooke.integrators,
            hooke.minimizers, hooke.linear_solvers, hooke.preconditioners, hooke.outputs]


def test_every_method_has_a_function_with_a_docstring():
    for family in FAMILIES:
        assert len(dir(family)) > 1
        for name in family:
            function = getattr(family, name)
            assert function().name == name and function.__doc__
            assert function() == pickle.loads(pickle.dumps(function()))
            for param in inspect.signature(function).parameters.values():
                assert param.name in function.__doc__


def test_parameters_that_are_words_of_python_have_an_underscore():
    rod = hooke.obstacles.capsule(from_=(1, 0, 0), radius=0.2)
    assert rod["from"] == [1, 0, 0] and rod == hooke.obstacles.capsule(**{"from": [1, 0, 0]}, radius=0.2)
    assert rod.replace(from_=(2, 0, 0))["from"] == [2, 0, 0]
    assert eval(repr(rod), {"capsule": hooke.obstacles.capsule}) == rod


def test_docstrings_tell_units_and_defaults():
    assert "g [m/s^2]" in hooke.forces.gravity.__doc__
    assert "one of xy" in hooke.shapes.grid.__doc__
    assert inspect.signature(hooke.shapes.grid).parameters["nx"].default == hooke.shapes.grid()["nx"]


def test_wrong_parameters_are_refused_with_a_sentence():
    with pytest.raises(TypeError, match="did you mean 'nx'"):
        hooke.shapes.grid(nxx=3)
    with pytest.raises(hooke.FormatError, match="out of range"):
        hooke.shapes.grid(nx=-3)
    with pytest.raises(TypeError):
        hooke.shapes.grid(3)
    with pytest.raises(AttributeError, match="there are"):
        hooke.shapes.gird
    with pytest.raises(TypeError, match="cannot be part"):
        hooke.forces.gravity(g=object())


def test_methods_are_values():
    moon = hooke.forces.gravity(g=1.62)
    assert moon != hooke.forces.gravity() and moon.replace(g=9.81) == hooke.forces.gravity(g=9.81)
    assert repr(moon) == "gravity(g=1.62)" and moon["g"] == 1.62
    assert len({moon, moon.replace()}) == 1
    nested = hooke.integrators.bdf2(minimizer=hooke.minimizers.newton(linear="ldlt"))
    assert nested["minimizer"]["linear"]["type"] == "ldlt"


def test_formats_and_version():
    assert "obj" in hooke.formats() and hooke.__version__.count(".") == 2
