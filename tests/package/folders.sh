#!/bin/sh
# SPDX-License-Identifier: MIT
#
# folders.sh: the folders that an installation's .pc file, CMake package and command name, as configured: relative to the
# prefix, or absolute, or some levels deep; and who may write to plugins. One plugin is built.
. "$(dirname "$0")/common.sh"
test -n "${TEST_PKG_CONFIG-}" || fail "pkg-config is not installed"

# expect WHAT FOUND WANTED
expect() {
    [ "$2" = "$3" ] || fail "$1 is $2, not $3"
    say "$1: $2"
}

# variable NAME: of quernstone.pc where it is installed, with its dots resolved
variable() {
    realpath -m "$(PKG_CONFIG_PATH=$pc "$TEST_PKG_CONFIG" --variable="$1" quernstone)"
}

# configure NAME ARGUMENT...: the run path of the command into $rpath
configure() {
    build=$scratch/$1
    shift
    "$TEST_CMAKE" -S "$TEST_SOURCE" -B "$build" -DQST_BUILD_TESTS=OFF "-DCMAKE_INSTALL_PREFIX=$scratch/prefix" "$@" \
        >"$scratch/log" || fail "does not configure: $(tail -n 3 "$scratch/log")"
    rpath=$(grep -A 3 'FILE ".*/qst"' "$build/cmake_install.cmake" | sed -n 's/^ *RPATH "\(.*\)")$/\1/p' | tr -d '\\')
}

# installed FOLDER: puts the .pc file there, as an installation would
installed() {
    pc=$1/pkgconfig
    mkdir -p "$pc"
    cp "$build/quernstone.pc" "$pc/"
}

configure relative -DCMAKE_INSTALL_LIBDIR=lib/deep -DCMAKE_INSTALL_BINDIR=bin/deep
installed "$scratch/moved/lib/deep"
expect "relative prefix" "$(variable prefix)" "$scratch/moved"
expect "relative libdir" "$(variable libdir)" "$scratch/moved/lib/deep"
expect "relative includedir" "$(variable includedir)" "$scratch/moved/include"
expect "run path" "$rpath" "\$ORIGIN/../../lib/deep"

configure absolute "-DCMAKE_INSTALL_LIBDIR=$scratch/elsewhere/lib"
installed "$scratch/elsewhere/lib"
expect "absolute prefix" "$(variable prefix)" "$scratch/prefix"
expect "absolute libdir" "$(variable libdir)" "$scratch/elsewhere/lib"
expect "absolute includedir" "$(variable includedir)" "$scratch/prefix/include"
expect "run path" "$rpath" "$scratch/elsewhere/lib"
grep -qF "set(quernstone_PLUGIN_DIR \"$scratch/elsewhere/lib/" "$build/quernstoneConfig.cmake" ||
    fail "the CMake package names another folder for plugins"

# Plugins and their folder are nobody else's to write, as they must be to be loaded, whatever the builder's umask.
umask 002
configure group
"$TEST_CMAKE" --build "$build" --target qst_plugin_naive >"$scratch/log" || fail "does not build: $(tail -n 3 "$scratch/log")"
expect "modes under umask 002" "$(stat -c %a "$build"/lib/quernstone/plugins-* "$build"/lib/quernstone/plugins-*/naive.so | xargs)" "755 755"
grep -q '_DIRECTORY_PERMISSIONS "OWNER_READ;OWNER_WRITE;OWNER_EXECUTE;GROUP_READ;GROUP_EXECUTE;WORLD_READ;WORLD_EXECUTE"' \
    "$build/cmake_install.cmake" || fail "the folder that an installation makes has the builder's umask"
