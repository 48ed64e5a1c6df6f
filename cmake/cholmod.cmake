# SuiteSparse CHOLMOD, as HOOKE_CHOLMOD asks for it. It comes without a pkg-config file in many systems,
# so its header and library are looked for by themselves. Sets
#   HOOKE_WITH_CHOLMOD   whether Hooke is built with it
#   cholmod_folder       of the library
#   cholmod_link         what a program links that uses the installed libhooke.a

set(HOOKE_WITH_CHOLMOD FALSE)
set(cholmod_folder "")
set(cholmod_link "")
if(HOOKE_CHOLMOD)
  find_path(CHOLMOD_INCLUDE_DIR cholmod.h PATH_SUFFIXES suitesparse)
  find_library(CHOLMOD_LIBRARY cholmod)
  mark_as_advanced(CHOLMOD_INCLUDE_DIR CHOLMOD_LIBRARY)
  if(CHOLMOD_INCLUDE_DIR AND CHOLMOD_LIBRARY)
    # A library for another machine, or a static one without what it needs, does not link.
    set(CMAKE_REQUIRED_INCLUDES ${CHOLMOD_INCLUDE_DIR})
    set(CMAKE_REQUIRED_LIBRARIES ${CHOLMOD_LIBRARY} ${CMAKE_DL_LIBS})
    check_source_compiles(C "
      #include <cholmod.h>
      int main(void) { cholmod_common c; return !cholmod_l_start(&c) || !cholmod_l_finish(&c); }"
      HOOKE_CHOLMOD_LINKS)
    unset(CMAKE_REQUIRED_INCLUDES)
    unset(CMAKE_REQUIRED_LIBRARIES)
    set(HOOKE_WITH_CHOLMOD ${HOOKE_CHOLMOD_LINKS})
  endif()
  if(HOOKE_WITH_CHOLMOD)
    get_filename_component(cholmod_folder "${CHOLMOD_LIBRARY}" DIRECTORY)
    if(NOT cholmod_folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
      list(APPEND cholmod_link -L${cholmod_folder})
    endif()
    list(APPEND cholmod_link -lcholmod)
    foreach(name IN LISTS CMAKE_DL_LIBS)
      list(APPEND cholmod_link -l${name})
    endforeach()
    message(STATUS "CHOLMOD: ${CHOLMOD_LIBRARY}")
  elseif(NOT HOOKE_CHOLMOD STREQUAL "AUTO")
    message(FATAL_ERROR "CHOLMOD is not there or does not link. Install SuiteSparse with its headers "
      "(libsuitesparse-dev), or build without it: -D HOOKE_CHOLMOD=OFF")
  else()
    message(STATUS "CHOLMOD: not found; the linear solver ldlt takes the place of cholesky")
  endif()
elseif(NOT HOOKE_CHOLMOD)
  message(STATUS "CHOLMOD: left out, as HOOKE_CHOLMOD says")
endif()
