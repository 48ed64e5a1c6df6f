/* The header of a PLY file, read by ply_header.c and used by readers/ply.c. */
#ifndef HK_MESH_PLY_HEADER_H
#define HK_MESH_PLY_HEADER_H

#include "mesh/reading.h"

typedef enum HkPlyEncoding { HK_PLY_TEXT, HK_PLY_LITTLE, HK_PLY_BIG } HkPlyEncoding;
typedef enum HkPlyKind { HK_PLY_OTHER, HK_PLY_VERTEX, HK_PLY_FACE, HK_PLY_EDGE } HkPlyKind;

/* Meaning of a property for Hooke. */
typedef enum HkPlyRole {
  HK_PLY_SKIPPED,
  HK_PLY_X,
  HK_PLY_Y,
  HK_PLY_Z,
  HK_PLY_CORNERS,
  HK_PLY_VERTEX1,
  HK_PLY_VERTEX2
} HkPlyRole;

typedef struct HkPlyType {
  const char *name, *other_name;
  char kind; /* i signed, u unsigned, f floating */
  int bytes;
} HkPlyType;

typedef struct HkPlyProperty {
  const HkPlyType *type;
  const HkPlyType *count; /* of a list; NULL: a single value */
  HkPlyRole role;
} HkPlyProperty;

typedef struct HkPlyElement {
  HkPlyKind kind;
  int64_t count;
  int64_t first, properties; /* into the properties of all elements */
  unsigned roles;            /* bit 1 << role of each that is there */
  HkCursor place;            /* of the line in the header */
} HkPlyElement;

typedef struct HkPlyHeader {
  const HkContext *context;
  HkPlyEncoding encoding;
  HkPlyElement *elements;
  int64_t element_count, element_capacity;
  HkPlyProperty *properties;
  int64_t property_count, property_capacity;
} HkPlyHeader;

/* Reads and checks the header and moves the cursor to the first value. The caller frees the two
 * arrays with hk_free, also after an error. */
HkStatus hk_ply_read_header(const HkContext *context, HkCursor *c, HkPlyHeader *header,
                            HkError *error);

#endif
