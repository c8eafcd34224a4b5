// Linux-specific calls on files, which Swift does not import: they require _GNU_SOURCE, or have no wrapper.
#ifndef MINILAB_SPOOL_H
#define MINILAB_SPOOL_H

#include <linux/openat2.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// mallopt() with M_MMAP_THRESHOLD, a macro of a header that Swift does not import.
void minilab_map_from(int bytes);
// madvise() with MADV_DONTNEED for all code and constants of the process: pages that are never written.
void minilab_leave_code(void);

// open() of a file that never has a name.
int minilab_open_nameless(const char *folder);
// memfd_create(): a file in memory, which belongs to no folder.
int minilab_open_memory(const char *name);
// fcntl(F_ADD_SEALS): nobody can change the length of such a file any more, nor, with `content`, its bytes.
int minilab_seal(int descriptor, int content);
// mkostemp() with O_CLOEXEC; it replaces the name's last six letters.
int minilab_open_unique(char *name);
// renameat2() to an unused name (RENAME_NOREPLACE, EEXIST); EINVAL if the file system does not support it.
int minilab_rename_free(const char *from, const char *to);
// The same, to a name in an open folder.
int minilab_rename_free_into(const char *from, int folder, const char *name);
// statx() that queries the server of a network file system (AT_STATX_FORCE_SYNC) and drops cached data if the file changed.
int minilab_refresh(const char *path);
// fallocate() of a part, and FALLOC_FL_PUNCH_HOLE, which frees one.
int minilab_allocate(int descriptor, int64_t start, int64_t bytes);
int minilab_free(int descriptor, int64_t start, int64_t bytes);
// sync_file_range() over the whole file: SYNC_FILE_RANGE_WAIT_BEFORE, and SYNC_FILE_RANGE_WRITE.
int minilab_wait_for_flush(int descriptor);
int minilab_start_flush(int descriptor);
// openat2() of a path that must stay beneath a folder (otherwise EXDEV), with O_CLOEXEC; it follows no magic links of /proc.
// `resolve` adds RESOLVE_ flags: RESOLVE_NO_SYMLINKS rejects every symbolic link (ELOOP).
#define MINILAB_OPEN_BENEATH_ATTEMPTS_MAX 16
int minilab_open_beneath(int folder, const char *name, uint64_t flags, uint64_t resolve);

// socketpair() of a stream, with close-on-exec.
int minilab_socket_pair(int ends[2]);
// sendmsg() of bytes, with descriptors attached to the first one (SCM_RIGHTS). Like write(), without SIGPIPE.
ssize_t minilab_send_descriptors(
    int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count);
// recvmsg() of bytes and their descriptors; descriptors beyond `room` are closed. Like read().
ssize_t minilab_receive_descriptors(
    int socket, void *bytes, size_t count, int *descriptors, size_t room, size_t *descriptor_count);

#endif
