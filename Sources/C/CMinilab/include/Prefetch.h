#ifndef MINILAB_PREFETCH_H
#define MINILAB_PREFETCH_H

/* Asks for the cache line of an address, which need not be readable, and does not wait for it. */
static inline void minilab_prefetch(const void *_Nullable address) { __builtin_prefetch(address); }

#endif
