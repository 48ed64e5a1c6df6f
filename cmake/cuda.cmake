# The plug-in for NVIDIA GPUs, libhooke_cuda.so, which is loaded at run time and linked by no target.
if(HOOKE_CUDA)
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90) # Ampere, Hopper, and PTX for all that come later
  endif()
  enable_language(CUDA)
  set(cuda_folder ${PROJECT_SOURCE_DIR}/src/backend/gpu/cuda)
  add_library(hooke_cuda MODULE ${cuda_folder}/plugin.cu ${cuda_folder}/single.cu
    ${cuda_folder}/double.cu ${cuda_folder}/worlds_single.cu ${cuda_folder}/worlds_double.cu
    ${cuda_folder}/sheet_single.cu ${cuda_folder}/sheet_double.cu)
  target_include_directories(hooke_cuda PRIVATE include src)
  # Numbers below 1e-38 are 0, quotients are exact to 2 units in the last place: roots and
  # quotients are single instructions then. Double precision knows neither.
  target_compile_options(hooke_cuda PRIVATE -ftz=true -prec-div=false)
  target_compile_features(hooke_cuda PRIVATE cuda_std_17)
  set_target_properties(hooke_cuda PROPERTIES CUDA_VISIBILITY_PRESET hidden CUDA_RUNTIME_LIBRARY
    Static)
  if(HOOKE_INSTALL)
    install(TARGETS hooke_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endif()
