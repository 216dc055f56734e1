#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test.sh: installs packages (as root), builds twice, with and without sanitizers, and runs all tests. The last line
# is the sum: `N passed, N failed`.
set -u
umask 022 # plugins that others may write to are not loaded
cd "$(dirname "$0")/.." || exit 1
. tools/ci/prepare.sh

need_packages "gcc g++ libc6-dev cmake ninja-build pkg-config ocl-icd-opencl-dev opencl-headers pocl-opencl-icd \
libclblast-dev liblmdb-dev libjansson-dev libcmocka-dev" "OpenCL lmdb jansson cmocka"
want_packages clang-format

jobs=$(nproc 2>/dev/null || echo 2)
passed=0 failed=0 skipped=0 unbuilt=

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

# run <folder> <ctest option>...: builds what can be built, tests, and counts.
run() {
    folder=$1
    shift
    build "$folder" -k 0 || {
        failed=$((failed + 1))
        unbuilt="$unbuilt $folder/build.log"
    }
    rm -f "$folder/ctest.log"
    ctest --test-dir "$folder" -j "$jobs" --output-on-failure -O "$folder/ctest.log" "$@"
    if [ -s "$folder/ctest.log" ]; then
        count "$folder/ctest.log"
    else
        failed=$((failed + 1))
    fi
}

dev="-DCMAKE_BUILD_TYPE=Debug -DQST_WERROR=ON -DQST_BUILD_TESTS=ON"
# shellcheck disable=SC2086
if configure build/test $dev; then
    run build/test
else
    failed=$((failed + 1))
fi
# The kernels are the same compiled by the driver, so their tests add nothing here.
# shellcheck disable=SC2086
if configure build/asan $dev "-DQST_SANITIZE=address;undefined"; then
    run build/asan -L "unit|abi|integration"
else
    failed=$((failed + 1))
fi

for log in $unbuilt; do
    echo "did not build: $log"
done
if [ "$skipped" -gt 0 ]; then
    echo "$skipped skipped:"
    grep -h -E '\*\*\*Skipped|\(Disabled\)' build/test/ctest.log build/asan/ctest.log 2>/dev/null
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
