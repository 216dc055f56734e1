#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_command_store.sh QST: the store by the command: ahead of time, moved, checked, pruned, and whom it holds back.

# shellcheck source=command.sh
. "$(dirname "$0")/command.sh"

# ---- The store: ahead of time, moved, checked, pruned -----------------------------------------------------------

cat >"$work/problems" <<'END'
# squares first
72
  96 # a comment

matmul m=40 n=30 k=50
64x32x128T
END
export QST_ENVIRONMENT=ahead
set -f
runs 0 tune --problems "$work/problems" $slow
matches '^tuned +.* matmul\.[^ ]+  matmul m=72 n=72 k=72 '
matches '^tuned +.* matmul m=40 n=30 k=50 '
[ "$(wc -l <"$out")" -eq 4 ]
verdict $? '  a line a problem'
runs 0 tune --problems "$work/problems" $slow --json
json 'len(j) == 4 and all(p["state"] == "known" and p["winner"] for p in j)'
printf 'matmul m=600000 n=600000 k=2\n' >"$work/large"
runs 1 tune --problems "$work/large" # the cause, and nothing else
matches '^failed '
[ "$(wc -l <"$err")" -eq 1 ] && grep -qE "is not tuned: c: [0-9]+ bytes are over the device's largest buffer of [0-9]+$" "$err"
verdict $? '  one line: the cause'
runs 1 tune --problems "$work/large" --set log=error
matches '^failed '
[ "$(cat "$err")" = 'qst: matmul m=600000 n=600000 k=2: not tuned: --set log=info,tune says why' ]
verdict $? '  one line: who says why'
runs 0 explain 'matmul m=600000 n=600000 k=2' --set log=error
matches '^runs +matmul\.naive\..*: not tuned$'
runs 0 tune --sizes 72,96 $slow
never '^tuned'
printf '72\nmatmul m=x\n' >"$work/wrong"
runs 2 tune --problems "$work/wrong" $slow
grep -qF 'wrong:2: ' "$err"
verdict $? '  names file and line'
runs 1 tune --problems "$work/nowhere"
runs 1 tune 8 --device 'no such device'

# A name that is a slip makes no store for whoever only reads.
for job in 'cache ls' 'cache ls --json' 'cache show 1234' 'cache verify' 'cache export' 'cache prune --all' 'explain --replay'; do
    for log in '' '--set log=warn'; do
        # shellcheck disable=SC2086
        runs 1 $job --set store.environment=ahaed $log
        [ ! -s "$out" ] && [ "$(cat "$err")" = "qst: ${job%% *}: there is no store in $XDG_CACHE_HOME/quernstone/ahaed" ] &&
            [ ! -e "$XDG_CACHE_HOME/quernstone/ahaed" ]
        verdict $? '  one line: there is none, and none is made'
    done
done
# Nor for whoever goes on without one; in a folder that is there and empty nothing is made either.
mkdir -p "$work/bare/default"
for path in gone bare; do
    slip="--set store.path=$work/$path"
    left=$(ls -R "$work/$path" 2>/dev/null)
    runs 0 doctor $slip
    matches "^warn +store +there is none in $work/$path/"
    runs 0 explain 72 --pin 'matmul.naive.*' $slip
    matches '^from +tuned here'
    grep -qF "the store is kept in memory only: '$work/$path/" "$err"
    verdict $? '  says so'
    runs 0 explain 72 --set tune.mode=fallback $slip
    runs 1 cache ls $slip
    [ "$(ls -R "$work/$path" 2>/dev/null)" = "$left" ]
    verdict $? '  and nothing is made'
done
(
    export XDG_CACHE_HOME="$work/new"
    unset QST_ENVIRONMENT
    runs 0 doctor # which is no slip
    matches '^ok +store +none yet in '
    [ ! -e "$XDG_CACHE_HOME/quernstone" ]
    verdict $? '  and none is made'
    runs 0 explain 72 --pin 'matmul.naive.*'
    [ -e "$XDG_CACHE_HOME/quernstone/default/data.mdb" ]
    verdict $? '  whoever tunes makes it'
    exit $failed
) || failed=1
runs 0 cache ls
matches '^[0-9a-f]{12} +verdicts +current +[0-9]+ +[0-9]+ [a-z]+ +matmul +matmul\.[^ ]+ +m='
runs 0 cache ls --json
json 'len([r for r in j if r["table"] == "verdicts" and r["state"] == "current" and r["op"] == "matmul"]) >= 3'
id=$(sed -n 's/^ *"id": "\([0-9a-f]*\)".*/\1/p' "$out" | head -n 1)
# What is shown of ids tells records apart, of processes that noted several things, too; keys are whole but on a terminal.
runs 0 cache ls --table history
tail -n +2 "$out" | cut -d ' ' -f 1 >"$work/ids"
[ "$(wc -l <"$work/ids")" -ge 8 ] && [ -z "$(sort "$work/ids" | uniq -d)" ]
verdict $? '  no id twice'
runs 0 cache show "$(tail -n 1 "$work/ids")" --json
json 'j["table"] == "history" and j["id"].startswith("'"$(tail -n 1 "$work/ids")"'")'
runs 0 cache ls
matches ' numerics=plain$'
! grep -q ' $' "$out"
verdict $? '  no blanks at the end of a line'
runs 0 cache ls --table history # whose last columns may be empty
! grep -q ' $' "$out"
verdict $? '  no blanks at the end of a line'
if command -v script >/dev/null; then
    for columns in 20 50 80 150; do # an ellipsis, of three bytes, counts as one letter
        for job in 'cache ls' 'cache ls --table history' 'explain --replay' 'explain 72 '"$slow"; do
            case "$job $columns" in explain\ 7*\ 20 | explain\ 7*\ 50) continue ;; esac # a name alone is as long
            COLUMNS=$columns script -qec "'$qst' $job 2>/dev/null" /dev/null </dev/null 2>"$err" | tr -d '\r' | sed 's/…/~/g' >"$out"
            never "^.{$((columns + 1))}"
            never ' $'
        done
        COLUMNS=$columns script -qec "'$qst' cache ls" /dev/null </dev/null 2>"$err" | tr -d '\r' | sed 's/…/~/g' >"$out"
        matches '~$'
        [ $columns -lt 50 ] || matches '^[0-9a-f]{12}  (verdicts +)?current .* matmul\.[^ ]+ +m=.{8,}~$' # each column keeps a part
    done
    COLUMNS=50 script -qec "'$qst' cache ls --wide" /dev/null </dev/null 2>"$err" | tr -d '\r' >"$out"
    matches ' numerics=plain$'
fi
runs 0 cache ls --op 'conv*'
never '^[0-9a-f]{12} '
refuses "qst cache: --op '': no operation has an empty name" cache ls --op ''
refuses "qst cache: --quarantine '': no candidate has an empty name" cache prune --quarantine ''
runs 0 cache show "$(echo "$id" | cut -c 1-10)" --json
json 'j["id"] == "'"$id"'" and j["findings"] and j["winner"]'
runs 0 cache show "$id"
matches '^winner matmul\.'
runs 1 cache show ffffffffffffffff
[ "$(wc -l <"$err")" -eq 1 ] && grep -qF 'qst: cache: ffffffffffffffff: no record begins so' "$err"
verdict $? '  one line: there is none'
refuses "qst cache: 'nothex': an id is 4 or more digits of 0-9a-f" cache show nothex
refuses "qst cache: 'zz': an id is" cache show zz --out "$work/binary"
runs 0 explain --replay
never '^other'
matches '^same '
runs 0 explain --replay --json
json 'len(j) >= 3 and all(r["same"] and r["winner"] == r["replayed"] for r in j)'
runs 0 cache verify
matches '^[0-9]+ current, 0 of another schema, 0 damaged, 0 set aside whole, [0-9]+ not looked into; 0 removed$'

runs 1 cache prune --all --set store.readonly=true
grep -qE '^qst: cache: /.*: a record of [a-z]+ cannot be removed: the store is read-only$' "$err"
verdict $? '  names the folder and the cause'

runs 0 cache export "$work/answers.json"
[ ! -s "$out" ] && head -c 40 "$work/answers.json" | grep -q quernstone
verdict $? '  a file'
runs 0 cache export "$work/answers.json" --json
json "j['file'] == '$work/answers.json' and j['bytes'] == $(wc -c <"$work/answers.json")"
runs 0 cache export -
head -c 40 "$out" | grep -q quernstone && [ ! -e - ]
verdict $? '  - is standard output, as it is standard input to import'
# Two at the same time: one tunes, the other waits for what it finds; nothing fails.
for i in 1 2; do
    timeout 240 "$qst" tune --sizes 40,41,42 $slow --set store.environment=both >"$work/both.$i" 2>"$work/both.$i.err" &
done
wait
cat "$work/both.1" "$work/both.2" >"$out"
cat "$work/both.1.err" "$work/both.2.err" >"$err"
[ ! -s "$err" ] && [ "$(grep -cE '^(tuned|known) ' "$out")" -eq 6 ] && [ "$(grep -c '^tuned ' "$out")" -eq 3 ]
verdict $? '  two at the same time: each is tuned once, and known to both'
# Where everything is denied, or nothing pinned, there is no answer, whatever is stored; what runs all the same is told.
barred='every candidate is denied: candidates\.deny \(\*\) leaves out ([0-9]+) of \1'
for stored in nothing something; do
    [ $stored = nothing ] || runs 0 tune --sizes 33 --pin 'matmul.naive.*' --set store.environment=barred
    runs 1 tune --sizes 33 --deny '*' --set store.environment=barred --set log=error
    [ "$(wc -l <"$err")" -eq 1 ] && grep -qE "^qst: 33: $barred; matmul\.naive\.[^ ]+ runs all the same$" "$err"
    verdict $? "  one line: everything is denied, with $stored stored"
    matches '^failed +- +matmul\.naive\.'
done
# The cause is told once, also where warnings are shown, and a pattern that is given twice too.
runs 1 tune --sizes 34,35 --deny '*' --deny '*' --set store.environment=barred
[ "$(wc -l <"$err")" -eq 2 ] && [ "$(grep -cE "^qst: 3[45]: $barred; " "$err")" -eq 2 ]
verdict $? '  one line a problem: everything is denied'
runs 0 explain 33 --deny '*' --set store.environment=barred
matches "^  for this problem matmul\.naive\.[^ ]+ runs all the same: $barred$"
runs 0 explain 34 --deny '*' --set store.environment=barred
matches "^winner none: $barred$"
runs 0 shapes 33 --deny '*' --set store.environment=barred
matches " no winner, matmul\.naive\.[^ ]+ runs: $barred$"
never ' (known|tuned) winner '
runs 0 run matmul --m 33 --n 33 --k 33 --deny '*' --set store.environment=barred
matches "^winner:  matmul\.naive\.[^ ]+, all the same: $barred$"
runs 1 tune --sizes 33 --pin nobody --set store.environment=barred --set log=error
grep -qE '^qst: 33: no candidate is pinned: candidates\.pin \(nobody\) leaves out ([0-9]+) of \1; ' "$err"
verdict $? '  one line: nobody is pinned'
runs 1 tune --sizes 33 --pin 'matmul.gemv.*' --set store.environment=barred
grep -qE '^qst: 33: no candidate that may run was found right and takes this problem: candidates\.pin \(matmul\.gemv\.\*\) leaves out ' "$err"
verdict $? '  one line: who is pinned cannot'
runs 0 tune 'matmul m=4 n=4 k=0' --deny '*' --set store.environment=barred
matches '^known .* trivial '
# A stream that is closed is not another file: the store's would be written over.
: >"$out"
(timeout 240 "$qst" tune --sizes 24 --pin 'matmul.naive.*' --set store.environment=closed >&- 2>"$err")
[ $? -eq 1 ] && [ "$(cat "$err")" = 'qst: standard output: cannot be written' ]
verdict $? '  standard output is closed: exit code 1, one line'
runs 0 cache verify --set store.environment=closed
for job in 'cache verify' 'cache ls' 'cache export' "cache import $work/answers.json"; do # a store that is not there
    # shellcheck disable=SC2086
    runs 1 $job --set store.path=/dev/null --set log=error
    [ ! -s "$out" ] && grep -qF "qst: cache: the store is kept in memory only: '/dev/null' is not a folder" "$err"
    verdict $? '  says why'
done
for job in 'cache ls' 'explain --replay' "tune --sizes 8 --pin matmul.naive.*"; do # with warnings shown, as they are: not twice
    # shellcheck disable=SC2086
    runs 1 $job --set store.path=/dev/null
    [ ! -s "$out" ] && [ "$(wc -l <"$err")" -eq 1 ] && grep -qF "qst: ${job%% *}: the store is kept in memory only: " "$err"
    verdict $? '  one line: why there is no store'
done
runs 0 doctor --set store.path=/dev/null
matches "^warn +store +the store is kept in memory only: '/dev/null' is not a folder"
[ ! -s "$err" ]
verdict $? '  told once'
runs 1 cache import "$work/answers.json" --set store.readonly=true
grep -qE '^qst: cache: what is imported is not kept: /.*: the store is read-only$' "$err"
verdict $? '  says that nothing was kept'
runs 1 tune --sizes 8 --pin 'matmul.naive.*' --set store.path=/dev/null --set log=error
grep -qF "qst: tune: the store is kept in memory only: '/dev/null' is not a folder" "$err"
verdict $? '  says why'
runs 0 tune --sizes 8 --pin 'matmul.naive.*' --set store.backend=memory
runs 0 cache import "$work/answers.json" --set store.environment=hurt
hurt=$XDG_CACHE_HOME/quernstone/hurt/data.mdb
printf garbage | dd of="$hurt" bs=1 seek=4 conv=notrunc 2>/dev/null
runs 0 cache ls --set store.environment=hurt # whoever opens it first sets it aside
grep -qF 'set aside as data.mdb.damaged-1' "$err"
verdict $? '  says where it went'
runs 1 cache verify --set store.environment=hurt
matches ' 0 damaged, 1 set aside whole, '
grep -qF "$hurt.damaged-1: a damaged store, set aside" "$err"
verdict $? '  names the file'
runs 0 doctor --set store.environment=hurt
matches '^warn +records +damaged stores that were set aside, .*: 1$'
runs 1 cache verify --remove --set store.environment=hurt --set store.readonly=true
[ -e "$hurt.damaged-1" ] && grep -qF 'cannot be removed: the store is read-only' "$err"
verdict $? '  and lets it be'
runs 0 cache verify --remove --json --set store.environment=hurt
json 'j["set_aside"] == 1 and j["removed"] == 1'
json 'j["problems"] == [{"what": "'"$hurt"'.damaged-1", "why": "a damaged store, set aside"}]'
[ ! -e "$hurt.damaged-1" ]
verdict $? '  it is gone'
runs 0 cache verify --set store.environment=hurt
runs 0 tune --sizes 8 --pin 'matmul.naive.*' --set store.environment=hurt
truncate -s 0 "$hurt" # which says nothing to LMDB
runs 1 cache verify --json --set store.environment=hurt
grep -qF 'it is empty, and had ' "$err" && [ -e "$hurt.damaged-1" ]
verdict $? '  an emptied store is damaged'
json 'j["set_aside"] == 1 and j["problems"][0]["what"] == "'"$hurt"'.damaged-1"'
runs 0 cache verify --remove --set store.environment=hurt
runs 0 cache export --op 'conv*'
never '"table"'
QST_ENVIRONMENT=elsewhere
runs 0 cache import "$work/answers.json" --json
json 'j["added"] >= 3 and j["present"] == 0 and j["refused"] == 0'
runs 0 cache import "$work/answers.json" --json
json 'j["added"] == 0 and j["present"] >= 3'
runs 0 cache ls
matches '^[0-9a-f]{12} +verdicts +prior '
runs 0 tune --sizes 72 $slow
runs 0 cache ls --json
json 'any(not r["prior"] for r in j if r["table"] == "verdicts") and any(r["prior"] for r in j if r["table"] == "verdicts")'
head -c 300 "$work/answers.json" >"$work/half.json"
runs 1 cache import "$work/half.json"
[ "$(wc -l <"$err")" -eq 1 ]
verdict $? '  one line'
runs 0 cache prune --op 'mat*' --json
json 'j["removed"] >= 3'
runs 0 cache prune --all
runs 0 cache ls --json
json 'j == [] or all(r["table"] == "history" for r in j)'
QST_ENVIRONMENT=ahead
runs 0 shapes 72 $slow
matches '^cache: warm$'
matches ' known winner '
set +f
unset QST_ENVIRONMENT

# ---- A candidate that kills whoever tries it: held back after two, and told of -----------------------------------

killer=${qst%/bin/qst}/tests/plugins/killer
if [ -d "$killer" ]; then
    export QST_ENVIRONMENT=hurt
    ulimit -c 0
    set -f
    hurt="--m 5 --n 5 --k 36 --numerics strict --pin matmul.killer.* --pin matmul.naive.* --set plugins.dirs=$killer"
    for times in 1 2; do
        runs 134 run matmul $hurt --set tune.isolate=none
    done
    runs 0 run matmul $hurt --set tune.isolate=none
    matches '^pinned: +matmul\.killer\.dies/1: refused: in quarantine'
    set +f
    runs 0 doctor
    matches '^warn +quarantine +matmul\.killer\.dies/1: quarantined: '
    says "qst cache prune --quarantine 'matmul.killer.dies/1'"
    runs 0 cache ls --table quarantine
    matches '^[0-9a-f]{12} +quarantine +quarantined .* matmul\.killer\.dies/1 +m=5 n=5 k=36 '
    unset QST_ENVIRONMENT
fi

exit $failed
