#include "reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <jerror.h>

enum {
    // The most lines of an MCU: 8 × the greatest sampling factor.
    LINES_MAX = DCTSIZE * MAX_SAMP_FACTOR,
    MARKER_LENGTH_MAX = 0xFFFF,
    // Less than MAX_ALLOC_CHUNK of the library's jmemmgr.c.
    MAX_PIECE_BYTES = 900000000,
};

static struct minilab_jpeg_reader *reader_of(j_decompress_ptr library) {
    return (struct minilab_jpeg_reader *) library->client_data;
}

// MARK: source

static void begin(j_decompress_ptr library) { (void) library; }

// Whether nothing but the end marker (EOI) can be missing: each component has a scan, and each coefficient of a progressive photo its
// last bit. If codes of the last scan are missing, the library warns. It does not for arithmetic codes, whose last zeros may be
// left out.
static bool may_end(const struct minilab_jpeg_reader *reader) {
    const struct jpeg_decompress_struct *library = &reader->library;
    if (reader->is_reading_header || library->arith_code) return false;
    for (int i = 0; i < library->num_components; i++) {
        if (!library->progressive_mode) {
            // Set at the component's first scan.
            if (!library->comp_info[i].quant_table) return false;
            continue;
        }
        if (!library->coef_bits) return false;
        for (int coefficient = 0; coefficient < DCTSIZE2; coefficient++)
            if (library->coef_bits[i][coefficient] != 0) return false;
    }
    return true;
}

static boolean fill(j_decompress_ptr library) {
    struct minilab_jpeg_reader *reader = reader_of(library);
    ssize_t count;
    do count = pread(reader->descriptor, reader->buffer, SOURCE_BYTES, reader->offset);
    while (count < 0 && errno == EINTR);
    if (count < 0) {
        reader->errors.report.system_error = errno;
        ERREXIT(library, JERR_FILE_READ);
    }
    if (count == 0) {
        if (!may_end(reader)) ERREXIT(library, JERR_INPUT_EOF);
        static const JOCTET end[] = {0xFF, JPEG_EOI};
        reader->errors.report.has_no_end = true;
        reader->source.next_input_byte = end;
        reader->source.bytes_in_buffer = sizeof end;
        return TRUE;
    }
    reader->offset += count;
    pass(&reader->passage, reader->descriptor, (size_t) count, false);
    reader->source.next_input_byte = reader->buffer;
    reader->source.bytes_in_buffer = (size_t) count;
    return TRUE;
}

static void skip(j_decompress_ptr library, long count) {
    struct jpeg_source_mgr *source = library->src;
    if (count <= 0) return;
    while ((size_t) count > source->bytes_in_buffer) {
        count -= (long) source->bytes_in_buffer;
        fill(library);
    }
    source->next_input_byte += count;
    source->bytes_in_buffer -= (size_t) count;
}

// MARK: limits

static void watch_scans(j_common_ptr object) {
    j_decompress_ptr library = (j_decompress_ptr) object;
    if (library->input_scan_number > reader_of(library)->limits.scans)
        stop(object, MINILAB_JPEG_OVER_LIMIT, "The photo has more scans than are allowed");
}

// The library keeps any number of segments; large allocations at this time are for them.
static void *allocate(j_common_ptr object, int pool, size_t bytes) {
    struct minilab_jpeg_reader *reader = reader_of((j_decompress_ptr) object);
    if (reader->is_reading_header) {
        reader->marker_bytes += bytes;
        if (reader->marker_bytes > reader->limits.marker_bytes)
            stop(object, MINILAB_JPEG_OVER_LIMIT, "The photo has more bytes of metadata than are allowed");
    }
    return reader->memory.alloc_large(object, pool, bytes);
}

size_t coefficient_bytes(const struct jpeg_decompress_struct *library) {
    size_t blocks = 0;
    for (int i = 0; i < library->num_components; i++) {
        const jpeg_component_info *component = &library->comp_info[i];
        size_t h = (size_t) component->h_samp_factor, v = (size_t) component->v_samp_factor;
        blocks += (component->width_in_blocks + h - 1) / h * h * ((component->height_in_blocks + v - 1) / v * v);
    }
    return blocks * sizeof(JBLOCK);
}

void require_coefficient_bytes(struct minilab_jpeg_reader *reader) {
    if (coefficient_bytes(&reader->library) > reader->limits.coefficient_bytes)
        stop((j_common_ptr) &reader->library, MINILAB_JPEG_OVER_LIMIT,
            "The photo's coefficients need more memory than is allowed");
}

// MARK: store
//
// The library fills an array of coefficients from the first row to the last, and needs the rows of one MCU at a time.

static void put(struct minilab_jpeg_reader *reader, struct kept_array *kept) {
    if (kept->count == 0) return;
    struct minilab_jpeg_blocks blocks = {
        .component = (int) (kept - reader->kept), .top = kept->first_row, .width = kept->across, .height = kept->count};
    kept->count = 0;
    if (!reader->store->put(reader->store->context, &blocks, (const int16_t *) kept->blocks))
        stop((j_common_ptr) &reader->library, MINILAB_JPEG_STORE_FAILED, "The coefficients could not be stored");
}

void finish_storing(struct minilab_jpeg_reader *reader) {
    for (int i = 0; i < reader->kept_count; i++) put(reader, &reader->kept[i]);
}

static jvirt_barray_ptr request_stored(struct minilab_jpeg_reader *reader, int across, int down, int together) {
    j_common_ptr object = (j_common_ptr) &reader->library;
    if (reader->kept_count == MINILAB_JPEG_COMPONENTS_MAX || together > MAX_SAMP_FACTOR)
        stop(object, MINILAB_JPEG_UNSUPPORTED, "The photo has more components than can be stored");
    struct kept_array *kept = &reader->kept[reader->kept_count++];
    *kept = (struct kept_array){.across = across, .down = down, .together = together};
    kept->bytes = (size_t) across * (size_t) together * sizeof(JBLOCK);
    kept->blocks = reader->memory.alloc_large(object, JPOOL_IMAGE, kept->bytes);
    for (int row = 0; row < together; row++) kept->rows[row] = kept->blocks + (size_t) row * (size_t) across;
    return (jvirt_barray_ptr) kept;
}

static JBLOCKARRAY access_stored(j_common_ptr object, jvirt_barray_ptr array, JDIMENSION first, JDIMENSION count,
    boolean writable) {
    struct minilab_jpeg_reader *reader = reader_of((j_decompress_ptr) object);
    if (!reader->store) return reader->memory.access_virt_barray(object, array, first, count, writable);
    struct kept_array *kept = (struct kept_array *) array;
    const int row = (int) first;
    if (kept->count > 0 && row == kept->first_row) return kept->rows;
    // A second scan of the component would begin at its first row again.
    if (row != kept->first_row + kept->count || (int) count > kept->together || row + (int) count > kept->down)
        stop(object, MINILAB_JPEG_UNSUPPORTED, "The photo has more scans than its header says");
    put(reader, kept);
    memset(kept->blocks, 0, kept->bytes);
    kept->first_row = row;
    kept->count = (int) count;
    return kept->rows;
}

// MARK: huge pages
//
// Coefficients of 24 MP are 18,000 pages of 4 KB, and a third of a turn's time is spent by the kernel on allocating them. So their
// memory is marked for pages of 2 MB before it is touched; if the kernel has none, nothing changes.

static jvirt_barray_ptr request(j_common_ptr object, int pool, boolean zeroed, JDIMENSION across, JDIMENSION down,
    JDIMENSION together) {
    struct minilab_jpeg_reader *reader = reader_of((j_decompress_ptr) object);
    if (reader->store) return request_stored(reader, (int) across, (int) down, (int) together);
    jvirt_barray_ptr array = reader->memory.request_virt_barray(object, pool, zeroed, across, down, together);
    if (reader->kept_count < MINILAB_JPEG_COMPONENTS_MAX)
        reader->kept[reader->kept_count++] =
            (struct kept_array){.array = array, .bytes = (size_t) across * down * sizeof(JBLOCK)};
    return array;
}

static void realize(j_common_ptr object) {
    struct minilab_jpeg_reader *reader = reader_of((j_decompress_ptr) object);
    reader->memory.realize_virt_arrays(object);
    if (reader->store) return;
    const uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE);
    for (int i = 0; i < reader->kept_count; i++) {
        // The library allocates memory in pieces of 1 GB: all but the largest arrays are in one.
        JBLOCKROW start = *object->mem->access_virt_barray(object, reader->kept[i].array, 0, 1, TRUE);
        uintptr_t first = ((uintptr_t) start + page - 1) / page * page;
        uintptr_t end = ((uintptr_t) start + reader->kept[i].bytes) / page * page;
        if (reader->kept[i].bytes < MAX_PIECE_BYTES && end > first) madvise((void *) first, end - first, MADV_HUGEPAGE);
    }
    reader->kept_count = 0;
}

// MARK: life

struct minilab_jpeg_reader *minilab_jpeg_reader_new(int descriptor, off_t offset, struct minilab_jpeg_limits limits) {
    struct minilab_jpeg_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    reader->descriptor = descriptor;
    reader->offset = offset;
    reader->limits = limits;
    reader->library.err = prepare_errors(&reader->errors);
    if (setjmp(reader->errors.jump)) {
        minilab_jpeg_reader_free(reader);
        return NULL;
    }
    jpeg_create_decompress(&reader->library);
    reader->library.client_data = reader;
    reader->source = (struct jpeg_source_mgr){
        .init_source = begin, .fill_input_buffer = fill, .skip_input_data = skip,
        .resync_to_restart = jpeg_resync_to_restart, .term_source = begin};
    reader->library.src = &reader->source;
    reader->progress.progress_monitor = watch_scans;
    reader->library.progress = &reader->progress;
    reader->memory = *reader->library.mem;
    reader->library.mem->alloc_large = allocate;
    reader->library.mem->request_virt_barray = request;
    reader->library.mem->realize_virt_arrays = realize;
    reader->library.mem->access_virt_barray = access_stored;
    return reader;
}

void minilab_jpeg_reader_free(struct minilab_jpeg_reader *reader) {
    jpeg_destroy_decompress(&reader->library);
    free(reader);
}

const struct minilab_jpeg_report *minilab_jpeg_reader_report(const struct minilab_jpeg_reader *reader) {
    return &reader->errors.report;
}

// MARK: header

static void describe(const struct jpeg_decompress_struct *library, struct minilab_jpeg_header *header) {
    *header = (struct minilab_jpeg_header){
        .width = (int) library->image_width,
        .height = (int) library->image_height,
        .components = library->num_components,
        .colour = (int) library->jpeg_color_space,
        .is_progressive = library->progressive_mode,
        .is_arithmetic = library->arith_code,
        .has_adobe_marker = library->saw_Adobe_marker,
        .restart_interval = (int) library->restart_interval,
        .density_unit = library->saw_JFIF_marker ? library->density_unit : 0,
        .density_across = library->X_density,
        .density_down = library->Y_density,
    };
    for (int i = 0; i < library->num_components; i++) {
        const jpeg_component_info *component = &library->comp_info[i];
        const JQUANT_TBL *table = library->quant_tbl_ptrs[component->quant_tbl_no & (NUM_QUANT_TBLS - 1)];
        struct minilab_jpeg_component *described = &header->component[i];
        described->horizontal = component->h_samp_factor;
        described->vertical = component->v_samp_factor;
        described->blocks_across = (int) component->width_in_blocks;
        described->blocks_down = (int) component->height_in_blocks;
        for (int step = 0; table && step < DCTSIZE2; step++) described->steps[step] = table->quantval[step];
    }
}

int minilab_jpeg_read_header(struct minilab_jpeg_reader *reader, struct minilab_jpeg_header *header) {
    j_decompress_ptr library = &reader->library;
    if (setjmp(reader->errors.jump)) return reader->errors.report.status;
    jpeg_save_markers(library, JPEG_COM, MARKER_LENGTH_MAX);
    for (int i = 0; i < 16; i++) jpeg_save_markers(library, JPEG_APP0 + i, MARKER_LENGTH_MAX);
    reader->is_reading_header = true;
    jpeg_read_header(library, TRUE);
    reader->is_reading_header = false;
    if (library->num_components > MINILAB_JPEG_COMPONENTS_MAX)
        stop((j_common_ptr) library, MINILAB_JPEG_UNSUPPORTED, "The photo has more than 4 components");
    describe(library, header);
    header->has_several_scans = jpeg_has_multiple_scans(library);
    return MINILAB_JPEG_OK;
}

bool minilab_jpeg_marker(const struct minilab_jpeg_reader *reader, int index, int *code,
    const uint8_t **bytes, size_t *length) {
    const struct jpeg_marker_struct *marker = reader->library.marker_list;
    while (marker && index-- > 0) marker = marker->next;
    if (!marker) return false;
    *code = marker->marker;
    *bytes = marker->data;
    *length = marker->data_length;
    return true;
}

// MARK: samples

int minilab_jpeg_start_planes(struct minilab_jpeg_reader *reader) {
    if (setjmp(reader->errors.jump)) return reader->errors.report.status;
    if (jpeg_has_multiple_scans(&reader->library)) require_coefficient_bytes(reader);
    reader->library.raw_data_out = TRUE;
    reader->library.out_color_space = reader->library.jpeg_color_space;
    jpeg_start_decompress(&reader->library);
    return MINILAB_JPEG_OK;
}

int minilab_jpeg_read_planes(struct minilab_jpeg_reader *reader, uint8_t *const planes[], const size_t strides[]) {
    j_decompress_ptr library = &reader->library;
    if (setjmp(reader->errors.jump)) return reader->errors.report.status;
    JSAMPROW rows[MINILAB_JPEG_COMPONENTS_MAX][LINES_MAX];
    JSAMPARRAY components[MINILAB_JPEG_COMPONENTS_MAX];
    for (int i = 0; i < library->num_components; i++) {
        components[i] = rows[i];
        for (int line = 0; line < DCTSIZE * library->comp_info[i].v_samp_factor; line++)
            rows[i][line] = planes[i] + (size_t) line * strides[i];
    }
    jpeg_read_raw_data(library, components, (JDIMENSION) (DCTSIZE * library->max_v_samp_factor));
    return MINILAB_JPEG_OK;
}

int minilab_jpeg_start_rows(struct minilab_jpeg_reader *reader, int eighths, int *width, int *height, int *bands) {
    j_decompress_ptr library = &reader->library;
    if (setjmp(reader->errors.jump)) return reader->errors.report.status;
    if (jpeg_has_multiple_scans(library)) require_coefficient_bytes(reader);
    library->scale_num = (unsigned) eighths;
    library->scale_denom = 8;
    jpeg_start_decompress(library);
    *width = (int) library->output_width;
    *height = (int) library->output_height;
    *bands = library->output_components;
    return MINILAB_JPEG_OK;
}

int minilab_jpeg_read_rows(struct minilab_jpeg_reader *reader, uint8_t *pixels, size_t stride, int count) {
    if (setjmp(reader->errors.jump)) return reader->errors.report.status;
    for (int done = 0; done < count;) {
        JSAMPROW rows[LINES_MAX];
        int wanted = count - done < LINES_MAX ? count - done : LINES_MAX;
        for (int i = 0; i < wanted; i++) rows[i] = pixels + (size_t) (done + i) * stride;
        done += (int) jpeg_read_scanlines(&reader->library, rows, (JDIMENSION) wanted);
    }
    return MINILAB_JPEG_OK;
}

int minilab_jpeg_finish_reading(struct minilab_jpeg_reader *reader) {
    if (setjmp(reader->errors.jump)) return reader->errors.report.status;
    jpeg_finish_decompress(&reader->library);
    return MINILAB_JPEG_OK;
}
