/*
 * Files from debuginfod servers, where the user has named some (DEBUGINFOD_URLS): by libdebuginfod, which keeps what it has
 * fetched in the user's cache.
 */
#ifndef ELF_DEBUGINFOD_H
#define ELF_DEBUGINFOD_H

#include "elf/note.h"

struct debuginfod;

/* 0; -ENOENT: no server is named; -EOPNOTSUPP: libdebuginfod is not here; -ENOMEM. Nothing is sent yet. */
int debuginfod_open(struct debuginfod **ret);
struct debuginfod *debuginfod_close(struct debuginfod *servers);

/* A descriptor of the file with that build-id: what ran, or with `debug` what tells its names and lines. -ENOENT: no server
 * has it; -ETIMEDOUT: it took longer than DEBUGINFOD_SECONDS, or a server did not answer before: none is asked again. */
int debuginfod_find(struct debuginfod *servers, const struct build_id *id, bool debug);
#define DEBUGINFOD_SECONDS 60

#endif
