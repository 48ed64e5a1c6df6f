/* Worlds of the host's device in double precision. */
#define HK_REAL double
#include "host_worlds.h"

extern const HkDevice host_worlds_double;
const HkDevice host_worlds_double = {HOST_WORLDS};
