#!/bin/sh
# SPDX-License-Identifier: MIT
#
# layers.sh: lower layers never include upper ones, siblings never include each other, and each foreign header has
# its places. Prints file:line: text for each violation; exit 1 where there is one.
cd "${1:-$(dirname "$0")/../..}" || exit 1
lint=$(mktemp) || exit 1
trap 'rm -f "$lint"' EXIT

# Includes of ours: what a layer may see.
sees() { # layer, folder, layers it may include
    grep -rnE '^ *# *include *"' "$2" --include='*.[ch]' 2>/dev/null |
        awk -v own="$1" -v sees=" $1 $3 " '{
            path = $0; sub(/^[^"]*"/, "", path); sub(/".*/, "", path)
            if (path ~ /(^|\/)\.\.\//) print $0 ": reaches out of its folder"
            else if (split(path, part, "/") > 1 && index(sees, " " part[1] " ") == 0)
                print $0 ": " own "/ may see" sees
        }'
}
{
    sees base core/base ""
    sees model core/model "base"
    for layer in tune cl plug conf; do
        sees $layer core/$layer "base model"
    done
    sees cache cache "base model"
    sees run core/run "base model tune cl plug conf cache"
    sees ops core/ops ""
    sees include core/include ""
    sees plugins plugins ""
} >"$lint"

# Headers of others, and dlopen: a pattern and where it may stand.
only() { # pattern, folders as an extended expression
    grep -rnE "$1" core cache plugins tools tests --include='*.[ch]' | grep -vE "^($2)" >>"$lint"
}
public=core/include/quernstone
only '^ *# *include *[<"]CL/' "core/cl/|core/run/|plugins/|tools/|tests/|$public/(context|op|matmul)\.h:"
only '^ *# *include *[<"]jansson\.h' 'core/conf/|cache/|tools/|tests/'
only '^ *# *include *[<"]lmdb\.h' 'cache/'
# The command's peers are other libraries that it measures beside ours, not candidates of ours: decision 27.
only '\<dlopen *\(' 'core/plug/|plugins/|tests/|tools/qst/peer\.c:'

# No operation is named below ops/, except as an example in a comment.
grep -rnE '\<(qst_)?matmul' core cache --include='*.[ch]' | grep -vE ':[0-9]+: *(/\*|\*)' |
    grep -vE "^(core/ops/|core/builtin\.c:|$public/(matmul|quernstone)\.h:)" >>"$lint"

cat "$lint"
test ! -s "$lint"
