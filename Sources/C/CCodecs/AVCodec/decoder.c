// Calls that must stay C: fields of libavcodec's structures may move between versions, and it calls back.
#include "limits.h"
#include "marks.h"
#include "minilab_codecs.h"

#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavutil/log.h>
#include <libavutil/mastering_display_metadata.h>
#include <libavutil/mem.h>
#include <libavutil/pixdesc.h>
#include <stdbool.h>
#include <string.h>

struct minilab_decoder {
    AVCodecContext *context;
    AVPacket *packet;
    AVFrame *frame;
    bool is_marked;
    int64_t first_rank;
};

enum { strict = AV_EF_CRCCHECK | AV_EF_EXPLODE };

static int status_of(int error) {
    switch (error) {
    case 0: return MINILAB_CODEC_OK;
    case AVERROR(EAGAIN):
    case AVERROR_EOF: return MINILAB_CODEC_NEEDS_INPUT;
    case AVERROR(ENOMEM):
    case AVERROR(ERANGE): return MINILAB_CODEC_MEMORY;
    case AVERROR_PATCHWELCOME:
    case AVERROR_DECODER_NOT_FOUND:
    case AVERROR(ENOSYS): return MINILAB_CODEC_UNSUPPORTED;
    default: return MINILAB_CODEC_DAMAGED;
    }
}

// No hardware: selects the first format in memory.
static enum AVPixelFormat format_in_memory(AVCodecContext *context, const enum AVPixelFormat *formats) {
    (void) context;
    for (; *formats != AV_PIX_FMT_NONE; formats++) {
        const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(*formats);
        if (format && !(format->flags & AV_PIX_FMT_FLAG_HWACCEL)) return *formats;
    }
    return AV_PIX_FMT_NONE;
}

int minilab_decoder_open(
    const char *name, const struct minilab_decoder_settings *settings, struct minilab_decoder **opened
) {
    *opened = NULL;
    av_log_set_level(AV_LOG_QUIET);
    minilab_allow_allocation(settings->bytes_max);
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
    if (settings->config_count > 0) {
        context->extradata = av_mallocz(settings->config_count + AV_INPUT_BUFFER_PADDING_SIZE);
        if (!context->extradata) goto fail;
        memcpy(context->extradata, settings->config, settings->config_count);
        context->extradata_size = (int) settings->config_count;
    }
    context->codec_tag = settings->tag;
    context->width = settings->width;
    context->height = settings->height;
    context->has_b_frames = settings->reorder;
    context->thread_count = 1;
    context->max_pixels = settings->pixels_max;
    context->err_recognition = strict;
    decoder->first_rank = settings->first_rank;
    // Crop to the pixel, not to the aligned size. Return frames that refer to missing ones, with a flag: otherwise H.264's would be
    // dropped without an error, and with them the last ones of a stream that begins with an open group.
    context->flags |= AV_CODEC_FLAG_UNALIGNED | AV_CODEC_FLAG_OUTPUT_CORRUPT;
    context->get_format = format_in_memory;
    decoder->is_marked = minilab_may_mark(codec);
    if (decoder->is_marked) context->get_buffer2 = minilab_marked_buffer;
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
    // A unit that refers to missing frames is decoded anyway: a decoder that stopped within it would lose track of its frames.
    bool is_wanted = rank >= decoder->first_rank;
    decoder->context->err_recognition = is_wanted ? strict : 0;
    error = avcodec_send_packet(decoder->context, decoder->packet);
    decoder->context->err_recognition = strict;
    av_packet_unref(decoder->packet);
    int status = status_of(error);
    return status == MINILAB_CODEC_DAMAGED && !is_wanted ? MINILAB_CODEC_OK : status;
}

int minilab_decoder_finish(struct minilab_decoder *decoder) {
    return status_of(avcodec_send_packet(decoder->context, NULL));
}

// The declared colours of a context or a frame.
struct colour_declaration {
    enum AVColorPrimaries primaries;
    enum AVColorTransferCharacteristic transfer;
    enum AVColorSpace matrix;
    enum AVColorRange range;
};

// Fills in everything except for the planes themselves.
static int describe(
    struct minilab_frame *out, enum AVPixelFormat pixels, int width, int height, const struct colour_declaration *declared
) {
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(pixels);
    const uint64_t strange = AV_PIX_FMT_FLAG_BE | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM
        | AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_FLOAT;
    if (!format || format->flags & strange || width <= 0 || height <= 0) return MINILAB_CODEC_UNSUPPORTED;
    memset(out, 0, sizeof *out);
    out->has_alpha = format->flags & AV_PIX_FMT_FLAG_ALPHA ? 1 : 0;
    out->plane_count = format->nb_components - out->has_alpha;
    if (out->plane_count != 1 && out->plane_count != 3) return MINILAB_CODEC_UNSUPPORTED;
    for (int i = 0; i < out->plane_count; i++) {
        // Only formats with contiguous samples in separate planes, from the lowest bit on.
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
    out->primaries = declared->primaries;
    out->transfer = declared->transfer;
    out->matrix = format->flags & AV_PIX_FMT_FLAG_RGB ? AVCOL_SPC_RGB : declared->matrix;
    // 'yuvj' formats have full range, whatever else is declared.
    bool is_full = declared->range == AVCOL_RANGE_JPEG || !strncmp(format->name, "yuvj", 4);
    out->full_range = is_full ? 1 : declared->range == AVCOL_RANGE_MPEG ? 0 : -1;
    return MINILAB_CODEC_OK;
}

// Writes a fraction as a whole number of units, in big-endian bytes; numbers beyond them are clamped.
static void write_units(uint8_t *out, int bytes, AVRational value, int units) {
    int64_t most = ((int64_t) 1 << (8 * bytes)) - 1;
    int64_t number = value.den > 0 && value.num > 0 ? av_rescale(value.num, units, value.den) : 0;
    if (number > most) number = most;
    for (int i = 0; i < bytes; i++) out[i] = (uint8_t) (number >> (8 * (bytes - 1 - i)));
}

// Fills in what the frame says of the light that it was made for.
static void describe_light(struct minilab_frame *out, const AVFrame *frame) {
    const AVFrameSideData *side = av_frame_get_side_data(frame, AV_FRAME_DATA_MASTERING_DISPLAY_METADATA);
    const AVMasteringDisplayMetadata *display = side ? (const AVMasteringDisplayMetadata *) side->data : NULL;
    if (display && display->has_primaries && display->has_luminance) {
        // Green, blue, red, white in 1/50,000; the highest and the lowest luminance in 1/10,000 cd/m².
        const int order[3] = {1, 2, 0};
        for (int i = 0; i < 3; i++)
            for (int axis = 0; axis < 2; axis++)
                write_units(out->mastering_display + 4 * i + 2 * axis, 2, display->display_primaries[order[i]][axis], 50000);
        for (int axis = 0; axis < 2; axis++)
            write_units(out->mastering_display + 12 + 2 * axis, 2, display->white_point[axis], 50000);
        write_units(out->mastering_display + 16, 4, display->max_luminance, 10000);
        write_units(out->mastering_display + 20, 4, display->min_luminance, 10000);
        out->mastering_display_count = sizeof out->mastering_display;
    }
    side = av_frame_get_side_data(frame, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL);
    if (side) {
        const AVContentLightMetadata *light = (const AVContentLightMetadata *) side->data;
        write_units(out->content_light, 2, (AVRational) {(int) FFMIN(light->MaxCLL, 0xFFFF), 1}, 1);
        write_units(out->content_light + 2, 2, (AVRational) {(int) FFMIN(light->MaxFALL, 0xFFFF), 1}, 1);
        out->content_light_count = sizeof out->content_light;
    }
}

int minilab_decoder_configured(const struct minilab_decoder *decoder, struct minilab_frame *out) {
    const AVCodecContext *context = decoder->context;
    if (context->pix_fmt == AV_PIX_FMT_NONE) return MINILAB_CODEC_NEEDS_INPUT;
    struct colour_declaration declared = {
        context->color_primaries, context->color_trc, context->colorspace, context->color_range};
    return describe(out, context->pix_fmt, context->width, context->height, &declared);
}

int minilab_decoder_receive(struct minilab_decoder *decoder, struct minilab_frame *out) {
    AVFrame *frame = decoder->frame;
    do {
        int error = avcodec_receive_frame(decoder->context, frame);
        if (error < 0) return status_of(error);
    } while (frame->pts < decoder->first_rank);
    struct colour_declaration declared = {frame->color_primaries, frame->color_trc, frame->colorspace, frame->color_range};
    int status = describe(out, frame->format, frame->width, frame->height, &declared);
    if (status != MINILAB_CODEC_OK) return status;
    if (frame->decode_error_flags || frame->flags & AV_FRAME_FLAG_CORRUPT
        || (decoder->is_marked && minilab_has_mark(frame, out->bits > 8 ? 2 : 1)))
        return MINILAB_CODEC_DAMAGED;
    for (int i = 0; i < out->plane_count; i++) {
        if (!frame->data[i]) return MINILAB_CODEC_UNSUPPORTED;
        out->planes[i] = frame->data[i];
        out->strides[i] = frame->linesize[i];
    }
// FFmpeg 6.1 made a flag of the field.
#ifdef AV_FRAME_FLAG_INTERLACED
    out->is_interlaced = frame->flags & AV_FRAME_FLAG_INTERLACED ? 1 : 0;
#else
    out->is_interlaced = frame->interlaced_frame ? 1 : 0;
#endif
    describe_light(out, frame);
    out->rank = frame->pts;
    return MINILAB_CODEC_OK;
}

struct minilab_kept_frame *minilab_decoder_keep(struct minilab_decoder *decoder) {
    AVFrame *kept = av_frame_alloc();
    if (kept) av_frame_move_ref(kept, decoder->frame);
    return (struct minilab_kept_frame *) kept;
}

void minilab_kept_frame_free(struct minilab_kept_frame *kept) {
    AVFrame *frame = (AVFrame *) kept;
    av_frame_free(&frame);
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
