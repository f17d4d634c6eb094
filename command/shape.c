#include "shape.h"

#include "command.h"

#include <stdlib.h>
#include <string.h>

static int take_per(const struct options *o, struct shape *shape)
{
    int per = view_per(o->value);

    if (per < 0)
        return options_wrong(o, "--by: '%s' is none of " VIEW_PER, o->value);
    shape->per = (uint32_t)per;
    return 0;
}

static int take_limit(const struct options *o, struct shape *shape)
{
    char *end;
    double limit = strtod(o->value, &end);

    if (end == o->value || (*end && strcmp(end, "%") != 0) || !(limit >= 0 && limit <= 100))
        return options_wrong(o, "--percent-limit wants a number from 0 to 100, not '%s'", o->value);
    shape->limit = limit;
    shape->limit_set = true;
    return 0;
}

static int take_format(const struct options *o, struct shape *shape, const char *format)
{
    if (shape->format && strcmp(shape->format, format) != 0)
        return options_wrong(o, "--csv and --json exclude each other");
    shape->format = format;
    return 0;
}

int shape_take(const struct options *o, struct shape *shape, struct view *view, int id)
{
    switch (id) {
    case SHAPE_BY:
        return take_per(o, shape);
    case SHAPE_LIMIT:
        return take_limit(o, shape);
    case SHAPE_LINES:
        shape->lines_set = true;
        return options_number(o, "--lines", 0, UINT32_MAX, &shape->lines) < 0 ? STATUS_USAGE : 0;
    case SHAPE_CSV:
        return take_format(o, shape, "csv");
    case SHAPE_JSON:
        return take_format(o, shape, "json");
    case SHAPE_HTML:
        shape->page.path = o->value;
        return 0;
    case SHAPE_OPEN:
        shape->page.show = true;
        return 0;
    default:
        return view_take(o, view, id) < 0 ? STATUS_USAGE : 0;
    }
}

int shape_check(const struct options *o, const struct shape *shape)
{
    const char *mistake = page_mistake(&shape->page);

    if (shape->page.path && shape->format)
        return options_wrong(o, "--html excludes --csv and --json");
    return mistake ? options_wrong(o, "%s", mistake) : 0;
}
