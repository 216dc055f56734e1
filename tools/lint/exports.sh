#!/bin/sh
# SPDX-License-Identifier: MIT
#
# exports.sh: the library exports qst_… and nothing internal (qst__…); a plugin exports qst_plugin_v1 and nothing else.
#
#     exports.sh <nm> <library> [<plugin>...]
nm=$1 library=$2
shift 2
failed=0
# One line a file: its exports, without a version's own symbol (type A) and what a compiler adds (__…).
names() {
    "$nm" -D --defined-only "$1" | awk '$2 != "A" && $3 !~ /^__/ { sub(/@.*/, "", $3); printf "%s ", $3 }'
}
bad=$(names "$library" | tr ' ' '\n' | grep -Ev '^(qst_[a-z0-9]|$)' | tr '\n' ' ')
if [ -n "$bad" ]; then
    echo "$library exports: $bad"
    failed=1
fi
for plugin; do
    shown=$(names "$plugin")
    if [ "$shown" != "qst_plugin_v1 " ]; then
        echo "$plugin exports: $shown"
        failed=1
    fi
done
exit $failed
