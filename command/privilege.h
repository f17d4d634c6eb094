/*
 * What this process gives up once it has what it needs: least is lost if a file or a program that it looks at was made
 * to take it over.
 */
#ifndef COMMAND_PRIVILEGE_H
#define COMMAND_PRIVILEGE_H

/*
 * Call once events are open and the command is forked, before threads start. Keeps the capabilities that measuring goes
 * on to use: opening events on CPUs and for threads that come (PERFMON), looking at processes, their files and code
 * (SYS_PTRACE, CHECKPOINT_RESTORE, DAC_READ_SEARCH, SYSLOG, BPF), writing where the recording was begun (DAC_OVERRIDE),
 * mapping rings (IPC_LOCK), ending what it started (KILL). The rest goes, for good, and no program that it might
 * execute brings any. SYS_ADMIN stays where the kernel is older than PERFMON.
 */
void privilege_measure(void);

/*
 * For a child that reads files for names and writes to open descriptors alone. From here on it has no capability but
 * to look at processes and read files, and can't open a file to write, make or remove one, execute a program, open a
 * socket, or touch another process (seccomp).
 */
void privilege_read(void);

#endif
