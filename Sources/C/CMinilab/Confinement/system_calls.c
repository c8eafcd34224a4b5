#define _GNU_SOURCE
#include "CConfinement.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stddef.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

// struct landlock_path_beneath_attr: packed, as the kernel reads it.
struct path_beneath {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed));

enum { RULE_PATH_BENEATH = 1 };

int minilab_name_path(const char *path) { return open(path, O_PATH | O_CLOEXEC); }

int minilab_landlock_version(void) {
    return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, 1U /* VERSION */);
}

int minilab_landlock_create(const struct minilab_landlock_rules *rules) {
    // An older kernel accepts the longer structure if the fields unknown to it are 0.
    return (int)syscall(SYS_landlock_create_ruleset, rules, sizeof *rules, 0);
}

int minilab_landlock_allow(int rules, int path, uint64_t access) {
    struct path_beneath beneath = {.allowed = access, .parent = path};
    return (int)syscall(SYS_landlock_add_rule, rules, RULE_PATH_BENEATH, &beneath, 0);
}

int minilab_landlock_enter(int rules) {
    return (int)syscall(SYS_landlock_restrict_self, rules, 0);
}

int minilab_filter_calls(const struct sock_filter *program, unsigned short count) {
    struct sock_fprog filter = {.len = count, .filter = (struct sock_filter *)program};
    long thread = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter);
    // A thread has a different filter: the filter was not installed.
    if (thread > 0) errno = EBUSY;
    return thread == 0 ? 0 : -1;
}

int minilab_prctl(int option, unsigned long argument) {
    return prctl(option, argument, 0, 0, 0);
}

int minilab_keep_capabilities(uint64_t kept) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    if (syscall(SYS_capget, &header, data) != 0) return -1;
    for (int half = 0; half < 2; half++) {
        uint32_t mask = (uint32_t)(kept >> (32 * half));
        data[half].permitted &= mask;
        data[half].effective &= mask;
        data[half].inheritable = 0;
    }
    return (int)syscall(SYS_capset, &header, data);
}

uint32_t minilab_audit_architecture(void) {
#if defined(__x86_64__)
    return AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
    return AUDIT_ARCH_AARCH64;
#else
    return 0;
#endif
}

int minilab_become(uint32_t number) {
    if (setgroups(0, NULL) != 0 || setresgid(number, number, number) != 0) return -1;
    return setresuid(number, number, number);
}

int minilab_unshare(int what) { return unshare(what); }

int minilab_keep_mounts_private(void) { return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL); }

int minilab_mount_empty(const char *path) {
    return mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=64k");
}

int minilab_bind(const char *source, const char *target) {
    // A namespace of another user can only bind mounts together with all mounts below them.
    return mount(source, target, NULL, MS_BIND | MS_REC, NULL);
}

int minilab_make_read_only(const char *path) {
    struct mount_attr attributes = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID};
    return (int)syscall(
        SYS_mount_setattr, AT_FDCWD, path, AT_RECURSIVE, &attributes, sizeof attributes);
}

int minilab_change_root(const char *path) {
    // The old root is stacked over the new one, and then detached (pivot_root(2)).
    if (chdir(path) != 0 || syscall(SYS_pivot_root, ".", ".") != 0) return -1;
    return umount2(".", MNT_DETACH) == 0 ? chdir("/") : -1;
}

int minilab_unmount(const char *path) { return umount2(path, MNT_DETACH); }
