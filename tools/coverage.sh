#!/bin/sh
# SPDX-License-Identifier: MIT
#
# coverage.sh [FOLDER]: builds with counters (build/coverage), runs the unit and integration tests and prints, folder
# by folder, how many of the lines that could run did. Needs gcc's gcov, no more. With FOLDER (core/run), also each
# file there with the lines that did not run.
set -u
umask 022
cd "$(dirname "$0")/.." || exit 1
. tools/ci/prepare.sh

place=build/coverage
root=$(pwd -P)
command -v gcov >/dev/null 2>&1 || {
    say "missing: gcov, which comes with gcc"
    exit 1
}
configure $place -DCMAKE_BUILD_TYPE=Debug -DQST_BUILD_TESTS=ON -DQST_COVERAGE=ON || exit 1
# What earlier runs counted is not this one's.
find $place -name '*.gcda' -delete
failed=0
build $place -k 0 || failed=1
ctest --test-dir $place -j "$(nproc 2>/dev/null || echo 2)" -L 'unit|integration' --output-on-failure >$place/ctest.log 2>&1 ||
    failed=1
tail -n 3 $place/ctest.log | head -n 1

# A file compiled several times, a header above all, has run where any of its copies has: gcov's listings are merged by
# file and line. Files of the library, plugins and command; the tests themselves tell nothing.
find "$root/$place" -name '*.gcda' -print0 |
    (cd $place && xargs -0 -r gcov -t -r -s "$root" 2>gcov.log) |
    awk -F: -v wanted="${1:-}" '
        { count = $1; gsub(/[ \t]/, "", count); line = $2 + 0 }
        line == 0 { if ($3 == "Source") { file = $4; counted = file !~ /^(tests|build)\// && file ~ /\.[ch]$/ } next }
        !counted || count == "-" { next }
        {
            at = file SUBSEP line
            if (!(at in ran)) { ran[at] = 0; lines[file]++ }
            if (count !~ /^[#=]/ && !ran[at]) { ran[at] = 1; done[file]++ }
        }
        function share(name, part, whole) { return sprintf("%6.1f %%  %6d of %6d  %s", 100 * part / whole, part, whole, name) }
        END {
            for (file in lines) {
                folder = file; sub(/\/[^\/]*$/, "", folder)
                all[folder] += lines[file]; got[folder] += done[file]
                total += lines[file]; reached += done[file]
            }
            sorter = "sort -k6"
            for (folder in all) print share(folder, got[folder], all[folder]) | sorter
            close(sorter)
            if (total) print share("all", reached, total)
            for (at in ran) {
                split(at, part, SUBSEP); folder = part[1]; sub(/\/[^\/]*$/, "", folder)
                if (wanted != "" && folder == wanted && !ran[at])
                    missed[part[1]] = missed[part[1]] " " part[2]
            }
            for (file in missed) {
                n = split(missed[file], numbers, " ")
                for (i = 2; i <= n; i++)
                    for (j = i; j > 1 && numbers[j - 1] + 0 > numbers[j] + 0; j--) {
                        swap = numbers[j]; numbers[j] = numbers[j - 1]; numbers[j - 1] = swap
                    }
                text = ""
                for (i = 1; i <= n; i++) text = text " " numbers[i]
                printf "%s: not run:%s\n", file, text
            }
            exit total == 0
        }' || failed=1
exit $failed
