/* SPDX-License-Identifier: MIT
 *
 * main.c: the table of verbs: which there are, who runs a command line, and what `qst --help` says. */
#include "core/cl/place.h"
#include "out.h"
#include "verb.h"

#include <errno.h>
#include <fcntl.h>
#include <quernstone/version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const verb_info *const verbs[] = {
    &verb_devices, &verb_plugins, &verb_config, &verb_doctor,  &verb_keys,  &verb_shapes,
    &verb_run,     &verb_bench,   &verb_tune,   &verb_explain, &verb_cache,
};
#define VERBS (sizeof verbs / sizeof *verbs)

static const verb_info *find(const char *name)
{
    for (size_t i = 0; i < VERBS; i++)
        if (strcmp(verbs[i]->name, name) == 0)
            return verbs[i];
    return NULL;
}

/* The kind that the word after the verb names, which has options of its own; else the verb itself. */
static const verb_info *part_of(const verb_info *verb, int argc, char **argv)
{
    size_t length = strlen(verb->name);
    for (size_t i = 0; argc > 0 && verb->parts && verb->parts[i]; i++)
        if (strcmp(verb->parts[i]->name + length + 1, argv[0]) == 0)
            return verb->parts[i];
    return verb;
}

static void help(void)
{
    puts("usage: qst VERB [argument]... [option]...\n"
         "Quernstone, an OpenCL run-time autotuner: see what it knows, tunes and runs.\n"
         "verbs:");
    for (size_t i = 0; i < VERBS; i++)
        printf("  %-10s %s\n", verbs[i]->name, verbs[i]->summary);
    puts("also:\n"
         "  help VERB  the verb's options, as qst VERB --help\n"
         "  --version  the release's number\n"
         "Every verb takes --help, --json, --config, --set, --device and --platform.\n"
         "Exit code: 0 done, 1 failed, 2 not understood (words, or a setting wherever it is said),\n"
         "128 + a signal that told it to end.");
}

static int version(void)
{
    printf("qst %d.%d.%d\n", QST_VERSION_MAJOR, QST_VERSION_MINOR, QST_VERSION_PATCH);
    return EXIT_DONE;
}

static int unknown(const char *word)
{
    const char *names[VERBS];
    for (size_t i = 0; i < VERBS; i++)
        names[i] = verbs[i]->name;
    if (word[0] == '-')
        return args_usage("", "%s: not understood here; options come after the verb", out_shown(word).text);
    const char *meant = args_nearest(word, names, VERBS);
    if (meant)
        return args_usage("", "%s: no such verb; did you mean %s?", out_shown(word).text, meant);
    return args_usage("", "%s: no such verb; see qst --help", out_shown(word).text);
}

/* argv[0] is the verb's name. */
static int run(const verb_info *verb, int argc, char **argv)
{
    args_common common;
    void       *options = out_resize(NULL, verb->options_size);
    char      **rest;
    int         n_rest, status = args_parse(verb, argc, argv, &common, options, &rest, &n_rest);
    if (status == 0 && common.help)
        args_help(verb, n_rest ? rest[0] : NULL);
    else if (status == 0)
        status = verb->run(&common, options, n_rest, rest);
    args_finish(verb, &common, options);
    free(options);
    return status;
}

static int dispatch(int argc, char **argv)
{
    const verb_info *verb;
    if (argc < 2)
        return args_usage("", "no verb; see qst --help");
    if (argc > 2 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "--help") == 0))
        return args_usage("", "%s: nothing comes after %s", out_shown(argv[2]).text, argv[1]);
    if (strcmp(argv[1], "--version") == 0)
        return version();
    if (strcmp(argv[1], "--help") == 0 || (strcmp(argv[1], "help") == 0 && argc == 2)) {
        help();
        return EXIT_DONE;
    }
    if (strcmp(argv[1], "help") == 0) {
        if (!(verb = find(argv[2])))
            return unknown(argv[2]);
        args_help(part_of(verb, argc - 3, argv + 3), argc > 3 ? argv[3] : NULL);
        return EXIT_DONE;
    }
    if (!(verb = find(argv[1])))
        return unknown(argv[1]);
    const verb_info *part = part_of(verb, argc - 2, argv + 2);
    return part == verb ? run(verb, argc - 1, argv + 1) : run(part, argc - 2, argv + 2);
}

/* The library never changes the environment; its command may, before anything reads it: PoCL's threads keep to their
 * processors, without which times vary by a factor of two. doctor tells what others would get. */
static void set_environment(const char *verb)
{
    if (!verb || strcmp(verb, "doctor"))
        (void)setenv("POCL_AFFINITY", "1", 0);
}

/* Where a standard stream is closed, the next file that is opened would be it, and be written to: the store's, say. What
 * stands there instead fails. */
static void hold_streams(void)
{
    for (int i = 0; i <= STDERR_FILENO; i++)
        if (fcntl(i, F_GETFD) == -1 && errno == EBADF &&
            open("/dev/null", i == STDIN_FILENO ? O_WRONLY : O_RDONLY) != i)
            _exit(EXIT_FAILED);
}

int main(int argc, char **argv)
{
    int status;
    hold_streams();
    qst__place_keep_drivers();
    set_environment(argc > 1 ? argv[1] : NULL);
    status = dispatch(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout))
        return out_fail("standard output: cannot be written");
    return status;
}
