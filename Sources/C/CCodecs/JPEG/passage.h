// A sequential pass over a file: processed pages are dropped from the page cache, which would count to the memory cgroup.
#ifndef PASSAGE_H
#define PASSAGE_H

#include <stdbool.h>
#include <stddef.h>

struct passage {
    size_t bytes, left_at;
};

// Records that `bytes` more bytes of a file were read or written. Small files stay in the page cache for the next reader.
void pass(struct passage *passage, int descriptor, size_t bytes, bool is_written);

#endif
