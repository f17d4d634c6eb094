/* Where locations lie: each module as the process that mapped it last has it. An exporter that keeps addresses needs them,
 * so that what has no name here may be named elsewhere. */
#include "profile/finish.h"

#include <errno.h>

/* A build-id as hexadecimal text: its number, or -ENOMEM. */
static int64_t build_id_text(struct maker *m, const struct rk_module *module)
{
    static const char digits[] = "0123456789abcdef";
    char text[2 * sizeof module->build_id + 1];
    size_t n = 0;

    for (uint32_t i = 0; i < module->build_id_bytes && i < sizeof module->build_id; i++) {
        text[n++] = digits[module->build_id[i] >> 4];
        text[n++] = digits[module->build_id[i] & 15];
    }
    text[n] = '\0';
    return maker_text(m, text);
}

int finish_image(struct finish *f, size_t number, const struct rk_module *module)
{
    struct finish_image *at = NULL;

    while (f->images.n <= number) {
        if (!(at = vector_push(&f->images)))
            return -ENOMEM;
        *at = (struct finish_image){0};
    }
    at = &f->images.items[number];
    if (module->kind != RK_MODULE_FILE && module->kind != RK_MODULE_KERNEL &&
        module->kind != RK_MODULE_KERNEL_MODULE && module->kind != RK_MODULE_VDSO)
        return 0;
    int64_t path = maker_text(&f->maker, module->path), id = build_id_text(&f->maker, module);
    if (path < 0 || id < 0)
        return -ENOMEM;
    int64_t image = maker_image(&f->maker, &(struct profile_image){.path = (uint32_t)path,
                                                                   .build_id = (uint32_t)id,
                                                                   .start = module->start,
                                                                   .end = module->end,
                                                                   .offset = module->offset});
    if (image < 0)
        return (int)image;
    *at = (struct finish_image){(uint32_t)image + 1, module->start - module->offset};
    return 0;
}

struct profile_place finish_at(const struct finish *f, uint32_t frame)
{
    const struct frame *its = &f->builder->frames.items[frame];

    if (its->module >= f->images.n || !f->images.items[its->module].image)
        return (struct profile_place){.outer = PAIRS_NONE};
    const struct finish_image *at = &f->images.items[its->module];
    return (struct profile_place){
        .outer = PAIRS_NONE, .image = at->image, .address = its->offset + at->shift};
}

int finish_place(struct finish *f)
{
    for (size_t i = 0; i < f->builder->frames.n; i++) {
        const struct frame_functions *functions = &f->functions_of[i];
        struct profile_place place = finish_at(f, (uint32_t)i);
        for (uint32_t k = 0; place.image && k < functions->n; k++) {
            place.frame = f->inlines.items[functions->first + k];
            int64_t number = maker_place(&f->maker, &place);
            if (number < 0)
                return (int)number;
            place.outer = (uint32_t)number;
        }
    }
    return 0;
}
