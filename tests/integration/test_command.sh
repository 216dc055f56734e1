#!/bin/sh
# SPDX-License-Identifier: MIT
#
# test_command.sh QST: every verb of the command: exit codes, key lines, JSON, refusals. Prints a line a check; exit 1
# when one failed.

set -u
qst=${1:?usage: test_command.sh QST}
case $qst in
/*) ;;
*) qst=$PWD/$qst ;;
esac
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# No configuration but the library's own: neither a file upwards from here nor a variable.
cd "$work" || exit 1
export XDG_CONFIG_HOME="$work"
for variable in $(env | sed -n 's/^\(QST_[A-Z_]*\)=.*/\1/p'); do
    unset "$variable"
done
out=$work/out
err=$work/err
failed=0

verdict() { # verdict TRUTH TEXT: 0 is good
    if [ "$1" -eq 0 ]; then
        echo "ok   $2"
    else
        echo "FAIL $2"
        sed 's/^/     | /' "$out" "$err" | head -n 20
        failed=1
    fi
}

# runs CODE ARGUMENT...: runs the command, compares the exit code
runs() {
    code=$1
    shift
    timeout 240 "$qst" "$@" >"$out" 2>"$err" </dev/null
    got=$?
    [ "$got" -eq "$code" ]
    verdict $? "qst $*: exit code $code (got $got)"
}

says() { # a line of the results holds this text
    grep -qF -e "$1" "$out"
    verdict $? "  says: $1"
}

matches() { # a line of the results is of this form
    grep -qE -e "$1" "$out"
    verdict $? "  matches: $1"
}

never() { # no line of the results is of this form
    ! grep -qE -e "$1" "$out"
    verdict $? "  never: $1"
}

# Not understood: exit code 2, nothing on stdout, one line on stderr with this text.
refuses() {
    text=$1
    shift
    runs 2 "$@"
    [ ! -s "$out" ] && [ "$(wc -l <"$err")" -eq 1 ] && grep -qF -e "$text" "$err"
    verdict $? "  one line: $text"
}

json() { # json PYTHON-EXPRESSION over the result j; without Python, braces are all that is looked at
    if command -v python3 >/dev/null 2>&1; then
        python3 -c 'import json,sys; j=json.load(open(sys.argv[1])); sys.exit(0 if eval(sys.argv[2]) else 1)' \
            "$out" "$1" 2>>"$err"
        verdict $? "  JSON: $1"
    else
        head -c 1 "$out" | grep -q '[[{]'
        verdict $? "  looks like JSON"
    fi
}

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
refuses "''"': no such verb' ''
refuses 'extra: nothing comes after --version' --version extra
refuses 'needs a value' shapes 64 --budget
refuses 'no sizes' shapes
refuses '12x: neither N nor MxNxK' keys 12x
refuses 'no sizes' keys
refuses '--k is missing' run matmul --m 3 --n 4
refuses '--lda 2: less than the 5' run matmul --m 3 --n 4 --k 5 --lda 2
refuses 'nothing named: what to run is' run
refuses 'nothing named: what to measure is' bench
refuses 'no problem' bench matmul
refuses '--k is missing' bench matmul --m 3 --n 4
refuses 'qst bench matmul: --range 9..3: not LOW..HIGH' bench matmul --random 2 --range 9..3
refuses 'qst bench tunings: --range 8: not LOW..HIGH' bench tunings --range 8
refuses '--n is missing: --m, --n and --k name one problem together' bench matmul 8 --m 3
refuses 'qst bench verify: --pairs: no such option' bench verify --pairs 3
refuses 'qst bench verify: --keys: no such option' bench verify --keys 10
refuses 'qst bench verify: --batches: no such option' bench verify --batches 4
refuses 'qst bench first: --keys: no such option' bench first --keys 10
refuses 'qst bench store: --size: no such option' bench store --size 16
refuses 'qst bench lookup: --pairs: no such option' bench lookup --pairs 3
refuses 'qst bench store: 5: takes no arguments' bench store 5
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
[ ! -s "$out" ] && [ "$(wc -l <"$err")" -eq 1 ] && grep -q 'there is no OpenCL device' "$err"
verdict $? '  one line without any driver'

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

# ---- The main job: 208 lives on 240's answer, 250 is its own key ------------------------------------------------

runs 0 shapes 240 208 250 --deny '*x16_*'
matches '^ *240x240 first: .* outside builds [0-9.]+ m?s  launches=[0-9]+ \[candidate=[0-9]+, verify=[0-9]+.*\] tuned winner matmul\.'
matches '^ *208x208 first: .* launches=1 \[candidate=1.*\] known winner matmul\.'
matches '^ *250x250 first: .* tuned winner matmul\.'
matches '^ *250x250 next 20: min .* median .* launches=20 \[candidate=20\]$'
never 'wrong'
runs 0 shapes 33x65x129 48T 640 --pin '*naive*' --json
json '[s["right"] for s in j["shapes"]] == [True] * 3 and j["cache"] == "cold"'
json 'all(s["winner"].startswith("matmul.naive.") for s in j["shapes"])'
json 'all(s["launches"]["total"] == sum(v for k, v in s["launches"].items() if k not in ("total", "kernels")) for s in j["shapes"])'
json 'all(s["next"]["runs"] == 20 and s["next"]["min_ms"] <= s["next"]["median_ms"] for s in j["shapes"])'
json 'j["device"]["target"] and all(s["tuned"] for s in j["shapes"])'
json 'all(s["wait_ms"] > 0 and s["outside_ms"] >= s["probe_ms"] + s["verify_ms"] + s["sample_ms"] for s in j["shapes"])'
json 'all(abs(s["first_ms"] - s["wait_ms"] - s["outside_ms"]) < 1e-3 for s in j["shapes"])'

# ---- run: views, scalars, nothing to compute, pinned candidates -------------------------------------------------

matmul() {
    runs 0 run matmul --runs 2 --deny '*x16_*' --deny '*clblast*' "$@"
    matches '^check: +right'
    never 'wrong'
}
matmul --m 333 --n 65 --k 129
matmul --m 33 --n 65 --k 29 --lda 31 --ldb 70 --ldc 67 --offset-a 1 --offset-b 3 --offset-c 5
matmul --m 17 --n 31 --k 29 --transa --transb --colmajor-c --ldc 20 --alpha -1.5 --beta 0.5
matmul --m 17 --n 31 --k 29 --ta --tb
matmul --m 7 --n 9 --k 11 --batch 5 --broadcast a --dtype f64
matmul --m 5 --n 6 --k 0 --beta 2
says 'trivial'
matmul --m 5 --n 6 --k 7 --alpha 0 --beta 3
matmul --m 0 --n 6 --k 7
says 'none'
matmul --m 33 --n 20 --k 31 --batch 3 --broadcast b --scaled --same
refuses '--same: with beta 1' run matmul --m 3 --n 4 --k 5 --same --beta 1
refuses '--scaled: 2^40 is no f16' run matmul --m 3 --n 4 --k 5 --scaled --dtype f16
runs 0 run matmul --m 40 --n 50 --k 60 --pin 'matmul.naive*' --json
json 'len(j["digest"]) == 16 and j["same"]'
json 'j["right"] and j["winner"].startswith("matmul.naive.") and j["pinned"][0]["name"] == j["winner"]'
json '0 < j["error_of_bound"] <= 1 and j["outside_untouched"] and j["inputs_untouched"]'
runs 0 run matmul --m 16 --n 16 --k 16 --pin nobody
says 'pinned:  nobody: no candidate of such a name'
runs 0 run matmul --m 24 --n 24 --k 24 --pin 'matmul.naive*' --set tune.mode=background --json
json 'j["right"] and j["pinned"][0]["name"] == j["winner"] and j["pinned"][0]["outcome"] in ("TIMED", "VERIFIED")'
runs 0 run matmul --m 40 --n 24 --k 24 --pin 'matmul.naive*' --set tune.mode=fallback
says 'nothing is known: tune.mode lets nothing be tuned'
runs 1 run matmul --m 8 --n 8 --k 8 --dtype f16 --dtype-c f64
grep -q 'no candidate computes m=8 n=8 k=8 a=f16,.* c=f64,' "$err" && ! grep -q 'right result' "$err"
verdict $? '  names the types that nobody computes'
if "$qst" plugins | grep -q '^clblast .* started'; then
    runs 0 run matmul --m 16 --n 16 --k 16 --pin '*clblast*' --set plugin.clblast.library=/nonexistent/lib.so
    matches '^pinned: +matmul\.clblast\..*: .*/nonexistent/lib\.so'
    says 'winner:  matmul.naive.'
fi

# ---- explain ----------------------------------------------------------------------------------------------------

runs 0 explain 48 'matmul m=48 n=48 k=48' --deny '*x16_*'
matches '^round 1:$'
matches '^winner matmul\.'
matches '^  because: '
matches '^key +m=64 n=64 k=64 '
[ "$(grep -c '^key ' "$out")" -eq 2 ] && [ "$(grep '^key ' "$out" | sort -u | wc -l)" -eq 1 ]
verdict $? '  a size and its text have one key'
runs 0 explain 48 --deny '*x16_*' --all
if "$qst" plugins --all 2>/dev/null | grep -q 'x16_'; then
    matches '^  refused: .*:.*x16_'
fi
never ' \([0-9]+\)$'
runs 0 explain 48 --deny '*x16_*'
says 'matmul.gemv.* ('

runs 0 explain 48 --pin '*naive*' --json --set store.environment=pinned
json 'j["winner"].startswith("matmul.naive.") and j["runs"] == j["winner"] and j["findings"]'
runs 0 explain 'matmul m=0 n=3 k=3'
matches '^runs +none: nothing to choose here'
# Broadcast along k there is nothing to scale badly: judged by whole numbers and the bound alone.
for one in 'a=f32,1,0' 'b=f32,0,1' 'a=f32,0,0 b=f32,0,0' 'a=f64,1,0 b=f64,16,1 c=f64,16,1'; do
    runs 0 explain "matmul m=16 n=16 k=16 $one" --deny '*x16_*' --deny '*clblast*' --set tune.max_samples=3
    matches '^winner matmul\.'
done
# A pin is not measured by who is not pinned, whatever was found before.
if "$qst" plugins --all | grep -q '^cblas .* started'; then
    runs 0 run matmul --m 3 --n 5 --k 7 --pin '*naive*' --set store.environment=pins
    runs 0 run matmul --m 3 --n 5 --k 7 --pin '*cblas*' --set store.environment=pins
    says 'winner:  matmul.cblas.'
fi
runs 0 run matmul --m 3 --n 5 --k 7 --deny '*unit*' --set store.environment=pins
runs 0 run matmul --m 3 --n 5 --k 7 --pin 'matmul.unit.32x64x32_4x4/*' --set store.environment=pins
says 'winner:  matmul.unit.'

# ---- The store: ahead of time, moved, checked, pruned -----------------------------------------------------------

slow="--deny *x16_* --deny *clblast*"
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
runs 1 tune --problems "$work/large" --set log=error
matches '^failed '
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

runs 0 cache ls
matches '^[0-9a-f]{12} +verdicts +current +[0-9]+ +[0-9]+ [a-z]+ +matmul +matmul\.[^ ]+ +m='
runs 0 cache ls --json
json 'len([r for r in j if r["table"] == "verdicts" and r["state"] == "current" and r["op"] == "matmul"]) >= 3'
id=$(sed -n 's/^ *"id": "\([0-9a-f]*\)".*/\1/p' "$out" | head -n 1)
runs 0 cache ls --op 'conv*'
never '^[0-9a-f]{12} '
runs 0 cache show "$(echo "$id" | cut -c 1-10)" --json
json 'j["id"] == "'"$id"'" and j["findings"] and j["winner"]'
runs 0 cache show "$id"
matches '^winner matmul\.'
runs 1 cache show ffffffffffffffff
runs 1 cache show nothex
grep -qF '0-9a-f' "$err"
verdict $? '  says what an id is'
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
for job in 'cache verify' 'cache ls' 'cache export' "cache import $work/answers.json"; do # a store that is not there
    # shellcheck disable=SC2086
    runs 1 $job --set store.path=/dev/null --set log=error
    [ ! -s "$out" ] && grep -qF "qst: cache: the store is kept in memory only: '/dev/null' is not a folder" "$err"
    verdict $? '  says why'
done
runs 1 cache import "$work/answers.json" --set store.readonly=true
grep -qE '^qst: cache: what is imported is not kept: /.*: the store is read-only$' "$err"
verdict $? '  says that nothing was kept'
runs 1 tune --sizes 8 --pin 'matmul.naive.*' --set store.path=/dev/null --set log=error
grep -qF "qst: tune: what was found is not kept: the store is kept in memory only: '/dev/null' is not a folder" "$err"
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
[ ! -e "$hurt.damaged-1" ]
verdict $? '  it is gone'
runs 0 cache verify --set store.environment=hurt
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
fi
[ -z "$affinity" ] || export POCL_AFFINITY="$affinity"
runs 1 doctor --device 'no such device'
matches '^fail +devices '
runs 0 doctor --set tune.mode=frozen # what it puts over a mode hides no mistake, and is none
refuses "tune.mode: 'foo' is not one of tune" doctor --set tune.mode=foo
refuses "tune.mode: 'foo' is not one of tune" config --set tune.mode=foo
export QST_MODE=foo
for verb in doctor config; do
    runs 1 "$verb"
    grep -qF "QST_MODE: tune.mode: 'foo' is not one of tune" "$err"
    verdict $? "  QST_MODE is named"
done
unset QST_MODE
runs 0 config --config '{"tune.mode": "frozen"}' --set tune.mode=fallback # the same setting, in both forms
matches '^tune\.mode +"fallback" +API '
for said in '{"groups.matmul": {"unit.priority": 1}}' '{"groups": {"matmul.unit": {"priority": 1}}}'; do # or by half
    runs 0 config --config "$said" --set groups.matmul.unit.priority=2
    matches '^groups\.matmul\.unit\.priority +2 +API '
done
runs 0 config --json --config '{"tune": {"mode": "frozen", "level": "full"}}' --set 'tune={"mode": "fallback"}'
json '{r["path"]: r["value"] for r in j if r["origin"] == "API"} == {"tune.mode": "fallback", "tune.level": "full"}'
refuses 'tune.mode: is set twice' config --config '{"tune.mode": "frozen", "tune": {"mode": "frozen"}}'
refuses 'goes through a value that is no object' config --config '{"tune": 5}' --set tune.mode=frozen
refuses 'tune: has an empty key' config --set tune.=5

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

# ---- What is not tuned, and keys of many names ---------------------------------------------------------------------

runs 1 tune --sizes 26 --set tune.mode=fallback
[ "$(wc -l <"$err")" -eq 1 ] && grep -qF 'not tuned: another process is tuning it, or tune.mode' "$err"
verdict $? '  one line: why there is no answer'
runs 2 config --set "$(printf 'a.%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39)a=1"
grep -qF 'a: unknown key' "$err"
verdict $? '  a key of forty names is an unknown key'

# ---- What the device cannot hold -----------------------------------------------------------------------------------

runs 1 run matmul --m 65536 --n 65536 --k 1 --batch 100000
[ "$(wc -l <"$err")" -eq 1 ] && grep -qE "^qst: run matmul: [abc] takes [0-9.e+]+ MB, over the device.s largest buffer" "$err"
verdict $? '  one line: more than the device holds'

# ---- bench matmul: that it measures, not what -------------------------------------------------------------------

set -f
runs 1 bench matmul --problem 'matmul m=-8 n=8 k=8'
grep -qF 'm is -8, must not be negative' "$err"
verdict $? '  names what is negative'
runs 1 bench matmul --problem 'matmul m=3000000 n=3000000 k=1'
[ "$(wc -l <"$err")" -eq 1 ] && grep -qF "c takes 3.6e+07 MB, over the device's largest buffer" "$err"
verdict $? '  one line: more than the device holds'
runs 1 bench matmul --problem 'matmul m=0 n=8 k=8 batch=4000000000x4000000000x4000000000x1'
[ "$(wc -l <"$err")" -eq 1 ] && grep -qF 'reaches beyond 2^63 bytes' "$err"
verdict $? '  one line: more products than can be counted'
runs 0 bench matmul 24 20x30x40T --rounds 3 $slow
matches '^  quernstone +[0-9.]+ .* matmul\.'
runs 0 bench matmul --m 24 --n 1 --k 40 --transa --batch 3 --dtype f64 --rounds 3 $slow --json
json 'j["rows"][0]["who"] == "quernstone" and j["rows"][0]["median_ms"] > 0 and j["rows"][0]["max_rel_err"] < 1e-12'
json 'j["problem"].startswith("m=24 n=1 k=40") and j["regret"] is None'
runs 0 bench matmul --random 3 --range 16..40 --rounds 1 --all --pin 'matmul.naive.*' --pin 'matmul.unit.min*' --json
json 'j["regret"]["problems"] == 3 and j["regret"]["median"] >= 0 and len(j["problems"]) == 3'
json 'all(len(p["candidates"]) > 1 and p["best"] for p in j["problems"])'
runs 0 bench tunings --keys 2 --times 2 --range 16..40 --pin 'matmul.naive.*' --pin 'matmul.unit.min*' --json
json 'j["tunings"] == 4 and len(j["keys"]) == 2 and j["within_2"] <= j["within_5"] <= 4'
json 'all(sum(w["times"] for w in k["winners"]) == 2 for k in j["keys"])'
refuses 'takes no arguments' bench tunings 64
refuses 'peer nobody: no such peer' bench matmul 24 --peers nobody $slow
runs 1 bench matmul 24 --peers clblast --set plugin.clblast.library="$work/none.so" $slow
grep -qF 'peer clblast: ' "$err"
verdict $? '  peer clblast: no library'
set +f

# ---- bench first and store: that they measure, not what ---------------------------------------------------------

runs 0 bench first --pairs 1 --size 16 --json
json 'j["ratio"] > 0 and j["first"]["tuned"] == 0 and j["first"]["compiles"] == 0 and j["first"]["binary_loads"] == 1'
json 'j["first"]["candidate"] == 1 and j["first"]["launches"] == 1'
json '0 < j["call_ms"] < j["first_ms"] and j["call_over_quartiles_ms"][0] <= j["call_over_ms"] <= j["call_over_quartiles_ms"][1]'
# A process of its own that fails has one line, its own.
runs 1 bench first --pairs 1 --size 16 --device 'no such device'
[ "$(wc -l <"$err")" -eq 1 ] && grep -qF 'no such device' "$err"
verdict $? '  one line: no such device'
# Its processes find the device by names, whatever else is listed there and in which order.
for child in hand with; do
    runs 1 bench first --child $child --size 16 --file "$work/none" --at-platform Nobody --at-device here
    [ "$(wc -l <"$err")" -eq 1 ] && grep -qF "finds no device 'here' of platform 'Nobody'" "$err"
    verdict $? '  one line: no such device'
done
runs 0 devices --json
if grep -q 'Portable Computing Language' "$out"; then
    export POCL_DEVICES='basic pthread pthread'
    runs 0 bench first --pairs 1 --size 16 --device pthread
    runs 0 bench first --pairs 1 --size 16 --device pthread --set device.index=1
    basic=$("$qst" devices --json | sed -n 's/^ *"name": "\(basic.*\)",$/\1/p')
    runs 1 bench first --child hand --size 16 --file "$work/none" --at-platform 'Portable Computing Language' \
        --at-device "$basic" --at 5
    [ "$(wc -l <"$err")" -eq 1 ] && grep -qF "finds 1 of device 'basic" "$err"
    verdict $? '  one line: too few of that name'
    unset POCL_DEVICES
fi
runs 0 bench verify --json --set 'candidates.pin=["matmul.naive.*"]'
json '[r["n"] for r in j] == [256, 512, 1024] and all(r["seen"] > 0 and r["faults"][0]["caught"] == 1 for r in j)'
runs 0 bench store --keys 10 --json
json '[r["keys"] for r in j] == [10] and j[0]["first_us"] > 0 and j[0]["file_bytes"] > 0'

# ---- bench lookup: that it measures, not what ------------------------------------------------------------------

runs 0 bench lookup --size 16 --batches 4
matches '^keyed call, over it +median +-?[0-9.]+ ns .within -?[0-9.]+ to -?[0-9.]+.  quartiles'
runs 0 bench lookup --size 16 --batches 4 --json
json 'j["hand_ns"] > 0 and j["winner"] == "matmul.app.lookup/1" and j["key_instructions"] is None'
json 'all(j[k + "_within_ns"][0] <= j[k + "_ns"] <= j[k + "_within_ns"][1] for k in ("key", "plan"))'

exit $failed
