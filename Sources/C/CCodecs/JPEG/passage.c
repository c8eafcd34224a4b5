#define _GNU_SOURCE
#include "passage.h"

#include <fcntl.h>

// More than the size of camera photos, and little compared to the memory of a render.
enum { KEPT_BYTES_MAX = 32 << 20, STEP_BYTES = 8 << 20 };

void pass(struct passage *passage, int descriptor, size_t bytes, bool is_written) {
    passage->bytes += bytes;
    if (passage->bytes < KEPT_BYTES_MAX || passage->bytes < passage->left_at + STEP_BYTES) return;
    passage->left_at = passage->bytes;
    // Advice: if the kernel ignores it, this only costs memory. The disk writes while the process continues: the pages of the
    // previous step are dropped.
    if (is_written) sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WAIT_BEFORE);
    posix_fadvise(descriptor, 0, (off_t) passage->bytes, POSIX_FADV_DONTNEED);
    if (is_written) sync_file_range(descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);
}
