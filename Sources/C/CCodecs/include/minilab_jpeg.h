// libjpeg-turbo for Swift: contains its setjmp and longjmp, and returns status codes and messages.
//
// Every function that returns an int returns a minilab_jpeg_status. After any status other than MINILAB_JPEG_OK, the object may
// only be asked for its report and freed. An object may move between threads, but one thread uses it at a time.

#ifndef MINILAB_JPEG_H
#define MINILAB_JPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// The version in the library's header at compile time; the library has no function for it.
const char *minilab_jpeg_version(void);

enum minilab_jpeg_status {
    MINILAB_JPEG_OK,
    // The bytes are no complete JPEG: damaged or truncated.
    MINILAB_JPEG_DAMAGED,
    // A kind of JPEG that the library does not support.
    MINILAB_JPEG_UNSUPPORTED,
    // A limit of the caller is exceeded.
    MINILAB_JPEG_OVER_LIMIT,
    MINILAB_JPEG_OUT_OF_MEMORY,
    // read() or write() failed; report.system_error is its errno.
    MINILAB_JPEG_READ_FAILED,
    MINILAB_JPEG_WRITE_FAILED,
    // The store of the coefficients failed, and reports the reason itself.
    MINILAB_JPEG_STORE_FAILED,
    // A misuse by the caller.
    MINILAB_JPEG_MISUSED,
};

enum {
    MINILAB_JPEG_COMPONENTS_MAX = 4,
    MINILAB_JPEG_TEXT_MAX = 200, // JMSG_LENGTH_MAX
};

// The outcome of an object's operations.
struct minilab_jpeg_report {
    int status;
    int system_error;
    // The library's message for the error.
    char message[MINILAB_JPEG_TEXT_MAX];
    // The number of warnings without lost pixels, and the message of the first.
    int warnings;
    char warning[MINILAB_JPEG_TEXT_MAX];
    // Whether the file ends without its end marker (EOI), and nothing else is missing.
    bool has_no_end;
};

struct minilab_jpeg_limits {
    // Scans of a progressive photo: each needs a pass over it.
    int scans;
    // Bytes of all APPn and COM segments together.
    size_t marker_bytes;
    // Bytes of coefficients in memory: of a reader of a photo with several scans, and of a transform.
    size_t coefficient_bytes;
};

// The numbers of J_COLOR_SPACE in jpeglib.h, checked at compile time.
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
    // 8×8 blocks in the file, without the padding of an MCU.
    int blocks_across, blocks_down;
    // 64 steps in reading order (not zigzag); all 0 if the header does not contain them yet.
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

// Reads from an offset of the file on; the caller keeps the descriptor. NULL: no memory.
struct minilab_jpeg_reader *minilab_jpeg_reader_new(int descriptor, off_t offset, struct minilab_jpeg_limits limits);
void minilab_jpeg_reader_free(struct minilab_jpeg_reader *reader);
const struct minilab_jpeg_report *minilab_jpeg_reader_report(const struct minilab_jpeg_reader *reader);

int minilab_jpeg_read_header(struct minilab_jpeg_reader *reader, struct minilab_jpeg_header *header);

// Returns an APPn or COM segment of the header by its index; false after the last. The reader owns the bytes.
bool minilab_jpeg_marker(const struct minilab_jpeg_reader *reader, int index, int *code,
    const uint8_t **bytes, size_t *length);

int minilab_jpeg_start_planes(struct minilab_jpeg_reader *reader);
// One row of MCUs: 8 × vertical rows of each component, 8 × blocks_across samples each.
int minilab_jpeg_read_planes(struct minilab_jpeg_reader *reader, uint8_t *const planes[], const size_t strides[]);

// Grey, RGB or CMYK rows of the photo at eighths/8 of its size, rounded up; eighths is 1 to 8.
int minilab_jpeg_start_rows(struct minilab_jpeg_reader *reader, int eighths, int *width, int *height, int *bands);
int minilab_jpeg_read_rows(struct minilab_jpeg_reader *reader, uint8_t *pixels, size_t stride, int rows);

// Reads to the end of the picture, to verify that it is complete.
int minilab_jpeg_finish_reading(struct minilab_jpeg_reader *reader);

// MARK: writing

struct minilab_jpeg_settings {
    int width, height, components, colour;
    int horizontal[MINILAB_JPEG_COMPONENTS_MAX], vertical[MINILAB_JPEG_COMPONENTS_MAX];
    // 1 to 100, of the tables of ITU-T T.81 Annex K.
    int quality;
    bool is_progressive, is_optimised;
    // Whether the picture comes in rows of RGB, and not in planes. The colour is YCbCr then.
    bool comes_in_rows;
    int density_unit, density_across, density_down;
};

struct minilab_jpeg_writer;

// Writes from an offset of the file on; the caller keeps the descriptor. NULL: no memory.
struct minilab_jpeg_writer *minilab_jpeg_writer_new(int descriptor, off_t offset);
void minilab_jpeg_writer_free(struct minilab_jpeg_writer *writer);
const struct minilab_jpeg_report *minilab_jpeg_writer_report(const struct minilab_jpeg_writer *writer);

int minilab_jpeg_start_writing(struct minilab_jpeg_writer *writer, const struct minilab_jpeg_settings *settings);
// Call it after a start, before the first row.
int minilab_jpeg_write_marker(struct minilab_jpeg_writer *writer, int code, const uint8_t *bytes, size_t length);
// One row of MCUs, in the form of minilab_jpeg_read_planes.
int minilab_jpeg_write_planes(struct minilab_jpeg_writer *writer, const uint8_t *const planes[], const size_t strides[]);
// One row of RGB.
int minilab_jpeg_write_row(struct minilab_jpeg_writer *writer, const uint8_t *pixels);
int minilab_jpeg_finish_writing(struct minilab_jpeg_writer *writer);

// MARK: lossless transforms

struct minilab_jpeg_transform {
    // The part of the photo to keep; left and top are multiples of MCUs.
    int left, top, width, height;
    // Then rows become columns, then left and right are swapped, then top and bottom.
    bool transposes, mirrors, flips;
    bool is_progressive, is_optimised;
};

// A rectangle of a component's blocks of coefficients, counted in blocks of 128 bytes.
struct minilab_jpeg_blocks {
    int component, left, top, width, height;
};

// Stores coefficients outside of memory. Both functions return whether they succeeded.
struct minilab_jpeg_store {
    void *context;
    // Stores the next rows of a component, each whole.
    bool (*put)(void *context, const struct minilab_jpeg_blocks *blocks, const int16_t *from);
    // Reads stored rows without gaps.
    bool (*get)(void *context, const struct minilab_jpeg_blocks *blocks, int16_t *to);
};

// Starts writing the coefficients of a photo of which only the header is read. Markers and minilab_jpeg_finish_writing follow, and
// the reader must live until then. Errors of the reader are in its own report.
//
// Without a store, the coefficients are in memory. With a store, which must live as long, only a few rows are; then the photo must
// have one scan.
int minilab_jpeg_start_transform(struct minilab_jpeg_reader *reader, struct minilab_jpeg_writer *writer,
    const struct minilab_jpeg_transform *transform, const struct minilab_jpeg_store *store);

#endif
