#include "profile/maker.h"

#include <errno.h>

int maker_begin(struct maker *m)
{
    *m = (struct maker){
        .profile = calloc(1, sizeof *m->profile),
        .frames.words = 5,
        .threads.words = 2,
        .events.words = 1,
        .cgroups.words = 2,
        .sources.words = 1,
        .samples.words = 4,
        .images.words = 1,
    };
    if (!m->profile)
        return -ENOMEM;
    int64_t rc = maker_text(m, ""); /* text 0, cgroup 0: not known */
    if (rc >= 0)
        rc = maker_cgroup(m, 0, "");
    return rc < 0 ? (int)rc : 0;
}

void maker_free(struct maker *m)
{
    rk_profile_free(m->profile);
    unique_free(&m->frames);
    unique_free(&m->threads);
    unique_free(&m->events);
    unique_free(&m->cgroups);
    unique_free(&m->sources);
    unique_free(&m->samples);
    unique_free(&m->images);
    pairs_free(&m->places);
    stacks_free(&m->stacks);
    vector_free(&m->amounts);
    vector_free(&m->event_loss);
    m->profile = NULL;
}

int64_t maker_text(struct maker *m, const char *text)
{
    return intern_add(&m->profile->texts, text, strlen(text));
}

int64_t maker_frame(struct maker *m, const struct maker_frame *f)
{
    return unique_add(&m->frames, (uint64_t[]){unique_both(f->symbol, f->module),
                                               unique_both(f->path, f->file), unique_both(f->line, f->miss),
                                               unique_both(f->flags, f->miss ? f->image : 0),
                                               f->miss && f->image ? f->address : 0});
}

int64_t maker_image(struct maker *m, const struct profile_image *image)
{
    int64_t number = unique_add(&m->images, (uint64_t[]){unique_both(image->path, image->build_id)});
    struct profile_image *row = NULL;

    if (number < 0 || (size_t)number < m->profile->images.n)
        return number;
    if (!(row = vector_push(&m->profile->images)))
        return -ENOMEM;
    *row = *image;
    return number;
}

int64_t maker_place(struct maker *m, const struct profile_place *place)
{
    int64_t number = pairs_add(&m->places, place->outer, place->frame);
    struct profile_place *row = NULL;

    if (number < 0 || (size_t)number < m->profile->places.n)
        return number;
    if (!(row = vector_push(&m->profile->places)))
        return -ENOMEM;
    *row = *place;
    return number;
}

int64_t maker_source(struct maker *m, const char *name)
{
    int64_t text = maker_text(m, name);

    return text < 0 ? text : unique_add(&m->sources, (uint64_t[]){(uint64_t)text});
}

int64_t maker_thread(struct maker *m, uint32_t source, int32_t pid, int32_t tid, const char *name)
{
    int64_t text = maker_text(m, name);

    if (text < 0)
        return text;
    return unique_add(&m->threads, (uint64_t[]){unique_both(source, (uint32_t)text),
                                                unique_both((uint32_t)pid, (uint32_t)tid)});
}

void loss_add(struct rk_loss *to, const struct rk_loss *more)
{
    uint32_t present = to->kept == 0 && to->lost == 0       ? more->present
                       : more->kept == 0 && more->lost == 0 ? to->present
                                                            : to->present & more->present;

    to->size = sizeof *to;
    to->present = present;
    to->kept += more->kept;
    to->lost += more->lost;
    to->skipped += more->skipped;
    to->throttled += more->throttled;
    to->records_lost += more->records_lost;
}

int64_t maker_event(struct maker *m, const char *name, const char *unit, const struct rk_loss *loss)
{
    int64_t text = maker_text(m, name), its_unit = maker_text(m, unit);

    if (text < 0 || its_unit < 0)
        return -ENOMEM;
    int64_t event = unique_add(&m->events, (uint64_t[]){unique_both((uint32_t)text, (uint32_t)its_unit)});
    if (event >= 0 && (size_t)event == m->event_loss.n && !vector_push(&m->event_loss))
        return -ENOMEM;
    if (event >= 0 && loss)
        loss_add(&m->event_loss.items[event], loss);
    return event;
}

int64_t maker_cgroup(struct maker *m, uint64_t id, const char *path)
{
    int64_t text = maker_text(m, path);

    return text < 0 ? text : unique_add(&m->cgroups, (uint64_t[]){id, (uint64_t)text});
}

int maker_sample(struct maker *m, const struct maker_sample *s)
{
    int64_t row = unique_add(&m->samples, (uint64_t[]){s->time, unique_both(s->thread, s->stack),
                                                       unique_both(s->event, s->cpu), s->cgroup});
    if (row < 0)
        return (int)row;
    if ((size_t)row == m->amounts.n && !vector_push(&m->amounts))
        return -ENOMEM;
    m->amounts.items[row].weight += s->amount.weight;
    m->amounts.items[row].samples += s->amount.samples;
    return 0;
}
