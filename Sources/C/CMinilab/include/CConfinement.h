// Calls to Linux that Swift cannot make itself: system calls without a wrapper in the C library, macros, and code for places where
// no Swift may run: signal handlers and std::terminate. No policy belongs here.
//
// Every function that returns an int returns -1 and sets errno if the kernel refuses.
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
// Opens a descriptor that only refers to a path (O_PATH).
int minilab_name_path(const char *path);
int minilab_landlock_version(void);
int minilab_landlock_create(const struct minilab_landlock_rules *rules);
int minilab_landlock_allow(int rules, int path, uint64_t access);
int minilab_landlock_enter(int rules);

// Installs a filter of system calls for all threads and all threads that they start. Requires no_new_privs.
int minilab_filter_calls(const struct sock_filter *program, unsigned short count);

// prctl(2) with one argument.
int minilab_prctl(int option, unsigned long argument);

// Drops all capabilities except for those in `kept`, a mask of 64 bits.
int minilab_keep_capabilities(uint64_t kept);

// The architecture of this program's system calls, in the form that filters check.
uint32_t minilab_audit_architecture(void);

// Makes the process exit with `code`, instead of by a signal that does not show the cause, after a failed allocation: for an
// uncaught C++ exception std::bad_alloc, and for an abort or trap of a thread after malloc has returned ENOMEM.
void minilab_exit_without_memory(int code);

// Switches to this user and this group, without supplementary groups.
int minilab_become(uint32_t number);

// unshare(2).
int minilab_unshare(int what);

// Makes mounts private: mounts of other namespaces do not propagate here, nor ours to them.
int minilab_keep_mounts_private(void);
// Mounts an empty file system in memory.
int minilab_mount_empty(const char *path);
// Binds `source` to `target`, with all mounts below.
int minilab_bind(const char *source, const char *target);
// Makes a path and all mounts below read-only. Linux 5.12.
int minilab_make_read_only(const char *path);
// Makes the file system at `path` the root, and detaches the old one.
int minilab_change_root(const char *path);
int minilab_unmount(const char *path);

#ifdef __cplusplus
}
#endif
#endif
