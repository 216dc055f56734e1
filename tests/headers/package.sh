#!/bin/sh
# SPDX-License-Identifier: MIT
#
# package.sh: installs a build, moves it, and builds and runs a program against it, once found by CMake and once by
# pkg-config.
#
#     package.sh <cmake> <build folder> <consumer's source> <scratch folder> <C compiler> <cmake option>...
set -eu
cmake=$1 build=$2 consumer=$3 scratch=$4 cc=$5
shift 5
rm -rf "$scratch"
mkdir -p "$scratch"
"$cmake" --install "$build" --prefix "$scratch/first" >"$scratch/install.log"
mv "$scratch/first" "$scratch/moved"
lib=$(dirname "$(find "$scratch/moved" -name 'libquernstone.so' | head -n 1)")

"$cmake" -S "$consumer" -B "$scratch/build" "-DCMAKE_PREFIX_PATH=$scratch/moved" "-DCMAKE_C_COMPILER=$cc" \
    -DCMAKE_BUILD_TYPE=Release "$@"
"$cmake" --build "$scratch/build"
"$scratch/build/consumer"
test -f "$scratch/build/twice.so"

flags=$(PKG_CONFIG_PATH="$lib/pkgconfig" pkg-config --cflags --libs quernstone)
# shellcheck disable=SC2086
"$cc" -std=c99 "$consumer/consumer.c" -o "$scratch/by_pkg_config" $flags "-Wl,-rpath,$lib"
"$scratch/by_pkg_config"
if [ -x "$scratch/moved/bin/qst" ]; then
    "$scratch/moved/bin/qst" --help >/dev/null
fi
