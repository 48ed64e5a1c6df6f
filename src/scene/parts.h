/* Schemas of the fixed parts of a scene, over the public structs of hooke.h. */
#ifndef HK_SCENE_PARTS_H
#define HK_SCENE_PARTS_H

#include "base/schema.h"

/* What holds for all pins, beside their list. */
typedef struct HkPinsPart {
  int method; /* HkPinMethod */
} HkPinsPart;

extern const HkSchema hk_part_scene;
extern const HkSchema hk_part_time;
extern const HkSchema hk_part_body;
extern const HkSchema hk_part_transform;
extern const HkSchema hk_part_springs;
extern const HkSchema hk_part_mass;
extern const HkSchema hk_part_repair;
extern const HkSchema hk_part_contact; /* of an HkBodyContact */
extern const HkSchema hk_part_pair;
extern const HkSchema hk_part_pins; /* of an HkPinsPart */
extern const HkSchema hk_part_pin;
extern const HkSchema hk_part_obstacle;
extern const HkSchema hk_part_select;
extern const HkSchema hk_part_probe;

/* scene.c: releases all that a body owns which is not yet in a scene. */
void hk_body_clear(HkBody *body);
/* As hk_scene_add_body, but moves all that body owns into the scene; cleared after an error. */
HkStatus hk_scene_take_body(HkScene *scene, HkBody *body, int *index, HkError *error);

#endif
