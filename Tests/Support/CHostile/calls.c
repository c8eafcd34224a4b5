#define _GNU_SOURCE
#include "CHostile.h"
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
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

bool hostile_use_spool(int file) {
    char bytes[4096] = "tile";
    struct statvfs room;
    return fallocate(file, 0, 0, 2 * sizeof bytes) == 0
        && pwrite(file, bytes, sizeof bytes, sizeof bytes) == sizeof bytes
        && sync_file_range(file, 0, 0, SYNC_FILE_RANGE_WRITE) == 0
        && posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0
        && fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, sizeof bytes) == 0
        && ftruncate(file, sizeof bytes) == 0
        && pread(file, bytes, sizeof bytes, 0) == sizeof bytes
        && fstatvfs(file, &room) == 0;
}

int hostile_grow(int file, long bytes) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0) return -1;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_FSIZE, &limit) != 0 ? -1 : ftruncate(file, bytes);
}

int hostile_lift_limits(void) {
    const struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
    // One of them is enough.
    return setrlimit(RLIMIT_DATA, &none) == 0 || setrlimit(RLIMIT_STACK, &none) == 0 ? 0 : -1;
}

int hostile_take_memory(long bytes) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_DATA, &limit) != 0) return -1;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_DATA, &limit) != 0) return -1;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return -1;
    for (long at = 0; at < bytes; at += 4096) memory[at] = 1;
    for (;;) pause();
}

long hostile_call(long number, const long arguments[6]) {
    long result = syscall(
        number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
    return result == -1 ? -errno : result;
}

pid_t hostile_new_process(void) { return fork(); }
