#!/bin/sh
# SPDX-License-Identifier: MIT
#
# try.sh: from a bare Debian 12 to the main job: installs packages (as root), builds, tunes four shapes.
# `sh tools/try.sh 512 768` tunes others.
set -u
umask 022 # plugins that others may write to are not loaded
cd "$(dirname "$0")/.." || exit 1
. tools/ci/prepare.sh

need_packages "gcc libc6-dev cmake ninja-build pkg-config ocl-icd-opencl-dev opencl-headers pocl-opencl-icd \
libclblast-dev liblmdb-dev libjansson-dev" "OpenCL lmdb jansson"

configure build/try -DCMAKE_BUILD_TYPE=Release -DQST_BUILD_TESTS=OFF || exit 1
build build/try || exit 1

# Nothing stored by an earlier run, or by others on this machine, takes part.
rm -rf build/try/private
mkdir -p build/try/private
XDG_CACHE_HOME=$PWD/build/try/private
XDG_CONFIG_HOME=$PWD/build/try/private/config
POCL_CACHE_DIR=$PWD/build/try/private/pocl
export XDG_CACHE_HOME XDG_CONFIG_HOME POCL_CACHE_DIR
mkdir -p "$POCL_CACHE_DIR"

if [ $# -eq 0 ]; then
    set -- 240 208 250 512
fi
build/try/bin/qst shapes "$@" || exit 1
say "that was build/try/bin/qst shapes $* with caches of its own in build/try/private; elsewhere it uses ~/.cache/quernstone"
