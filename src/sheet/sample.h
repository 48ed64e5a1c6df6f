/* What a sheet is made from: a small piece of its scene, compiled as any other model. */
#ifndef HK_SHEET_SAMPLE_H
#define HK_SHEET_SAMPLE_H

#include "backend/device_sheet.h"
#include "model/model.h"

/* Compiles a sample of the sheet of a scene: the same grid with at most 33 vertices along each side
 * at the same spacing, so that masses, springs, pins and forces are those of the whole. Fills all
 * members of `sheet` but h. HK_ERROR_UNSUPPORTED names what a sheet does not support. */
HkStatus hk_sheet_sample(const HkScene *scene, HkModel **sample, HkDeviceSheetModel *sheet,
                         HkError *error);

#endif
