/* Fail, or kill the process, at a chosen file call: preload this, then call shim_arm.
 *
 * A call counts if its path, or the path of its descriptor, begins with the armed folder.  The loader's own calls
 * do not pass here. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OFF, ONCE, FROM_THEN_ON, KILL };  /* how */
enum { ANY, NEEDS_SPACE, CHANGES };      /* which calls count; what a call does: it reads, writes, or removes */
enum { READS, WRITES, REMOVES };

static char folder[1024];
static int mode = OFF, error, which;
static long at, seen;

/* Count calls in `root` from now on; the one of number `first` fails with `code`, as `how` says. */
void shim_arm(const char *root, long first, int code, int only, int how)
{
    snprintf(folder, sizeof folder, "%s", root);
    at = first, error = code, which = only, seen = 0, mode = how;
}

/* The number of calls that were counted. */
long shim_seen(void)
{
    return seen;
}

static int fails_path(const char *path, int does)
{
    if (mode == OFF || !path || strncmp(path, folder, strlen(folder)))
        return 0;
    if ((which == NEEDS_SPACE && does != WRITES) || (which == CHANGES && does == READS))
        return 0;
    long number = seen++;
    if (number < at || (number > at && mode == ONCE))
        return 0;
    if (mode == KILL)
        raise(SIGKILL);
    errno = error;
    return 1;
}

static int fails(int descriptor, const char *path, int does)
{
    char name[64], found[4096];
    if (mode == OFF || (path && path[0] == '/') || (path && descriptor == AT_FDCWD))
        return fails_path(path, does);
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    ssize_t n = readlink(name, found, sizeof found - 1);
    found[n < 0 ? 0 : n] = 0;
    return fails_path(found, does);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define DOES(flags) ((flags) & (O_WRONLY | O_RDWR | O_CREAT) ? WRITES : READS)
#define OPEN(name)                                                                   \
    int name(const char *path, int flags, ...)                                       \
    {                                                                                \
        va_list rest;                                                                \
        va_start(rest, flags);                                                       \
        mode_t bits = va_arg(rest, mode_t);                                          \
        va_end(rest);                                                                \
        return fails(AT_FDCWD, path, DOES(flags)) ? -1 : NEXT(name)(path, flags, bits); \
    }
#define OPENAT(name)                                                                 \
    int name(int where, const char *path, int flags, ...)                            \
    {                                                                                \
        va_list rest;                                                                \
        va_start(rest, flags);                                                       \
        mode_t bits = va_arg(rest, mode_t);                                          \
        va_end(rest);                                                                \
        return fails(where, path, DOES(flags)) ? -1 : NEXT(name)(where, path, flags, bits); \
    }
#define CALL(type, bad, name, parameters, arguments, descriptor, path, does)       \
    type name parameters { return fails(descriptor, path, does) ? bad : NEXT(name) arguments; }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
CALL(int, -1, mkdir, (const char *p, mode_t m), (p, m), AT_FDCWD, p, WRITES)
CALL(int, -1, rename, (const char *p, const char *q), (p, q), AT_FDCWD, p, WRITES)
CALL(int, -1, unlink, (const char *p), (p), AT_FDCWD, p, REMOVES)
CALL(int, -1, unlinkat, (int d, const char *p, int f), (d, p, f), d, p, REMOVES)
CALL(int, -1, rmdir, (const char *p), (p), AT_FDCWD, p, REMOVES)
CALL(int, -1, stat64, (const char *p, struct stat64 *s), (p, s), AT_FDCWD, p, READS)
CALL(int, -1, lstat64, (const char *p, struct stat64 *s), (p, s), AT_FDCWD, p, READS)
CALL(int, -1, fstatat64, (int d, const char *p, struct stat64 *s, int f), (d, p, s, f), d, p, READS)
CALL(DIR *, NULL, opendir, (const char *p), (p), AT_FDCWD, p, READS)
CALL(ssize_t, -1, write, (int d, const void *b, size_t n), (d, b, n), d, NULL, WRITES)
CALL(ssize_t, -1, read, (int d, void *b, size_t n), (d, b, n), d, NULL, READS)
