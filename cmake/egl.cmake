# EGL, OpenGL ES 3 and libpng, with which `hooke render` draws, as HOOKE_EGL asks for them. Sets
#   HOOKE_WITH_EGL   whether the program is built with all three: PkgConfig::EGL, GLES and PNG

set(HOOKE_WITH_EGL FALSE)
if(HOOKE_EGL AND HOOKE_PROGRAM)
  if(PkgConfig_FOUND)
    pkg_check_modules(EGL QUIET IMPORTED_TARGET egl>=1.5)
    pkg_check_modules(GLES QUIET IMPORTED_TARGET glesv2>=3.0)
    pkg_check_modules(PNG QUIET IMPORTED_TARGET libpng>=1.6)
  endif()
  if(EGL_FOUND AND GLES_FOUND AND PNG_FOUND)
    set(HOOKE_WITH_EGL TRUE)
    message(STATUS "EGL: ${EGL_VERSION}, with libpng ${PNG_VERSION}")
  elseif(NOT HOOKE_EGL STREQUAL "AUTO")
    message(FATAL_ERROR "EGL, OpenGL ES or libpng is not there. Install them with their headers "
      "(libegl-dev, libgles-dev, libpng-dev), or build without them: -D HOOKE_EGL=OFF")
  else()
    message(STATUS "EGL: not found together with OpenGL ES and libpng; hooke render cannot draw")
  endif()
elseif(HOOKE_PROGRAM)
  message(STATUS "EGL: left out, as HOOKE_EGL says")
endif()
