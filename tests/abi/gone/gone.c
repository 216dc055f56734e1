/* SPDX-License-Identifier: MIT
 *
 * gone.c: a library that bad_dependency.c was linked with, and that is not there when it is loaded. */
int qst_test_gone(void);
int qst_test_gone(void)
{
    return 1;
}
