// Lossless turns, flips and crops of the coefficients.
//
// The library writes a photo from arrays of coefficients, one row of MCUs after the other. The turned arrays are never built: the
// library's access to the arrays is replaced by a function that turns a few rows on request, so that there is one copy of the
// coefficients, and not two as in jpegtran.

#include <stdlib.h>
#include <string.h>

#include "reader.h"
#include "writer.h"

// One line of a block.
typedef JCOEF line __attribute__((vector_size(DCTSIZE * sizeof(JCOEF))));

// Transposes a block: three rounds of interleaving the lines of the halves.
static void transpose(line lines[DCTSIZE]) {
    for (int round = 0; round < 3; round++) {
        line mixed[DCTSIZE];
        for (int i = 0; i < DCTSIZE / 2; i++) {
            line a = lines[i], b = lines[i + DCTSIZE / 2];
            mixed[2 * i] = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
            mixed[2 * i + 1] = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
        }
        memcpy(lines, mixed, sizeof mixed);
    }
}

// A mirrored cosine of odd frequency is its negative (ITU-T T.81 A.3.3).
static void turn_block(const struct minilab_jpeg_transform *transform, const JCOEF *from, JCOEF *to) {
    line lines[DCTSIZE];
    memcpy(lines, from, sizeof lines);
    if (transform->transposes) transpose(lines);
    const line odd = {0, -1, 0, -1, 0, -1, 0, -1};
    const line all = {-1, -1, -1, -1, -1, -1, -1, -1};
    line even_rows = transform->mirrors ? odd : odd ^ odd;
    line odd_rows = transform->flips ? even_rows ^ all : even_rows;
    for (int i = 0; i < DCTSIZE; i += 2) {
        lines[i] = (lines[i] ^ even_rows) - even_rows;
        lines[i + 1] = (lines[i + 1] ^ odd_rows) - odd_rows;
    }
    memcpy(to, lines, sizeof lines);
}

// A rectangle of the photo's blocks, read from the store, or in memory.
struct source {
    struct minilab_jpeg_writer *writer;
    struct turned_component *component;
    struct minilab_jpeg_blocks area;
};

static struct source source_of(struct minilab_jpeg_writer *writer, int index, struct minilab_jpeg_blocks area) {
    struct turned_component *turned = &writer->turned[index];
    const struct minilab_jpeg_store *store = writer->reader->store;
    area.component = index;
    if (store && !store->get(store->context, &area, (int16_t *) turned->stored))
        stop((j_common_ptr) &writer->library, MINILAB_JPEG_STORE_FAILED, "The coefficients could not be fetched");
    return (struct source){.writer = writer, .component = turned, .area = area};
}

// Returns the first block of a row of the rectangle.
static JBLOCKROW source_row(const struct source *source, int row) {
    if (source->writer->reader->store) return source->component->stored + (size_t) row * (size_t) source->area.width;
    // All of it is in memory: nothing is read here. Errors belong to the writer, which is running.
    j_common_ptr object = (j_common_ptr) &source->writer->library;
    return *source->writer->reader->memory.access_virt_barray(object, source->component->source,
        (JDIMENSION) (source->area.top + row), 1, FALSE) + source->area.left;
}

static void turn_rows(struct minilab_jpeg_writer *writer, int index, int first_row) {
    const struct minilab_jpeg_transform *transform = &writer->transform;
    const jpeg_component_info *target = &writer->library.comp_info[index];
    const jpeg_component_info *origin = &writer->reader->library.comp_info[index];
    struct turned_component *turned = &writer->turned[index];
    const int across = (int) target->width_in_blocks, down = (int) target->height_in_blocks;
    const int left = transform->left * origin->h_samp_factor / (DCTSIZE * writer->reader->library.max_h_samp_factor);
    const int top = transform->top * origin->v_samp_factor / (DCTSIZE * writer->reader->library.max_v_samp_factor);
    const int count = down - first_row < GROUP_ROWS ? down - first_row : GROUP_ROWS;
    turned->first_row = first_row;
    turned->rows_ready = count;
    // Rows of the result from the top are rows or columns of the photo from one of its sides.
    const int first = transform->flips ? down - first_row - count : first_row;
    if (!transform->transposes) {
        const struct source source = source_of(writer, index,
            (struct minilab_jpeg_blocks){.left = left, .top = top + first, .width = across, .height = count});
        for (int row = 0; row < count; row++) {
            JBLOCKROW from = source_row(&source, transform->flips ? count - 1 - row : row);
            for (int x = 0; x < across; x++)
                turn_block(transform, from[transform->mirrors ? across - 1 - x : x], turned->rows[row][x]);
        }
        return;
    }
    const struct source source = source_of(writer, index,
        (struct minilab_jpeg_blocks){.left = left + first, .top = top, .width = count, .height = across});
    for (int x = 0; x < across; x++) {
        JBLOCKROW from = source_row(&source, transform->mirrors ? across - 1 - x : x);
        for (int row = 0; row < count; row++)
            turn_block(transform, from[transform->flips ? count - 1 - row : row], turned->rows[row][x]);
    }
}

// Replaces the library's access to its arrays; `array` is one of ours.
static JBLOCKARRAY access(j_common_ptr object, jvirt_barray_ptr array, JDIMENSION first, JDIMENSION count, boolean writable) {
    (void) count, (void) writable;
    struct minilab_jpeg_writer *writer = ((j_compress_ptr) object)->client_data;
    struct turned_component *turned = (struct turned_component *) array;
    int row = (int) first;
    // Groups contain whole rows of MCUs: 1, 2 and 4 divide their size, and factor 3 starts a new one.
    bool is_ready = row >= turned->first_row && row + (int) count <= turned->first_row + turned->rows_ready;
    if (!is_ready) turn_rows(writer, (int) (turned - writer->turned), row);
    return turned->rows + (row - turned->first_row);
}

static void swap_sides(j_compress_ptr library) {
    for (int i = 0; i < library->num_components; i++) {
        jpeg_component_info *component = &library->comp_info[i];
        int horizontal = component->h_samp_factor;
        component->h_samp_factor = component->v_samp_factor;
        component->v_samp_factor = horizontal;
    }
    for (int i = 0; i < NUM_QUANT_TBLS; i++) {
        JQUANT_TBL *table = library->quant_tbl_ptrs[i];
        if (!table) continue;
        for (int row = 0; row < DCTSIZE; row++) {
            for (int column = 0; column < row; column++) {
                UINT16 step = table->quantval[row * DCTSIZE + column];
                table->quantval[row * DCTSIZE + column] = table->quantval[column * DCTSIZE + row];
                table->quantval[column * DCTSIZE + row] = step;
            }
        }
    }
}

static void make_room(struct minilab_jpeg_writer *writer) {
    // No component has more blocks in a row than the picture.
    size_t across = (writer->library.image_width + DCTSIZE - 1) / DCTSIZE;
    for (int i = 0; i < writer->library.num_components; i++) {
        struct turned_component *turned = &writer->turned[i];
        turned->blocks = malloc(across * GROUP_ROWS * sizeof(JBLOCK));
        for (int row = 0; row < GROUP_ROWS; row++) turned->rows[row] = turned->blocks + (size_t) row * across;
        if (!turned->blocks)
            stop((j_common_ptr) &writer->library, MINILAB_JPEG_OUT_OF_MEMORY, "Out of memory for turned coefficients");
        if (!writer->reader->store) continue;
        turned->stored = malloc(across * GROUP_ROWS * sizeof(JBLOCK));
        if (!turned->stored)
            stop((j_common_ptr) &writer->library, MINILAB_JPEG_OUT_OF_MEMORY, "Out of memory for stored coefficients");
    }
}

int minilab_jpeg_start_transform(struct minilab_jpeg_reader *reader, struct minilab_jpeg_writer *writer,
    const struct minilab_jpeg_transform *transform, const struct minilab_jpeg_store *store) {
    j_compress_ptr library = &writer->library;
    if (setjmp(reader->errors.jump)) return reader->errors.report.status;
    reader->store = store;
    if (!store) {
        require_coefficient_bytes(reader);
    } else if (jpeg_has_multiple_scans(&reader->library)) {
        stop((j_common_ptr) &reader->library, MINILAB_JPEG_MISUSED, "Coefficients of several scans cannot be stored");
    }
    jvirt_barray_ptr *arrays = jpeg_read_coefficients(&reader->library);
    if (store) finish_storing(reader);

    if (setjmp(writer->errors.jump)) return writer->errors.report.status;
    writer->reader = reader;
    writer->transform = *transform;
    jpeg_copy_critical_parameters(&reader->library, library);
    library->image_width = (JDIMENSION) (transform->transposes ? transform->height : transform->width);
    library->image_height = (JDIMENSION) (transform->transposes ? transform->width : transform->height);
    if (transform->transposes) swap_sides(library);
    library->optimize_coding = transform->is_optimised;
    if (transform->is_progressive) jpeg_simple_progression(library);
    make_room(writer);
    for (int i = 0; i < library->num_components; i++) {
        writer->turned[i].source = arrays[i];
        writer->handles[i] = (jvirt_barray_ptr) &writer->turned[i];
    }
    library->mem->access_virt_barray = access;
    jpeg_write_coefficients(library, writer->handles);
    return MINILAB_JPEG_OK;
}
