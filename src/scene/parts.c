/* Schemas of the fixed parts of a scene. Their nested objects (bodies, shape, select ...) are the
 * parser's matter; here stand the plain values, with units and ranges. */
#include "scene/parts.h"

static const HkParam scene_params[] = {
    HK_TEXT(HkScene, title, "one sentence about the scene"),
    HK_INTEGER(HkScene, dimension, 3, 2, 3, "2 removes z from the unknowns"),
    HK_CHOICE(HkScene, up, 1, "x|y|z", "the axis that points up"),
};
const HkSchema hk_part_scene = {
    .name = "scene",
    .summary = "the whole scene: bodies, pins, obstacles, pairs, forces, probes, outputs, time, "
               "integrator",
    HK_PARAMS(HkScene, scene_params)};

static const HkParam time_params[] = {
    HK_NUMBER(HkTime, duration, "s", 10, 0, 1e12, "length of the motion"),
    HK_NUMBER(HkTime, step, "s", 0, 0, 1e12,
              "time step; 0 picks half the largest stable one (a twentieth for few masses), or a "
              "frame where every step is stable; made to divide a frame evenly"),
    HK_NUMBER(HkTime, frames_per_second, "1/s", 30, 1e-9, 1e9, "frames written per second"),
    HK_NUMBER(HkTime, energy_bound, "J", NAN, 0, HK_MAX,
              "a run with more kinetic energy has blown up; estimated if not given"),
    HK_NUMBER(HkTime, tolerance, "m", NAN, 1e-300, HK_MAX,
              "steps are halved until each moves every mass with at most this error; all steps are "
              "as given without it"),
    HK_NUMBER(HkTime, default_step, "s", NAN, 1e-300, 1e12,
              "time step where step is 0 and the integrator is stable at this one"),
};
const HkSchema hk_part_time = {
    .name = "time", .summary = "how long, in which steps", HK_PARAMS(HkTime, time_params)};

static const HkParam body_params[] = {
    HK_TEXT(HkBody, name, "what selections call the body"),
    {"mesh",
     "",
     "mesh file, relative to the scene file",
     HK_PARAM_TEXT,
     offsetof(HkBody, mesh_file),
     {0, 0, 0},
     0,
     0,
     0,
     0,
     0,
     NULL},
    HK_VECTOR(HkBody, stretch, "1", 1, 1, 1,
              "starting positions about the center are multiplied by this, rest lengths are not"),
    HK_VECTOR(HkBody, velocity, "m/s", 0, 0, 0, "at the start"),
    HK_VECTOR(HkBody, spin, "rad/s", 0, 0, 0, "at the start, about the center of mass"),
};
const HkSchema hk_part_body = {.name = "body",
                               .summary =
                                   "a shape or mesh made into masses and springs, with transform, "
                                   "springs, mass, repair and contact",
                               HK_PARAMS(HkBody, body_params)};

static const HkParam transform_params[] = {
    HK_VECTOR(HkTransform, scale, "1", 1, 1, 1, "first: factors along x, y, z"),
    HK_VECTOR(HkTransform, axis, "", 0, 0, 1, "then: axis of rotation through the origin"),
    HK_NUMBER(HkTransform, angle, "degrees", 0, -HK_MAX, HK_MAX, "and angle about it"),
    HK_VECTOR(HkTransform, translate, "m", 0, 0, 0, "last: displacement"),
};
const HkSchema hk_part_transform = {.name = "transform",
                                    .summary = "scale, rotate, move a body",
                                    HK_PARAMS(HkTransform, transform_params)};

static const HkParam springs_params[] = {
    HK_NUMBER(HkSprings, k, "N/m", NAN, 0, HK_MAX,
              "stiffness of every spring; 1000 if nothing is given"),
    HK_NUMBER(HkSprings, EA, "N", NAN, 0, HK_MAX,
              "stiffness times length, k = EA / l0: the same at every resolution"),
    HK_NUMBER(HkSprings, k_shear, "N/m", NAN, 0, HK_MAX, "of shear springs, if not as the edges"),
    HK_NUMBER(HkSprings, EA_shear, "N", NAN, 0, HK_MAX, "of shear springs, if not as the edges"),
    HK_NUMBER(HkSprings, k_bending, "N/m", NAN, 0, HK_MAX,
              "of bending springs, if not as the edges"),
    HK_NUMBER(HkSprings, EA_bending, "N", NAN, 0, HK_MAX,
              "of bending springs, if not as the edges"),
    HK_BOOLEAN(HkSprings, edges, 1, "a spring along every unique edge of every cell"),
    HK_BOOLEAN(HkSprings, shear, 0, "springs along both diagonals of every quad"),
    HK_BOOLEAN(
        HkSprings, bending, 0,
        "springs between opposite vertices across inner edges; skip-one on quads and chains"),
    HK_NUMBER(HkSprings, rest_length, "m", NAN, 0, HK_MAX,
              "rest length of every spring; from the mesh if not given"),
    HK_NUMBER(HkSprings, rest_scale, "1", 1, 0, HK_MAX, "factor on the rest lengths of the mesh"),
    HK_NUMBER(HkSprings, damping, "N s/m", 0, 0, HK_MAX, "damping along every spring"),
    HK_BOOLEAN(HkSprings, tension_only, 0, "no force when shorter than at rest, as threads"),
    HK_TEXT(
        HkSprings, file,
        "rows 'i j k [l0 [damping]]' that set single springs or add them; rows between the same "
        "two vertices act in parallel"),
    HK_TABLE(HkSprings, table, "1, 1, N/m, m, N s/m", 5,
             "rows 'i j k l0 damping' that do the same after those of the file; a k, l0 or damping "
             "below 0 is that of all others"),
};
const HkSchema hk_part_springs = {.name = "springs",
                                  .summary = "which edges become springs, and how stiff",
                                  .formula = "V = 1/2 k (|xi - xj| - l0)^2",
                                  HK_PARAMS(HkSprings, springs_params)};

static const HkParam mass_params[] = {
    HK_NUMBER(HkMass, per_vertex, "kg", NAN, 0, HK_MAX, "mass of every vertex"),
    HK_NUMBER(HkMass, total, "kg", NAN, 0, HK_MAX, "mass of the body; 1 if nothing is given"),
    HK_NUMBER(HkMass, length_density, "kg/m", NAN, 0, HK_MAX, "mass per length of lines"),
    HK_NUMBER(HkMass, area_density, "kg/m^2", NAN, 0, HK_MAX, "mass per area of faces"),
    HK_NUMBER(HkMass, volume_density, "kg/m^3", NAN, 0, HK_MAX, "mass per volume of solids"),
    HK_CHOICE(HkMass, distribution, 0, "equal|lumped",
              "of the total: the same for each vertex, or by the size of the cells around it"),
    HK_TABLE(HkMass, added, "1, kg", 2,
             "rows 'vertex mass': on top, at single vertices counted from 0 as in the mesh file"),
};
const HkSchema hk_part_mass = {
    .name = "mass", .summary = "where the mass comes from", HK_PARAMS(HkMass, mass_params)};

static const HkParam repair_params[] = {
    HK_NUMBER(HkRepair, weld, "m", -1, -1, HK_MAX,
              "vertices at most this far apart become one; negative: none do"),
    HK_BOOLEAN(HkRepair, zero_length, 0, "drop springs between vertices at the same place"),
    HK_BOOLEAN(HkRepair, unused, 0, "drop vertices that no cell uses"),
};
const HkSchema hk_part_repair = {.name = "repair",
                                 .summary = "what to mend in a mesh; each is reported",
                                 HK_PARAMS(HkRepair, repair_params)};

static const HkParam contact_params[] = {
    HK_BOOLEAN(HkBodyContact, enabled, 1, "false: the body touches nothing"),
    HK_NUMBER(HkBodyContact, thickness, "m", NAN, 0, HK_MAX,
              "its surface lies half of it around faces, edges and points; that of the contact "
              "force if not given"),
    HK_CHOICE(HkBodyContact, self, HK_SELF_DEFAULT, "default|false|true",
              "whether the body touches itself; default: as the contact force says"),
    HK_NUMBER(HkBodyContact, friction, "1", NAN, 0, HK_MAX,
              "coefficient of static friction; that of the contact force if not given"),
    HK_NUMBER(HkBodyContact, friction_kinetic, "1", NAN, 0, HK_MAX,
              "coefficient of a contact that slides; the friction of the body, if it has one, or "
              "that of the contact force if not given"),
};
const HkSchema hk_part_contact = {.name = "contact",
                                  .summary = "how a body touches others; false: it touches nothing",
                                  HK_PARAMS(HkBodyContact, contact_params)};

static const HkParam pair_params[] = {
    HK_NUMBER(HkPair, friction, "1", NAN, 0, HK_MAX,
              "coefficient of static friction; sqrt(a b) of the coefficients a, b of the two if "
              "not given"),
    HK_NUMBER(HkPair, friction_kinetic, "1", NAN, 0, HK_MAX,
              "coefficient of a contact that slides; the friction of the pair, if it has one, or "
              "sqrt(a b) of the two if not given"),
    HK_BOOLEAN(HkPair, contact, 1, "false: the two pass through each other"),
};
const HkSchema hk_part_pair = {
    .name = "pair",
    .summary = "what holds between two bodies or obstacles, whose names \"between\" holds",
    HK_PARAMS(HkPair, pair_params)};

static const HkParam pins_params[] = {
    HK_CHOICE(HkPinsPart, method, HK_PINS_ELIMINATE, "eliminate|reaction",
              "how implicit steps treat pinned vertices: they are no unknowns, or stay unknowns, "
              "each with the force that holds it; the motion is the same"),
};
const HkSchema hk_part_pins = {
    .name = "pins",
    .summary = "a list of pins, or an object with \"method\" and the pins in \"list\"",
    .formula = "R = m a - f(x, v, t) is the force that holds a pinned vertex on its motion",
    HK_PARAMS(HkPinsPart, pins_params)};

static const HkParam pin_params[] = {
    HK_SELECT(HkPin, select, "which vertices"),
    HK_NUMBER(HkPin, release, "s", INFINITY, 0, INFINITY,
              "free from this time on; never if not given"),
};
const HkSchema hk_part_pin = {
    .name = "pin",
    .summary = "vertices whose motion is given; \"motion\" holds one of the motions",
    HK_PARAMS(HkPin, pin_params)};

static const HkParam obstacle_params[] = {
    HK_TEXT(HkObstacle, name, "unlike those of all other obstacles and bodies"),
    HK_NUMBER(HkObstacle, friction, "1", NAN, 0, HK_MAX,
              "coefficient of static friction; that of the contact force if not given"),
    HK_NUMBER(HkObstacle, friction_kinetic, "1", NAN, 0, HK_MAX,
              "coefficient of a contact that slides; the friction of the obstacle, if it has one, "
              "or that of the contact force if not given"),
    HK_BOOLEAN(HkObstacle, two_sided, 0,
               "a plane or grid pushes a vertex to the side where it stands, not always outwards"),
    HK_BOOLEAN(HkObstacle, contact, 1, "false: bodies pass through it"),
};
const HkSchema hk_part_obstacle = {
    .name = "obstacle",
    .summary = "what bodies touch; beside the \"type\" and values of one of the obstacles, "
               "\"motion\" holds one of the motions",
    HK_PARAMS(HkObstacle, obstacle_params)};

static const HkParam probe_params[] = {
    HK_TEXT(HkProbe, name, "column name in probes.csv"),
    HK_SELECT(HkProbe, select, "which vertices"),
};
const HkSchema hk_part_probe = {.name = "probe",
                                .summary = "vertices whose motion is written to probes.csv",
                                HK_PARAMS(HkProbe, probe_params)};

static const HkParam select_params[] = {
    HK_TEXT(HkSelect, body, "look at this body only; at all of them if not given"),
};
const HkSchema hk_part_select = {.name = "select",
                                 .summary = "which vertices: one of all, indices, box, sphere, "
                                            "lowest, highest, nearest, set, vertices",
                                 HK_PARAMS(HkSelect, select_params)};

const HkSchema *hk_part_schema(int index) {
  static const HkSchema *const parts[] = {
      &hk_part_scene,  &hk_part_time,   &hk_part_body,    &hk_part_transform, &hk_part_springs,
      &hk_part_mass,   &hk_part_repair, &hk_part_pins,    &hk_part_pin,       &hk_part_obstacle,
      &hk_part_select, &hk_part_probe,  &hk_part_contact, &hk_part_pair,
  };
  int count = (int)(sizeof parts / sizeof parts[0]);
  return index >= 0 && index < count ? parts[index] : NULL;
}
