// The least that coding a movie anew costs: libavcodec decodes its frames, or encodes frames that are there, nothing else.
//
//     cc -O2 -o movie-limit movie_limit.c -lavcodec -lavutil
//     ./movie-limit decode h264 movie.h264 REPETITIONS
//     ./movie-limit encode libx264 frames.yuv WIDTHxHEIGHT BITS FPS KEY_DISTANCE RATE_MAX REPETITIONS NAME=VALUE...
//
// A movie is a stream of annex B; frames are planes of 4:2:0 in the machine's order, one frame behind the other. One thread. Reading
// files and finding access units are not counted. The encoder's settings are those of Sources/Codecs/AVCodec/VideoEncoder.swift: closed
// groups of pictures, parameter sets apart, and the options that are given. Prints one JSON object: frames, bytes, the least processor
// seconds, and the highest resident set.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <libavcodec/avcodec.h>
#include <libavutil/log.h>
#include <libavutil/opt.h>

enum { repetitions_max = 100, units_max = 100000 };

static double cpu(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static void fail(const char *step) {
    fprintf(stderr, "movie-limit: cannot %s\n", step);
    exit(65);
}

struct result {
    double seconds;
    long frames, bytes;
};

static struct result decode(const AVCodec *codec, AVPacket **units, long count) {
    struct result result = {0};
    AVCodecContext *context = avcodec_alloc_context3(codec);
    context->thread_count = 1;
    AVFrame *frame = av_frame_alloc();
    double start = cpu();
    if (avcodec_open2(context, codec, NULL) < 0) fail("open the decoder");
    for (long i = 0; i <= count; i++) {
        if (avcodec_send_packet(context, i < count ? units[i] : NULL) < 0) fail("decode a frame");
        while (avcodec_receive_frame(context, frame) >= 0) result.frames++;
    }
    result.seconds = cpu() - start;
    av_frame_free(&frame);
    avcodec_free_context(&context);
    return result;
}

static struct result decode_file(const char *name, const char *path) {
    const AVCodec *codec = avcodec_find_decoder_by_name(name);
    FILE *file = fopen(path, "rb");
    if (!codec || !file) fail("open the stream");
    fseek(file, 0, SEEK_END);
    size_t length = ftell(file);
    rewind(file);
    uint8_t *bytes = av_mallocz(length + AV_INPUT_BUFFER_PADDING_SIZE);
    if (fread(bytes, 1, length, file) != length) fail("read the stream");
    fclose(file);
    static AVPacket *units[units_max];
    long count = 0;
    AVCodecParserContext *parser = av_parser_init(codec->id);
    AVCodecContext *context = avcodec_alloc_context3(codec);
    size_t place = 0;
    for (int ended = 0; !ended;) {
        uint8_t *unit;
        int size, rest = length - place > INT32_MAX ? INT32_MAX : (int) (length - place);
        ended = rest == 0;
        place += av_parser_parse2(
            parser, context, &unit, &size, bytes + place, rest, AV_NOPTS_VALUE, AV_NOPTS_VALUE, 0);
        if (size == 0) continue;
        if (count == units_max) fail("keep so many frames");
        units[count] = av_packet_alloc();
        if (av_new_packet(units[count], size) < 0) fail("keep a frame");
        memcpy(units[count++]->data, unit, size);
    }
    return decode(codec, units, count);
}

static int is_set(AVCodecContext *context, char *option) {
    char *value = strchr(option, '=');
    if (!value) return 0;
    *value = 0;
    int error = av_opt_set(context->priv_data, option, value + 1, 0);
    *value = '=';
    return error >= 0;
}

static long take(AVCodecContext *context, AVPacket *packet) {
    long bytes = 0;
    while (avcodec_receive_packet(context, packet) >= 0) {
        bytes += packet->size;
        av_packet_unref(packet);
    }
    return bytes;
}

static struct result encode_file(const char *name, char **arguments, char **options, int option_count) {
    struct result result = {0};
    const AVCodec *codec = avcodec_find_encoder_by_name(name);
    FILE *file = fopen(arguments[0], "rb");
    if (!codec || !file) fail("open the frames");
    AVCodecContext *context = avcodec_alloc_context3(codec);
    int bits = atoi(arguments[2]);
    if (sscanf(arguments[1], "%dx%d", &context->width, &context->height) != 2) fail("read the size");
    context->pix_fmt = bits > 8 ? AV_PIX_FMT_YUV420P10 : AV_PIX_FMT_YUV420P;
    context->thread_count = 1;
    context->time_base = (AVRational) {1, atoi(arguments[3])};
    context->framerate = (AVRational) {atoi(arguments[3]), 1};
    context->gop_size = atoi(arguments[4]);
    context->rc_max_rate = atoll(arguments[5]);
    context->rc_buffer_size = atoi(arguments[5]);
    context->flags |= AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_CLOSED_GOP;
    for (int i = 0; i < option_count; i++)
        if (!is_set(context, options[i])) fail("take such an option");
    AVFrame *frame = av_frame_alloc();
    AVPacket *packet = av_packet_alloc();
    frame->format = context->pix_fmt;
    frame->width = context->width;
    frame->height = context->height;
    if (av_frame_get_buffer(frame, 0) < 0) fail("have memory for a frame");
    double start = cpu();
    if (avcodec_open2(context, codec, NULL) < 0) fail("open the encoder");
    result.seconds += cpu() - start;
    for (;; result.frames++) {
        if (av_frame_make_writable(frame) < 0) fail("have memory for a frame");
        int is_whole = 1;
        for (int plane = 0; plane < 3; plane++) {
            size_t row = (size_t) (context->width >> (plane > 0)) * (bits > 8 ? 2 : 1);
            for (int y = 0; y < context->height >> (plane > 0); y++)
                is_whole &= fread(frame->data[plane] + y * frame->linesize[plane], 1, row, file) == row;
        }
        frame->pts = result.frames;
        start = cpu();
        if (avcodec_send_frame(context, is_whole ? frame : NULL) < 0) fail("encode a frame");
        result.bytes += take(context, packet);
        result.seconds += cpu() - start;
        if (!is_whole) break;
    }
    fclose(file);
    av_frame_free(&frame);
    av_packet_free(&packet);
    avcodec_free_context(&context);
    return result;
}

int main(int argc, char **argv) {
    int is_encode = argc >= 10 && !strcmp(argv[1], "encode");
    if (!is_encode && !(argc == 5 && !strcmp(argv[1], "decode"))) {
        fprintf(stderr, "usage: see the head of movie_limit.c\n");
        return 64;
    }
    av_log_set_level(AV_LOG_QUIET);
    int repetitions = atoi(argv[is_encode ? 9 : 4]);
    if (repetitions < 1 || repetitions > repetitions_max) {
        fprintf(stderr, "repetitions are %d; expected 1 to %d\n", repetitions, repetitions_max);
        return 64;
    }
    struct result least = {.seconds = 1e9};
    for (int i = 0; i < repetitions; i++) {
        struct result one =
            is_encode ? encode_file(argv[2], argv + 3, argv + 10, argc - 10) : decode_file(argv[2], argv[3]);
        if (one.seconds < least.seconds) least = one;
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"frames\": %ld, \"bytes\": %ld, \"cpu\": %.4f, \"peak_bytes\": %ld}\n", least.frames, least.bytes,
        least.seconds, usage.ru_maxrss * 1024L);
    return 0;
}
