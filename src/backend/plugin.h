/* Loads plug-ins for devices. */
#ifndef HK_BACKEND_PLUGIN_H
#define HK_BACKEND_PLUGIN_H

#include "backend/device.h"

/* *device becomes the plug-in for a kind of device; its library stays loaded until the program
 * ends. */
HkStatus hk_plugin_find(HkDeviceKind kind, const HkDevice **device, HkError *error);

#endif
