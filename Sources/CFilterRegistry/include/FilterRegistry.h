#ifndef MINILAB_FILTER_REGISTRY_H
#define MINILAB_FILTER_REGISTRY_H

#include <stddef.h>

/* Adds one filter's definition to the Swift array that `definitions` points to. */
typedef void (*minilab_filter_registration)(void *_Nullable definitions);

/* Every registration that the linker has gathered; `count` gets their number, 0 when no filters
   are linked. */
const minilab_filter_registration _Nonnull *_Nullable minilab_filter_registrations(
    size_t *_Nonnull count);

#endif
