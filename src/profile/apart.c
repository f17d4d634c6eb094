/*
 * Different functions of one name are rows of their own. Debug information says where each is declared; a name that a
 * module has for several places gets the place: step (a.c) and step (b.c), or, in files of one name, step (a.c:10). A
 * lambda's operator() has it always: it has no other name.
 *
 *     names    (symbol, path)              → number, are there several
 *     files    (number, file's last part)  → the first line there, are there several
 */
#include "base/cleanup.h"
#include "profile/finish.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define LAMBDA "operator()" /* what has no more of a name than that */

struct apart {
    struct finish *f;
    struct unique names, files;
    VECTOR(struct apart_name {
        uint32_t file; /* the first one */
        bool several;
    })
    name;
    VECTOR(struct apart_file {
        uint32_t line; /* the first one */
        bool lined;
    })
    file; /* beside files */
};

/* The frame that entry i of `inlines` is. */
static struct maker_frame frame_of(const struct finish *f, size_t i)
{
    const uint64_t *key = unique_key(&f->maker.frames, f->inlines.items[i]);

    return (struct maker_frame){
        .symbol = (uint32_t)key[0],
        .module = (uint32_t)(key[0] >> 32),
        .path = (uint32_t)key[1],
        .file = (uint32_t)(key[1] >> 32),
        .line = (uint32_t)key[2],
        .miss = (uint32_t)(key[2] >> 32),
        .flags = (uint32_t)key[3],
        .image = (uint32_t)(key[3] >> 32),
        .address = key[4],
    };
}

/* The number of its name, or -ENOMEM. */
static int64_t note_name(struct apart *a, const struct maker_frame *frame, uint32_t file)
{
    size_t n = a->names.n;
    int64_t number = unique_add(&a->names, (uint64_t[]){unique_both(frame->symbol, frame->path)});

    if (number < 0 || a->names.n == n)
        return number;
    struct apart_name *made = vector_push(&a->name);
    if (!made)
        return -ENOMEM;
    made->file = file;
    made->several = strcmp(intern_text(&a->f->maker.profile->texts, frame->symbol), LAMBDA) == 0;
    return number;
}

/* The number in `files` of where entry i is declared, or -ENOMEM. */
static int64_t note(struct apart *a, size_t i)
{
    const struct declared *d = &a->f->declared.items[i];
    struct maker_frame frame = frame_of(a->f, i);
    int64_t number = note_name(a, &frame, d->file);
    size_t n = a->files.n;
    if (number < 0)
        return number;
    struct apart_name *name = &a->name.items[number];
    int64_t place = unique_add(&a->files, (uint64_t[]){unique_both((uint32_t)number, d->file)});
    if (place < 0)
        return place;
    if (a->files.n > n) {
        struct apart_file *made = vector_push(&a->file);
        if (!made)
            return -ENOMEM;
        *made = (struct apart_file){d->line, name->several && name->file == d->file};
    }
    struct apart_file *file = &a->file.items[place];
    if (file->line != d->line)
        name->several = file->lined = true;
    if (name->file != d->file)
        name->several = true;
    return place;
}

/* Its frame again, called by its place too. 0 or -ENOMEM. */
static int rename_one(struct apart *a, size_t i, bool lined)
{
    struct maker *m = &a->f->maker;
    const struct declared *d = &a->f->declared.items[i];
    struct maker_frame frame = frame_of(a->f, i);
    const char *symbol = intern_text(&m->profile->texts, frame.symbol);
    size_t room = strlen(symbol) + strlen(intern_text(&m->profile->texts, d->file)) + 32;
    _cleanup_free_ char *text = malloc(room);

    if (!text)
        return -ENOMEM;
    int n = snprintf(text, room, "%s (%s", symbol, intern_text(&m->profile->texts, d->file));
    if (lined)
        n += snprintf(text + n, room - (size_t)n, ":%" PRIu32, d->line);
    snprintf(text + n, room - (size_t)n, ")");
    int64_t number = maker_text(m, text);
    if (number < 0)
        return -ENOMEM;
    frame.symbol = (uint32_t)number;
    number = maker_frame(m, &frame);
    if (number < 0)
        return -ENOMEM;
    a->f->inlines.items[i] = (uint32_t)number;
    return 0;
}

int finish_apart(struct finish *f)
{
    struct apart a = {.f = f, .names.words = 1, .files.words = 1};
    _cleanup_free_ uint32_t *place_of = zeroed(f->inlines.n, sizeof *place_of);
    int rc = place_of ? 0 : -ENOMEM;

    for (size_t i = 0; rc == 0 && i < f->inlines.n; i++) {
        int64_t place = f->declared.items[i].file ? note(&a, i) : 0;
        if (place < 0)
            rc = -ENOMEM;
        else
            place_of[i] = (uint32_t)place;
    }
    for (size_t i = 0; rc == 0 && i < f->inlines.n; i++) {
        if (!f->declared.items[i].file)
            continue;
        uint32_t name = (uint32_t)unique_key(&a.files, place_of[i])[0];
        if (a.name.items[name].several)
            rc = rename_one(&a, i, a.file.items[place_of[i]].lined);
    }
    unique_free(&a.names);
    unique_free(&a.files);
    vector_free(&a.name);
    vector_free(&a.file);
    return rc;
}
