/* Version, status and errors, and the context that objects are created with. */
#ifndef HOOKE_BASE_H
#define HOOKE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(HK_BUILD) && defined(__GNUC__)
#define HK_API __attribute__((visibility("default")))
#else
#define HK_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version ------------------------------------------------------------------------------- */

#define HK_VERSION_MAJOR 0
#define HK_VERSION_MINOR 2
#define HK_VERSION_PATCH 0
#define HK_VERSION "0.2.0"
/* One number that grows with the version: 10000 major + 100 minor + patch. */
#define HK_VERSION_NUMBER (HK_VERSION_MAJOR * 10000 + HK_VERSION_MINOR * 100 + HK_VERSION_PATCH)

/* Version of the library that is linked, as "major.minor.patch"; static text. */
HK_API const char *hk_version(void);
/* HK_VERSION_NUMBER of the library that is linked. */
HK_API int hk_version_number(void);

/* ---- Status and errors --------------------------------------------------------------------- */

/* 0 is success, negative is an error, positive is success with something to know. */
typedef enum HkStatus {
  HK_OK = 0,
  HK_DONE = 1,               /* a run has no frame left */
  HK_NOT_CONVERGED = 2,      /* a step was made, but its equations are not met to the tolerance */
  HK_ERROR_INVALID = -1,     /* an argument or a value makes no sense */
  HK_ERROR_MEMORY = -2,      /* memory could not be had */
  HK_ERROR_IO = -3,          /* a file cannot be opened, read or written */
  HK_ERROR_FORMAT = -4,      /* a file's content is wrong */
  HK_ERROR_UNSUPPORTED = -5, /* valid, but not something Hooke does */
  HK_ERROR_BLOWUP = -6,      /* the motion is no longer finite or its energy left the bound */
  HK_ERROR_CANCELLED = -7    /* the caller's HkCancelFn has ended a step; the step is not made */
} HkStatus;

/* What went wrong, in one sentence with a way out; owned by the caller. */
typedef struct HkError {
  HkStatus status;
  int line, column; /* from 1; 0 where there is none */
  char file[512];   /* "" where there is none */
  char key[256];    /* path of the value that is wrong, such as bodies[0].springs.k, or "" */
  char text[1536];  /* the whole message: file, line, column and key, then what is wrong */
  int message;      /* where in text the last part begins */
} HkError;

/* Name of a status, such as "HK_ERROR_IO"; static text. */
HK_API const char *hk_status_name(HkStatus status);

/* ---- Context: memory, log, threads ----------------------------------------------------------- */

/* How much a log line matters. */
typedef enum HkLogLevel { HK_LOG_INFO, HK_LOG_WARNING } HkLogLevel;

/* Who makes the steps of a simulation. */
typedef enum HkDeviceKind {
  HK_CPU,  /* this machine */
  HK_CUDA, /* an NVIDIA GPU, by the plug-in libhooke_cuda (docs/gpu.md), in single precision: steps
            * are then made while the caller goes on, and a blow-up is returned by the first call
            * after the state was read */
  HK_CUDA_DOUBLE, /* the same in double precision, slowly: to check with */
  HK_AUTO, /* HK_CUDA where it is there, supports the model and pays by its size, else HK_CPU;
            * hk_sim_device returns which, and the log says why */
  HK_PETSC /* all processes of HkContext.ranks together, by the plug-in libhooke_petsc
            * (docs/cluster.md) */
} HkDeviceKind;

/* Processes that simulate one model together: hooke/ranks.h; opaque. */
typedef struct HkRanks HkRanks;

/* Where an object takes memory from, where it logs, how many threads it uses. Every create copies
 * it, so it may be a temporary; NULL stands for hk_context_default(). */
typedef struct HkContext {
  /* Like realloc: p NULL allocates, bytes 0 frees and returns NULL. Called from the caller's
   * thread. */
  void *(*resize)(void *memory_user, void *p, size_t bytes);
  void *memory_user;
  /* Receives one line without its end; NULL: nothing is logged. The library never prints. */
  void (*log)(void *log_user, HkLogLevel level, const char *text);
  void *log_user;
  int threads; /* 0: as many as the machine offers; results do not depend on it */
  HkDeviceKind device;
  HkRanks *ranks; /* of HK_PETSC, else NULL; outlives all objects of the context */
  /* Whether scenes may load forces from shared libraries (hooke/extend.h), whose code runs with all
   * rights of the process. False by default: a scene file alone never loads machine code. */
  bool libraries;
} HkContext;

/* The C library's memory, no log, all cores, no libraries. */
HK_API HkContext hk_context_default(void);
/* Bytes of memory that the process can allocate now without swapping, by the limits of machine,
 * container and process, and of the environment variable HOOKE_MEMORY; 0 where it is unknown. */
HK_API double hk_memory_available(void);

#ifdef __cplusplus
}
#endif
#endif
