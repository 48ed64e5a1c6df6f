/* Vector instruction sets, and the selection of one at run time.
 *
 * The inner loops of Hooke are in src/FOLDER/kernels. Each such file uses the vector types of
 * simd.h and is compiled for every instruction set below; a simulation selects one table of its
 * functions when it is created.
 */
#ifndef HK_BASE_ISA_H
#define HK_BASE_ISA_H

#include "base/status.h"

typedef enum HkIsa {
  HK_ISA_PORTABLE, /* 16-byte vectors of the compiler: SSE2, NEON, WebAssembly or plain C */
  HK_ISA_AVX2,     /* with fused multiply-add */
  HK_ISA_AVX512    /* F, DQ, BW and VL */
} HkIsa;

/* Returns the widest instruction set that this machine and this build support. */
HkIsa hk_isa_best(void);
/* *isa becomes the widest instruction set, or the one that the environment variable HOOKE_SIMD
 * names: portable, avx2 or avx512. Returns an error if it is not supported. */
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
