#ifndef WRITER_H
#define WRITER_H

#include <sys/types.h>

#include "passage.h"
#include "report.h"

enum {
    DESTINATION_BYTES = 64 << 10,
    // Rows of blocks that a transform turns together. A row of the result is a column of the photo: eight together use each touched
    // kilobyte fully, and stay in the second-level cache.
    GROUP_ROWS = 8,
};

// A component that is turned while it is written; see transform.c.
struct turned_component {
    jvirt_barray_ptr source;
    JBLOCKROW blocks;
    JBLOCKROW rows[GROUP_ROWS];
    // The rows of the result in `blocks`.
    int first_row, rows_ready;
    // Their source, if it comes from a store.
    JBLOCKROW stored;
};

struct minilab_jpeg_writer {
    struct errors errors;
    struct jpeg_compress_struct library;
    struct jpeg_destination_mgr destination;
    struct passage passage;
    int descriptor;
    // The offset of the next byte to write.
    off_t offset;
    // Only for a transform.
    struct minilab_jpeg_reader *reader;
    struct minilab_jpeg_transform transform;
    struct turned_component turned[MINILAB_JPEG_COMPONENTS_MAX];
    jvirt_barray_ptr handles[MINILAB_JPEG_COMPONENTS_MAX];
    JOCTET buffer[DESTINATION_BYTES];
};

#endif
