#ifndef MINILAB_PREFETCH_H
#define MINILAB_PREFETCH_H

/* Prefetches the cache line of an address, which need not be readable, without waiting for it. */
static inline void minilab_prefetch(const void *_Nullable address) { __builtin_prefetch(address); }

#endif
