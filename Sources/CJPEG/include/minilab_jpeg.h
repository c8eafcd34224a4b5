// libjpeg-turbo for Swift: its setjmp and longjmp stay in here, return codes and words come out.
//
// Every function that returns an int returns a minilab_jpeg_status. After anything but
// MINILAB_JPEG_OK the object can only be asked for its report and be freed. An object may move
// between threads, but is used by one at a time.

#ifndef MINILAB_JPEG_H
#define MINILAB_JPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Of the library's header that this was compiled with; the library has no function that says it.
const char *minilab_jpeg_version(void);

enum minilab_jpeg_status {
    MINILAB_JPEG_OK,
    // The bytes are no whole JPEG: damaged, or cut off.
    MINILAB_JPEG_DAMAGED,
    // A JPEG of a kind that the library does not read.
    MINILAB_JPEG_UNSUPPORTED,
    // More than a limit of the caller.
    MINILAB_JPEG_OVER_LIMIT,
    MINILAB_JPEG_OUT_OF_MEMORY,
    // read() or write() failed; report.system_error is its errno.
    MINILAB_JPEG_READ_FAILED,
    MINILAB_JPEG_WRITE_FAILED,
    // The store of the coefficients failed, and knows why.
    MINILAB_JPEG_STORE_FAILED,
    // The caller asked for what makes no sense.
    MINILAB_JPEG_MISUSED,
};

enum {
    MINILAB_JPEG_COMPONENTS_MAX = 4,
    MINILAB_JPEG_WORDS_MAX = 200, // JMSG_LENGTH_MAX
};

// What happened to an object.
struct minilab_jpeg_report {
    int status;
    int system_error;
    // The library's words for the error.
    char message[MINILAB_JPEG_WORDS_MAX];
    // Warnings that cost no pixel, and the words of the first.
    int warnings;
    char warning[MINILAB_JPEG_WORDS_MAX];
};

struct minilab_jpeg_limits {
    // Scans of a progressive photo: each costs a pass over it.
    int scans;
    // Bytes of all APPn and COM segments together.
    size_t marker_bytes;
    // Bytes of coefficients that are kept: by a reader of a photo of several scans, by a transform.
    size_t coefficient_bytes;
};

// Numbers as J_COLOR_SPACE of jpeglib.h, checked when this is compiled.
enum minilab_jpeg_colour {
    MINILAB_JPEG_UNKNOWN = 0,
    MINILAB_JPEG_GREY = 1,
    MINILAB_JPEG_RGB = 2,
    MINILAB_JPEG_YCBCR = 3,
    MINILAB_JPEG_CMYK = 4,
    MINILAB_JPEG_YCCK = 5,
};

struct minilab_jpeg_component {
    // Sampling factors, 1 to 4.
    int horizontal, vertical;
    // 8×8 blocks that the file holds, without what fills up an MCU.
    int blocks_across, blocks_down;
    // 64 steps in reading order (not zigzag); all 0 when the header does not have them yet.
    uint16_t steps[64];
};

struct minilab_jpeg_header {
    int width, height, components, colour;
    bool is_progressive, has_several_scans, is_arithmetic, has_adobe_marker;
    int restart_interval;
    // 0 none, 1 per inch, 2 per centimetre.
    int density_unit, density_across, density_down;
    struct minilab_jpeg_component component[MINILAB_JPEG_COMPONENTS_MAX];
};

// MARK: reading

struct minilab_jpeg_reader;

// Reads from an offset of the file on; the descriptor stays the caller's. NULL: no memory.
struct minilab_jpeg_reader *minilab_jpeg_reader_new(int descriptor, off_t offset, struct minilab_jpeg_limits limits);
void minilab_jpeg_reader_free(struct minilab_jpeg_reader *reader);
const struct minilab_jpeg_report *minilab_jpeg_reader_report(const struct minilab_jpeg_reader *reader);

int minilab_jpeg_read_header(struct minilab_jpeg_reader *reader, struct minilab_jpeg_header *header);

// An APPn or COM segment of the header by its place in the file; false after the last. The bytes
// are the reader's.
bool minilab_jpeg_marker(const struct minilab_jpeg_reader *reader, int index, int *code,
    const uint8_t **bytes, size_t *length);

int minilab_jpeg_start_planes(struct minilab_jpeg_reader *reader);
// One row of MCUs: 8 × vertical rows of each component, 8 × blocks_across samples each.
int minilab_jpeg_read_planes(struct minilab_jpeg_reader *reader, uint8_t *const planes[], const size_t strides[]);

// Grey, RGB or CMYK rows of the photo at eighths/8 of its size, rounded up; eighths is 1 to 8.
int minilab_jpeg_start_rows(struct minilab_jpeg_reader *reader, int eighths, int *width, int *height, int *bands);
int minilab_jpeg_read_rows(struct minilab_jpeg_reader *reader, uint8_t *pixels, size_t stride, int rows);

// Reads on to the end of the picture, which it checks.
int minilab_jpeg_finish_reading(struct minilab_jpeg_reader *reader);

// MARK: writing

struct minilab_jpeg_settings {
    int width, height, components, colour;
    int horizontal[MINILAB_JPEG_COMPONENTS_MAX], vertical[MINILAB_JPEG_COMPONENTS_MAX];
    // 1 to 100, of the tables of ITU-T T.81 Annex K.
    int quality;
    bool is_progressive, is_optimised;
    int density_unit, density_across, density_down;
};

struct minilab_jpeg_writer;

// Writes where the descriptor stands; it stays the caller's. NULL: no memory.
struct minilab_jpeg_writer *minilab_jpeg_writer_new(int descriptor, off_t offset);
void minilab_jpeg_writer_free(struct minilab_jpeg_writer *writer);
const struct minilab_jpeg_report *minilab_jpeg_writer_report(const struct minilab_jpeg_writer *writer);

int minilab_jpeg_start_writing(struct minilab_jpeg_writer *writer, const struct minilab_jpeg_settings *settings);
// After a start, before the first row.
int minilab_jpeg_write_marker(struct minilab_jpeg_writer *writer, int code, const uint8_t *bytes, size_t length);
// One row of MCUs, as minilab_jpeg_read_planes gives it.
int minilab_jpeg_write_planes(struct minilab_jpeg_writer *writer, const uint8_t *const planes[], const size_t strides[]);
int minilab_jpeg_finish_writing(struct minilab_jpeg_writer *writer);

// MARK: transforming without loss

struct minilab_jpeg_transform {
    // The part of the photo that is kept; left and top lie on MCUs.
    int left, top, width, height;
    // Then rows become columns, then columns change sides, then rows do.
    bool transposes, mirrors, flips;
    bool is_progressive, is_optimised;
};

// Blocks of coefficients of a component, 128 bytes each: a rectangle of so many, counted in blocks.
struct minilab_jpeg_blocks {
    int component, left, top, width, height;
};

// Keeps coefficients elsewhere than in memory. Both return whether they could.
struct minilab_jpeg_store {
    void *context;
    // Takes the next rows of a component, each whole.
    bool (*put)(void *context, const struct minilab_jpeg_blocks *blocks, const int16_t *from);
    // Gives rows without gaps, of what was put.
    bool (*get)(void *context, const struct minilab_jpeg_blocks *blocks, int16_t *to);
};

// Starts to write the coefficients of a photo of which only the header is read; markers and
// minilab_jpeg_finish_writing follow, and the reader lives until then. Errors of the reader are in
// its own report.
//
// Without a store the coefficients are in memory. With one, which lives as long, a few rows are; then
// the photo must be of one scan.
int minilab_jpeg_start_transform(struct minilab_jpeg_reader *reader, struct minilab_jpeg_writer *writer,
    const struct minilab_jpeg_transform *transform, const struct minilab_jpeg_store *store);

#endif
