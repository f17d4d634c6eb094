/*
 * What the machine calls itself: uname(2).
 */
#ifndef SYS_NAME_H
#define SYS_NAME_H

struct sys_name {
    char host[72], kernel[72], machine[72]; /* "box", "6.1.0-13-amd64", "x86_64"; "" where it can't be told */
};
void sys_name(struct sys_name *ret);

#endif
