# The plug-in for MPI and PETSc, libhooke_petsc.so, which is loaded at run time and linked by no target.
if(HOOKE_PETSC)
  find_package(PkgConfig REQUIRED)
  find_package(MPI REQUIRED COMPONENTS C)
  # Debian keeps petsc.pc of each variant in a folder of its own, and PETSc.pc where all are.
  pkg_check_modules(PETSC REQUIRED IMPORTED_TARGET PETSc)
  file(GLOB petsc_sources CONFIGURE_DEPENDS src/backend/petsc/*.c)
  add_library(hooke_petsc MODULE ${petsc_sources})
  target_compile_definitions(hooke_petsc PRIVATE HK_BUILD)
  target_include_directories(hooke_petsc PRIVATE include src)
  target_include_directories(hooke_petsc SYSTEM PRIVATE ${PETSC_INCLUDE_DIRS})
  target_link_libraries(hooke_petsc PRIVATE hooke_flags PkgConfig::PETSC MPI::MPI_C)
  # The macros of PETSc and MPI use what ISO C does not have.
  target_compile_options(hooke_petsc PRIVATE -Wno-pedantic -Wno-shadow)
  set_target_properties(hooke_petsc PROPERTIES C_VISIBILITY_PRESET hidden)
  if(HOOKE_INSTALL)
    install(TARGETS hooke_petsc LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endif()
