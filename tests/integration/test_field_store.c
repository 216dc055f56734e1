/* SPDX-License-Identifier: MIT
 *
 * test_field_store.c: what the field reports of stores and files, with a whole context over them: damage, folders that
 * cannot be used, processes that share and die, growth, programs that are not to be built, devices that take turns. The
 * rows are those of docs/field-reports.md; what concerns the store alone is in the tests of the store. */
#include "run/run.h"
#include "support/field_case.h"
#include "support/store_case.h"

#include <quernstone/cache.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { FIRST = 24, KEYS = 4, PAGE = 4096 };
static const char set[] = "abd";
static char      *compiled; /* a compiler's cache for those who are not root */

static field_report run(field_job job)
{
    field_report r;

    job.set = job.set ? job.set : set;
    job.first = job.first ? job.first : FIRST;
    job.keys = job.keys ? job.keys : KEYS;
    field_process(&job, &r);
    return r;
}

static void expect_winner(const field_report *r, char letter)
{
    for (uint32_t key = FIRST; key < FIRST + KEYS; key++)
        assert_int_equal(r->winner[key], letter);
}

/* A folder with the answers of a whole process. */
static char *answered(void)
{
    char        *folder = folder_make();
    field_report r = run((field_job){.folder = folder});

    assert_int_equal(r.counters.tuned, KEYS);
    return folder;
}

/* ---- C1: damaged data ---------------------------------------------------------------------------------------------- */

static void spoil(unsigned char *data, size_t bytes, size_t page, int how)
{
    if (how == 0)
        data[page * PAGE + 17] ^= 0x40;
    else if (how == 1)
        memset(data + page * PAGE, 0, PAGE);
    else
        memset(data + page * PAGE, 0xff, bytes - page * PAGE);
}

/* A bit is flipped in a page, a page is zeroed, the rest is overwritten: right results with one warning at most, and the
 * next start is clean. */
static void c1_damaged_pages(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) {
        char          *folder = answered(), path[512];
        size_t         bytes, pages;
        unsigned char *data = file_read(path_in(path, folder, "default/data.mdb"), &bytes), *bad = malloc(bytes);
        field_report   r;

        pages = bytes / PAGE;
        assert_true(pages > 4);
        for (size_t page = 0; page < pages; page += how ? 7 : 4) {
            memcpy(bad, data, bytes);
            spoil(bad, bytes, page, how);
            file_write(path, bad, bytes);
            r = run((field_job){.folder = folder});
            expect_winner(&r, 'd');
            assert_in_range(r.warnings, 0, 1);
            assert_string_equal(r.store, "lmdb");
            r = run((field_job){.folder = folder});
            assert_int_equal(r.warnings, 0);
            assert_int_equal(r.counters.tuned, 0);
        }
        free(bad);
        free(data);
        folder_remove(folder);
    }
}

typedef struct values {
    uint32_t n;
    size_t   bytes[64];
    uint8_t  key[64][32], *value[64];
} values;

static int32_t keep_value(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    values *v = user;

    assert_true(v->n < 64 && key_bytes == 32);
    v->value[v->n] = malloc(value_bytes);
    memcpy(v->key[v->n], key, 32);
    memcpy(v->value[v->n], value, value_bytes);
    v->bytes[v->n++] = value_bytes;
    return 0;
}

/* Spoils all values of a table; how many. */
static uint32_t damage(const char *folder, uint32_t db)
{
    static values v;
    qst_context  *ctx = field_look(folder);

    v.n = 0;
    assert_int_equal(ctx->store.iterate(ctx->store.self, db, keep_value, &v), QST_OK);
    for (uint32_t i = 0; i < v.n; i++) {
        v.value[i][v.bytes[i] - 1] ^= 1;
        assert_int_equal(ctx->store.put(ctx->store.self, db, v.key[i], 32, v.value[i], v.bytes[i]), QST_OK);
        free(v.value[i]);
    }
    qst_context_destroy(ctx);
    return v.n;
}

/* Records whose bytes are wrong, or of an older or newer schema, in a file that is in order. */
static void c1_bad_records(void **state)
{
    static values v;

    (void)state;
    for (int how = 0; how < 4; how++) {
        char        *folder = answered();
        qst_context *ctx = field_look(folder);
        field_report r;

        v.n = 0;
        assert_int_equal(ctx->store.iterate(ctx->store.self, QST_DB_VERDICTS, keep_value, &v), QST_OK);
        assert_int_equal(v.n, KEYS);
        for (uint32_t i = 0; i < v.n; i++) {
            v.value[i][how == 0 ? 40 : 4] ^= how == 3 ? 3 : 64; /* 4: the schema */
            assert_int_equal(
                ctx->store.put(ctx->store.self, QST_DB_VERDICTS, v.key[i], 32, v.value[i], how == 2 ? 10 : v.bytes[i]),
                QST_OK);
            free(v.value[i]);
        }
        qst_context_destroy(ctx);
        r = run((field_job){.folder = folder});
        expect_winner(&r, 'd');
        assert_int_equal(r.counters.tuned, KEYS);
        r = run((field_job){.folder = folder});
        assert_int_equal(r.counters.tuned, 0);
        assert_int_equal(r.warnings, 0);
        (void)field_verify(folder);
        folder_remove(folder);
    }
}

/* ---- C3, C4: folders that cannot be used --------------------------------------------------------------------------- */

/* A child that is not root runs the job; its report. */
static field_report unprivileged(field_job job, const char *shut)
{
    field_report r;
    int          ends[2], pid;

    job.set = set;
    job.first = FIRST;
    job.keys = KEYS;
    job.shut = shut;
    assert_int_equal(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
        (void)setenv("POCL_CACHE_DIR", compiled, 1);
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(99);
        field_run(&job, &r);
        _exit(write(ends[1], &r, sizeof r) == sizeof r ? 0 : 98);
    }
    (void)close(ends[1]);
    assert_int_equal(field_end(pid, ends[0], &r), 0);
    if (r.status != QST_OK)
        fail_msg("%s", r.error);
    return r;
}

static void own(const char *folder)
{
    static const char *const names[] = {
        "", "default", "default/data.mdb", "default/lock.mdb", "default/claims", "default/clean"};
    char path[512];

    for (size_t i = 0; geteuid() == 0 && i < sizeof names / sizeof *names; i++)
        (void)!chown(path_in(path, folder, names[i]), 65534, 65534);
}

/* Nothing can be written: what is known is used, what is new is kept in memory, with one warning. */
static void c3_read_only(void **state)
{
    char        *folder = answered(), path[512];
    field_report r;

    (void)state;
    own(folder);
    assert_int_equal(chmod(path_in(path, folder, "default/data.mdb"), 0444), 0);
    assert_int_equal(chmod(path_in(path, folder, "default"), 0555), 0);
    r = unprivileged((field_job){.folder = folder}, NULL);
    assert_int_equal(r.counters.tuned, 0);
    assert_in_range(r.warnings, 0, 1); /* what it compiled is to be noted */
    expect_winner(&r, 'd');
    r = unprivileged((field_job){.folder = folder, .config = "\"tune.force\": true"}, NULL); /* something to write */
    assert_int_equal(r.counters.tuned, KEYS);
    assert_int_equal(r.warnings, 1);
    expect_winner(&r, 'd');
    assert_int_equal(chmod(path, 0755), 0);
    folder_remove(folder);
}

/* The folder is shut while a process is at it. */
static void c3_shut_meanwhile(void **state)
{
    char        *folder = answered(), path[512];
    field_report r;

    (void)state;
    own(folder);
    r = unprivileged((field_job){.folder = folder, .config = "\"tune.force\": true"}, path_in(path, folder, "default"));
    expect_winner(&r, 'd');
    assert_in_range(r.warnings, 0, 1);
    assert_int_equal(chmod(path, 0755), 0);
    r = unprivileged((field_job){.folder = folder}, NULL);
    assert_int_equal(r.counters.tuned, 0);
    folder_remove(folder);
}

/* The user's cache cannot be found or made: memory, one warning, right results; a relative path is none either. */
static void c4_no_home(void **state)
{
    static const struct {
        const char *home, *cache;
        bool        stored;
    } rows[] = {{NULL, NULL, false},
                {"/nonexistent/home", NULL, false},
                {"/", NULL, false},
                {"/nonexistent/home", "relative/cache", false},
                {"/nonexistent/home", "LONG", false},
                {"/nonexistent/home", "FOLDER/na\xc3\xafve \xe2\x82\xac", true}};
    char        *folder = folder_make(), cache[6000], long_part[5001];
    field_report r;

    (void)state;
    memset(long_part, 'x', sizeof long_part - 1);
    long_part[sizeof long_part - 1] = '\0';
    if (geteuid() == 0)
        assert_int_equal(chown(folder, 65534, 65534), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *at = rows[i].cache;
        snprintf(cache, sizeof cache, "%s%s%s", at && !strncmp(at, "FOLDER", 6) ? folder : "",
                 at && !strcmp(at, "LONG") ? "/" : "",
                 !at                         ? ""
                 : !strcmp(at, "LONG")       ? long_part
                 : !strncmp(at, "FOLDER", 6) ? at + 6
                                             : at);
        (void)(rows[i].home ? setenv("HOME", rows[i].home, 1) : unsetenv("HOME"));
        (void)(at ? setenv("XDG_CACHE_HOME", cache, 1) : unsetenv("XDG_CACHE_HOME"));
        r = unprivileged((field_job){.home = true}, NULL);
        expect_winner(&r, 'd');
        assert_string_equal(r.store, rows[i].stored ? "lmdb" : "memory");
        if (r.warnings != !rows[i].stored)
            fail_msg("row %zu: %u warnings: %s", i, r.warnings, r.warning);
    }
    assert_int_not_equal(access("/quernstone", F_OK), 0);
    folder_remove(folder);
}

/* ---- C6: many at once, some of them killed ------------------------------------------------------------------------- */

static void c6_shared_and_killed(void **state)
{
    enum { CROWD = 8, ALL = 24 };
    char        *folder = folder_make();
    int          pid[CROWD], from[CROWD];
    uint64_t     tuned = 0;
    field_report r;

    (void)state;
    for (uint32_t i = 0; i < CROWD; i++) {
        field_job job = {.folder = folder,
                         .set = "abcdef",
                         .first = 3 * (i % 4),
                         .keys = 12,
                         .config = "\"tune.wait\": true",
                         .die_at = i % 3 == 2 ? 40 + 60 * (long)i : 0};
        pid[i] = field_start(&job, &from[i]);
    }
    for (int i = 0; i < CROWD; i++) {
        int status = field_end(pid[i], from[i], &r);
        if (i % 3 == 2)
            assert_true(status == -SIGKILL || status == 0); /* others may have done it all */
        else
            assert_int_equal(status, 0);
        assert_int_equal(r.warnings, 0);
        tuned += r.counters.tuned;
    }
    (void)field_verify(folder);
    field_process(&(field_job){.folder = folder, .set = "abcdef", .keys = ALL}, &r);
    print_message("%llu keys tuned by the crowd, %llu after it\n", (unsigned long long)tuned,
                  (unsigned long long)r.counters.tuned);
    for (uint32_t key = 0; key < 21; key++)
        assert_int_equal(r.winner[key], 'd');
    assert_int_equal(r.counters.tuned, ALL - 21); /* nobody has been at the last ones */
    (void)field_verify(folder);
    folder_remove(folder);
}

/* ---- C9: growth ---------------------------------------------------------------------------------------------------- */

/* The file's size after a run of a process that tunes nothing unless it is the first. */
static off_t size_after(const char *folder, const char *config, bool settle, bool first)
{
    field_job    job = {.folder = folder, .set = set, .first = FIRST, .keys = KEYS, .config = config, .settle = settle};
    char         path[512];
    struct stat  found;
    field_report r;

    field_process(&job, &r);
    assert_int_equal(r.counters.tuned, first ? KEYS : 0);
    assert_int_equal(stat(path_in(path, folder, "default/data.mdb"), &found), 0);
    return found.st_size;
}

/* A program that settles adds nothing after its first run. One that does not compiles the winner each time, and says so in
 * the history, which has an end: then the file grows no more. */
static void c9_fifty_runs(void **state)
{
    char *folder = folder_make();
    off_t bytes = 0;

    (void)state;
    for (int i = 0; i < 50; i++) {
        off_t now = size_after(folder, NULL, i == 0, i == 0);
        assert_true(i == 0 || now == bytes);
        bytes = now;
    }
    folder_remove(folder);
    folder = folder_make();
    for (int i = 0; i < 16; i++) {
        off_t now = size_after(folder, "\"history.keep\": 2", false, i == 0);
        if (i > 8 && now != bytes)
            fail_msg("run %d: %lld bytes become %lld", i, (long long)bytes, (long long)now);
        bytes = now;
    }
    folder_remove(folder);
}

/* ---- C11, C48: programs -------------------------------------------------------------------------------------------- */

/* A kept binary that cannot be used is built from source; where that fails too the runner-up serves. */
static void c11_poisoned(void **state)
{
    char        *folder = folder_make();
    field_report r = run((field_job){.folder = folder, .settle = true});

    (void)state;
    r = run((field_job){.folder = folder});
    assert_int_equal(r.binaries, 1);
    assert_int_equal(r.builds['d' - 'a'], 0);
    r = run((field_job){.folder = folder, .no_binary = true});
    assert_int_equal(r.builds['d' - 'a'], 1);
    expect_winner(&r, 'd');
    r = run((field_job){.folder = folder, .bad_binary = true});
    assert_int_equal(r.builds['d' - 'a'], 1);
    expect_winner(&r, 'd');
    assert_int_equal(r.counters.tuned, 0);
    r = run((field_job){.folder = folder, .no_binary = true, .fails = 'd'});
    expect_winner(&r, 'b');
    assert_int_equal(r.counters.tuned, 0);
    assert_true(r.warnings >= 1);
    /* All of the kept binary is damaged. */
    folder_remove(folder);
    folder = folder_make();
    (void)run((field_job){.folder = folder, .settle = true});
    assert_int_equal(damage(folder, QST_DB_PROGRAMS), 1);
    r = run((field_job){.folder = folder, .settle = true});
    expect_winner(&r, 'd');
    assert_int_equal(r.builds['d' - 'a'], 1);
    assert_int_equal(r.warnings, 1);
    assert_int_equal(r.counters.tuned, 0);
    folder_remove(folder);
}

/* What does not build is built once for a driver, whichever key asks. */
static void c48_never_builds(void **state)
{
    char        *folder = folder_make();
    field_report r = run((field_job){.folder = folder, .set = "abxd", .first = FIRST});

    (void)state;
    assert_int_equal(r.builds['x' - 'a'], 1);
    r = run((field_job){.folder = folder, .set = "abxd", .first = FIRST});
    assert_int_equal(r.builds['x' - 'a'], 0);
    r = run((field_job){.folder = folder, .set = "abxd", .first = FIRST + KEYS});
    assert_int_equal(r.counters.tuned, KEYS);
    assert_int_equal(r.builds['x' - 'a'], 0);
    folder_remove(folder);
}

/* ---- C47: devices that take turns ---------------------------------------------------------------------------------- */

static void c47_taking_turns(void **state)
{
    static const field_job others[] = {{.name = "another device"}, {.driver = "9.9"}, {.bits = 32}};
    char                  *folder = folder_make();
    field_report           r = run((field_job){.folder = folder, .settle = true});

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        field_job other = others[i];
        other.folder = folder;
        other.settle = true;
        r = run(other);
        assert_int_equal(r.binaries, 0); /* nothing of another one's is loaded; its own is kept, tuned here or not */
        expect_winner(&r, 'd');
        for (int turn = 0; turn < 2; turn++) {
            r = run((field_job){.folder = folder});
            assert_int_equal(r.counters.tuned, 0);
            assert_int_equal(r.binaries, 1);
            other.settle = false;
            r = run(other);
            assert_int_equal(r.counters.tuned, 0);
            assert_int_equal(r.binaries, 1);
        }
    }
    folder_remove(folder);
}

static int set_up(void **state)
{
    (void)state;
    compiled = folder_make();
    return geteuid() == 0 ? chown(compiled, 65534, 65534) : 0;
}

static int tear_down(void **state)
{
    (void)state;
    folder_remove(compiled);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(c1_damaged_pages),  cmocka_unit_test(c1_bad_records), cmocka_unit_test(c3_read_only),
        cmocka_unit_test(c3_shut_meanwhile), cmocka_unit_test(c4_no_home),     cmocka_unit_test(c6_shared_and_killed),
        cmocka_unit_test(c9_fifty_runs),     cmocka_unit_test(c11_poisoned),   cmocka_unit_test(c48_never_builds),
        cmocka_unit_test(c47_taking_turns),
    };

    return argc > 1 ? field_child(argc, argv) : cmocka_run_group_tests(tests, set_up, tear_down);
}
