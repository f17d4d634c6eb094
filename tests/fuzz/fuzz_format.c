/*
 * Texts of sysfs and tracefs: a PMU's field, a tracepoint's format. What is understood lies within what it may.
 */
#include "fuzz.h"

#include "host/pmu.h"
#include "record/format.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct format_field fields[64];
    uint64_t id = 0, mask = 0;
    uint32_t word = 0;
    char *text = malloc(size + 1);

    HOLDS(text);
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    if (pmu_format_parse(text, &word, &mask) == 0)
        HOLDS(word < PMU_WORDS && mask);
    char *exact = malloc(size ? size : 1); /* no NUL behind it */
    HOLDS(exact);
    if (size)
        memcpy(exact, data, size);
    int n = format_parse(exact, size, fields, 64, &id);
    for (int i = 0; i < n && i < 64; i++) {
        HOLDS(fields[i].name >= exact && fields[i].name + fields[i].name_n <= exact + size &&
              fields[i].name_n > 0);
        HOLDS(fields[i].type >= exact && fields[i].type + fields[i].type_n <= fields[i].name);
        HOLDS(fields[i].offset + fields[i].size <= 65536);
    }
    free(exact);
    free(text);
    return 0;
}
