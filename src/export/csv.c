/*
 * A field of comma-separated values, and a profile's functions as such rows: rows.c.
 */
#include "export/csv.h"

#include "export/formats.h"

#include <string.h>

/* Quotes where the text needs it: a quote inside is doubled. */
void csv_field(struct output *out, const char *text, const char *separator)
{
    if (!strpbrk(text, "\"\r\n") && !strstr(text, separator && *separator ? separator : ",")) {
        output_text(out, text);
        return;
    }
    output_bytes(out, "\"", 1);
    for (const char *quote; (quote = strchr(text, '"')); text = quote + 1) {
        output_bytes(out, text, (size_t)(quote - text) + 1);
        output_bytes(out, "\"", 1);
    }
    output_text(out, text);
    output_bytes(out, "\"", 1);
}

void export_csv(const struct rk_profile *profile, struct output *out)
{
    struct rk_aggregate *a = NULL;
    int rc = rk_profile_aggregate(profile, RK_PER_FUNCTION, &a, NULL);

    if (rc < 0)
        out->error = rc;
    else
        rows_csv(profile, a, out);
    rk_aggregate_free(a);
}
