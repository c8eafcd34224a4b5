// Linux' own calls on files, which Swift does not import: they need _GNU_SOURCE, or have no wrapper.
#ifndef MINILAB_SPOOL_H
#define MINILAB_SPOOL_H

#include <linux/openat2.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// mallopt() of M_MMAP_THRESHOLD, a macro of a header that Swift does not import.
void minilab_map_from(int bytes);
// madvise() of MADV_DONTNEED for all code and constants of the process: pages that nothing writes to.
void minilab_leave_code(void);

// open() of a file that never has a name.
int minilab_open_nameless(const char *folder);
// memfd_create(): a file in memory, which is in no folder.
int minilab_open_memory(const char *name);
// mkostemp() with O_CLOEXEC; the name's last six letters are replaced.
int minilab_open_unique(char *name);
// renameat2() to a name that nothing has (RENAME_NOREPLACE, EEXIST); EINVAL where the file system cannot.
int minilab_rename_free(const char *from, const char *to);
// The same, to a name in an open folder.
int minilab_rename_free_into(const char *from, int folder, const char *name);
// statx() that asks the server of a network file system (AT_STATX_FORCE_SYNC) and forgets what is remembered if it changed.
int minilab_refresh(const char *path);
// fallocate() of a part, and FALLOC_FL_PUNCH_HOLE, which frees one.
int minilab_allocate(int descriptor, int64_t start, int64_t bytes);
int minilab_free(int descriptor, int64_t start, int64_t bytes);
// sync_file_range() over the whole file: SYNC_FILE_RANGE_WAIT_BEFORE, and SYNC_FILE_RANGE_WRITE.
int minilab_wait_for_flush(int descriptor);
int minilab_start_flush(int descriptor);
// openat2() of a path that must stay beneath a folder (EXDEV where it does not), with O_CLOEXEC; opens nothing in /proc's
// magic links. `resolve` adds RESOLVE_ flags: RESOLVE_NO_SYMLINKS refuses every symbolic link (ELOOP).
#define MINILAB_OPEN_BENEATH_ATTEMPTS_MAX 16
int minilab_open_beneath(int folder, const char *name, uint64_t flags, uint64_t resolve);

// socketpair() of a stream, closed in programs that are started.
int minilab_socket_pair(int ends[2]);
// sendmsg() of bytes, with descriptors at the first one (SCM_RIGHTS). As write(), without SIGPIPE.
ssize_t minilab_send_descriptors(
    int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count);
// recvmsg() of bytes and of the descriptors that come with them; those beyond `room` are closed. As read().
ssize_t minilab_receive_descriptors(
    int socket, void *bytes, size_t count, int *descriptors, size_t room, size_t *descriptor_count);

#endif
