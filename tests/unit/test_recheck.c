/* SPDX-License-Identifier: MIT
 *
 * test_recheck.c: a verdict from elsewhere, or measured with the caches in another state, is believed after two samples
 * of its winner, or not at all. */
#include "support/tuner_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Two candidates, `a` the faster with 100 ns, tuned with caches as `cache` says. */
static void tuned(bench *b, toy_spec *specs, rig_script *scripts, int32_t cache)
{
    specs[0] = (toy_spec){.variant = "a"};
    specs[1] = (toy_spec){.variant = "b"};
    memset(scripts, 0, 2 * sizeof *scripts);
    scripts[0].samples[0] = 100;
    scripts[1].samples[0] = 200;
    start(b, specs, scripts, 2);
    b->task.settings.cache = cache;
    assert_int_equal(tune(b), QST_OK);
    assert_string_equal(winner(b), "a");
    assert_int_equal(b->verdict.flags, cache == QST__CACHE_COLD ? QST__VERDICT_COLD : 0);
    b->verdict.flags |= QST__VERDICT_PRIOR;
}

/* The winner takes `ns` now, with caches as `cache` says. */
static qst_status recheck(bench *b, rig_script *scripts, int32_t cache, uint64_t ns)
{
    scripts[0].samples[0] = ns;
    b->rig.taken[0] = 0;
    b->task.settings.cache = cache;
    return qst__tune_recheck(&b->task.task, &b->verdict, NULL);
}

static void same_caches(void **state)
{
    toy_spec   specs[2];
    rig_script scripts[2];
    bench      b;
    (void)state;

    tuned(&b, specs, scripts, QST__CACHE_WARM);
    assert_int_equal(recheck(&b, scripts, QST__CACHE_WARM, 131), QST_E_STALE);
    assert_int_equal(b.verdict.flags, QST__VERDICT_PRIOR);
    assert_int_equal(recheck(&b, scripts, QST__CACHE_WARM, 50), QST_OK); /* a quicker machine */
    assert_int_equal(b.verdict.flags, 0);
    finish(&b);
}

static void other_caches(void **state)
{
    toy_spec   specs[2];
    rig_script scripts[2];
    bench      b;
    (void)state;

    tuned(&b, specs, scripts, QST__CACHE_WARM);
    assert_int_equal(recheck(&b, scripts, QST__CACHE_COLD, 131), QST_E_STALE);
    assert_int_equal(recheck(&b, scripts, QST__CACHE_COLD, 129), QST_OK); /* the caches do not matter to it */
    assert_int_equal(b.verdict.flags, QST__VERDICT_COLD);
    finish(&b);

    tuned(&b, specs, scripts, QST__CACHE_COLD);
    assert_int_equal(recheck(&b, scripts, QST__CACHE_WARM, 70), QST_E_STALE);
    assert_int_equal(b.verdict.flags, QST__VERDICT_PRIOR | QST__VERDICT_COLD);
    assert_int_equal(recheck(&b, scripts, QST__CACHE_WARM, 80), QST_OK);
    assert_int_equal(b.verdict.flags, 0);
    finish(&b);
}

/* Where nothing builds now an earlier answer is neither right nor stale: it stays as it is. */
static void nothing_builds(void **state)
{
    toy_spec   specs[2];
    rig_script scripts[2];
    bench      b;
    (void)state;

    tuned(&b, specs, scripts, QST__CACHE_WARM);
    scripts[0].unable = true;
    scripts[0].prepare = QST_E_BUILD;
    assert_int_equal(recheck(&b, scripts, QST__CACHE_WARM, 100), QST_E_BUILD);
    assert_string_equal(outcome(&b, 0), "TIMED");
    assert_int_equal(b.verdict.flags, QST__VERDICT_PRIOR);
    scripts[0].prepare = QST_OK;
    assert_int_equal(recheck(&b, scripts, QST__CACHE_WARM, 100), QST_OK);
    finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_caches), cmocka_unit_test(other_caches),
                                       cmocka_unit_test(nothing_builds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
