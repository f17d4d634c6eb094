/*
 * Random records against a model too simple to be wrong: every process is an array of pages, each of which knows
 * its module and offset. After every record every page of every process is compared, and the threads' names.
 */
#include "record/encode.h"
#include "record/layout.h"

#include <reckon/reckon.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PIDS = 6, PAGES = 48, PAGE = 4096, FILES = 5, NAMES = 4, KERNEL_PAGES = 16 };
#define KERNEL_BASE UINT64_C(0xffffffffc0000000)

struct page {
    int file; /* 0: nothing; -1: code without a file */
    uint64_t offset;
};

struct model_process {
    int known, ended, parent, name;
    struct page pages[PAGES];
};

static struct model_process model[PIDS + 1]; /* by pid */
static int kernel_pages[KERNEL_PAGES];       /* the code's number + 1 */
static struct rk_image *image;
static _Alignas(8) unsigned char buffer[4096];
static const struct layout none;
static uint64_t seed;

static uint32_t chance(uint32_t below)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (uint32_t)((seed >> 20) % below);
}

static int feed(int bytes)
{
    struct rk_record record;
    assert_true(bytes > 0);
    assert_int_equal(layout_record(NULL, (const void *)buffer, &record), 0);
    return rk_image_feed(image, &record);
}

static void map(int pid)
{
    char path[32];
    uint32_t first = chance(PAGES), n = 1 + chance(chance(4) ? 6 : PAGES);
    int file = (int)chance(FILES + 1);
    struct rk_mapping m = {.size = sizeof m, .pid = pid, .tid = pid, .protection = 5, .path = path};
    struct rk_record from = {.misc = 2};

    n = first + n > PAGES ? PAGES - first : n;
    snprintf(path, sizeof path, file ? "/lib/%d" : "//anon", file);
    m.start = (uint64_t)(first + 16) * PAGE;
    m.length = (uint64_t)n * PAGE;
    m.file_offset = (uint64_t)chance(100) * PAGE;
    m.inode = file ? (uint64_t)file : 0;
    assert_int_equal(feed(encode_mapping(&none, &from, &m, buffer, sizeof buffer)), 1);
    for (uint32_t i = 0; i < n; i++)
        model[pid].pages[first + i] = (struct page){
            .file = file ? file : -1,
            .offset = file ? m.file_offset + (uint64_t)i * PAGE : (uint64_t)(first + i + 16) * PAGE,
        };
    model[pid].known = 1;
}

static void comm(int pid, int exec)
{
    static const char *const names[NAMES] = {"", "sh", "ls", "a b"};
    int name = (int)chance(NAMES);
    struct rk_comm c = {.size = sizeof c, .pid = pid, .tid = pid, .name = names[name]};
    struct rk_record from = {.misc = exec ? RK_MISC_COMM_EXEC : 0};

    assert_int_equal(feed(encode_comm(&none, &from, &c, buffer, sizeof buffer)), 1);
    model[pid].name = name;
    if (exec) {
        memset(model[pid].pages, 0, sizeof model[pid].pages);
        model[pid].known = 1;
    }
}

static void task(uint32_t type, int pid, int parent)
{
    struct rk_task t = {.size = sizeof t, .pid = pid, .tid = pid, .parent_pid = parent, .parent_tid = parent};
    struct rk_record from = {0};

    assert_int_equal(feed(encode_task(&none, &from, type, &t, buffer, sizeof buffer)), 1);
    if (type == RK_RECORD_EXIT) {
        model[pid].ended = 1;
    } else {
        model[pid] = model[parent];
        model[pid].ended = 0;
        model[pid].parent = parent;
    }
}

static void ksymbol(void)
{
    char name[32];
    uint32_t at = chance(KERNEL_PAGES), n = 1 + chance(3), number = chance(6);
    int remove = chance(3) == 0;
    struct rk_ksymbol k = {.size = sizeof k, .kind = 1, .name = name, .flags = (uint32_t)remove};
    struct rk_record from = {0};

    n = at + n > KERNEL_PAGES ? KERNEL_PAGES - at : n;
    snprintf(name, sizeof name, "bpf_prog_%u", number);
    k.address = KERNEL_BASE + (uint64_t)at * PAGE;
    k.length = n * PAGE;
    assert_true(feed(encode_ksymbol(&none, &from, &k, buffer, sizeof buffer)) >= 0);
    if (remove && !kernel_pages[at])
        return;
    for (uint32_t i = 0; i < n; i++)
        kernel_pages[at + i] = remove ? 0 : (int)number + 1;
}

static void compare_page(int pid, uint32_t i)
{
    uint64_t address = (uint64_t)(i + 16) * PAGE + 7;
    const struct page *page = &model[pid].pages[i];
    struct rk_module module = {.size = sizeof module};
    struct rk_place place;
    char path[32];

    assert_int_equal(rk_image_find(image, pid, &address, 1, &place), 0);
    if (page->file == 0) {
        assert_int_equal(place.module, RK_NO_MODULE);
        assert_int_equal(place.status, model[pid].known ? RK_PLACE_NO_MAPPING : RK_PLACE_NO_PROCESS);
        return;
    }
    assert_int_equal(rk_image_module_get(image, place.module, &module), 0);
    assert_int_equal(place.offset, page->offset + 7);
    snprintf(path, sizeof path, page->file > 0 ? "/lib/%d" : "//anon", page->file);
    assert_string_equal(module.path, path);
    assert_int_equal(place.status, page->file > 0 ? RK_PLACE_FOUND : RK_PLACE_ANONYMOUS);
}

static void compare(void)
{
    static const char *const names[NAMES] = {"", "sh", "ls", "a b"};

    for (int pid = 1; pid <= PIDS; pid++) {
        struct rk_process p = {.size = sizeof p};
        for (uint32_t i = 0; i < PAGES; i++)
            compare_page(pid, i);
        assert_string_equal(rk_image_comm(image, pid, pid), names[model[pid].name]);
        if (rk_image_process(image, pid, &p) == 0) {
            assert_int_equal(p.ended, model[pid].ended);
            assert_int_equal(p.parent, model[pid].parent);
            assert_int_equal(p.known, model[pid].known);
        }
    }
    for (uint32_t i = 0; i < KERNEL_PAGES; i++) {
        uint64_t address = KERNEL_BASE + (uint64_t)i * PAGE + 7;
        struct rk_module module = {.size = sizeof module};
        struct rk_place place;
        char name[32];
        assert_int_equal(rk_image_find(image, 1, &address, 1, &place), 0);
        assert_int_equal(rk_image_module_get(image, place.module, &module), 0);
        snprintf(name, sizeof name, kernel_pages[i] ? "bpf_prog_%d" : "[kernel]", kernel_pages[i] - 1);
        assert_string_equal(module.path, name);
        assert_int_equal(place.offset, address);
    }
}

static void as_the_model(void **state)
{
    (void)state;
    for (unsigned round = 1; round <= 60; round++) {
        seed = round * UINT64_C(0x9e3779b97f4a7c15);
        memset(model, 0, sizeof model);
        memset(kernel_pages, 0, sizeof kernel_pages);
        assert_int_equal(rk_image_open(&image, NULL), 0);
        for (unsigned i = 0; i < 120; i++) {
            int pid = 1 + (int)chance(PIDS), other = 1 + (int)chance(PIDS);
            switch (chance(8)) {
            case 0:
                comm(pid, 0);
                break;
            case 1:
                comm(pid, 1);
                break;
            case 2:
                if (pid != other)
                    task(RK_RECORD_FORK, pid, other);
                break;
            case 3:
                if (model[pid].known)
                    task(RK_RECORD_EXIT, pid, other);
                break;
            case 4:
                ksymbol();
                break;
            default:
                map(pid);
            }
            compare();
        }
        image = rk_image_free(image);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
