# shellcheck shell=sh
# SPDX-License-Identifier: MIT
#
# common.sh: what the scripts of this folder share; they source it first. ctest says where everything is by TEST_…
# variables (CMakeLists.txt). Everything that is written lands in $scratch, which begins empty.
set -eu
: "${TEST_CMAKE:?}" "${TEST_SOURCE:?}" "${TEST_BUILD:?}" "${TEST_SCRATCH:?}" "${TEST_CC:?}"
scratch=$TEST_SCRATCH
export CC="$TEST_CC"
if [ -n "${TEST_CXX-}" ]; then
    export CXX="$TEST_CXX"
fi
rm -rf "$scratch"
mkdir -p "$scratch/config"
umask 022

# Nothing of the caller's settings, caches or installations reaches a test. The programs that PoCL compiled are kept
# from run to run beside the scratch folder: a compiler's cache decides nothing here.
unset QST_CONFIG QST_LOG QST_PLUGIN_PATH QST_MODE QST_ENVIRONMENT QST_AUTOTUNE_CACHE QST_AUTOTUNE_LEVEL \
    QST_THROUGHPUT_CACHE QST_PIN QST_DENY LD_LIBRARY_PATH CMAKE_PREFIX_PATH PKG_CONFIG_PATH
export XDG_CACHE_HOME="$scratch/cache" XDG_CONFIG_HOME="$scratch/config" HOME="$scratch"
export POCL_CACHE_DIR="${scratch%/*}/pocl"
mkdir -p "$POCL_CACHE_DIR"

# A file of ours, as a user has it: the CPU device. CLBlast compiles for seconds at its first call and is not what is
# tested here; a slow machine must not cut a race short.
mkdir -p "$XDG_CONFIG_HOME/quernstone"
cat >"$XDG_CONFIG_HOME/quernstone/config.json" <<'END'
{ "device": { "platform": "Portable Computing Language" }, "candidates": { "deny": ["matmul.clblast.*", "matmul.cblas.*"] }, "tune": { "budget_ms": 0 } }
END

say() {
    echo "-- $*"
}
fail() {
    echo "failed: $*" >&2
    exit 1
}

# The build under test to $1.
install_to() {
    "$TEST_CMAKE" --install "$TEST_BUILD" --prefix "$1" >"$scratch/install.log"
}

# Builds the CMake project $1 in the folder $2; what follows goes to the configuration.
build_project() {
    project=$1 folder=$2
    shift 2
    "$TEST_CMAKE" -S "$project" -B "$folder" "$@"
    "$TEST_CMAKE" --build "$folder"
}

# The shipped plugins were found: the winner that the program $1 names, its arguments after it, is not the fallback,
# which a CPU device would otherwise never keep at these sizes.
run_example() {
    say "$1"
    "$@" | tee "$scratch/output"
    grep -q 'right.*, by matmul\.' "$scratch/output" || fail "$1 does not name its winner"
    if grep -q 'by matmul\.naive\.' "$scratch/output"; then
        fail "$1 found no plugin: the fallback won"
    fi
}
