#define _GNU_SOURCE
#include "minilab_spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/mman.h>
#include <unistd.h>

// O_EXCL: the file can never be given a name.
int minilab_open_nameless(const char *folder) {
    return open(folder, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
}

int minilab_open_memory(const char *name) { return memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING); }

int minilab_seal(int descriptor, int content) {
    return fcntl(descriptor, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL | (content ? F_SEAL_WRITE : 0));
}

int minilab_open_unique(char *name) { return mkostemp(name, O_CLOEXEC); }

int minilab_rename_free(const char *from, const char *to) {
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

int minilab_rename_free_into(const char *from, int folder, const char *name) {
    return renameat2(AT_FDCWD, from, folder, name, RENAME_NOREPLACE);
}

int minilab_refresh(const char *path) {
    struct statx found;
    return statx(AT_FDCWD, path, AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &found);
}

int minilab_allocate(int descriptor, int64_t start, int64_t bytes) { return fallocate(descriptor, 0, start, bytes); }

int minilab_free(int descriptor, int64_t start, int64_t bytes) {
    return fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, start, bytes);
}

int minilab_wait_for_flush(int descriptor) {
    return sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE);
}

int minilab_start_flush(int descriptor) { return sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE); }

int minilab_open_beneath(int folder, const char *name, uint64_t flags, uint64_t resolve) {
    struct open_how how = {.flags = flags | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | resolve};
    long descriptor = -1;
    // EAGAIN: a concurrent rename crossed a "..", so the kernel cannot decide whether the path stayed beneath the folder.
    for (int attempt = 0; attempt < MINILAB_OPEN_BENEATH_ATTEMPTS_MAX; attempt++) {
        descriptor = syscall(SYS_openat2, folder, name, &how, sizeof how);
        if (descriptor >= 0 || (errno != EAGAIN && errno != EINTR)) break;
    }
    return (int)descriptor;
}
