/* Finding plug-ins for devices. */
#ifndef HK_BACKEND_PLUGIN_H
#define HK_BACKEND_PLUGIN_H

#include "backend/device.h"

/* The plug-in for a kind of device: a library that stays loaded. */
HkStatus hk_plugin_find(HkDeviceKind kind, const HkDevice **device, HkError *error);

#endif
