#include "symbol/answer.h"

#include <string.h>

int answer_make(size_t n, size_t frame_n, size_t module_n, size_t text_bytes, struct answer **ret)
{
    size_t bytes = sizeof(struct answer) + 3 * frame_n * sizeof(char *) +
                   n * (sizeof(void *) + sizeof(uint64_t) + sizeof(struct rk_symbol)) +
                   module_n * sizeof(struct rk_module) + (2 * n + 1 + 3 * frame_n) * sizeof(uint32_t);
    struct answer *a = malloc(bytes + text_bytes + 1);

    if (!a)
        return -ENOMEM;
    *a = (struct answer){.function = (const char **)(a + 1)};
    a->file = a->function + frame_n;
    a->declared_file = a->file + frame_n;
    a->module = (const struct rk_module **)(a->declared_file + frame_n);
    a->offset = (uint64_t *)(a->module + n);
    a->symbol = (struct rk_symbol *)(a->offset + n);
    a->modules = (struct rk_module *)(a->symbol + n);
    a->first = (uint32_t *)(a->modules + module_n);
    a->miss = a->first + n + 1;
    a->line = a->miss + n;
    a->column = a->line + frame_n;
    a->declared_line = a->column + frame_n;
    a->texts = (char *)(a->declared_line + frame_n);
    a->shown = (struct rk_sources){.size = sizeof a->shown,
                                   .n = n,
                                   .symbol = a->symbol,
                                   .module = a->module,
                                   .offset = a->offset,
                                   .miss = a->miss,
                                   .first = a->first,
                                   .frame_n = frame_n,
                                   .function = a->function,
                                   .file = a->file,
                                   .line = a->line,
                                   .column = a->column,
                                   .declared_file = a->declared_file,
                                   .declared_line = a->declared_line};
    *ret = a;
    return 0;
}

const char *answer_text(struct answer *answer, const char *text, size_t n)
{
    char *at = answer->texts;

    memcpy(at, text, n);
    at[n] = '\0';
    answer->texts += n + 1;
    return at;
}

struct rk_module *answer_module(struct answer *answer, const struct rk_module *module)
{
    struct rk_module *copy = &answer->modules[answer->module_n++];

    *copy = *module;
    copy->size = sizeof *copy;
    copy->path = answer_text(answer, module->path, strlen(module->path));
    if (module->name)
        copy->name = answer_text(answer, module->name, strlen(module->name));
    return copy;
}

void answer_no_frame(struct answer *answer, size_t at)
{
    answer->function[at] = answer->file[at] = answer->declared_file[at] = NULL;
    answer->line[at] = answer->column[at] = answer->declared_line[at] = 0;
}

struct rk_sources *rk_sources_free(struct rk_sources *sources)
{
    struct answer *answer = (struct answer *)sources; /* its first member */

    if (answer) {
        for (size_t i = 0; i < answer->part_n; i++)
            rk_sources_free(answer->parts[i]);
        free(answer->parts);
        rk_symbolizer_free(answer->symbolizer);
        rk_image_free(answer->image);
        free(answer);
    }
    return NULL;
}
