#include "export/formats.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

int export_format(const char *what, const char *const *names, const char *format, const struct rk_sink *sink,
                  struct rk_error *e)
{
    char list[128] = "";

    if (!sink || sink->size < sizeof *sink || !sink->write)
        return fail_argument(e, RK_STAGE_EXPORT, "the sink has no write function, or its size is not set");
    for (int i = 0; names[i]; i++) {
        if (format && strcmp(names[i], format) == 0)
            return i;
        size_t n = strlen(list);
        snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "", names[i]);
    }
    return fail_argument(e, RK_STAGE_EXPORT, "no format '%.40s' for %s; there are: %s",
                         format ? format : "(null)", what, list);
}

int export_end(struct output *out, struct rk_error *e)
{
    return output_fail(output_end(out), e);
}
