#define _GNU_SOURCE
#include "minilab_spool.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

// The kernel's own limit for one message (SCM_MAX_FD).
enum { DESCRIPTORS_MAX = 253 };

union control {
    char bytes[CMSG_SPACE(DESCRIPTORS_MAX * sizeof(int))];
    struct cmsghdr aligned;
};

int minilab_socket_pair(int ends[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
}

ssize_t minilab_send_descriptors(
    int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count) {
    union control control;
    struct iovec piece = {.iov_base = (void *) bytes, .iov_len = count};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    if (descriptor_count > DESCRIPTORS_MAX) {
        errno = EINVAL;
        return -1;
    }
    if (descriptor_count > 0) {
        memset(&control, 0, sizeof control);
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(descriptor_count * sizeof(int));
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(descriptor_count * sizeof(int));
        memcpy(CMSG_DATA(header), descriptors, descriptor_count * sizeof(int));
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}

ssize_t minilab_receive_descriptors(
    int socket, void *bytes, size_t count, int *descriptors, size_t room, size_t *descriptor_count) {
    union control control;
    struct iovec piece = {.iov_base = bytes, .iov_len = count};
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    *descriptor_count = 0;
    ssize_t length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (length < 0) return length;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        size_t came = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < came; i++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof descriptor);
            if (*descriptor_count < room) descriptors[(*descriptor_count)++] = descriptor;
            else close(descriptor);
        }
    }
    if (message.msg_flags & MSG_CTRUNC) {
        errno = EMFILE;
        return -1;
    }
    return length;
}

void minilab_map_from(int bytes) { mallopt(M_MMAP_THRESHOLD, bytes); }

static int leave_code(struct dl_phdr_info *object, size_t size, void *nothing) {
    (void) size, (void) nothing;
    const uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE);
    // The kernel's own code (vdso) is not a file.
    if (strncmp(object->dlpi_name, "linux-", 6) == 0) return 0;
    // Code that the linker modified cannot be read from the file again.
    for (int i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
        const ElfW(Dyn) *entry = (const ElfW(Dyn) *) (object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++)
            if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && entry->d_un.d_val & DF_TEXTREL)) return 0;
    }
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || part->p_flags & PF_W) continue;
        uintptr_t start = (object->dlpi_addr + part->p_vaddr + page - 1) / page * page;
        uintptr_t end = (object->dlpi_addr + part->p_vaddr + part->p_filesz) / page * page;
        if (start < end) madvise((void *) start, end - start, MADV_DONTNEED);
    }
    return 0;
}

void minilab_leave_code(void) { dl_iterate_phdr(leave_code, NULL); }
