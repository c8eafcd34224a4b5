// What Swift cannot say to Linux by itself: system calls without a wrapper in the C library, macros, and
// what is done where no Swift may run: in signal handlers and in std::terminate. No policy belongs here.
//
// Every function that returns an int returns -1 and sets errno when the kernel refuses.
#ifndef MINILAB_CONFINEMENT_H
#define MINILAB_CONFINEMENT_H

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#ifdef __cplusplus
extern "C" {
#endif

// Landlock. Debian 12's header ends at version 2 of the interface; these are of version 7
// (include/uapi/linux/landlock.h of Linux 6.15).
struct minilab_landlock_rules {
    uint64_t handled_files;
    uint64_t handled_network;
    uint64_t scoped;
};
// A descriptor that stands for a path and opens nothing (O_PATH).
int minilab_name_path(const char *path);
int minilab_landlock_version(void);
int minilab_landlock_create(const struct minilab_landlock_rules *rules);
int minilab_landlock_allow(int rules, int path, uint64_t access);
int minilab_landlock_enter(int rules);

// A filter of system calls, for all threads and all that they start. Needs no_new_privs.
int minilab_filter_calls(const struct sock_filter *program, unsigned short count);

// prctl(2) with one argument.
int minilab_prctl(int option, unsigned long argument);

// Gives up all capabilities but those of `kept`, a mask of 64 bits.
int minilab_keep_capabilities(uint64_t kept);

// The architecture whose system calls this program makes, as a filter sees it.
uint32_t minilab_audit_architecture(void);

// Ends the process with `code`, not by the signal that says nothing of why, when an allocation failed
// that somebody could not go without: a C++ exception std::bad_alloc that nobody catches, an abort or trap
// of a thread to which malloc has just said ENOMEM.
void minilab_exit_without_memory(int code);

// Becomes this user and this group, with no other group.
int minilab_become(uint32_t number);

// unshare(2).
int minilab_unshare(int what);

// Mounts, in a namespace of our own. Those of others do not come in, and ours do not go out.
int minilab_keep_mounts_private(void);
// An empty file system in memory.
int minilab_mount_empty(const char *place);
// Shows `source` at `place`, with all that is mounted below.
int minilab_bind(const char *source, const char *place);
// A place with all that is mounted below. Linux 5.12.
int minilab_make_read_only(const char *place);
// Makes the file system at `place` the root, and leaves the old one.
int minilab_change_root(const char *place);
int minilab_unmount(const char *place);

#ifdef __cplusplus
}
#endif
#endif
