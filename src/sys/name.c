#include "sys/name.h"

#include <stdio.h>
#include <sys/utsname.h>

void sys_name(struct sys_name *ret)
{
    struct utsname name;

    *ret = (struct sys_name){0};
    if (uname(&name) < 0)
        return;
    snprintf(ret->host, sizeof ret->host, "%s", name.nodename);
    snprintf(ret->kernel, sizeof ret->kernel, "%s", name.release);
    snprintf(ret->machine, sizeof ret->machine, "%s", name.machine);
}
