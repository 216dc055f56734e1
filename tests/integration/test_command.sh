#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_command.sh QST: what the command refuses, and what it tells without tuning: help, mistakes, devices, plugins, settings,
# health.

# shellcheck source=command.sh
. "$(dirname "$0")/command.sh"

# ---- Help, version, mistakes ------------------------------------------------------------------------------------

runs 0 --help
for verb in devices plugins config doctor keys shapes run bench tune explain cache; do
    matches "^  $verb +[a-z]"
done
runs 0 --version
matches '^qst [0-9]+\.[0-9]+\.[0-9]+$'
for verb in devices plugins config doctor keys shapes run bench tune explain cache; do
    runs 0 help "$verb"
    cp "$out" "$work/help"
    runs 0 "$verb" --help
    cmp -s "$out" "$work/help"
    verdict $? "  help $verb and $verb --help agree"
    matches '^  --json '
done

refuses 'no verb' # no arguments at all
refuses 'did you mean shapes?' shapez
refuses 'no such verb' help nonsense
refuses 'did you mean --dtype?' shapes 64 --dtpye f32
refuses 'not one of f32, f64, f16, bf16' shapes 64 --dtype f8
refuses "qst shapes: --dtype '': not one of" shapes 64 --dtype ''
refuses "qst run: --alpha '': not a finite number" run matmul --m 3 --n 4 --k 5 --alpha ''
refuses 'qst run: --m 4: --m was given before' run matmul --m 3 --m 4 --n 4 --k 5
refuses 'qst run: --transa: --ta was given before' run matmul --m 3 --n 4 --k 5 --ta --transa
refuses 'qst keys: --all: --all was given before' keys 16 --all --all
refuses "''"': no such verb' ''
refuses 'extra: nothing comes after --version' --version extra
refuses 'needs a value' shapes 64 --budget
refuses 'no sizes' shapes
refuses '12x: neither N nor MxNxK' keys 12x
refuses 'no sizes' keys
for verb in tune explain shapes keys 'bench matmul'; do # it is a size, and out of bounds
    for size in 65537 1048577 0 64x0x3 99999999999999999999T; do
        # shellcheck disable=SC2086
        refuses "qst $verb: $size: a size is not in 1 to 65536" $verb "$size"
    done
done
refuses '--k is missing' run matmul --m 3 --n 4
refuses '--lda 2: less than the 5' run matmul --m 3 --n 4 --k 5 --lda 2
refuses 'nothing named: what to run is' run
refuses 'nothing named: what to measure is' bench
refuses 'no problem' bench matmul
refuses '--k is missing' bench matmul --m 3 --n 4
refuses 'qst bench matmul: --range 9..3: not LOW..HIGH' bench matmul --random 2 --range 9..3
refuses 'qst bench matmul: --range: only for the problems of --random' bench matmul 8 --range 3..9
refuses 'qst bench matmul: --skip: only for the problems of --random' bench matmul 8 --skip 2
refuses 'qst bench matmul: --skip 2: leaves none of the 2 random problems' bench matmul --random 2 --skip 2
refuses 'qst bench tunings: --range 8: not LOW..HIGH' bench tunings --range 8
refuses '--n is missing: --m, --n and --k name one problem together' bench matmul 8 --m 3
refuses 'qst bench verify: --pairs: no such option' bench verify --pairs 3
refuses 'qst bench verify: --keys: no such option' bench verify --keys 10
refuses 'qst bench verify: --batches: no such option' bench verify --batches 4
refuses 'qst bench first: --keys: no such option' bench first --keys 10
refuses 'qst bench store: --size: no such option' bench store --size 16
refuses 'qst bench lookup: --pairs: no such option' bench lookup --pairs 3
refuses 'qst bench store: 5: takes no arguments' bench store 5
refuses 'qst bench store: --child hand: no process of its own' bench store --child hand --file none
refuses 'qst bench store: --child look: needs --file' bench store --child look
refuses 'qst bench store: --child fill: needs --file' bench store --child fill
refuses 'qst bench first: --child fill: no process of its own' bench first --child fill --file none
refuses 'qst bench first: --child hand: needs --file' bench first --child hand
refuses 'did you mean --rounds?' bench matmul 64 --ruonds 3
refuses 'neither N nor MxNxK' bench matmul 12y
refuses '--config: line 1, column 1' bench matmul 8 --config '{'
refuses '(before their options)' bench --json matmul 64
refuses '(before their options)' bench --json verify
runs 0 bench matmul --help
matches '^  --peers LIST '
cp "$out" "$work/help"
runs 0 help bench matmul
cmp -s "$out" "$work/help"
verdict $? "  help bench matmul and bench matmul --help agree"
refuses 'not a multiple of 16' bench lookup --size 17
refuses 'no problem' explain
refuses 'neither N nor MxNxK' explain hundred
refuses '--replay takes no arguments' explain 64 --replay
refuses 'what to measure is' bench nonsense
refuses 'no problem' tune
refuses 'neither N nor MxNxK' tune --sizes 64,x
refuses 'qst tune: --dtype f8: not one of' tune --sizes 64 --dtype f8
refuses 'qst tune: an empty size' tune --sizes 3,,4
refuses "qst explain: '': neither N nor MxNxK" explain ''
long=$(printf '%03000d' 7 | tr 0 x)
{ echo 64 && echo "$long"; } >"$work/long"
for verb in tune 'bench matmul'; do
    # shellcheck disable=SC2086
    refuses "qst $verb: $work/long:2: $(printf %.60s "$long")…: neither N nor MxNxK" $verb --problems "$work/long"
    printf '64 # a size\n32\00064\n' >"$work/zero"
    # shellcheck disable=SC2086
    refuses "qst $verb: $work/zero:2: a byte of 0 in the line" $verb --problems "$work/zero"
done
refuses "qst: --set $(printf %.60s "$long")…: not of the form path=value" config --set "$long"
refuses 'the job is one of ls' cache
refuses 'did you mean verify?' cache verifi
refuses 'id is missing' cache show
refuses 'one argument too many' cache ls all
refuses '--out: not an option of ls' cache ls --out x
refuses '--table verdict: no such table; did you mean verdicts' cache ls --table verdict
refuses 'is needed' cache prune
refuses '--programs-mb x: not a whole number' cache prune --programs-mb x
refuses 'takes no arguments' doctor all
refuses 'no such operation' explain 'matmull m=3 n=3 k=3'
refuses 'takes no arguments' devices all
refuses 'not of the form path=value' config --set level
refuses 'too big integer' config --set tune.budget_ms=99999999999999999999
refuses '--config: ' config --config '{'
refuses 'qst: --config: line 1, column 29: duplicate object key' config --config '{"tune": {"level": 1, "level": 2}}'
refuses 'qst: --set tune={"level": 1, "level": 2}: duplicate object key' config --set 'tune={"level": 1, "level": 2}'
refuses 'qst: configuration: --set: tune.levl: unknown key (did you mean tune.level?)' config --set tune.levl=full
refuses 'qst: configuration: --set: groups.matmul.gemv.priority: must be an integer' config \
    --set groups.matmul.gemv.priority=high
refuses 'qst: configuration: --config: tune.levl: unknown key' config --config '{"tune": {"levl": 1}}' --set log=warn
refuses 'qst: configuration: --set: tune.levl: unknown key' config --config '{"tune": {"level": 1}}' --set tune.levl=1
refuses 'qst: configuration: --pin: candidates.pin: item 0 is empty' config --pin ''
refuses 'qst: configuration: --config: tune: has an empty key' config --config '{"tune": {"": 1}}'
runs 0 cache prune --help
matches '^usage: qst cache prune \[option\]\.\.\.$'
matches '^  --programs-mb N '
never '^  --(table|out) '
cp "$out" "$work/help"
runs 0 help cache prune
cmp -s "$out" "$work/help"
verdict $? "  help cache prune and cache prune --help agree"
runs 0 run --help
matches '^  --dtype WORD .*\(default f32\)$'
matches '^  --alpha X .*\(default 1\)$'
never '^  --m N .*default'

# ---- What is there ----------------------------------------------------------------------------------------------

runs 0 devices
matches '^\* +[0-9]+ '
runs 0 devices --json
json 'sum(d["picked"] for d in j) == 1 and all(d["target"] for d in j)'
runs 1 devices --device 'no such device'
runs 1 shapes 16 --device 'no such device'
grep -qF 'no such device' "$err"
verdict $? '  the name is in the line'

export OCL_ICD_VENDORS=/nonexistent
runs 1 devices
unset OCL_ICD_VENDORS
[ ! -s "$out" ] && [ "$(wc -l <"$err")" -eq 1 ] &&
    grep -qF 'there is no OpenCL device: no driver is registered in /nonexistent' "$err"
verdict $? '  one line without any driver'

# A driver that is there and does not start: PoCL without its cache, be it named by a variable or not.
if [ -e /etc/OpenCL/vendors/pocl.icd ]; then
    mkdir "$work/vendors" "$work/home" "$work/home/.cache" && : >"$work/home/.cache/pocl"
    cp /etc/OpenCL/vendors/pocl.icd "$work/vendors"
    for named in "XDG_CACHE_HOME=$work/home/.cache" "POCL_CACHE_DIR=$work/home/.cache/pocl/x" "HOME=$work/home"; do
        for verb in devices doctor; do
            env -u POCL_CACHE_DIR XDG_CACHE_HOME= "OCL_ICD_VENDORS=$work/vendors" "$named" \
                timeout 240 "$qst" "$verb" >"$out" 2>"$err"
            [ $? -eq 1 ] && cat "$out" "$err" | grep -qF "PoCL offers none, since its cache folder cannot be made: \
'$work/home/.cache/pocl' is not a folder"
            verdict $? "  $verb names PoCL's cache folder by ${named%%=*}"
        done
        matches "^fail +driver's cache +$work/home/\.cache/pocl is not a folder: PoCL offers no device then$"
    done
    # A full one, where file systems may be mounted.
    mkdir "$work/full"
    cat >"$work/full.sh" <<'END'
mount -t tmpfs -o size=8m none "$1" || exit 77
XDG_CACHE_HOME=$1 timeout 240 "$3" tune 8 --pin 'matmul.naive.*' >/dev/null 2>&1 # makes its store while there is room
head -c 8388608 /dev/zero >"$1/all" 2>/dev/null
OCL_ICD_VENDORS=$2 POCL_CACHE_DIR=$1/pocl XDG_CACHE_HOME=$1 exec timeout 240 "$3" doctor
END
    unshare -m sh "$work/full.sh" "$work/full" "$work/vendors" "$qst" >"$out" 2>"$err"
    got=$?
    if grep -q '^ok ' "$out"; then
        [ $got -eq 1 ]
        verdict $? "doctor on a full file system: exit code 1 (got $got)"
        matches "^fail +driver's cache +$work/full.* is full: its file system has 0 KiB left, less than 1024"
        matches '^warn +computes +not tried: '
        matches "^warn +store +$work/full.* is full: its file system has 0 KiB left, less than 1024"
    fi
    rm -r "${work:?}/home" "$work/full"
fi

runs 0 plugins
says 'gemv: matmul.gemv.* ('
never 'matmul\.gemv\.[a-z]'
matches '^clblast: setting plugin\.clblast\.library, not set$'
runs 0 plugins --all --set plugin.clblast.library=here
matches '^gemv: matmul\.gemv\.[a-z]'
matches '^clblast: setting plugin\.clblast\.library = here$'
runs 0 plugins --set plugin.clblast.libary=here --set 'plugins.load=["nobody", "clblast"]' --set groups.matmul.gemw.priority=3
for slip in 'plugin.clblast.libary: clblast knows no such' "plugins.load: 'nobody' is none" "no group 'gemw'"; do
    [ "$(grep -cF "$slip" "$err")" -eq 1 ]
    verdict $? "  warns once: $slip"
done
runs 0 plugins
matches '^naive .* builtin '
says 'matmul.naive.row16/'
runs 0 plugins --json
json 'any(p["name"] == "naive" and p["state"] == "builtin" and p["candidates"] for p in j)'

runs 0 config
matches '^tune\.level +"balanced" +default'
runs 0 config --json --level full --set tune.min_samples=4 --pin 'a*' --pin b
json '{r["path"]: r["value"] for r in j}["tune.level"] == "full"'
json '{r["path"]: r["value"] for r in j}["tune.min_samples"] == 4'
json '{r["path"]: r["value"] for r in j}["candidates.pin"] == ["a*", "b"]'
runs 0 config --json --set groups.matmul.gemv.priority=3
json '{r["path"]: r["value"] for r in j}["groups.matmul.gemv.priority"] == 3'

# What nobody says is the library's default there, and what the command takes instead is told.
runs 0 config
matches '^log +- +default '
matches '^tune\.budget_ms +1000 +default '
matches '^  tune\.budget_ms  0 +tune, shapes, run, explain, bench$'
matches '^  log +"warn" +all verbs$'
runs 0 config --json --budget 5
json '{r["path"]: r["command"] for r in j if "command" in r} == {"tune.wait": True, "log": "warn"}'
json '{r["path"]: (r["value"], r["origin"]) for r in j}["log"] == (None, "default")'
export QST_LOG=info
runs 0 config --set tune.wait=false --budget 5
matches '^log +"info" +QST_LOG '
never '^What qst itself takes'
unset QST_LOG

# A variable that nobody reads is told once, however many contexts there are.
export QST_LOGG=warn QST_TEST_NAME=x
for verb in config plugins 'run matmul --m 3 --n 4 --k 5 --pin matmul.naive.*'; do
    # shellcheck disable=SC2086
    runs 0 $verb
    [ "$(cat "$err")" = 'quernstone: warn: conf: QST_LOGG: no variable of this name is read (did you mean QST_LOG?)' ]
    verdict $? '  one line: did you mean QST_LOG?'
done
runs 0 config --set log=error
[ ! -s "$err" ]
verdict $? '  no line where errors alone are logged'
matches '^ +- +QST_LOGG +- +no variable of this name is read .did you mean QST_LOG\?.$'
runs 0 doctor
matches '^warn +configuration +QST_LOGG: not read: no variable of this name'
[ ! -s "$err" ]
verdict $? '  told once'
unset QST_LOGG QST_TEST_NAME

# ---- Keys: the reference's table --------------------------------------------------------------------------------

runs 0 keys 512 768 1000 1024 1025 2048 1024T
cat >"$work/keys" <<'END'
 512  -> m=512 n=512 k=512 lhs_pow2=4 lhs_stride=10 rhs_pow2=4 rhs_stride=10 layout_rhs=Contiguous scale=Medium kind=General
 768  -> m=1024 n=1024 k=1024 lhs_pow2=4 lhs_stride=10 rhs_pow2=4 rhs_stride=10 layout_rhs=Contiguous scale=Medium kind=General
1000  -> m=1024 n=1024 k=1024 lhs_pow2=4 lhs_stride=5 rhs_pow2=4 rhs_stride=5 layout_rhs=Contiguous scale=Medium kind=General
1024  -> m=1024 n=1024 k=1024 lhs_pow2=4 lhs_stride=10 rhs_pow2=4 rhs_stride=10 layout_rhs=Contiguous scale=Medium kind=General
1025  -> m=2048 n=2048 k=2048 lhs_pow2=4 lhs_stride=2 rhs_pow2=4 rhs_stride=2 layout_rhs=Contiguous scale=Large kind=General
2048  -> m=2048 n=2048 k=2048 lhs_pow2=4 lhs_stride=10 rhs_pow2=4 rhs_stride=10 layout_rhs=Contiguous scale=Large kind=General
1024T -> m=1024 n=1024 k=1024 lhs_pow2=4 lhs_stride=10 rhs_pow2=4 rhs_stride=10 layout_rhs=MildlyPermuted { transposed: true, batch_swap: false } scale=Medium kind=General
END
grep -- ' -> ' "$out" | cmp -s - "$work/keys"
verdict $? "  the reference's lines"
says 'key(768) == key(1024): true'
says 'key(1000) == key(1024): false'
never 'key\(512\) == key\(2048\)'
runs 0 keys 64x32x128 --all
matches '^64x32x128 +-> m=64 n=32 k=128 .* kind=General elem_lhs=f32 .* numerics=plain$'
runs 0 keys 768 1024 --json
json 'j["pairs"] == [{"a": "768", "b": "1024", "equal": True}]'
runs 0 keys 10 --level full
matches '^  10  -> m=10 n=10 k=10 '

# ---- doctor -----------------------------------------------------------------------------------------------------

runs 0 doctor
matches '^ok +computes '
matches '^ok +store '
runs 0 doctor --json
json 'all(r["grade"] in ("ok", "warn") for r in j) and any(r["check"] == "plugins" for r in j)'
affinity=${POCL_AFFINITY-}
unset POCL_AFFINITY
runs 0 doctor
if grep -q ' affinity ' "$out"; then # on PoCL
    matches "^warn +affinity +POCL_AFFINITY is not set: qst's other verbs set it for themselves"
    export POCL_AFFINITY=1
    runs 0 doctor
    matches '^ok +affinity '
    (ulimit -f 64 && exec "$qst" doctor) >"$out" 2>"$err"
    got=$?
    [ $got -eq 1 ]
    verdict $? "doctor where files are limited: exit code 1 (got $got)"
    matches "^fail +driver's cache +a file of this process may have .* KiB \(RLIMIT_FSIZE\), less than 1024"
    matches '^warn +computes +not tried: '
fi
[ -z "$affinity" ] || export POCL_AFFINITY="$affinity"
runs 1 doctor --device 'no such device'
matches '^fail +devices '
runs 0 doctor --set tune.mode=frozen # what it puts over a mode hides no mistake, and is none
refuses "tune.mode: 'foo' is not one of tune" doctor --set tune.mode=foo
refuses "tune.mode: 'foo' is not one of tune" config --set tune.mode=foo
export QST_MODE=foo
for verb in doctor config 'config --set log=error'; do # as by --set: wherever it is said
    # shellcheck disable=SC2086
    refuses "QST_MODE: tune.mode: 'foo' is not one of tune" $verb
done
unset QST_MODE
printf '{"tune": {"mode": "foo"}}' >"$work/bad.json"
printf '{"tune": {"mode": "tune"}, "tune.mode": "frozen"}' >"$work/twice.json"
QST_CONFIG=$work/bad.json
export QST_CONFIG
refuses "$work/bad.json: tune.mode: 'foo' is not one of tune" config
QST_CONFIG=$work/twice.json
refuses 'twice.json: tune.mode: is set twice, by "mode" in "tune" and by "tune.mode"' config
QST_CONFIG=$work/nowhere.json
refuses "$work/nowhere.json: cannot be opened" config
unset QST_CONFIG
runs 0 config --config '{"tune.mode": "frozen"}' --set tune.mode=fallback # the same setting, in both forms
matches '^tune\.mode +"fallback" +API '
for said in '{"groups.matmul": {"unit.priority": 1}}' '{"groups": {"matmul.unit": {"priority": 1}}}'; do # or by half
    runs 0 config --config "$said" --set groups.matmul.unit.priority=2
    matches '^groups\.matmul\.unit\.priority +2 +API '
done
runs 0 config --json --config '{"tune": {"mode": "frozen", "level": "full"}}' --set 'tune={"mode": "fallback"}'
json '{r["path"]: r["value"] for r in j if r["origin"] == "API"} == {"tune.mode": "fallback", "tune.level": "full"}'
twice='candidates.deny: is set twice, by "deny" in "candidates" and by "candidates.deny"'
for options in '' '--deny y' '--set candidates.deny=y'; do # told of also where an option is put over both
    # shellcheck disable=SC2086
    refuses "qst: --config: $twice" config --config '{"candidates": {"deny": "a"}, "candidates.deny": "b"}' $options
done
refuses 'groups.a.b.priority: is set twice, by "b.priority" in "a" in "groups" and by "priority" in "b" in "groups.a"' \
    config --config '{"groups": {"a": {"b.priority": 1}}, "groups.a": {"b": {"priority": 1}}}'
refuses 'qst: --set tune.mode=frozen: tune is no object in --config' config --config '{"tune": 5}' --set tune.mode=frozen
refuses 'qst: --set tune.mode=frozen: tune is no object in --set tune=5' config --set tune=5 --set tune.mode=frozen
refuses 'qst: --level: tune is no object in --set tune=5' config --set tune=5 --level minimal
refuses 'qst: --pin: candidates is no object in --config' config --config '{"candidates": []}' --pin a
refuses 'qst: configuration: --set: tune.level: must be a text or an integer, not an object' config \
    --config '{"tune.level":"full"}' --set 'tune.level={}'
refuses 'tune: has an empty key' config --set tune.=5
refuses 'qst bench: store, tune or candidates is no object' bench store --keys 10 --set store=5

# A level is a word or its number, said once; denials add up.
for said in '--level 3' '--level full' '--set tune.level=3' '--set tune.level="3"' '--config {"tune":{"level":3}}'; do
    # shellcheck disable=SC2086
    runs 0 config $said
    matches '^tune\.level +"full" +API '
done
runs 0 keys 10 --level 3
matches '^  10  -> m=10 n=10 k=10 '
for level in 4 -1 03 2.0 ''; do
    refuses "not one of minimal, balanced, extensive, full, or 0 to 3" config --level "$level"
done
refuses 'qst: --level full: --set tune.level=1 was given, too' config --set tune.level=1 --level 3
refuses 'qst: --level full: --set tune.level=1 was given, too' config --level 3 --set tune.level=1
refuses 'qst: --budget: --set tune.budget_ms was given, too' config --budget 3 --set 'tune={"budget_ms": 5}'
refuses 'qst: --pin b: --set candidates.pin=["a"] was given, too' config --pin b --set 'candidates.pin=["a"]'
refuses 'qst: --device x: --set device.name=y was given, too' config --device x --set device.name=y
for said in 3 full '"3"'; do # what agrees is said once
    runs 0 config --level 3 --set "tune.level=$said"
    matches '^tune\.level +"full" +API '
done
runs 0 config --json --budget 3 --set 'tune={"budget_ms": 3}' --device x --set device.name=x --pin a --set candidates.pin=a
json '{r["path"]: r["value"] for r in j if r["origin"] == "API"} == {"tune.budget_ms": 3, "device.name": "x", "candidates.pin": ["a"]}'
refuses 'qst: --pin b: --set candidates.pin=["b","a"] was given, too' config --pin a --pin b --set 'candidates.pin=["b","a"]'
runs 0 config --level 3 --config '{"tune": {"level": 1}}' --set tune.verify=false
matches '^tune\.level +"full" +API '
printf '{"candidates": {"deny": ["file.*"]}}' >"$work/deny.json"
QST_CONFIG=$work/deny.json
QST_DENY='variable.*'
export QST_CONFIG QST_DENY
runs 0 config --json --deny 'a*' --deny b --config '{"candidates.deny": "said"}'
json '{r["path"]: r["value"] for r in j}["candidates.deny"] == ["said", "a*", "b", "variable.*", "file.*"]'
json '{r["path"]: r["origin"] for r in j}["candidates.deny"] == "API, QST_DENY, '"$work/deny.json"'"'
runs 0 config --json --deny '' --deny b --set candidates.deny=said
json '{r["path"]: r["value"] for r in j}["candidates.deny"] == ["b"]'
runs 0 config --json --deny ''
json '{r["path"]: r["value"] for r in j}["candidates.deny"] == []'
# What --set denies is put to what --config denies, in any spelling, and a further one to that; '' takes back.
for set in 'candidates.deny=["c"]' candidates.deny=c 'candidates={"deny":"c"}'; do
    runs 0 config --json --config '{"candidates":{"deny":["a","b"]}}' --set "$set"
    json '{r["path"]: r["value"] for r in j}["candidates.deny"] == ["a", "b", "c", "variable.*", "file.*"]'
    json '{r["path"]: r["origin"] for r in j}["candidates.deny"] == "API, QST_DENY, '"$work/deny.json"'"'
    runs 0 config --json --config '{"candidates.deny":"a"}' --set candidates.deny=b --set "$set" --deny d
    json '{r["path"]: r["value"] for r in j}["candidates.deny"] == ["a", "b", "c", "d", "variable.*", "file.*"]'
    runs 0 config --json --config '{"candidates.deny":"a"}' --set candidates.deny= --set "$set"
    json '{r["path"]: r["value"] for r in j}["candidates.deny"] == ["c"]'
done
for set in 'candidates.deny=[]' candidates.deny= 'candidates.deny=[""]'; do
    runs 0 config --json --config '{"candidates.deny":"a"}' --set "$set"
    json '{r["path"]: r["value"] for r in j}["candidates.deny"] == []'
done
runs 0 config --json --config '{"candidates.pin":"a"}' --set candidates.pin=b # a choice: the last one's
json '{r["path"]: r["value"] for r in j}["candidates.pin"] == ["b"]'
runs 0 config --json --deny b --set 'candidates.deny=[]'
json '{r["path"]: r["value"] for r in j}["candidates.deny"] == ["b"]'
for said in null 5 '["c",5]'; do
    refuses "qst: --deny y: is put to what --set candidates.deny=$said says, which is neither a text nor a list of texts" \
        config --set "candidates.deny=$said" --deny y
done
refuses 'qst: --deny y: is put to what --config says, which is neither' config --config '{"candidates.deny": null}' --deny y
runs 0 config --json --set candidates.deny=null --deny '' --deny y
json '{r["path"]: r["value"] for r in j}["candidates.deny"] == ["y"]'
runs 0 config --json --set 'candidates.deny=["c"]'
json '{r["path"]: r["value"] for r in j}["candidates.deny"] == ["c", "variable.*", "file.*"]'
unset QST_CONFIG QST_DENY

# A byte order mark before a text is passed over; what a terminal would obey is shown as its code.
printf '\357\273\277{"tune": {"level": "full"}}' >"$work/marked.json"
QST_CONFIG=$work/marked.json
export QST_CONFIG
runs 0 config
matches '^tune\.level +"full" .*marked\.json'
unset QST_CONFIG
runs 0 config --config "$(cat "$work/marked.json")"
matches '^tune\.level +"full" +API '
esc=$(printf 'a\033[31m\302\233\377\177')
shown='a\x1b[31m\xc2\x9b\xff\x7f'
refuses "qst: $shown: no such verb" "$esc"
refuses "qst keys: $shown: neither N nor MxNxK" keys "$esc"
refuses "qst keys: --$shown: no such option" keys "--$esc"
refuses "qst: --device $shown: not UTF-8" config --device "$esc"
refuses "qst: --pin $shown: not UTF-8" config --pin "$esc"
refuses 'qst: configuration: --set: tune.\x1b[31mx: unknown key' config --set "$(printf 'tune.\033[31mx')=1"
printf '64\n\033[2J\n' >"$work/terminal"
refuses "terminal:2: \\x1b[2J: neither N nor MxNxK" tune --problems "$work/terminal"
refuses 'a\x0ab: no such verb' "$(printf 'a\nb')"
runs 0 plugins --set plugin.naive.what=x --set "plugins.load=[\"$(printf 'n\033[1m')\"]"
! grep -q "$(printf '\033')" "$out" "$err"
verdict $? '  nothing that a terminal obeys'
folder=$work/$(printf 'a\033[31m')
mkdir "$folder" && cp "$qst" "$folder/libqst_x.so" 2>/dev/null
for verb in doctor plugins; do
    runs 0 "$verb" --set "plugins.dirs=[\"$work/a\u001b[31m\"]"
    matches 'a\\x1b\[31m'
    ! grep -q "$(printf '\033')" "$out" "$err"
    verdict $? '  nothing that a terminal obeys'
done
rm -r "$folder"

exit $failed
