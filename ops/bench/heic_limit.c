// The least that an edit of a HEIC costs: libavcodec decodes the tiles and libjpeg-turbo encodes the planes, nothing else.
//
//     cc -O2 -o heic-limit heic_limit.c -lavcodec -lavutil -ljpeg && ./heic-limit photo.tiles 20
//
// Takes what heic_photos.py has written of a photo of 8 bits and 4:2:0: the decoder's configuration and the tiles' bytes.
// One thread, one decoder for all tiles. A row of tiles is put together in planes, and these are encoded as they are: 4:2:0,
// quality 90, standard Huffman tables, baseline, to memory. One warm-up, then N times. Prints one JSON object: processor and
// wall seconds per photo (minimum and median) and the highest resident set.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <jpeglib.h>
#include <libavcodec/avcodec.h>

enum { quality = 90, repetitions_max = 1000, tiles_max = 65536 };

struct photo {
    uint32_t columns, rows, tile_width, tile_height, width, height, config_length;
    const uint8_t *config;
    const uint8_t *units[tiles_max];
    uint32_t lengths[tiles_max];
};

struct planes {
    uint8_t *start[3];
    size_t stride[3];
};

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

static void fail(const char *step) {
    fprintf(stderr, "heic-limit: cannot %s\n", step);
    exit(65);
}

static void parse(const uint8_t *bytes, size_t length, struct photo *photo) {
    const size_t head = 7 * sizeof(uint32_t);
    if (length < head) fail("read the numbers before the tiles");
    memcpy(photo, bytes, head);
    size_t place = head + photo->config_length, count = (size_t) photo->columns * photo->rows;
    if (count == 0 || count > tiles_max || photo->tile_height % 16 != 0) fail("take such tiles");
    photo->config = bytes + head;
    for (size_t i = 0; i < count; i++) {
        if (place + 4 > length) fail("read a tile's length");
        memcpy(&photo->lengths[i], bytes + place, 4);
        photo->units[i] = bytes + place + 4;
        place += 4 + (size_t) photo->lengths[i];
        if (place > length) fail("read a tile");
    }
}

static AVCodecContext *open_decoder(const struct photo *photo) {
    const AVCodec *codec = avcodec_find_decoder_by_name("hevc");
    AVCodecContext *context = avcodec_alloc_context3(codec);
    context->extradata = av_mallocz(photo->config_length + AV_INPUT_BUFFER_PADDING_SIZE);
    memcpy(context->extradata, photo->config, photo->config_length);
    context->extradata_size = (int) photo->config_length;
    context->thread_count = 1;
    if (avcodec_open2(context, codec, NULL) < 0) fail("open the decoder");
    return context;
}

static void place(const AVFrame *frame, const struct photo *photo, const struct planes *band, uint32_t column) {
    for (int i = 0; i < 3; i++) {
        size_t width = photo->tile_width >> (i > 0), height = photo->tile_height >> (i > 0);
        for (size_t y = 0; y < height; y++)
            memcpy(band->start[i] + y * band->stride[i] + column * width, frame->data[i] + y * frame->linesize[i], width);
    }
}

static void encode(struct jpeg_compress_struct *out, const struct photo *photo, const struct planes *band) {
    JSAMPROW rows[3][16];
    JSAMPARRAY components[3] = {rows[0], rows[1], rows[2]};
    for (uint32_t top = 0; top < photo->tile_height && out->next_scanline < photo->height; top += 16) {
        for (int i = 0; i < 3; i++)
            for (uint32_t y = 0; y < (i > 0 ? 8u : 16u); y++)
                rows[i][y] = band->start[i] + ((top >> (i > 0)) + y) * band->stride[i];
        jpeg_write_raw_data(out, components, 16);
    }
}

static unsigned long once(const struct photo *photo) {
    struct jpeg_error_mgr errors;
    struct jpeg_compress_struct out = {.err = jpeg_std_error(&errors)};
    unsigned char *result = NULL;
    unsigned long result_length = 0;
    jpeg_create_compress(&out);
    jpeg_mem_dest(&out, &result, &result_length);
    out.image_width = photo->width;
    out.image_height = photo->height;
    out.input_components = 3;
    out.in_color_space = JCS_YCbCr;
    jpeg_set_defaults(&out);
    jpeg_set_quality(&out, quality, TRUE);
    out.raw_data_in = TRUE;
    jpeg_start_compress(&out, TRUE);

    struct planes band;
    for (int i = 0; i < 3; i++) {
        // Room for what fills up the last blocks.
        band.stride[i] = (size_t) photo->columns * photo->tile_width / (i > 0 ? 2 : 1) + 16;
        band.start[i] = calloc(band.stride[i], photo->tile_height);
    }
    AVCodecContext *context = open_decoder(photo);
    AVPacket *packet = av_packet_alloc();
    AVFrame *frame = av_frame_alloc();
    uint32_t count = photo->columns * photo->rows, sent = 0, received = 0;
    while (received < count) {
        int error = avcodec_receive_frame(context, frame);
        if (error == AVERROR(EAGAIN)) {
            if (sent < count) {
                if (av_new_packet(packet, (int) photo->lengths[sent]) < 0) fail("have memory for a tile");
                memcpy(packet->data, photo->units[sent], photo->lengths[sent]);
                sent++;
                if (avcodec_send_packet(context, packet) < 0) fail("decode a tile");
                av_packet_unref(packet);
            } else if (avcodec_send_packet(context, NULL) < 0) {
                fail("end the tiles");
            }
            continue;
        }
        if (error < 0 || (frame->format != AV_PIX_FMT_YUVJ420P && frame->format != AV_PIX_FMT_YUV420P))
            fail("have a tile of 8 bits and 4:2:0");
        place(frame, photo, &band, received % photo->columns);
        received++;
        if (received % photo->columns == 0) encode(&out, photo, &band);
    }
    jpeg_finish_compress(&out);
    jpeg_destroy_compress(&out);
    av_frame_free(&frame);
    av_packet_free(&packet);
    avcodec_free_context(&context);
    for (int i = 0; i < 3; i++) free(band.start[i]);
    free(result);
    return result_length;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: heic-limit photo.tiles [repetitions]\n");
        return 64;
    }
    int repetitions = argc > 2 ? atoi(argv[2]) : 10;
    if (repetitions < 1 || repetitions > repetitions_max) {
        fprintf(stderr, "repetitions is %s; expected 1 to %d\n", argv[2], repetitions_max);
        return 64;
    }
    FILE *file = fopen(argv[1], "rb");
    if (!file) {
        perror(argv[1]);
        return 66;
    }
    fseek(file, 0, SEEK_END);
    size_t length = ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(length);
    if (fread(bytes, 1, length, file) != length) {
        perror(argv[1]);
        return 74;
    }
    fclose(file);
    static struct photo photo;
    parse(bytes, length, &photo);

    double cpu[repetitions_max], wall[repetitions_max];
    unsigned long written = once(&photo);
    for (int i = 0; i < repetitions; i++) {
        double cpu_start = seconds(CLOCK_PROCESS_CPUTIME_ID), start = seconds(CLOCK_MONOTONIC);
        written = once(&photo);
        cpu[i] = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_start;
        wall[i] = seconds(CLOCK_MONOTONIC) - start;
    }
    qsort(cpu, repetitions, sizeof *cpu, ascending);
    qsort(wall, repetitions, sizeof *wall, ascending);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"width\": %u, \"height\": %u, \"repetitions\": %d, \"bytes\": %lu, "
           "\"cpu_min\": %.4f, \"cpu_median\": %.4f, \"wall_min\": %.4f, \"wall_median\": %.4f, "
           "\"peak_bytes\": %ld}\n",
        photo.width, photo.height, repetitions, written, cpu[0], cpu[repetitions / 2], wall[0],
        wall[repetitions / 2], usage.ru_maxrss * 1024L);
    return 0;
}
