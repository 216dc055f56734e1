#!/bin/sh
# SPDX-License-Identifier: MIT
#
# frozen.sh: the headers of a release under tests/abi/<major>.<minor> are those of that release, as their list of digests
# says. Prints what differs; exit 1 where something does.
#
#     frozen.sh            looks
#     frozen.sh <release>  freezes today's headers as a new release
cd "$(dirname "$0")/../../tests/abi" || exit 1
if [ -n "$1" ]; then
    [ ! -e "$1" ] || { echo "tests/abi/$1 is there already" >&2; exit 1; }
    mkdir -p "$1/quernstone/ext" || exit 1
    for name in types plugin kit matmul probe op context ext/abilities; do
        cp "../../core/include/quernstone/$name.h" "$1/quernstone/$name.h" || exit 1
    done
    (cd "$1" && sha256sum quernstone/*.h quernstone/ext/*.h >sha256sums)
    exit
fi
failed=0
for release in [0-9]*.[0-9]*; do
    (cd "$release" && sha256sum --check --quiet --strict sha256sums) || failed=1
    for header in $(cd "$release" && find quernstone -name '*.h'); do
        grep -q " $header\$" "$release/sha256sums" || { echo "$release/$header is not in its list"; failed=1; }
    done
done
exit $failed
