/* The arrays of a part as bytes, which rank 0 sends to another rank. */
#ifndef HK_MODEL_PACKAGE_H
#define HK_MODEL_PACKAGE_H

#include "model/part.h"

/* *bytes is freed with hk_free. */
HkStatus hk_package_write(const HkModel *part, const int32_t *ghost_rank, char **bytes,
                          int64_t *size, HkError *error);
/* Fills a model that has an empty part. */
HkStatus hk_package_read(HkModel *part, const char *bytes, int32_t **ghost_rank, HkError *error);
/* Releases the arrays that hk_part_extract has made. */
void hk_package_release(HkModel *part);

#endif
