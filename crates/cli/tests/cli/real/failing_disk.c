/* Put before the C library: writes to the store fail as on a full disk while the file `full` is in the folder that
   ABIDE_TROUBLE names, and syncs fail while `unsynced` is there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int trouble(const char *kind) {
    char path[4096];
    const char *folder = getenv("ABIDE_TROUBLE");
    if (!folder) return 0;
    snprintf(path, sizeof path, "%s/%s", folder, kind);
    return access(path, F_OK) == 0;
}

static int is_store(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return strstr(path, "abide.db") != NULL;
}

static ssize_t write_at(const char *name, int fd, const void *bytes, size_t count, off_t offset) {
    if (is_store(fd) && trouble("full")) {
        errno = ENOSPC;
        return -1;
    }
    ssize_t (*real)(int, const void *, size_t, off_t) = dlsym(RTLD_NEXT, name);
    return real(fd, bytes, count, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    return write_at("pwrite", fd, bytes, count, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset) {
    return write_at("pwrite64", fd, bytes, count, offset);
}

static int sync_file(const char *name, int fd) {
    if (is_store(fd) && trouble("unsynced")) {
        errno = EIO;
        return -1;
    }
    int (*real)(int) = dlsym(RTLD_NEXT, name);
    return real(fd);
}

int fsync(int fd) { return sync_file("fsync", fd); }
int fdatasync(int fd) { return sync_file("fdatasync", fd); }
