// LibRaw's C interface, thread-safe build, and the calls that it lacks.
#ifndef MINILAB_RAW_H
#define MINILAB_RAW_H

#include <libraw/libraw.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// A file in memory that notes when LibRaw asks for bytes that it does not have.
//
// LibRaw's loaders differ: some report a file that ends too early, others leave the rest of the sensor's data empty or take what their
// buffer contained.
struct minilab_raw_file;

// The reads beyond the end of a file.
struct minilab_raw_lack {
    // Whether something was read at a place at or beyond the end, or a JPEG ended early.
    bool has_absent_place;
    // Single bytes that were not there. Decoders of variable-length codes look a few bytes ahead.
    size_t single_bytes;
    // Whether a block was not there in full. A loader may read more than it uses.
    bool has_short_block;
};

// Makes a file of bytes that outlive it; NULL if memory is exhausted.
struct minilab_raw_file *minilab_raw_file_make(const void *bytes, size_t count);
void minilab_raw_file_free(struct minilab_raw_file *file);

// Opens the file from its beginning; a status of LibRaw. The file must outlive its use by `data`.
int minilab_raw_open(libraw_data_t *data, struct minilab_raw_file *file);

// Forgets what was lacking. From now on, the missing part of a block is filled with this byte.
void minilab_raw_file_watch(struct minilab_raw_file *file, unsigned char fill);
struct minilab_raw_lack minilab_raw_file_lack(const struct minilab_raw_file *file);

// Returns the pixels, which follow the header in one allocation; Swift does not import an array of one byte as such.
const unsigned char *minilab_raw_pixels(const libraw_processed_image_t *image);

// Sets the most memory for the unpacked sensor data, in MiB; LibRaw 0.21 moved the field.
void minilab_raw_allow_memory(libraw_data_t *data, unsigned mebibytes);

#ifdef __cplusplus
}
#endif
#endif
