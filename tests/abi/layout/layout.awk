# SPDX-License-Identifier: MIT
#
# layout.awk: headers of a release to rows of C: ROW_STRUCT for each struct, ROW_MEMBER for each of its members,
# ROW_NUMBER and ROW_TEXT for each constant, and ROW_TYPE with a member's type as it is told there. layout.c says what
# becomes of them. Left out: internal names, numbers that count what grows (…_END, …_COUNT), and the minor number.

function constant(name) {
    if (name ~ /^QST_[A-Z0-9_]+$/ && name !~ /_(END|COUNT)$/ && name != "QST_ABI_MINOR")
        print "ROW_NUMBER(" name ")"
}

function member(type, name, is) { # is: the type of a pointer to it
    gsub(/ +\*/, " *", is)
    print "ROW_MEMBER(" type ", " name ")"
    print "ROW_TYPE(" type ", " name ", " is ")"
}

# One declaration of a struct: a pointer to a function, or names with a type before the first.
function declaration(type, text,    name, list, n, i, length_of, is) {
    if (match(text, /\(\*[a-z_0-9]+\)/)) {
        name = substr(text, RSTART + 2, RLENGTH - 3)
        member(type, name, substr(text, 1, RSTART - 1) "(**)" substr(text, RSTART + RLENGTH))
        return
    }
    n = split(text, list, / *, */)
    is = list[1]
    sub(/[a-z_0-9]+(\[[A-Za-z_0-9]+\])?$/, "", is)
    list[1] = substr(list[1], length(is) + 1)
    for (i = 1; i <= n; i++) {
        length_of = ""
        name = list[i]
        if (match(name, /\[.*$/)) {
            length_of = substr(name, RSTART)
            name = substr(name, 1, RSTART - 1)
        }
        member(type, name, is (length_of == "" ? "*" : "(*)" length_of))
    }
}

function structure(type, body,    list, n, i) {
    sub(/^ /, "", body)
    print "ROW_STRUCT(" type ", " (body ~ /^(uint32_t magic; )?uint32_t size;/) ")"
    n = split(body, list, / *; */)
    for (i = 1; i < n; i++)
        declaration(type, list[i])
}

/^#define QST_[A-Z0-9_]+ / && !/\\$/ && !/ QST_PLUGIN_MAGIC,/ {
    if ($3 ~ /^"/)
        print "ROW_TEXT(" $2 ")"
    else if ($3 != "__attribute__((visibility(\"default\")))")
        constant($2)
}
/^ +X\([A-Z_]+, -?[0-9]+, "/ { # the list of statuses
    match($0, /X\([A-Z_]+/)
    constant("QST_" substr($0, RSTART + 2, RLENGTH - 2))
}
/^ *#/ { next }
{ text = text " " $0 }

END {
    while ((begin = index(text, "/*")) > 0)
        text = substr(text, 1, begin - 1) " " substr(substr(text, begin), index(substr(text, begin), "*/") + 2)
    gsub(/[ \t]+/, " ", text)
    n = split(text, piece, /enum \{/)
    for (i = 2; i <= n; i++) {
        m = split(substr(piece[i], 1, index(piece[i], "}") - 1), item, ",")
        for (k = 1; k <= m; k++) {
            sub(/^ */, "", item[k])
            sub(/[ =].*$/, "", item[k])
            constant(item[k])
        }
    }
    n = split(text, piece, /typedef struct /)
    for (i = 2; i <= n; i++)
        if (match(piece[i], /^[a-z_0-9]+ \{/))
            structure(substr(piece[i], 1, RLENGTH - 2), substr(piece[i], RLENGTH + 1, index(piece[i], "}") - RLENGTH - 1))
}
