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
extern const HkSchema hk_part_pins; /* of an HkPinsPart */
extern const HkSchema hk_part_pin;
extern const HkSchema hk_part_select;
extern const HkSchema hk_part_probe;

#endif
