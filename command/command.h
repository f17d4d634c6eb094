/*
 * What the verbs share. Each verb is one file with one function, listed in main.c; it gets the words behind
 * its name and returns the exit status: 0, 1 (it failed), 2 (wrong usage), or the measured command's own.
 */
#ifndef COMMAND_H
#define COMMAND_H

#include <reckon/reckon.h>

#include <stdbool.h>

enum { STATUS_FAILED = 1, STATUS_USAGE = 2, STATUS_NOT_EXECUTABLE = 126, STATUS_NOT_FOUND = 127 };

int verb_stat(int argc, char **argv);
int verb_compare(int argc, char **argv);
int verb_record(int argc, char **argv);
int verb_report(int argc, char **argv);
int verb_diff(int argc, char **argv);
int verb_merge(int argc, char **argv);
int verb_archive(int argc, char **argv);
int verb_export(int argc, char **argv);
int verb_dump(int argc, char **argv);
int verb_symbolize(int argc, char **argv);
int verb_list(int argc, char **argv);
int verb_doctor(int argc, char **argv);

#endif
