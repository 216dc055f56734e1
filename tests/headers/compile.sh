#!/bin/sh
# SPDX-License-Identifier: MIT
#
# compile.sh: compiles each public header alone, and all in one, with every warning an error.
#
#     compile.sh <standard> <include folder> <OpenCL include folder> <compiler> [<flag>...]
set -u
standard=$1 include=$2 opencl=$3
shift 3
failed=0
all=
for path in $(cd "$include" && find quernstone -name '*.h' | LC_ALL=C sort); do
    line="#include <$path>
"
    all=$all$line
    printf '%sint main(void);\nint main(void) { return 0; }\n' "$line" |
        "$@" "-std=$standard" -Wall -Wextra -Wpedantic -Werror -fsyntax-only "-I$include" -isystem "$opencl" - || {
        echo "$path does not compile alone as $standard"
        failed=1
    }
done
printf '%sint main(void);\nint main(void) { return 0; }\n' "$all" |
    "$@" "-std=$standard" -Wall -Wextra -Wpedantic -Werror -fsyntax-only "-I$include" -isystem "$opencl" - || failed=1
exit $failed
