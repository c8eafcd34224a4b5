// System calls as an attacker makes them, for tests of what is denied.
#ifndef CHOSTILE_H
#define CHOSTILE_H

#include <stdbool.h>

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
bool hostile_use_spool(const char *folder);

#ifdef __cplusplus
}
#endif
#endif
