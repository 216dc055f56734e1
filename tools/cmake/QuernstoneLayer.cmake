# SPDX-License-Identifier: MIT
#
# QuernstoneLayer.cmake: a layer of the house is an OBJECT library that sees itself and the layers named, no others.
#
#     quernstone_layer(<name> [SEES <layer>...] [LINK <target>...] [SOURCES <more globs>...])
#
# It makes qst_<name> from all .c of the current folder. Its only include folder of ours (besides the public headers)
# is one in the build tree that holds a link for each folder it may see: a file of model/ that includes
# "tune/rig.h" does not compile. A layer without sources makes no target.

set(QST_LAYER_FOLDER_base core/base)
set(QST_LAYER_FOLDER_model core/model)
set(QST_LAYER_FOLDER_tune core/tune)
set(QST_LAYER_FOLDER_cl core/cl)
set(QST_LAYER_FOLDER_plug core/plug)
set(QST_LAYER_FOLDER_conf core/conf)
set(QST_LAYER_FOLDER_cache cache)
set(QST_LAYER_FOLDER_run core/run)
set(QST_LAYER_FOLDER_ops core/ops)

# The folder with links to the folders of these layers.
function(quernstone_view out name)
    set(view "${PROJECT_BINARY_DIR}/layers/${name}")
    file(REMOVE_RECURSE "${view}")
    file(MAKE_DIRECTORY "${view}")
    foreach(layer IN LISTS ARGN)
        file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${QST_LAYER_FOLDER_${layer}}" "${view}/${layer}" SYMBOLIC)
    endforeach()
    set(${out} "${view}" PARENT_SCOPE)
endfunction()

function(quernstone_layer name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;SEES;LINK")
    file(GLOB sources CONFIGURE_DEPENDS *.c ${arg_SOURCES})
    if(NOT sources)
        return()
    endif()
    quernstone_view(view ${name} ${name} ${arg_SEES})
    add_library(qst_${name} OBJECT ${sources})
    target_include_directories(qst_${name} PRIVATE "${view}" "${PROJECT_SOURCE_DIR}/core/include")
    target_compile_definitions(qst_${name} PRIVATE QST__BUILDING)
    target_link_libraries(qst_${name} PRIVATE qst_flags ${arg_LINK})
    set_property(GLOBAL APPEND PROPERTY QST_OBJECT_TARGETS qst_${name})
endfunction()
