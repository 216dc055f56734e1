# SPDX-License-Identifier: MIT
#
# QuernstoneEmbed.cmake: OpenCL C sources as headers, for the library and for plugins (installed with the package).
#
#     quernstone_embed_cl(<target> <file.cl>...)
#     quernstone_join_cl(<target> <name.cl> <file.cl>...)    the files one after the other, as if they were name.cl
#
# For each file, naive.cl, the target may include "naive.cl.h", which defines
#     static const char naive_cl[];   /* the text and a terminating 0 */
# The header is made anew when the file changes. It needs nothing but CMake.

set(QUERNSTONE_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/embed.cmake" CACHE INTERNAL "what makes the headers")

function(quernstone_join_cl target name)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/embed/${target}")
    file(MAKE_DIRECTORY "${folder}")
    set(sources "")
    foreach(source IN LISTS ARGN)
        get_filename_component(source "${source}" ABSOLUTE)
        list(APPEND sources "${source}")
    endforeach()
    string(MAKE_C_IDENTIFIER "${name}" array)
    set(header "${folder}/${name}.h")
    add_custom_command(
        OUTPUT "${header}"
        COMMAND "${CMAKE_COMMAND}" "-DIN=${sources}" "-DOUT=${header}" "-DNAME=${array}" -P "${QUERNSTONE_EMBED_SCRIPT}"
        DEPENDS ${sources} "${QUERNSTONE_EMBED_SCRIPT}"
        COMMENT "Embedding ${name}"
        VERBATIM)
    target_sources(${target} PRIVATE "${header}")
    target_include_directories(${target} PRIVATE "${folder}")
endfunction()

function(quernstone_embed_cl target)
    foreach(source IN LISTS ARGN)
        get_filename_component(file "${source}" NAME)
        quernstone_join_cl(${target} "${file}" "${source}")
    endforeach()
endfunction()
