/*
 * A field of comma-separated values.
 */
#ifndef EXPORT_CSV_H
#define EXPORT_CSV_H

#include "base/output.h"

/* Quotes (RFC 4180) where the text holds a quote, a line's end or the separator (NULL: a comma). */
void csv_field(struct output *out, const char *text, const char *separator);

#endif
