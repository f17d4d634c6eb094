/*
 * A program with regions, for tests/cli/region.sh: each of its arguments is something that it does, in turn.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <reckon/region.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                           \
    do {                                                           \
        if (!(condition)) {                                        \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            _exit(1);                                              \
        }                                                          \
    } while (0)

/* So many page faults, and hardly any other. */
static void touch(int pages)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    char *memory =
        mmap(NULL, (size_t)pages * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(memory != MAP_FAILED);
    CHECK(madvise(memory, (size_t)pages * size, MADV_NOHUGEPAGE) == 0 || errno == EINVAL);
    for (int i = 0; i < pages; i++)
        ((volatile char *)memory)[(size_t)i * size] = 1;
    munmap(memory, (size_t)pages * size);
}

/* As a daemon does it: everything that it did not open is closed, and its own files get those numbers. */
static void close_all(void)
{
    for (int fd = 2; fd < 64; fd++)
        close(fd);
    for (int fd = 2; fd < 64; fd++)
        CHECK(open("mine", O_RDWR | O_CREAT, 0600) == fd);
}

static void nest(void)
{
    RK_REGION("outer");
    touch(100);
    for (int i = 0; i < 3; i++) {
        RK_REGION("inner");
        touch(20);
    }
}

static void recurse(int depth)
{
    RK_REGION("recurse");
    touch(10);
    if (depth > 1)
        recurse(depth - 1);
}

static void many(void)
{
    char name[32];

    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 10000; i++) {
            snprintf(name, sizeof name, "region %d", i);
            struct rk_region *region = rk_region_named(name);
            CHECK(rk_region_begin(region) == 0);
            CHECK(rk_region_end(region) == 0);
        }
    CHECK(rk_region_named("region 7") == rk_region_named("region 7"));
    CHECK(rk_region_named("region 7") != rk_region_named("region 8") || !rk_region_armed());
}

static void *in_thread(void *pages)
{
    RK_REGION("thread");
    touch((int)(intptr_t)pages);
    return NULL;
}

static void threads(int n)
{
    for (int begun = 0; begun < n;) {
        pthread_t thread[8];
        int now = 0;
        for (; now < 8 && begun < n; now++, begun++)
            CHECK(pthread_create(&thread[now], NULL, in_thread, (void *)(intptr_t)10) == 0);
        while (now > 0)
            pthread_join(thread[--now], NULL);
    }
}

static pthread_barrier_t inside;

static void *waits(void *unused)
{
    RK_REGION("waits");
    (void)unused;
    touch(30);
    pthread_barrier_wait(&inside);
    for (;;)
        pause();
    return NULL;
}

/* Threads that are in a region when the process ends, or are cancelled there. */
static void stuck(int cancel)
{
    pthread_t thread;

    pthread_barrier_init(&inside, NULL, 2);
    CHECK(pthread_create(&thread, NULL, waits, NULL) == 0);
    pthread_barrier_wait(&inside);
    if (cancel) {
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
}

static void forks(void)
{
    RK_REGION("parent");
    struct rk_region *region = rk_region_named("parent");
    int status = 0;
    touch(10);
    pid_t child = fork();

    if (child == 0) { /* it says nothing, and takes nothing away */
        int armed = rk_region_armed();
        int stale = rk_region_begin(region);
        CHECK(armed == 0 && (stale == -ESTALE || region == RK_REGION_OFF));
        CHECK(rk_region_end(region) == stale);
        CHECK(rk_region_named("new in the child") == RK_REGION_OFF);
        {
            RK_REGION("scope in the child");
            touch(1000);
        }
        exit(0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}

static jmp_buf back;

static void jumps_out(void)
{
    struct rk_region *left = rk_region_named("left");
    rk_region_begin(left);
    touch(5);
    longjmp(back, 1);
}

static void jump(void)
{
    RK_REGION("around");
    if (setjmp(back) == 0)
        jumps_out();
    touch(7);
}

static void mismatch(void)
{
    struct rk_region *a = rk_region_named("a");

    CHECK(rk_region_end(a) == (rk_region_armed() ? -EINVAL : 0));
    CHECK(rk_region_begin(NULL) == -EINVAL && rk_region_end(NULL) == -EINVAL);
    CHECK(rk_region_named(NULL) == RK_REGION_OFF);
    CHECK(rk_region_enter(NULL, "a") == a && rk_region_end(a) == 0); /* remembered nowhere */
    CHECK(rk_region_begin(a) == 0 && rk_region_end(a) == 0);
    CHECK(rk_region_end(a) == (rk_region_armed() ? -EINVAL : 0));
}

/* A plugin, loaded and unloaded twice: its names stay. */
static void plugin(const char *path)
{
    for (int i = 0; i < 2; i++) {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library) {
            puts(dlerror());
            _exit(1);
        }
        void (*work)(void) = (void (*)(void))(uintptr_t)dlsym(library, "plugin_work");
        CHECK(work);
        work();
        dlclose(library);
    }
}

static void export(const char *format)
{
    struct rk_error e = {.size = sizeof e};
    RK_REGION("export");
    touch(3);
    int rc = rk_region_export_fd(format, STDOUT_FILENO, &e);
    if (rc < 0)
        printf("%s: %s\n", strerror(-rc), e.what);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (!strcmp(word, "nest"))
            nest();
        else if (!strcmp(word, "recurse"))
            recurse(5);
        else if (!strcmp(word, "many"))
            many();
        else if (!strcmp(word, "threads"))
            threads(3);
        else if (!strcmp(word, "1100-threads"))
            threads(1100);
        else if (!strcmp(word, "stuck"))
            stuck(0);
        else if (!strcmp(word, "cancel"))
            stuck(1);
        else if (!strcmp(word, "fork"))
            forks();
        else if (!strcmp(word, "jump"))
            jump();
        else if (!strcmp(word, "mismatch"))
            mismatch();
        else if (!strcmp(word, "plugin"))
            plugin(argv[++i]);
        else if (!strcmp(word, "export"))
            export(argv[++i]);
        else if (!strcmp(word, "chdir"))
            CHECK(chdir("/") == 0);
        else if (!strcmp(word, "close-stderr"))
            CHECK(close(STDERR_FILENO) == 0 && open("mine", O_RDWR | O_CREAT, 0600) == STDERR_FILENO);
        else if (!strcmp(word, "close-all"))
            close_all();
        else if (!strcmp(word, "exit")) {
            RK_REGION("exits");
            touch(40);
            exit(3);
        } else if (!strcmp(word, "_exit"))
            _exit(4);
        else if (!strcmp(word, "armed"))
            printf("%d\n", rk_region_armed());
        else
            return 2;
    }
    return 0;
}
