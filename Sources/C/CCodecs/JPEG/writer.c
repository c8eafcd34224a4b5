#include "writer.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <jerror.h>

static struct minilab_jpeg_writer *writer_of(j_compress_ptr library) {
    return (struct minilab_jpeg_writer *) library->client_data;
}

// MARK: destination

static void empty(j_compress_ptr library, size_t length) {
    struct minilab_jpeg_writer *writer = writer_of(library);
    for (size_t done = 0; done < length;) {
        ssize_t count = pwrite(writer->descriptor, writer->buffer + done, length - done, writer->offset);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) {
            writer->errors.report.system_error = errno;
            ERREXIT(library, JERR_FILE_WRITE);
        }
        done += (size_t) count;
        writer->offset += count;
    }
    pass(&writer->passage, writer->descriptor, length, true);
    writer->destination.next_output_byte = writer->buffer;
    writer->destination.free_in_buffer = DESTINATION_BYTES;
}

static void begin(j_compress_ptr library) { empty(library, 0); }

static boolean flush(j_compress_ptr library) {
    // The library always passes the whole buffer, whatever free_in_buffer is (jcapistd.c).
    empty(library, DESTINATION_BYTES);
    return TRUE;
}

static void end(j_compress_ptr library) {
    empty(library, DESTINATION_BYTES - writer_of(library)->destination.free_in_buffer);
}

// MARK: life

struct minilab_jpeg_writer *minilab_jpeg_writer_new(int descriptor, off_t offset) {
    struct minilab_jpeg_writer *writer = calloc(1, sizeof *writer);
    if (!writer) return NULL;
    writer->descriptor = descriptor;
    writer->offset = offset;
    writer->library.err = prepare_errors(&writer->errors);
    if (setjmp(writer->errors.jump)) {
        minilab_jpeg_writer_free(writer);
        return NULL;
    }
    jpeg_create_compress(&writer->library);
    writer->library.client_data = writer;
    writer->destination = (struct jpeg_destination_mgr){
        .init_destination = begin, .empty_output_buffer = flush, .term_destination = end};
    writer->library.dest = &writer->destination;
    return writer;
}

void minilab_jpeg_writer_free(struct minilab_jpeg_writer *writer) {
    jpeg_destroy_compress(&writer->library);
    for (int i = 0; i < MINILAB_JPEG_COMPONENTS_MAX; i++) {
        free(writer->turned[i].blocks);
        free(writer->turned[i].stored);
    }
    free(writer);
}

const struct minilab_jpeg_report *minilab_jpeg_writer_report(const struct minilab_jpeg_writer *writer) {
    return &writer->errors.report;
}

// MARK: a picture

int minilab_jpeg_start_writing(struct minilab_jpeg_writer *writer, const struct minilab_jpeg_settings *settings) {
    j_compress_ptr library = &writer->library;
    if (setjmp(writer->errors.jump)) return writer->errors.report.status;
    library->image_width = (JDIMENSION) settings->width;
    library->image_height = (JDIMENSION) settings->height;
    library->input_components = settings->components;
    library->in_color_space = settings->comes_in_rows ? JCS_RGB : (J_COLOR_SPACE) settings->colour;
    jpeg_set_defaults(library);
    jpeg_set_colorspace(library, (J_COLOR_SPACE) settings->colour);
    jpeg_set_quality(library, settings->quality, TRUE);
    for (int i = 0; i < library->num_components; i++) {
        library->comp_info[i].h_samp_factor = settings->horizontal[i];
        library->comp_info[i].v_samp_factor = settings->vertical[i];
    }
    library->density_unit = (UINT8) settings->density_unit;
    library->X_density = (UINT16) settings->density_across;
    library->Y_density = (UINT16) settings->density_down;
    library->optimize_coding = settings->is_optimised;
    if (settings->is_progressive) jpeg_simple_progression(library);
    library->raw_data_in = !settings->comes_in_rows;
    jpeg_start_compress(library, TRUE);
    return MINILAB_JPEG_OK;
}

int minilab_jpeg_write_marker(struct minilab_jpeg_writer *writer, int code, const uint8_t *bytes, size_t length) {
    if (setjmp(writer->errors.jump)) return writer->errors.report.status;
    jpeg_write_marker(&writer->library, code, bytes, (unsigned) length);
    return MINILAB_JPEG_OK;
}

int minilab_jpeg_write_planes(struct minilab_jpeg_writer *writer, const uint8_t *const planes[], const size_t strides[]) {
    j_compress_ptr library = &writer->library;
    if (setjmp(writer->errors.jump)) return writer->errors.report.status;
    JSAMPROW rows[MINILAB_JPEG_COMPONENTS_MAX][DCTSIZE * MAX_SAMP_FACTOR];
    JSAMPARRAY components[MINILAB_JPEG_COMPONENTS_MAX];
    for (int i = 0; i < library->num_components; i++) {
        components[i] = rows[i];
        for (int line = 0; line < DCTSIZE * library->comp_info[i].v_samp_factor; line++)
            rows[i][line] = (JSAMPROW) planes[i] + (size_t) line * strides[i]; // only read by the library
    }
    jpeg_write_raw_data(library, components, (JDIMENSION) (DCTSIZE * library->max_v_samp_factor));
    return MINILAB_JPEG_OK;
}

int minilab_jpeg_write_row(struct minilab_jpeg_writer *writer, const uint8_t *pixels) {
    if (setjmp(writer->errors.jump)) return writer->errors.report.status;
    JSAMPROW row = (JSAMPROW) pixels; // only read by the library
    jpeg_write_scanlines(&writer->library, &row, 1);
    return MINILAB_JPEG_OK;
}

int minilab_jpeg_finish_writing(struct minilab_jpeg_writer *writer) {
    if (setjmp(writer->errors.jump)) return writer->errors.report.status;
    jpeg_finish_compress(&writer->library);
    return MINILAB_JPEG_OK;
}
