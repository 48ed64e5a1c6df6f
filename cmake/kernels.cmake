# The inner loops in src/*/kernels/*.c, compiled once for each instruction set (src/base/isa.h). Sets
#   HOOKE_WITH_AVX   whether there are more than the portable ones
#   kernel_objects   what the libraries take in

check_source_compiles(C "
  typedef float Four __attribute__((vector_size(16)));
  int main(void) {
    Four v = {0};
    return (int)__builtin_shufflevector(v, v, 0, 4, 1, 5)[0];
  }" HOOKE_HAS_VECTORS)
if(NOT HOOKE_HAS_VECTORS)
  message(FATAL_ERROR "Hooke requires a compiler with __builtin_shufflevector: gcc 12 or clang, "
    "or newer; choose one with -D CMAKE_C_COMPILER=clang")
endif()

option(HOOKE_AVX "Compile the inner loops for AVX2 and AVX-512 too, picked when Hooke runs" ON)
set(HOOKE_WITH_AVX FALSE)
if(HOOKE_AVX AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  include(CheckCCompilerFlag)
  check_c_compiler_flag("-mavx512f -mavx512dq -mavx512bw -mavx512vl -mfma" HOOKE_HAS_AVX512)
  set(HOOKE_WITH_AVX ${HOOKE_HAS_AVX512})
endif()

file(GLOB kernel_sources CONFIGURE_DEPENDS src/*/kernels/*.c)
# Those in single precision may contract a * b + c; the others give the same bits everywhere.
foreach(source IN LISTS kernel_sources)
  if(source MATCHES "_single\\.c$")
    set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS -ffp-contract=fast)
  endif()
endforeach()

# With all of its checks clang takes minutes for these files; a null pointer or one that overflows is
# found by the address sanitizer.
set(kernel_options -fno-math-errno -fno-trapping-math)
if(HOOKE_SANITIZE MATCHES "undefined")
  list(APPEND kernel_options -fno-sanitize=null,pointer-overflow)
endif()

set(kernel_objects "")
function(add_kernels isa bytes)
  add_library(hooke_kernels_${isa} OBJECT ${kernel_sources})
  target_include_directories(hooke_kernels_${isa} PRIVATE include src)
  target_compile_definitions(hooke_kernels_${isa} PRIVATE HK_BUILD HK_ISA_NAME=${isa}
    HK_SIMD_BYTES=${bytes})
  target_compile_options(hooke_kernels_${isa} PRIVATE ${kernel_options} ${ARGN})
  target_link_libraries(hooke_kernels_${isa} PRIVATE hooke_flags)
  set_target_properties(hooke_kernels_${isa} PROPERTIES POSITION_INDEPENDENT_CODE ${HOOKE_PIC}
    C_VISIBILITY_PRESET hidden)
  set(kernel_objects ${kernel_objects} $<TARGET_OBJECTS:hooke_kernels_${isa}> PARENT_SCOPE)
endfunction()

add_kernels(portable 16)
if(HOOKE_WITH_AVX)
  add_kernels(avx2 32 -mavx2 -mfma)
  add_kernels(avx512 64 -mavx512f -mavx512dq -mavx512bw -mavx512vl -mavx2 -mfma
    -mprefer-vector-width=512)
endif()
