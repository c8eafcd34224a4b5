#define _GNU_SOURCE
#include "CHostile.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

long hostile_fork(void) { return syscall(SYS_clone, 17 /* SIGCHLD */, 0, 0, 0, 0); }
long hostile_trace(int process) { return ptrace(PTRACE_ATTACH, process, 0, 0); }
int hostile_limit(int process) {
    struct rlimit limit;
    return prlimit(process, RLIMIT_NOFILE, NULL, &limit);
}

bool hostile_use_spool(const char *folder) {
    char bytes[4096] = "tile";
    int file = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    if (file < 0) return false;
    struct statvfs room;
    bool good = fallocate(file, 0, 0, 2 * sizeof bytes) == 0
        && pwrite(file, bytes, sizeof bytes, sizeof bytes) == sizeof bytes
        && sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE) == 0
        && posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0
        && ftruncate(file, sizeof bytes) == 0
        && pread(file, bytes, sizeof bytes, 0) == sizeof bytes
        && fstatvfs(file, &room) == 0 && statvfs(folder, &room) == 0;
    close(file);
    return good;
}

long hostile_call(long number, const long arguments[6]) {
    long result = syscall(
        number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
    return result == -1 ? -errno : result;
}

pid_t hostile_new_process(void) { return fork(); }
