# Where everything goes under the prefix. No file knows the prefix, so that the tree may be moved.

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/hooke)
set(data_folder ${CMAKE_INSTALL_DATADIR}/hooke)

install(DIRECTORY include/hooke DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS hooke EXPORT hooke_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS hooke_static EXPORT hooke_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET hooke_program)
  install(TARGETS hooke_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET hooke_schema)
  install(FILES ${scene_schema} DESTINATION ${data_folder})
endif()
# Where man and the shells look for files of packages.
if(TARGET hooke_shell_files)
  set(completion_folder ${PROJECT_BINARY_DIR}/completion)
  install(FILES ${PROJECT_BINARY_DIR}/hooke.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${completion_folder}/hooke.bash RENAME hooke
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${completion_folder}/hooke.zsh RENAME _hooke
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${completion_folder}/hooke.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
install(DIRECTORY scenes DESTINATION ${data_folder} OPTIONAL)
# The page, where 'make web' has built it; CMakeLists.txt defines its folder for the program.
install(DIRECTORY web/dist/ DESTINATION ${data_folder}/web OPTIONAL)
install(FILES LICENSE README.md CHANGELOG.md ARCHITECTURE.md DESTINATION ${CMAKE_INSTALL_DOCDIR}
  OPTIONAL)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)

# find_package(hooke): the shared library by itself; the static one with what it is linked with.
install(EXPORT hooke_shared NAMESPACE hooke:: FILE hookeShared.cmake DESTINATION ${package_folder})
install(EXPORT hooke_static NAMESPACE hooke:: FILE hookeStatic.cmake DESTINATION ${package_folder})
configure_package_config_file(cmake/hookeConfig.cmake.in generated/hookeConfig.cmake
  INSTALL_DESTINATION ${package_folder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(generated/hookeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion) # until 1.0.0 the interface may change with the minor version
install(FILES ${PROJECT_BINARY_DIR}/generated/hookeConfig.cmake
  ${PROJECT_BINARY_DIR}/generated/hookeConfigVersion.cmake DESTINATION ${package_folder})

# pkg-config: the prefix is found from the place of hooke.pc itself.
file(RELATIVE_PATH pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH pc_libdir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH pc_includedir ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
string(REGEX REPLACE "/$" "" pc_prefix "${pc_prefix}")
list(JOIN cholmod_link " " pc_cholmod)
configure_file(cmake/hooke.pc.in generated/hooke.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/hooke.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
