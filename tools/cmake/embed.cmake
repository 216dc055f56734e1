# SPDX-License-Identifier: MIT
#
# embed.cmake: turns one text file into a C header with a terminated array of its bytes.
#
#     cmake -DIN=naive.cl -DOUT=naive.cl.h [-DNAME=naive_cl] -P embed.cmake
#
# The array is called after the file: its name with every other character than letters, digits and _ replaced by _.

if(NOT IN OR NOT OUT)
    message(FATAL_ERROR "embed: give -DIN=<text file> and -DOUT=<header>")
endif()
if(NOT EXISTS "${IN}")
    message(FATAL_ERROR "embed: ${IN} is not there")
endif()
get_filename_component(file "${IN}" NAME)
if(NOT NAME)
    string(MAKE_C_IDENTIFIER "${file}" NAME)
endif()

file(READ "${IN}" hex HEX)
string(REGEX REPLACE "(................................)" "\\1\n    " hex "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " hex "${hex}")
string(REGEX REPLACE " +\n" "\n" hex "${hex}")

# Beyond ASCII (a comment's mathematics) the number would not fit a signed char; a character constant does.
string(REGEX REPLACE "0x([89a-f][0-9a-f])" "'\\\\x\\1'" hex "${hex}")

file(WRITE "${OUT}.new"
"/* Made from ${file}; do not edit. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static const char ${NAME}[] = {
    ${hex}0};
")
# Always replaced, so that the rule's output is newer than its input.
file(RENAME "${OUT}.new" "${OUT}")
