// The least that a HEIC of our own costs: x265 codes its tiles, and libavcodec decodes them again; nothing else.
//
//     cc -O2 -o tiles tiles.c -lavcodec -lavutil && ./tiles PRESET RATE PARAMETERS in.yuv out.yuv
//
// in.yuv: tiles of 512 × 512 in 4:2:0 of 8 bits, one behind the other; out.yuv: the same once they are decoded ("" for
// none). Prints one JSON object: processor seconds of coding and of decoding, and bytes. PARAMETERS as x265-params has
// them, behind those of Sources/Codecs/HEIC/Writing/HEICPictureEncoder.swift.

#include <libavcodec/avcodec.h>
#include <libavutil/log.h>
#include <libavutil/opt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { side = 512, tile_bytes = side * side * 3 / 2, run_length = 4 };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static void check(int status, const char *step) {
    if (status >= 0) return;
    fprintf(stderr, "tiles: %s: %s\n", step, av_err2str(status));
    exit(1);
}

static AVCodecContext *encoder(char *const *settings, AVFrame *frame) {
    AVCodecContext *context = avcodec_alloc_context3(avcodec_find_encoder_by_name("libx265"));
    context->width = context->height = side;
    context->pix_fmt = AV_PIX_FMT_YUV420P;
    context->color_range = AVCOL_RANGE_JPEG;
    context->thread_count = 1;
    context->gop_size = 1;
    context->time_base = (AVRational) {1, 1};
    char parameters[1024];
    snprintf(parameters, sizeof parameters,
             "pools=none:frame-threads=1:wpp=0:total-frames=1:rc-lookahead=0:bframes=0:keyint=1:scenecut=0:cutree=0:"
             "qcomp=1:info=0:log-level=none:repeat-headers=0%s%s", *settings[2] ? ":" : "", settings[2]);
    check(av_opt_set(context->priv_data, "preset", settings[0], 0), "preset");
    check(av_opt_set(context->priv_data, "crf", settings[1], 0), "rate");
    check(av_opt_set(context->priv_data, "x265-params", parameters, 0), "parameters");
    check(avcodec_open2(context, NULL, NULL), "open");
    frame->format = context->pix_fmt;
    frame->width = frame->height = side;
    return context;
}

static void copy(AVFrame *frame, unsigned char *tile, int into_frame) {
    for (int plane = 0; plane < 3; plane++) {
        int length = plane ? side / 2 : side;
        for (int row = 0; row < length; row++, tile += length) {
            unsigned char *samples = frame->data[plane] + (ptrdiff_t) row * frame->linesize[plane];
            memcpy(into_frame ? samples : tile, into_frame ? tile : samples, length);
        }
    }
}

int main(int count, char **words) {
    if (count != 6) return fprintf(stderr, "tiles: see its first lines\n"), 64;
    av_log_set_level(AV_LOG_QUIET);
    FILE *in = fopen(words[4], "rb"), *out = *words[5] ? fopen(words[5], "wb") : NULL;
    if (!in || (*words[5] && !out)) return perror("tiles"), 1;
    unsigned char *tile = malloc(tile_bytes);
    AVFrame *frame = av_frame_alloc(), *decoded = av_frame_alloc();
    AVPacket *packet = av_packet_alloc();
    AVCodecContext *context = NULL, *decoder = avcodec_alloc_context3(avcodec_find_decoder_by_name("hevc"));
    decoder->thread_count = 1;
    check(avcodec_open2(decoder, NULL, NULL), "open the decoder");
    double encoding = 0, decoding = 0;
    size_t bytes = 0;
    for (int index = 0; fread(tile, tile_bytes, 1, in) == 1; index++) {
        double start = seconds();
        if (index % run_length == 0) {
            avcodec_free_context(&context);
            context = encoder(words + 1, frame);
            if (!frame->buf[0]) check(av_frame_get_buffer(frame, 0), "frame");
        }
        check(av_frame_make_writable(frame), "frame");
        copy(frame, tile, 1);
        frame->pts = index % run_length;
        frame->pict_type = AV_PICTURE_TYPE_I;
        check(avcodec_send_frame(context, frame), "encode");
        check(avcodec_receive_packet(context, packet), "encode");
        encoding += seconds() - start;
        bytes += packet->size;
        start = seconds();
        check(avcodec_send_packet(decoder, packet), "decode");
        check(avcodec_send_packet(decoder, NULL), "decode");
        check(avcodec_receive_frame(decoder, decoded), "decode");
        copy(decoded, tile, 0);
        avcodec_flush_buffers(decoder);
        decoding += seconds() - start;
        av_packet_unref(packet);
        if (out && fwrite(tile, tile_bytes, 1, out) != 1) return perror("tiles"), 1;
    }
    printf("{\"encoding\": %.4f, \"decoding\": %.4f, \"bytes\": %zu}\n", encoding, decoding, bytes);
    return 0;
}
