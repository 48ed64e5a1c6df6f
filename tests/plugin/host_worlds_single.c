/* Worlds of the host's device in single precision. */
#include "host_worlds.h"

extern const HkDevice host_worlds_single;
const HkDevice host_worlds_single = {HOST_WORLDS};
