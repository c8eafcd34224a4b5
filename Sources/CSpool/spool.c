#define _GNU_SOURCE
#include "minilab_spool.h"

#include <fcntl.h>
#include <stdlib.h>

// O_EXCL: nobody can give it a name later.
int minilab_open_nameless(const char *folder) {
    return open(folder, O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
}

int minilab_open_unique(char *name) { return mkostemp(name, O_CLOEXEC); }

int minilab_allocate(int descriptor, int64_t bytes) { return fallocate(descriptor, 0, 0, bytes); }

int minilab_wait_for_flush(int descriptor) {
    return sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE);
}

int minilab_start_flush(int descriptor) { return sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE); }
