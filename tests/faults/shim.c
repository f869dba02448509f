/* Preloaded by rounds.py: counts the calls that change or read files below a folder, and at a chosen one sends the process
   a signal or lets the call fail. arm() is called in the child that runs the command; nothing happens before. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { WRITE = 1, SYNC = 2, RENAME = 4, OPEN = 8, REMOVE = 16, CLOSE = 32, READ = 64, MKDIR = 128 };

static volatile long count, chosen, counts[8];
static int armed, watched, sent, failing, lasting;
static double clock_speed = 1;
static char root[PATH_MAX];

/* The chosen call of the watched kinds gets the signal `number`, or fails with `error`; later ones fail, too, if `forever`. */
void arm(const char *folder, int kinds, long at, int number, int error, int forever) {
    snprintf(root, sizeof root, "%s", folder);
    memset((void *)counts, 0, sizeof counts);
    count = 0, chosen = at, watched = kinds, sent = number, failing = error, lasting = forever, armed = 1;
}

/* Returns how many calls of a kind there were. */
long disarm(int kind) {
    armed = 0;
    return counts[__builtin_ctz(kind)];
}

void turn_clock(double speed) { clock_speed = speed; }

static int below(const char *path) { return strncmp(path, root, strlen(root)) == 0; }

static int of_name(int folder, const char *name) {
    char place[64], path[PATH_MAX];
    if (name[0] == '/') return below(name);
    if (folder == AT_FDCWD) return getcwd(path, sizeof path) != NULL && below(path);
    snprintf(place, sizeof place, "/proc/self/fd/%d", folder);
    ssize_t n = readlink(place, path, sizeof path - 1);
    if (n < 0) return 0;
    path[n] = 0;
    return below(path);
}

static int of_file(int file) { return of_name(file, ""); }

/* Returns whether a call shall fail, with errno set. */
static int fails(int kind, int mine) {
    if (!armed || !(watched & kind) || !mine) return 0;
    __sync_add_and_fetch(&counts[__builtin_ctz(kind)], 1);
    long number = __sync_add_and_fetch(&count, 1);
    if (number < chosen || (number > chosen && !lasting)) return 0;
    if (sent && number == chosen) kill(getpid(), sent);
    if (!failing) return 0;
    errno = failing;
    return 1;
}

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)
#define SAVED(call) ({ int before = errno; int found = armed && (call); errno = before; found; })

ssize_t write(int file, const void *data, size_t size) {
    REAL(write);
    return fails(WRITE, SAVED(of_file(file))) ? -1 : real(file, data, size);
}
ssize_t writev(int file, const struct iovec *data, int n) {
    REAL(writev);
    return fails(WRITE, SAVED(of_file(file))) ? -1 : real(file, data, n);
}
ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) {
    REAL(pwrite64);
    return fails(WRITE, SAVED(of_file(file))) ? -1 : real(file, data, size, at);
}
ssize_t read(int file, void *data, size_t size) {
    REAL(read);
    return fails(READ, SAVED(of_file(file))) ? -1 : real(file, data, size);
}
int fsync(int file) {
    REAL(fsync);
    return fails(SYNC, SAVED(of_file(file))) ? -1 : real(file);
}
int close(int file) {
    REAL(close);
    int failed = fails(CLOSE, SAVED(of_file(file))), error = errno;
    int result = real(file); /* a file is closed, whatever close says */
    if (failed) errno = error;
    return failed ? -1 : result;
}
int rename(const char *from, const char *to) {
    REAL(rename);
    return fails(RENAME, SAVED(of_name(AT_FDCWD, to))) ? -1 : real(from, to);
}
int renameat(int a, const char *from, int b, const char *to) {
    REAL(renameat);
    return fails(RENAME, SAVED(of_name(b, to))) ? -1 : real(a, from, b, to);
}
int unlink(const char *name) {
    REAL(unlink);
    return fails(REMOVE, SAVED(of_name(AT_FDCWD, name))) ? -1 : real(name);
}
int unlinkat(int folder, const char *name, int flags) {
    REAL(unlinkat);
    return fails(REMOVE, SAVED(of_name(folder, name))) ? -1 : real(folder, name, flags);
}
int mkdir(const char *name, mode_t mode) {
    REAL(mkdir);
    return fails(MKDIR, SAVED(of_name(AT_FDCWD, name))) ? -1 : real(name, mode);
}

static int opened(int (*real)(int, const char *, int, ...), int folder, const char *name, int flags, mode_t mode) {
    int writes = (flags & O_ACCMODE) != O_RDONLY;
    return fails(writes ? OPEN : READ, SAVED(of_name(folder, name))) ? -1 : real(folder, name, flags, mode);
}
#define OPENED(function, first, folder) \
    int function(first const char *name, int flags, ...) { \
        static int (*real)(int, const char *, int, ...); \
        if (!real) real = (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat64"); \
        mode_t mode = 0; \
        if (flags & (O_CREAT | O_TMPFILE)) { \
            va_list rest; \
            va_start(rest, flags); \
            mode = va_arg(rest, mode_t); \
            va_end(rest); \
        } \
        return opened(real, folder, name, flags, mode); \
    }
#define COMMA ,
OPENED(open, , AT_FDCWD)
OPENED(open64, , AT_FDCWD)
OPENED(openat, int folder COMMA, folder)
OPENED(openat64, int folder COMMA, folder)

int clock_gettime(clockid_t which, struct timespec *now) {
    REAL(clock_gettime);
    int result = real(which, now);
    if (clock_speed < 0 && which == CLOCK_REALTIME) { /* an hour back at every question */
        static long asked;
        now->tv_sec -= 3600 * __sync_add_and_fetch(&asked, 1);
    }
    return result;
}
