#!/bin/sh
# SPDX-License-Identifier: MIT
#
# subproject.sh: Quernstone as a folder of somebody's project, added by add_subdirectory; the examples are that
# somebody's programs. Nothing is installed.
. "$(dirname "$0")/common.sh"
mkdir -p "$scratch/parent"
cat >"$scratch/parent/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project(parent LANGUAGES C)
set(QST_BUILD_TOOLS OFF)
add_subdirectory("$TEST_SOURCE" quernstone)
if(TARGET qst OR TARGET qst_test_flags)
    message(FATAL_ERROR "a subproject builds no command unless asked, and no tests")
endif()
add_subdirectory("$TEST_SOURCE/docs/examples" examples)
END
# Unoptimised, since only that it builds and finds its plugins is looked at.
build_project "$scratch/parent" "$scratch/build" -DCMAKE_BUILD_TYPE=Debug
run_example "$scratch/build/examples/embed_c"
if [ -n "${TEST_CXX-}" ]; then
    run_example "$scratch/build/examples/embed_cpp"
fi
