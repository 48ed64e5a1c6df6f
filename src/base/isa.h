/* Which vector instructions there are.
 *
 * The inner loops of Hooke stand in src/FOLDER/kernels. Each such file is written once with the
 * vector types of simd.h and compiled for every instruction set below; a table of its functions is
 * picked when a simulation is made.
 */
#ifndef HK_BASE_ISA_H
#define HK_BASE_ISA_H

#include "base/status.h"

typedef enum HkIsa {
  HK_ISA_PORTABLE, /* 16-byte vectors of the compiler: SSE2, NEON, WebAssembly or plain C */
  HK_ISA_AVX2,     /* with fused multiply-add */
  HK_ISA_AVX512    /* F, DQ, BW and VL */
} HkIsa;

/* The best that this machine and this build have. */
HkIsa hk_isa_best(void);
/* The best one, or the one that the environment variable HOOKE_SIMD asks for: portable, avx2 or
 * avx512. One that is not there is an error. */
HkStatus hk_isa_pick(HkIsa *isa, HkError *error);
const char *hk_isa_name(HkIsa isa);

/* HK_KERNEL_TABLE(HkFooKernels, hk_foo_kernels) defines hk_foo_kernels_of(isa), which returns the
 * table that src/FOLDER/kernels defines as HK_KERNEL(hk_foo_kernels). */
#ifdef HK_WITH_AVX
#define HK_KERNEL_TABLE(Type, name)                                                                \
  extern const Type name##_portable, name##_avx2, name##_avx512;                                   \
  static const Type *name##_of(HkIsa isa) {                                                        \
    if (isa == HK_ISA_AVX512) return &name##_avx512;                                               \
    return isa == HK_ISA_AVX2 ? &name##_avx2 : &name##_portable;                                   \
  }
#else
#define HK_KERNEL_TABLE(Type, name)                                                                \
  extern const Type name##_portable;                                                               \
  static const Type *name##_of(HkIsa isa) {                                                        \
    (void)isa;                                                                                     \
    return &name##_portable;                                                                       \
  }
#endif

#endif
