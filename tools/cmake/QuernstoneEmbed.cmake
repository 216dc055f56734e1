# SPDX-License-Identifier: MIT
#
# QuernstoneEmbed.cmake: OpenCL C sources as headers, for the library and for plugins (installed with the package).
#
#     quernstone_embed_cl(<target> <file.cl>...)
#
# For each file, naive.cl, the target may include "naive.cl.h", which defines
#     static const char naive_cl[];   /* the text and a terminating 0 */
# The header is made anew when the file changes. It needs nothing but CMake.

set(QUERNSTONE_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_DIR}/embed.cmake" CACHE INTERNAL "what makes the headers")

function(quernstone_embed_cl target)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/embed/${target}")
    file(MAKE_DIRECTORY "${folder}")
    foreach(source IN LISTS ARGN)
        get_filename_component(source "${source}" ABSOLUTE)
        get_filename_component(file "${source}" NAME)
        set(header "${folder}/${file}.h")
        add_custom_command(
            OUTPUT "${header}"
            COMMAND "${CMAKE_COMMAND}" "-DIN=${source}" "-DOUT=${header}" -P "${QUERNSTONE_EMBED_SCRIPT}"
            DEPENDS "${source}" "${QUERNSTONE_EMBED_SCRIPT}"
            COMMENT "Embedding ${file}"
            VERBATIM)
        target_sources(${target} PRIVATE "${header}")
    endforeach()
    target_include_directories(${target} PRIVATE "${folder}")
endfunction()
