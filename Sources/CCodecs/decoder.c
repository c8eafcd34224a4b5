// Calls that must stay C: libavcodec's structures have fields that may move, and it calls back.
#include "limits.h"
#include "minilab_codecs.h"

#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavutil/log.h>
#include <libavutil/mem.h>
#include <libavutil/pixdesc.h>
#include <stdbool.h>
#include <string.h>

struct minilab_decoder {
    AVCodecContext *context;
    AVPacket *packet;
    AVFrame *frame;
};

static int status_of(int error) {
    switch (error) {
    case 0: return MINILAB_CODEC_OK;
    case AVERROR(EAGAIN):
    case AVERROR_EOF: return MINILAB_CODEC_WANTS_MORE;
    case AVERROR(ENOMEM):
    case AVERROR(ERANGE): return MINILAB_CODEC_MEMORY;
    case AVERROR_PATCHWELCOME:
    case AVERROR_DECODER_NOT_FOUND:
    case AVERROR(ENOSYS): return MINILAB_CODEC_UNSUPPORTED;
    default: return MINILAB_CODEC_DAMAGED;
    }
}

// No hardware: the first format that lies in memory.
static enum AVPixelFormat format_in_memory(AVCodecContext *context, const enum AVPixelFormat *formats) {
    (void) context;
    for (; *formats != AV_PIX_FMT_NONE; formats++) {
        const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(*formats);
        if (format && !(format->flags & AV_PIX_FMT_FLAG_HWACCEL)) return *formats;
    }
    return AV_PIX_FMT_NONE;
}

// libavcodec gives frames of HEVC without a word of which a slice is missing or ends early. So each block of luma begins with
// samples that no encoder comes to by chance, and that those of 9 and more bits cannot have: where they still stand,
// nothing was decoded. A block is the smallest that a slice can have (CtbLog2SizeY of at least 4, ITU-T H.265 §7.4.3.2.1); a sample's
// row lies where deblocking from the block above does not reach, since that filters three rows.
enum { block = 16, mark_row = 4, mark_bytes = 8 };
static const uint8_t mark[mark_bytes] = {0xE7, 0x1D, 0xB2, 0xFC, 0x46, 0x93, 0xD8, 0x7B};

static bool has_place(int x, int y, int width, int height, int bytes) {
    return x * bytes + mark_bytes <= width * bytes && y + mark_row < height;
}

// Frames begin black and marked: what a damaged stream leaves out shows, and nothing of an earlier frame does.
static int marked_buffer(AVCodecContext *context, AVFrame *frame, int flags) {
    int error = avcodec_default_get_buffer2(context, frame, flags);
    if (error < 0) return error;
    for (int i = 0; i < AV_NUM_DATA_POINTERS && frame->buf[i]; i++)
        memset(frame->buf[i]->data, 0, frame->buf[i]->size);
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    // As large as it is coded: the frame that comes out is cropped.
    frame->opaque = (void *) ((uintptr_t) (uint32_t) frame->width << 32 | (uint32_t) frame->height);
    int bytes = format->comp[0].depth > 8 ? 2 : 1;
    for (int y = 0; y < frame->height; y += block)
        for (int x = 0; has_place(x, y, frame->width, frame->height, bytes); x += block)
            memcpy(frame->data[0] + (y + mark_row) * (ptrdiff_t) frame->linesize[0] + x * bytes, mark, mark_bytes);
    return 0;
}

// Whether a block was left out.
static bool has_mark(const AVFrame *frame, int bytes) {
    int width = (int) ((uintptr_t) frame->opaque >> 32), height = (int) (uint32_t) (uintptr_t) frame->opaque;
    if (!frame->buf[0] || frame->width > width || frame->height > height) return true;
    const uint8_t *start = frame->buf[0]->data;
    for (int y = 0; y < height; y += block)
        for (int x = 0; has_place(x, y, width, height, bytes); x += block)
            if (!memcmp(start + (y + mark_row) * (ptrdiff_t) frame->linesize[0] + x * bytes, mark, mark_bytes))
                return true;
    return false;
}

int minilab_decoder_open(
    const char *name, const uint8_t *config, size_t count, const struct minilab_decoder_limits *limits,
    struct minilab_decoder **opened
) {
    *opened = NULL;
    av_log_set_level(AV_LOG_QUIET);
    minilab_allow_allocation(limits->bytes_max);
    const AVCodec *codec = avcodec_find_decoder_by_name(name);
    if (!codec) return MINILAB_CODEC_UNSUPPORTED;
    struct minilab_decoder *decoder = av_mallocz(sizeof *decoder);
    if (!decoder) return MINILAB_CODEC_MEMORY;
    decoder->context = avcodec_alloc_context3(codec);
    decoder->packet = av_packet_alloc();
    decoder->frame = av_frame_alloc();
    int status = MINILAB_CODEC_MEMORY;
    AVCodecContext *context = decoder->context;
    if (!context || !decoder->packet || !decoder->frame) goto fail;
    if (count > 0) {
        context->extradata = av_mallocz(count + AV_INPUT_BUFFER_PADDING_SIZE);
        if (!context->extradata) goto fail;
        memcpy(context->extradata, config, count);
        context->extradata_size = (int) count;
    }
    context->thread_count = 1;
    context->max_pixels = limits->pixels_max;
    context->err_recognition = AV_EF_CRCCHECK | AV_EF_EXPLODE;
    // Crops to the pixel, not to what is aligned.
    context->flags |= AV_CODEC_FLAG_UNALIGNED;
    context->get_format = format_in_memory;
    context->get_buffer2 = marked_buffer;
    int error = avcodec_open2(context, codec, NULL);
    if (error < 0) {
        status = status_of(error);
        goto fail;
    }
    *opened = decoder;
    return MINILAB_CODEC_OK;
fail:
    minilab_decoder_close(decoder);
    return status;
}

int minilab_decoder_send(struct minilab_decoder *decoder, const uint8_t *bytes, size_t count, int64_t rank) {
    if (count == 0 || count > INT32_MAX / 2) return MINILAB_CODEC_DAMAGED;
    int error = av_new_packet(decoder->packet, (int) count);
    if (error < 0) return status_of(error);
    memcpy(decoder->packet->data, bytes, count);
    decoder->packet->pts = rank;
    error = avcodec_send_packet(decoder->context, decoder->packet);
    av_packet_unref(decoder->packet);
    return status_of(error);
}

int minilab_decoder_finish(struct minilab_decoder *decoder) {
    return status_of(avcodec_send_packet(decoder->context, NULL));
}

// Fills in all but the planes themselves.
static int describe(
    struct minilab_frame *out, enum AVPixelFormat pixels, int width, int height, enum AVColorSpace matrix,
    enum AVColorRange range
) {
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(pixels);
    const uint64_t strange = AV_PIX_FMT_FLAG_BE | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM
        | AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_FLOAT | AV_PIX_FMT_FLAG_ALPHA;
    if (!format || format->flags & strange || width <= 0 || height <= 0
        || (format->nb_components != 1 && format->nb_components != 3))
        return MINILAB_CODEC_UNSUPPORTED;
    memset(out, 0, sizeof *out);
    out->plane_count = format->nb_components;
    for (int i = 0; i < out->plane_count; i++) {
        // One sample behind the other, in planes of their own, from the lowest bit on.
        int bytes = format->comp[i].depth > 8 ? 2 : 1;
        if (format->comp[i].step != bytes || format->comp[i].offset != 0 || format->comp[i].shift != 0
            || format->comp[i].depth != format->comp[0].depth)
            return MINILAB_CODEC_UNSUPPORTED;
    }
    out->width = width;
    out->height = height;
    out->bits = format->comp[0].depth;
    out->chroma_shift_x = out->plane_count == 3 ? format->log2_chroma_w : 0;
    out->chroma_shift_y = out->plane_count == 3 ? format->log2_chroma_h : 0;
    out->matrix = matrix;
    out->full_range = range == AVCOL_RANGE_JPEG ? 1 : range == AVCOL_RANGE_MPEG ? 0 : -1;
    return MINILAB_CODEC_OK;
}

int minilab_decoder_configured(const struct minilab_decoder *decoder, struct minilab_frame *out) {
    const AVCodecContext *context = decoder->context;
    if (context->pix_fmt == AV_PIX_FMT_NONE) return MINILAB_CODEC_WANTS_MORE;
    return describe(
        out, context->pix_fmt, context->width, context->height, context->colorspace, context->color_range);
}

int minilab_decoder_receive(struct minilab_decoder *decoder, struct minilab_frame *out) {
    AVFrame *frame = decoder->frame;
    int error = avcodec_receive_frame(decoder->context, frame);
    if (error < 0) return status_of(error);
    int status = describe(
        out, frame->format, frame->width, frame->height, frame->colorspace, frame->color_range);
    if (status != MINILAB_CODEC_OK) return status;
    if (frame->decode_error_flags || frame->flags & AV_FRAME_FLAG_CORRUPT || has_mark(frame, out->bits > 8 ? 2 : 1))
        return MINILAB_CODEC_DAMAGED;
    for (int i = 0; i < out->plane_count; i++) {
        if (!frame->data[i]) return MINILAB_CODEC_UNSUPPORTED;
        out->planes[i] = frame->data[i];
        out->strides[i] = frame->linesize[i];
    }
    out->rank = frame->pts;
    return MINILAB_CODEC_OK;
}

void minilab_decoder_restart(struct minilab_decoder *decoder) {
    av_frame_unref(decoder->frame);
    avcodec_flush_buffers(decoder->context);
}

void minilab_decoder_close(struct minilab_decoder *decoder) {
    if (!decoder) return;
    avcodec_free_context(&decoder->context);
    av_packet_free(&decoder->packet);
    av_frame_free(&decoder->frame);
    av_free(decoder);
}

unsigned minilab_codecs_version(void) { return avcodec_version(); }
