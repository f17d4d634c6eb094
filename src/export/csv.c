/*
 * Functions as comma-separated values (RFC 4180, lines ended by a newline alone), hottest first:
 *
 *     symbol,module,self,self_percent,total,total_percent
 *
 * and behind them file,line where the profile is by line.
 *
 * self and total are sums of periods; percentages are of the whole profile's, with four decimals and always
 * a point.
 */
#include "export/csv.h"

#include "export/formats.h"
#include "export/percent.h"

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
    struct rk_profile_summary summary = {.size = sizeof summary};
    char self[PERCENT_BYTES], total[PERCENT_BYTES];

    rk_profile_summary(profile, &summary);
    output_text(out, "symbol,module,self,self_percent,total,total_percent");
    output_text(out, summary.by_line ? ",file,line\n" : "\n");
    for (size_t i = 0; i < rk_profile_functions(profile); i++) {
        struct rk_function f = {.size = sizeof f};
        rk_profile_function(profile, i, &f);
        csv_field(out, f.symbol, NULL);
        output_bytes(out, ",", 1);
        csv_field(out, f.module, NULL);
        output_format(out, ",%" PRIu64 ",%s,%" PRIu64 ",%s", f.self,
                      percent_text(f.self, summary.weight, self), f.total,
                      percent_text(f.total, summary.weight, total));
        if (summary.by_line) {
            output_bytes(out, ",", 1);
            csv_field(out, f.file ? f.file : "", NULL);
            output_format(out, ",%" PRIu32, f.line);
        }
        output_bytes(out, "\n", 1);
    }
}
