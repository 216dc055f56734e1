#!/bin/sh
# SPDX-License-Identifier: MIT
#
# examples.sh: docs/examples built and run against an installed package, found by CMake and by pkg-config.
. "$(dirname "$0")/common.sh"
examples=$TEST_SOURCE/docs/examples
install_to "$scratch/prefix"

build_project "$examples" "$scratch/cmake" "-DCMAKE_PREFIX_PATH=$scratch/prefix" \
    "-DCMAKE_C_FLAGS=-Wall -Wextra -Wpedantic -Werror" "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Wpedantic -Werror"
run_example "$scratch/cmake/embed_c"
grep -q '^refused as it must be: a: .*needs' "$scratch/output" || fail "embed_c tells of no refusal with its numbers"
if [ -n "${TEST_CXX-}" ]; then
    run_example "$scratch/cmake/embed_cpp"
fi

test -n "${TEST_PKG_CONFIG-}" || fail "pkg-config is not installed"
pc=$(find "$scratch/prefix" -name quernstone.pc)
lib=$(dirname "$(dirname "$pc")")
flags=$(PKG_CONFIG_PATH=${pc%/*} "$TEST_PKG_CONFIG" --cflags --libs quernstone)
# shellcheck disable=SC2086
"$TEST_CC" -std=c99 "$examples/embed.c" -o "$scratch/embed_c" $flags "-Wl,-rpath,$lib"
run_example "$scratch/embed_c"
if [ -n "${TEST_CXX-}" ]; then
    # shellcheck disable=SC2086
    "$TEST_CXX" -std=c++11 "$examples/embed.cpp" -o "$scratch/embed_cpp" $flags "-Wl,-rpath,$lib"
    run_example "$scratch/embed_cpp"
fi
