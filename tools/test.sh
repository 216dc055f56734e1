#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test.sh: installs packages (as root), builds thrice, without and with sanitizers, and runs all tests. The last line
# is the sum: `N passed, N failed`.
set -u
umask 022 # plugins that others may write to are not loaded
cd "$(dirname "$0")/.." || exit 1
. tools/ci/prepare.sh

need_packages "gcc g++ libc6-dev cmake ninja-build pkg-config ocl-icd-opencl-dev opencl-headers pocl-opencl-icd \
libclblast-dev liblmdb-dev libjansson-dev libcmocka-dev" "OpenCL lmdb jansson cmocka"
want_packages clang-format

jobs=$(nproc 2>/dev/null || echo 2)
passed=0 failed=0 skipped=0 unbuilt='' launcher='' threads=''

# A test that ctest could not start is a failed one; the sum is taken from ctest's line for each test.
count() { # ctest's output
    # shellcheck disable=SC2046
    set -- $(awk '
        /^ *[0-9]+\/[0-9]+ Test +#[0-9]+:/ {
            if (/ Passed +[0-9.]+ sec/) p++
            else if (/\*\*\*Skipped|\(Disabled\)/) s++
            else f++
        }
        END { print p + 0, f + 0, s + 0 }' "$1")
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

# run <folder> <target> <ctest option>...: builds what can be built, tests, and counts.
run() {
    folder=$1 target=$2
    shift 2
    build "$folder" -k 0 "$target" || {
        failed=$((failed + 1))
        unbuilt="$unbuilt $folder/build.log"
    }
    rm -f "$folder/ctest.log"
    # shellcheck disable=SC2086
    $launcher ctest --test-dir "$folder" -j "$jobs" --output-on-failure -O "$folder/ctest.log" "$@"
    if [ -s "$folder/ctest.log" ]; then
        count "$folder/ctest.log"
    else
        failed=$((failed + 1))
    fi
}

# Sets `launcher` to what makes the thread sanitizer's programs run, or `why` they do not: its shadow memory has fixed
# places, which more randomness of addresses than it knows of may take.
probe_tsan() { # a folder
    mkdir -p "$1"
    echo 'int main(void) { return 0; }' >"$1/tsan.c"
    if ! why=$("${CC:-cc}" -fsanitize=thread -o "$1/tsan" "$1/tsan.c" 2>&1); then
        why=$(echo "$why" | head -n 1)
        return 1
    fi
    for launcher in "setarch -R" ""; do
        # shellcheck disable=SC2034
        for try in 1 2 3 4; do
            # shellcheck disable=SC2086
            why=$($launcher "$1/tsan" 2>&1) || continue 2
        done
        return 0
    done
    why=$(echo "$why" | head -n 1)
    return 1
}

dev="-DCMAKE_BUILD_TYPE=Debug -DQST_WERROR=ON -DQST_BUILD_TESTS=ON"
# What PoCL compiled for one of the builds, the next need not wait for again.
pocl="-DQST_TEST_POCL_CACHE=$PWD/build/pocl"
# shellcheck disable=SC2086
if configure build/test $dev "$pocl"; then
    run build/test all
else
    failed=$((failed + 1))
fi
# The kernels are the same compiled by the driver, so their tests add nothing here.
# shellcheck disable=SC2086
if configure build/asan $dev "$pocl" "-DQST_SANITIZE=address;undefined"; then
    run build/asan all -L "unit|abi|integration"
else
    failed=$((failed + 1))
fi
# No OpenCL driver is instrumented for threads, so only what runs without one is tested here.
# shellcheck disable=SC2086
if ! probe_tsan build/probe; then
    threads="build/tsan: skipped, programs under the thread sanitizer do not run here: ${why:-no reason given}"
elif configure build/tsan $dev -DQST_SANITIZE=thread; then
    run build/tsan tests_unit -L unit
else
    failed=$((failed + 1))
fi

for log in $unbuilt; do
    echo "did not build: $log"
done
if [ "$skipped" -gt 0 ]; then
    echo "$skipped skipped:"
    grep -h -E '\*\*\*Skipped|\(Disabled\)' build/test/ctest.log build/asan/ctest.log build/tsan/ctest.log 2>/dev/null
fi
if [ -n "$threads" ]; then
    echo "$threads"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
