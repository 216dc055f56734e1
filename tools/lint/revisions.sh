#!/bin/sh
# SPDX-License-Identifier: MIT
#
# revisions.sh: a kernel that changed needs a candidate revision that rose. revisions.txt has a line for each plugin and
# each kernel that its kernels.txt names: SHA-256 of the kernel's text, the plugin's revisions, plugin, kernel.
# Comments and the amount of white space do not count. A plugin's revisions are the numbers that its sources give to a
# member or a define called revision, in the order of the files.
#
#     revisions.sh [<root>]            exit 1, with a line for each, where table and tree disagree
#     revisions.sh --update [<root>]   writes the table anew; refused where a text changed and no revision rose
if [ "$1" = --update ]; then
    update=1
    shift
fi
cd "${1:-$(dirname "$0")/../..}" || exit 1
table=tools/lint/revisions.txt
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# The text without comments, each run of white space one blank; strings stay as they are.
plain() { # file
    awk 'BEGIN { RS = "\001" }
    {
        while (length($0) > 0) {
            if (!match($0, /"|\047|\/\*|\/\//)) { code($0); break }
            code(substr($0, 1, RSTART - 1))
            start = substr($0, RSTART, RLENGTH)
            $0 = substr($0, RSTART + RLENGTH)
            if (start == "/*") { i = index($0, "*/"); $0 = i ? substr($0, i + 2) : ""; code(" ") }
            else if (start == "//") { i = index($0, "\n"); $0 = i ? substr($0, i) : ""; code(" ") }
            else {
                match($0, start == "\"" ? "^([^\"\\\\]|\\\\.)*\"" : "^([^\047\\\\]|\\\\.)*\047")
                n = RSTART ? RLENGTH : length($0)
                out = out start substr($0, 1, n)
                $0 = substr($0, n + 1)
            }
        }
    }
    function code(text) { gsub(/[ \t\r\n]+/, " ", text); out = out text }
    END { gsub(/  +/, " ", out); sub(/ $/, "", out); print out }' "$1"
}

revisions() { # plugin: "1" or "1,1,2", by file and line
    LC_ALL=C find "plugins/$1" -maxdepth 1 -name '*.c' | LC_ALL=C sort | while read -r source; do
        sed -nE 's/.*\<[A-Z0-9_]*(revision *=|REVISION) *([0-9]+).*/\2/p' "$source"
    done | paste -s -d, -
}

for list in plugins/*/kernels.txt; do
    plugin=$(basename "$(dirname "$list")")
    # A plugin with a build of its own is not ours to watch.
    [ -f "$list" ] && [ ! -f "plugins/$plugin/CMakeLists.txt" ] || continue
    now=$(revisions "$plugin")
    sed -e 's/#.*//' "$list" | while read -r kernel; do
        [ -n "$kernel" ] || continue
        text=missing
        [ -f "$kernel" ] && text=$(plain "$kernel" | sha256sum | cut -d' ' -f1)
        echo "$text ${now:-none} $plugin $kernel"
    done
done | LC_ALL=C sort -k3,4 >"$work/now"
[ -f "$table" ] && grep -v '^#' "$table" >"$work/then"
touch "$work/then"

# Reads the table, then the tree. A line here stands in the way of an update too unless it ends in --update.
awk -v how="run tools/lint/revisions.sh --update" '
    function rose(old, new,    o, n, i, a, b, up) {
        o = split(old, a, ","); n = split(new, b, ",")
        for (i = 1; i <= o && i <= n; i++) {
            if (b[i] + 0 < a[i] + 0) return -1
            up = up || b[i] + 0 > a[i] + 0
        }
        return up + 0
    }
    FILENAME ~ /then$/ { text[$3 " " $4] = $1; revision[$3 " " $4] = $2; next }
    {
        id = $3 " " $4; seen[id] = 1
        if ($1 == "missing") print $4 ": named by plugin " $3 ", but not there"
        else if ($2 == "none") print $4 ": plugin " $3 " has no revision"
        else if (!(id in text)) print $4 ": new in plugin " $3 ": " how
        else if (rose(revision[id], $2) < 0) print $4 ": a revision of plugin " $3 " fell, " revision[id] " to " $2
        else if (text[id] != $1 && !rose(revision[id], $2))
            print $4 ": changed, and no revision of plugin " $3 " rose (" revision[id] " to " $2 ")"
        else if (text[id] != $1 || revision[id] != $2) print $4 ": revised in plugin " $3 ": " how
    }
    END { for (id in text) if (!(id in seen)) print id ": no longer there: " how }
' "$work/then" "$work/now" >"$work/found"

if [ -z "$update" ]; then
    cat "$work/found"
    test ! -s "$work/found"
elif grep -v -- '--update$' "$work/found"; then
    echo "refused: $table is as it was"
    exit 1
else
    {
        echo "# Made by tools/lint/revisions.sh --update: SHA-256 of the text, revisions, plugin, kernel."
        cat "$work/now"
    } >"$table"
fi
