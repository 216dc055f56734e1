/* A program of a stranger: makes a context and says which release it runs with. */
#include <quernstone/quernstone.h>
#include <stdio.h>

int main(void)
{
    qst_context *context = NULL;
    qst_options  options;
    qst_error    error;
    qst_status   status;

    memset(&error, 0, sizeof error);
    qst_options_init(&options);
    options.flags = QST_NO_FILES | QST_NO_ENV | QST_NO_STORE;
    status = qst_context_create(&context, &options, &error);
    if (status != QST_OK) {
        fprintf(stderr, "consumer: %s: %s\n", qst_status_name(status), error.text);
        return 1;
    }
    printf("quernstone %d.%d.%d\n", QST_VERSION_MAJOR, QST_VERSION_MINOR, QST_VERSION_PATCH);
    qst_context_destroy(context);
    return 0;
}
