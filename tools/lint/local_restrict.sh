#!/bin/sh
# SPDX-License-Identifier: MIT
#
# local_restrict.sh: no kernel takes local memory by a restrict pointer, unless its groups are of one work-item. Other
# work-items write there, which restrict denies, and a compiler that believes it moves loads over a barrier: NVIDIA's
# gave wrong sums for it.
#
#     local_restrict.sh [<root>]      exit 1, with a line for each that does
cd "${1:-$(dirname "$0")/../..}" || exit 1
failed=0
for file in $(find kernels_cl docs tests -name '*.cl'); do
    grep -q 'reqd_work_group_size(1, 1, 1)' "$file" && continue
    if grep -nE '(^|[^a-z_])(__)?local +[A-Za-z_0-9]+ *\*[a-z ]*restrict' "$file"; then
        echo "$file: local memory by a restrict pointer, above"
        failed=1
    fi
done
exit $failed
