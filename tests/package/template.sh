#!/bin/sh
# SPDX-License-Identifier: MIT
#
# template.sh: follows plugins/template/README.md word for word, against an installed package: the script that it runs
# is made of the README's own code blocks. Then looks at what the commands say as JSON: the plugin is listed, raced and
# wins. Last, the installed tree is moved, and qst finds its plugins, the stranger's and the programs that it starts there.
. "$(dirname "$0")/common.sh"
readme=$TEST_SOURCE/plugins/template/README.md
claims=$TEST_SOURCE/tests/package/claims.cmake
small='m=4 n=4 k=4 batch=1x1x1x16384'

install_to "$scratch/prefix"
export PREFIX="$scratch/prefix"
mkdir "$scratch/mine"
cp -R "$TEST_SOURCE/plugins/template/." "$scratch/mine"
cd "$scratch/mine"

# The blocks up to the one that installs, and that one.
blocks() {
    awk -v from="$1" -v to="$2" '
        /^```sh$/ { inside = 1; n++; next }
        /^```$/ { inside = 0 }
        inside && n >= from && n <= to { print }' "$readme"
}
count=$(grep -c '^```sh$' "$readme")
test "$count" -ge 6 || fail "README.md has only $count blocks of commands"

say "README.md, but for its last block"
{
    echo 'set -eu'
    blocks 1 $((count - 1))
    # shellcheck disable=SC2016
    echo 'exec >"$TEST_SCRATCH/variables"; echo "QST_CONFIG=$QST_CONFIG"'
} >"$scratch/readme.sh"
sh "$scratch/readme.sh" >"$scratch/readme.log" 2>&1 || {
    cat "$scratch/readme.log"
    fail "the commands of README.md"
}
cat "$scratch/readme.log"
QST_CONFIG=$(sed -n 's/^QST_CONFIG=//p' "$scratch/variables")
export QST_CONFIG

# What the README says of its commands' output. Who wins is asked below, where a race may be run again.
said() {
    grep -q -- "$1" "$scratch/readme.log" || fail "README.md promises what did not come: $1"
}
said '^template .*started'
said '^template: matmul\.template\.narrow/1'
said '^winner matmul\.'
said '^check: *right'
said 'not supported: more than 4 columns'
said '^pinned: *matmul\.template\.narrow/2: timed'

say "the same as JSON"
qst=$PREFIX/bin/qst
claim() { # what is claimed, then the command whose output must show it
    what=$1
    shift
    "$@" >"$scratch/$what.json"
    "$TEST_CMAKE" "-DWHAT=$what" "-DFILE=$scratch/$what.json" "-DPLACE=$place" -P "$claims"
}
# It takes a third of the others' time there, but a machine that stalls in its first run throws a candidate out.
claim_wins() {
    claim wins "$qst" explain "matmul $small" --json || claim wins "$qst" explain "matmul $small" --json ||
        claim wins "$qst" explain "matmul $small" --json || fail "it lost three races"
}
place=$scratch/mine/build/plugins
claim listed "$qst" plugins --json
claim_wins
claim raced "$qst" explain 512x3x512 --json
claim pinned "$qst" run matmul --m 99 --n 3 --k 41 --batch 50 --beta 0.5 --transa --lda 101 --json \
    --pin 'matmul.template.*'

say "README.md's last block, then the tree at another place"
{
    echo 'set -eu'
    blocks "$count" "$count"
} >"$scratch/install.sh"
PATH=$PREFIX/bin:$PATH sh "$scratch/install.sh" >"$scratch/readme.log"
said '^template .*started'
unset QST_CONFIG PREFIX
mv "$scratch/prefix" "$scratch/moved"
cd "$scratch"
rm -rf mine
qst=$scratch/moved/bin/qst
place=$scratch/moved
claim moved "$qst" plugins --json
claim_wins

say "the programs that the library starts, there too"
problem='--m 99 --n 3 --k 41 --batch 50 --beta 0.5 --transa --lda 101'
# Nothing is known yet, and what cannot be tried elsewhere is refused: without qst-try another one would win.
export XDG_CACHE_HOME="$scratch/cache-moved"
# shellcheck disable=SC2086
claim pinned "$qst" run matmul $problem --json --pin 'matmul.template.*' --set tune.isolate=all
# shellcheck disable=SC2086
XDG_CACHE_HOME=$scratch/cache-ahead QST_LOG=debug "$qst" run matmul $problem --pin 'matmul.template.*' \
    --set tune.mode=background >"$scratch/ahead.log" 2>&1
grep -q 'built ahead in' "$scratch/ahead.log" || fail "nothing was built ahead: qst-ahead was not found"
