# SPDX-License-Identifier: MIT
#
# embed.cmake: turns a text file, or several one after the other, into a C header with a terminated array of its bytes.
#
#     cmake -DIN=naive.cl[;more.cl] -DOUT=naive.cl.h [-DNAME=naive_cl] -P embed.cmake
#
# The array is called after the first file: its name with every other character than letters, digits and _ replaced by _.

if(NOT IN OR NOT OUT)
    message(FATAL_ERROR "embed: give -DIN=<text file> and -DOUT=<header>")
endif()
set(hex "")
set(files "")
foreach(in IN LISTS IN)
    if(NOT EXISTS "${in}")
        message(FATAL_ERROR "embed: ${in} is not there")
    endif()
    get_filename_component(file "${in}" NAME)
    if(NOT NAME)
        string(MAKE_C_IDENTIFIER "${file}" NAME)
    endif()
    file(READ "${in}" more HEX)
    string(APPEND hex "${more}")
    list(APPEND files "${file}")
endforeach()
list(JOIN files ", " files)

string(REGEX REPLACE "(................................)" "\\1\n    " hex "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " hex "${hex}")
string(REGEX REPLACE " +\n" "\n" hex "${hex}")

# Beyond ASCII (a comment's mathematics) the number would not fit a signed char; a character constant does.
string(REGEX REPLACE "0x([89a-f][0-9a-f])" "'\\\\x\\1'" hex "${hex}")

file(WRITE "${OUT}.new"
"/* Made from ${files}; do not edit. */
#if defined(__GNUC__)
__attribute__((unused))
#endif
static const char ${NAME}[] = {
    ${hex}0};
")
# Always replaced, so that the rule's output is newer than its input.
file(RENAME "${OUT}.new" "${OUT}")
