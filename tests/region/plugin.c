/* What tests/region/program.c loads and unloads. */
#include <reckon/region.h>

void plugin_work(void);
__attribute__((visibility("default"))) void plugin_work(void)
{
    RK_REGION("plugin");
    for (volatile int i = 0; i < 1000; i++)
        ;
}
