// Linux' own calls on files, which Swift does not import since they need _GNU_SOURCE. One line each.
#ifndef MINILAB_SPOOL_H
#define MINILAB_SPOOL_H

#include <stdint.h>

// open() of a file that never has a name.
int minilab_open_nameless(const char *folder);
// mkostemp() with O_CLOEXEC; the name's last six letters are replaced.
int minilab_open_unique(char *name);
// fallocate() from the start on.
int minilab_allocate(int descriptor, int64_t bytes);
// sync_file_range() over the whole file: SYNC_FILE_RANGE_WAIT_BEFORE, and SYNC_FILE_RANGE_WRITE.
int minilab_wait_for_flush(int descriptor);
int minilab_start_flush(int descriptor);

#endif
