// Calls that must stay C: fields of libavcodec's structures may move between versions.
#include "limits.h"
#include "minilab_codecs.h"

#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavutil/imgutils.h>
#include <libavutil/log.h>
#include <libavutil/mem.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <string.h>

struct minilab_encoder {
    AVCodecContext *context;
    AVPacket *packet;
    AVFrame *frame;
};

// Differs from a decoder's: frames are our own, so an error concerns the settings and never untrusted bytes.
static int status_of(int error) {
    switch (error) {
    case 0: return MINILAB_CODEC_OK;
    case AVERROR(EAGAIN):
    case AVERROR_EOF: return MINILAB_CODEC_NEEDS_INPUT;
    case AVERROR(ENOMEM): return MINILAB_CODEC_MEMORY;
    default: return MINILAB_CODEC_UNSUPPORTED;
    }
}

// Returns the encoder's formats up to AV_PIX_FMT_NONE; FFmpeg 7.1 made a query of the field.
static const enum AVPixelFormat *formats_of(const AVCodec *codec) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100)
    const void *formats = NULL;
    avcodec_get_supported_config(NULL, codec, AV_CODEC_CONFIG_PIX_FORMAT, 0, &formats, NULL);
    return formats;
#else
    return codec->pix_fmts;
#endif
}

// Returns the encoder's format whose planes have the requested layout.
static enum AVPixelFormat format_of(const AVCodec *codec, const struct minilab_encoder_settings *settings) {
    const uint64_t strange = AV_PIX_FMT_FLAG_BE | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_HWACCEL
        | AV_PIX_FMT_FLAG_FLOAT | AV_PIX_FMT_FLAG_ALPHA | AV_PIX_FMT_FLAG_RGB;
    for (const enum AVPixelFormat *formats = formats_of(codec); formats && *formats != AV_PIX_FMT_NONE; formats++) {
        const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(*formats);
        if (!format || format->flags & strange || format->nb_components != settings->plane_count
            || format->comp[0].depth != settings->bits || av_pix_fmt_count_planes(*formats) != settings->plane_count)
            continue;
        // 'yuvj' formats declare the range a second time.
        if (!strncmp(format->name, "yuvj", 4)) continue;
        if (settings->plane_count == 3
            && (format->log2_chroma_w != settings->chroma_shift_x || format->log2_chroma_h != settings->chroma_shift_y))
            continue;
        return *formats;
    }
    return AV_PIX_FMT_NONE;
}

int minilab_encoder_open(
    const char *name, const struct minilab_encoder_settings *settings, const struct minilab_codec_option *options,
    size_t option_count, struct minilab_encoder **opened
) {
    *opened = NULL;
    av_log_set_level(AV_LOG_QUIET);
    const AVCodec *codec = avcodec_find_encoder_by_name(name);
    if (!codec) return MINILAB_CODEC_UNSUPPORTED;
    struct minilab_encoder *encoder = av_mallocz(sizeof *encoder);
    if (!encoder) return MINILAB_CODEC_MEMORY;
    encoder->context = avcodec_alloc_context3(codec);
    encoder->packet = av_packet_alloc();
    encoder->frame = av_frame_alloc();
    int status = MINILAB_CODEC_MEMORY;
    AVCodecContext *context = encoder->context;
    if (!context || !encoder->packet || !encoder->frame) goto fail;
    status = MINILAB_CODEC_UNSUPPORTED;
    context->pix_fmt = format_of(codec, settings);
    if (context->pix_fmt == AV_PIX_FMT_NONE || settings->width <= 0 || settings->height <= 0
        || av_image_check_size2(settings->width, settings->height, settings->pixels_max, context->pix_fmt, 0, NULL) < 0)
        goto fail;
    // Three planes of two bytes, with margins; an encoded frame is shorter. av_image_check_size2() has bounded the product.
    minilab_allow_allocation(8 * (size_t) settings->width * (size_t) settings->height + (16 << 20));
    context->width = settings->width;
    context->height = settings->height;
    context->thread_count = 1;
    context->time_base = (AVRational) {settings->units_seconds, settings->units};
    context->framerate = (AVRational) {settings->frames, settings->frames_seconds};
    context->gop_size = settings->key_distance;
    context->rc_max_rate = settings->rate_max;
    context->rc_buffer_size = settings->buffer_bits;
    context->color_range = settings->full_range ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
    context->color_primaries = settings->primaries;
    context->color_trc = settings->transfer;
    context->colorspace = settings->matrix;
    // Parameter sets for the container; no frame refers across a key frame.
    context->flags |= AV_CODEC_FLAG_GLOBAL_HEADER | AV_CODEC_FLAG_CLOSED_GOP;
    for (size_t i = 0; i < option_count; i++)
        if (av_opt_set(context->priv_data, options[i].name, options[i].value, 0) < 0) goto fail;
    int error = avcodec_open2(context, codec, NULL);
    if (error < 0) {
        status = status_of(error);
        goto fail;
    }
    encoder->frame->format = context->pix_fmt;
    encoder->frame->width = settings->width;
    encoder->frame->height = settings->height;
    status = MINILAB_CODEC_MEMORY;
    if (av_frame_get_buffer(encoder->frame, 0) < 0) goto fail;
    *opened = encoder;
    return MINILAB_CODEC_OK;
fail:
    minilab_encoder_close(encoder);
    return status;
}

int minilab_encoder_frame(struct minilab_encoder *encoder, struct minilab_planes *planes) {
    // If the encoder still reads a buffer, another one is allocated.
    int error = av_frame_make_writable(encoder->frame);
    if (error < 0) return status_of(error);
    memset(planes, 0, sizeof *planes);
    for (int i = 0; i < 3 && encoder->frame->data[i]; i++) {
        planes->planes[i] = encoder->frame->data[i];
        planes->strides[i] = encoder->frame->linesize[i];
    }
    return MINILAB_CODEC_OK;
}

int minilab_encoder_send(struct minilab_encoder *encoder, int64_t time, int is_key) {
    encoder->frame->pts = time;
    encoder->frame->pict_type = is_key ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE;
    return status_of(avcodec_send_frame(encoder->context, encoder->frame));
}

int minilab_encoder_finish(struct minilab_encoder *encoder) {
    return status_of(avcodec_send_frame(encoder->context, NULL));
}

int minilab_encoder_receive(struct minilab_encoder *encoder, struct minilab_packet *out) {
    av_packet_unref(encoder->packet);
    int error = avcodec_receive_packet(encoder->context, encoder->packet);
    if (error < 0) return status_of(error);
    out->bytes = encoder->packet->data;
    out->count = encoder->packet->size > 0 ? (size_t) encoder->packet->size : 0;
    out->time = encoder->packet->pts;
    out->is_key = encoder->packet->flags & AV_PKT_FLAG_KEY ? 1 : 0;
    return MINILAB_CODEC_OK;
}

void minilab_encoder_headers(const struct minilab_encoder *encoder, const uint8_t **bytes, size_t *count) {
    *bytes = encoder->context->extradata;
    *count = encoder->context->extradata_size > 0 ? (size_t) encoder->context->extradata_size : 0;
}

void minilab_encoder_close(struct minilab_encoder *encoder) {
    if (!encoder) return;
    avcodec_free_context(&encoder->context);
    av_packet_free(&encoder->packet);
    av_frame_free(&encoder->frame);
    av_free(encoder);
}
