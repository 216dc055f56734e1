/* SPDX-License-Identifier: MIT
 *
 * test_quarantine.c: a candidate that kills whoever tries it, and one that never ends. Without isolation the first
 * process dies; the second tries it after all others, which are stored by then, and dies too; the third leaves it alone
 * and says why. With it, the second has it tried elsewhere. The test runs itself as those processes:
 * `test_quarantine PLACE TUNE K`, TUNE being members of the configuration's "tune"; of K depends how the candidate dies.
 */
#define _GNU_SOURCE /* realpath, mkdtemp */

#include "support/matmul_case.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *self;

static void to_stdout(void *user, const char *text, size_t length)
{
    (void)user;
    fwrite(text, 1, length, stdout);
}

/* One process: a call with the killer among the candidates; prints the verdicts where it survives. */
static int child(const char *place, const char *tune, int k)
{
    void         *state;
    cl_fixture   *cl;
    qst_context  *ctx = NULL;
    qst_options   options;
    qst_matmul    p;
    matmul_case   c;
    qst_error     err = {0};
    struct rlimit no_core = {0, 0};
    char          config[2048];
    int           status = 1;

    setrlimit(RLIMIT_CORE, &no_core);
    if (cl_fixture_open(&state))
        return 2;
    cl = state;
    snprintf(
        config, sizeof config,
        "{\"store\": {\"path\": \"%s\"}, \"plugins\": {\"dirs\": [\"%s/killer\"], \"load\": [\"killer\", \"unit\"]}, "
        "\"tune\": {%s, \"short_circuit\": false}, \"candidates\": {\"pin\": [\"matmul.unit.min/*\", "
        "\"matmul.killer.*\"]}}",
        place, QST_TEST_PLUGINS, tune);
    qst_options_init(&options);
    options.flags = QST_NO_FILES | QST_NO_ENV;
    options.config = config;
    qst_matmul_init(&p, 48, 40, k, QST_F32);
    matmul_case_open(&c, cl, &p, NULL);
    if (qst_context_create(&ctx, &options, &err) == QST_OK &&
        qst_matmul_enqueue(ctx, cl->in_order, &p, c.mem[0], c.mem[1], matmul_case_operand(&c, 2).handle, 0, NULL, NULL,
                           &err) == QST_OK) {
        status = clFinish(cl->in_order) == CL_SUCCESS ? 0 : 1;
        qst_describe(ctx, "verdicts", to_stdout, NULL, NULL);
    } else {
        fprintf(stderr, "%s: %s\n", err.source, err.text);
    }
    qst_context_destroy(ctx);
    matmul_case_close(&c);
    cl_fixture_close(&state);
    return status;
}

/* Runs a process; its wait status, and what it printed. */
static int run(const char *place, const char *tune, int k, char *out, size_t size)
{
    int     ends[2], status = 0;
    size_t  used = 0;
    ssize_t n;
    pid_t   pid;
    char    number[16];

    snprintf(number, sizeof number, "%d", k);
    assert_int_equal(pipe(ends), 0);
    pid = fork();
    if (!pid) {
        dup2(ends[1], 1);
        close(ends[0]);
        close(ends[1]);
        execl(self, self, place, tune, number, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    while (used + 1 < size && (n = read(ends[0], out + used, size - used - 1)) > 0)
        used += (size_t)n;
    out[used] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static bool died(int status)
{
    return WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status) != 0);
}

static char out[1 << 20];

static void in_a_place(void (*use)(const char *place))
{
    char place[] = "quernstone-quarantine-XXXXXX", absolute[4096], command[4200];

    assert_non_null(mkdtemp(place));
    assert_non_null(realpath(place, absolute));
    use(absolute);
    snprintf(command, sizeof command, "rm -r '%s'", absolute);
    assert_int_equal(system(command), 0);
}

static void assert_said(const char *part)
{
    if (!strstr(out, part))
        fail_msg("no word of '%s' in %s", part, out);
}

static void use_without_isolation(const char *place)
{
    const char *tune = "\"isolate\": \"none\"";

    assert_true(died(run(place, tune, 32, out, sizeof out)));
    assert_true(died(run(place, tune, 32, out, sizeof out)));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run(place, tune, 32, out, sizeof out), 0);
        assert_said("in quarantine: 2 processes died");
    }
}

static void use_of_suspects(const char *place)
{
    const char *tune = "\"isolate\": \"suspect\"";

    assert_true(died(run(place, tune, 32, out, sizeof out)));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(run(place, tune, 32, out, sizeof out), 0);
        assert_said("in quarantine: 1 process died when it tried it here; it died of SIGABRT in a process of its own");
    }
}

/* Nobody dies at all, and what is right elsewhere is tried here. */
static void use_of_all(const char *place)
{
    static const struct {
        int         k;
        const char *said;
    } ways[] = {{32, "it died of SIGABRT in a process of its own"},
                {33, "it died of SIGSEGV in a process of its own"},
                {34, "it ended a process of its own, with status 3"}};
    char own[4200];

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        snprintf(own, sizeof own, "%s/%d", place, ways[i].k);
        assert_int_equal(run(own, "\"isolate\": \"all\"", ways[i].k, out, sizeof out), 0);
        assert_said(ways[i].said);
        assert_said("\"winner\":\"matmul.unit.min");
    }
}

/* A deadline that nobody else would keep, either. */
static void use_of_a_deadline(const char *place)
{
    assert_int_equal(run(place, "\"isolate\": \"all\", \"isolate_ms\": 20", 35, out, sizeof out), 0);
    assert_said("matmul.killer.dies/1");
    assert_said("it had not ended after 20 ms in a process of its own");
}

static void dies_twice_and_never_again(void **state)
{
    (void)state;
    in_a_place(use_without_isolation);
}

static void suspects_are_tried_elsewhere(void **state)
{
    (void)state;
    in_a_place(use_of_suspects);
}

static void all_are_tried_elsewhere(void **state)
{
    (void)state;
    in_a_place(use_of_all);
}

static void what_never_ends_is_ended(void **state)
{
    (void)state;
    in_a_place(use_of_a_deadline);
}

/* Whoever asked is gone: nobody tries on. The pipe is held open by all that were started. */
static void who_asked_is_gone(void **state)
{
    static const char problem[] = "m=48 n=40 k=35 a=f32,35,1,0x0x0x0,7 b=f32,40,1,0x0x0x0,7 c=f32,40,1,0x0x0x0,7";
    int               asker[2], held[2], status;
    char              config[4200], byte;
    pid_t             pid;

    (void)state;
    snprintf(config, sizeof config, "{\"plugins\": {\"dirs\": [\"%s/killer\"], \"load\": [\"killer\"]}}",
             QST_TEST_PLUGINS);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, asker), 0);
    assert_int_equal(pipe(held), 0);
    pid = fork();
    if (!pid) {
        dup2(asker[1], STDIN_FILENO);
        close(held[0]);
        execl(QST_TEST_TRY, QST_TEST_TRY, config, "matmul", problem, "matmul.killer.dies/1", "3600000", (char *)NULL);
        _exit(127);
    }
    close(asker[1]);
    close(held[1]);
    close(asker[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(read(held[0], &byte, 1), 0);
    close(held[0]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dies_twice_and_never_again), cmocka_unit_test(suspects_are_tried_elsewhere),
        cmocka_unit_test(all_are_tried_elsewhere),    cmocka_unit_test(what_never_ends_is_ended),
        cmocka_unit_test(who_asked_is_gone),
    };

    self = argv[0];
    return argc > 3 ? child(argv[1], argv[2], atoi(argv[3])) : cmocka_run_group_tests(tests, NULL, NULL);
}
