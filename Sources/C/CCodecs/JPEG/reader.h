#ifndef READER_H
#define READER_H

#include <sys/types.h>

#include "passage.h"
#include "report.h"

enum {
    // libjpeg-turbo decodes fast while at least 512 bytes per block of an MCU remain in the buffer, and slowly at its end: 3 KB of
    // each buffer for 4:2:0 (jdhuff.c). This size reduces that part to 1 %, and fits into the second-level cache.
    SOURCE_BYTES = 256 << 10,
};

// Coefficients of one component, either all in the library's memory, or a few rows on their way to the store.
struct kept_array {
    jvirt_barray_ptr array;
    size_t bytes;
    JBLOCKROW blocks;
    JBLOCKROW rows[MAX_SAMP_FACTOR];
    int across, down, together;
    // The rows in `blocks`.
    int first_row, count;
};

struct minilab_jpeg_reader {
    struct errors errors;
    struct jpeg_decompress_struct library;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    // The library's memory manager, which ours wraps.
    struct jpeg_memory_mgr memory;
    struct kept_array kept[MINILAB_JPEG_COMPONENTS_MAX];
    int kept_count;
    // The store of coefficients; NULL: they stay in memory.
    const struct minilab_jpeg_store *store;
    struct minilab_jpeg_limits limits;
    size_t marker_bytes;
    struct passage passage;
    int descriptor;
    // The offset of the next byte to read: the descriptor's own offset is shared with other users.
    off_t offset;
    bool is_reading_header;
    JOCTET buffer[SOURCE_BYTES];
};

// Bytes of all coefficients of the photo.
size_t coefficient_bytes(const struct jpeg_decompress_struct *library);

// Exits by longjmp if the coefficients exceed the caller's limit.
void require_coefficient_bytes(struct minilab_jpeg_reader *reader);

// Writes the last rows to the store.
void finish_storing(struct minilab_jpeg_reader *reader);

#endif
