/* Selects the vector instructions; see isa.h. */
#include "base/isa.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"portable", "avx2", "avx512"};

HkIsa hk_isa_best(void) {
#ifdef HK_WITH_AVX
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    return HK_ISA_AVX512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return HK_ISA_AVX2;
#endif
  return HK_ISA_PORTABLE;
}

HkStatus hk_isa_pick(HkIsa *isa, HkError *error) {
  const char *wanted = getenv("HOOKE_SIMD");
  HkIsa best = hk_isa_best();
  *isa = best;
  if (!wanted || !*wanted) return HK_OK;
  for (int q = HK_ISA_PORTABLE; q <= HK_ISA_AVX512; q++) {
    if (strcmp(wanted, names[q]) != 0) continue;
    if (q > (int)best)
      return hk_fail(error, HK_ERROR_UNSUPPORTED,
                     "HOOKE_SIMD asks for %s, but this machine or this build has %s at most",
                     wanted, names[best]);
    *isa = (HkIsa)q;
    return HK_OK;
  }
  return hk_fail(error, HK_ERROR_INVALID,
                 "HOOKE_SIMD is '%s'; give portable, avx2 or avx512, or leave it away", wanted);
}

const char *hk_isa_name(HkIsa isa) {
  return names[isa];
}
