"""The JSON Schema of scenes takes every built-in scene and refuses what the program refuses.

    check_schema.py PROGRAM
"""
import copy
import json
import re
import subprocess
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError:
    print("skipped: python3-jsonschema 4 or later is not there")
    sys.exit(77)

program = sys.argv[1]
passed = failed = 0


def output(*words):
    return subprocess.run([program, *words], check=True, capture_output=True, text=True).stdout


def check(name, good):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    print("ok     " if good else "FAILED ", name)


def without_comments(text):
    return re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*', lambda m: m.group(1) or "", text)


schema = json.loads(output("schema"))
Draft202012Validator.check_schema(schema)
validator = Draft202012Validator(schema)
names = re.findall(r"^\s*([a-z_]+)\s{2,}", output("scenes"), re.M)
check("there are built-in scenes to look at", len(names) >= 10)
scenes = {name: json.loads(without_comments(output("scenes", name))) for name in names}
for name, scene in scenes.items():
    problems = [error.message for error in validator.iter_errors(scene)]
    check(f"schema_takes_{name} {'; '.join(problems)}", not problems)

for name, pins in {
    "pins_as_a_list": [{"select": "top"}],
    "pins_with_a_method": {"method": "reaction", "list": [{"select": "top", "release": 1}]},
    "a_method_of_pins_alone": {"method": "eliminate"},
}.items():
    check(f"schema_takes_{name}", validator.is_valid({**scenes["flag"], "pins": pins}))

for name, obstacles in {
    "an_obstacle_by_its_name": ["plane"],
    "an_obstacle_with_all_it_may_have": [{"type": "ball", "center": [0, 1, 0], "radius": 0.2, "name": "marble",
                                          "friction": 0.4, "two_sided": True, "motion": {"type": "rotation"}}],
    "no_obstacles": [],
}.items():
    check(f"schema_takes_{name}", validator.is_valid({**scenes["flag"], "obstacles": obstacles}))

wrong = {
    "an_unknown_obstacle": lambda s: s.update(obstacles=["bull"]),
    "an_obstacle_without_a_type": lambda s: s.update(obstacles=[{"radius": 1}]),
    "a_value_of_another_obstacle": lambda s: s.update(obstacles=[{"type": "ball", "normal": [0, 1, 0]}]),
    "an_unknown_key": lambda s: s.update(tittle="x"),
    "an_unknown_integrator": lambda s: s.update(integrator="velvet"),
    "an_unknown_parameter": lambda s: s["bodies"][0]["shape"].update(nz=3),
    "a_text_for_a_number": lambda s: s["bodies"][0]["springs"].update(k="stiff"),
    "a_negative_stiffness": lambda s: s["bodies"][0]["springs"].update(k=-1),
    "a_short_vector": lambda s: s["bodies"][0].update(velocity=[1, 2]),
    "an_unknown_method_of_pins": lambda s: s.update(pins={"method": "glue", "list": []}),
    "pins_that_are_one": lambda s: s.update(pins={"list": {"select": "top"}}),
    "no_bodies": lambda s: s.pop("bodies"),
}
for name, spoil in wrong.items():
    scene = copy.deepcopy(scenes["flag"])
    spoil(scene)
    check(f"schema_refuses_{name}", not validator.is_valid(scene))

units = json.dumps(schema)
check("schema_names_units", all(u in units for u in ("[N/m]", "[kg/m^2]", "[m/s]", "[s]")))
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
