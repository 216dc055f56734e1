#!/bin/sh
# SPDX-License-Identifier: MIT
#
# opencl_free.sh: types.h, plugin.h, kit.h and store.h name CL handles by their struct tags and pull in no CL header.
#
#     opencl_free.sh [<C compiler>]
cc=${1:-cc}
cd "$(dirname "$0")/../.." || exit 1
failed=0
for header in types plugin kit store version; do
    found=$(echo "#include <quernstone/$header.h>" | "$cc" -std=c11 -Icore/include -M -x c - | tr ' ' '\n') || exit 1
    if echo "$found" | grep '/CL/'; then
        echo "core/include/quernstone/$header.h: pulls in the CL header above"
        failed=1
    fi
done
exit $failed
