// System calls as an attacker makes them, for tests of what is denied.
#ifndef CHOSTILE_H
#define CHOSTILE_H

#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// clone(2) as fork calls it; ptrace(PTRACE_ATTACH); prlimit(2) of another process.
long hostile_fork(void);
long hostile_trace(int process);
int hostile_limit(int process);

// More memory than there is, asked for in C++ with nobody who catches.
void hostile_exhaust_memory(long bytes);

// All that a spool file needs, in a folder.
bool hostile_use_spool(int file);

// Raises the limit of a file's length as far as the hard one lets it, and makes a file as long as that.
int hostile_grow(int file, long bytes);

// Lifts a limit of this process for good; raises the limit of private memory, takes so much and waits.
int hostile_lift_limits(void);
int hostile_take_memory(long bytes);

// Any system call; the error's number below zero.
long hostile_call(long number, const long arguments[6]);

// fork(2), which Swift does not import; call nothing but what is needed in the new process.
pid_t hostile_new_process(void);

#ifdef __cplusplus
}
#endif
#endif
