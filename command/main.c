/* reckon: the command. */
#include <stdio.h>
#include <string.h>

#include <reckon/error.h>

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts("reckon " RK_VERSION);
        return 0;
    }
    fputs("usage: reckon --version\n", stderr);
    return 2;
}
