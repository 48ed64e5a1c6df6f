/* Gusts of 'wind' and 'face_wind'; not a force by itself. */
#ifndef HK_FORCE_GUST_H
#define HK_FORCE_GUST_H

#include "base/schema.h"

/* A sum of waves whose frequencies have no common period; the amplitudes sum to 1. */
enum { HK_GUST_WAVES = 3 };
extern const double hk_gust_ratio[HK_GUST_WAVES];     /* of the frequencies */
extern const double hk_gust_amplitude[HK_GUST_WAVES]; /* of the waves */

/* The parameters velocity[3], gust and gust_period of a struct S. */
#define HK_GUST_PARAMS(S)                                                                          \
  HK_VECTOR(S, velocity, "m/s", 5, 0, 0, "mean velocity of the air"),                              \
      HK_NUMBER(S, gust, "1", 0, 0, 100, "strength of the gusts as a part of the mean velocity"),  \
      HK_NUMBER(S, gust_period, "s", 5, 1e-6, 1e12, "period of the slowest wave of the gusts")

/* The gust signal s(t) in -1 .. 1. */
double hk_gust_signal(double t, double period);

/* u = velocity (1 + gust s(t)) (m/s). */
void hk_gust_velocity(const double velocity[3], double gust, double period, double t, double u[3]);

#endif
