#ifndef READER_H
#define READER_H

#include <sys/types.h>

#include "passage.h"
#include "report.h"

enum {
    // libjpeg-turbo decodes fast while 512 bytes per block of an MCU lie ahead in the buffer, and
    // slowly at its end: 3 KB of each buffer for 4:2:0 (jdhuff.c). This makes it 1 %, from the
    // second-level cache.
    SOURCE_BYTES = 256 << 10,
};

// Coefficients of one component, as the library keeps them, or a few rows on their way to the store.
struct kept_array {
    jvirt_barray_ptr array;
    size_t bytes;
    JBLOCKROW blocks;
    JBLOCKROW rows[MAX_SAMP_FACTOR];
    int across, down, together;
    // The rows that lie in `blocks`.
    int first_row, count;
};

struct minilab_jpeg_reader {
    struct errors errors;
    struct jpeg_decompress_struct library;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    // The library's memory manager, where ours stands in.
    struct jpeg_memory_mgr memory;
    struct kept_array kept[MINILAB_JPEG_COMPONENTS_MAX];
    int kept_count;
    // Where coefficients go; NULL: they stay in memory.
    const struct minilab_jpeg_store *store;
    struct minilab_jpeg_limits limits;
    size_t marker_bytes;
    struct passage passage;
    int descriptor;
    // Of the next byte to read: the descriptor's own place is shared with others.
    off_t offset;
    bool is_reading_header;
    JOCTET buffer[SOURCE_BYTES];
};

// Bytes of all coefficients of the photo.
size_t coefficient_bytes(const struct jpeg_decompress_struct *library);

// Leaves when the coefficients would be more than the caller allows.
void insist_on_coefficient_bytes(struct minilab_jpeg_reader *reader);

// Sends the last rows to the store.
void finish_storing(struct minilab_jpeg_reader *reader);

#endif
