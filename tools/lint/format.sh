#!/bin/sh
# SPDX-License-Identifier: MIT
#
# format.sh: is every .c and .h laid out as .clang-format says? `format.sh --fix` makes it so. Exit 77 (skipped)
# where clang-format 14 is missing: other releases lay some lines out in another way.
cd "$(dirname "$0")/../.." || exit 1
tool=${CLANG_FORMAT:-clang-format}
version=$("$tool" --version 2>/dev/null | sed -n 's/.*version \([0-9]*\)\..*/\1/p')
if [ "${version:-0}" -ne 14 ]; then
    echo "skipped: needs clang-format 14, found ${version:-none}"
    exit 77
fi
list() {
    find core cache plugins tools tests docs -name '*.[ch]' -not -path '*/build/*' | LC_ALL=C sort
}
if [ "${1-}" = --fix ]; then
    list | xargs "$tool" -i
else
    list | xargs "$tool" --dry-run -Werror
fi
