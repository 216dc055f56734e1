# SPDX-License-Identifier: MIT
#
# QuernstoneInstall.cmake: what is installed where. The tree may be moved as a whole, unless a folder of it is given as an
# absolute path.

include(CMakePackageConfigHelpers)

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/quernstone")
set(tools "${PROJECT_SOURCE_DIR}/tools/cmake")

set(CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS ${QST_FOLDER_PERMISSIONS})
install(DIRECTORY "${PROJECT_SOURCE_DIR}/core/include/quernstone" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    FILES_MATCHING PATTERN "*.h")
install(TARGETS quernstone EXPORT quernstone LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
get_property(plugins GLOBAL PROPERTY QST_PLUGIN_TARGETS)
if(plugins)
    install(TARGETS ${plugins} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/${QST_PLUGIN_FOLDER}")
endif()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/plugins/template/" DESTINATION "${CMAKE_INSTALL_DATADIR}/quernstone/plugin-template")
install(TARGETS qst-ahead qst-try RUNTIME DESTINATION "${CMAKE_INSTALL_LIBDIR}/quernstone")
if(TARGET qst)
    install(TARGETS qst RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()

install(EXPORT quernstone NAMESPACE quernstone:: FILE quernstoneTargets.cmake DESTINATION "${package}")
configure_package_config_file("${tools}/quernstoneConfig.cmake.in" quernstoneConfig.cmake
    INSTALL_DESTINATION "${package}"
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(quernstoneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
    "${PROJECT_BINARY_DIR}/quernstoneConfig.cmake"
    "${PROJECT_BINARY_DIR}/quernstoneConfigVersion.cmake"
    "${tools}/QuernstoneEmbed.cmake"
    "${tools}/embed.cmake"
    DESTINATION "${package}")

# The prefix as seen from the .pc file, so that pkg-config follows a moved tree too.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    set(QST_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
else()
    file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
    string(REGEX REPLACE "/$" "" QST_PC_PREFIX "\${pcfiledir}/${up}")
endif()
foreach(folder IN ITEMS LIBDIR INCLUDEDIR)
    set(QST_PC_${folder} "${CMAKE_INSTALL_${folder}}")
    if(NOT IS_ABSOLUTE "${QST_PC_${folder}}")
        string(PREPEND QST_PC_${folder} "\${prefix}/")
    endif()
endforeach()
configure_file("${tools}/quernstone.pc.in" quernstone.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/quernstone.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
