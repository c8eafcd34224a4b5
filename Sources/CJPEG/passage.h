// A file that is gone through once: what lies behind is taken out of the page cache, for which a memory
// cgroup has to pay.
#ifndef PASSAGE_H
#define PASSAGE_H

#include <stdbool.h>
#include <stddef.h>

struct passage {
    size_t bytes, left_at;
};

// Notes that so many bytes more of a file were read or written. Small files stay in the page cache, for
// whoever wants them next.
void pass(struct passage *passage, int descriptor, size_t bytes, bool is_written);

#endif
