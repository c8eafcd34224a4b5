#include "FilterRegistry.h"

/* ELF linkers make these two symbols for every section whose name is a C identifier: the section's
   first byte and the one after its last. Weak: a program without filters has no such section. */
extern const minilab_filter_registration __start_minilab_filters[] __attribute__((weak));
extern const minilab_filter_registration __stop_minilab_filters[] __attribute__((weak));

const minilab_filter_registration *minilab_filter_registrations(size_t *count) {
    const minilab_filter_registration *first = __start_minilab_filters;
    *count = first ? (size_t)(__stop_minilab_filters - first) : 0;
    return first;
}
