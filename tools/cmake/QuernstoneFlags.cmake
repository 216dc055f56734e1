# SPDX-License-Identifier: MIT
#
# QuernstoneFlags.cmake: how C is compiled here: one interface target, qst_flags, that every target of ours links.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)

add_library(qst_flags INTERFACE)
# OpenCL 1.2 is what every device has; what is newer is looked up at run time.
target_compile_definitions(qst_flags INTERFACE _POSIX_C_SOURCE=200809L CL_TARGET_OPENCL_VERSION=120)
target_compile_options(qst_flags INTERFACE
    -fPIC
    -fvisibility=hidden
    -Wall
    -Wextra
    -Wpedantic
    -Wshadow
    -Wstrict-prototypes
    -Wmissing-prototypes
    -Wconversion
    -Wno-sign-conversion
    -Wvla
    $<$<BOOL:${QST_WERROR}>:-Werror>)

if(QST_SANITIZE)
    list(JOIN QST_SANITIZE "," sanitizers)
    target_compile_options(qst_flags INTERFACE "-fsanitize=${sanitizers}" -fno-omit-frame-pointer
        -fno-sanitize-recover=all)
    target_link_options(qst_flags INTERFACE "-fsanitize=${sanitizers}")
endif()

# Counters are added to by atomics, because threads share them.
if(QST_COVERAGE)
    target_compile_options(qst_flags INTERFACE --coverage -fprofile-update=atomic -fprofile-abs-path)
    target_link_options(qst_flags INTERFACE --coverage)
endif()

# Every symbol of a shared object is found when it is linked, not when it is loaded. Clang leaves the run time of a
# sanitizer to the executable.
if(NOT (QST_SANITIZE AND CMAKE_C_COMPILER_ID MATCHES Clang))
    set(QST_LINK_DEFS -Wl,-z,defs)
endif()
