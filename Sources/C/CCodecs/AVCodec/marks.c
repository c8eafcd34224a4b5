#include "marks.h"

#include <libavutil/pixdesc.h>
#include <string.h>

// libavcodec returns HEVC frames with a missing or truncated slice without an error. So each block of luma is initialised with
// marks: samples that no encoder produces by chance, and that are impossible with 9 to 12 bits. If a mark is still there, the block
// was not decoded. A block is the smallest part that a slice can have: CtbLog2SizeY of at least 4 (ITU-T H.265 §7.4.3.2.1), a
// macroblock of 16 × 16. Marks are in two rows, since each field of an interlaced picture has every other row. Deblocking from the
// block above does not reach them: it filters three rows of a block, or six if they belong to a field.
enum { block = 16, mark_row = 4, mark_rows = 2, mark_bytes = 8 };
static const uint8_t mark[mark_bytes] = {0xE7, 0x1D, 0xB2, 0xFC, 0x46, 0x93, 0xD8, 0x7B};

bool minilab_may_mark(const AVCodec *codec) {
    switch (codec->id) {
    case AV_CODEC_ID_H264:
    case AV_CODEC_ID_HEVC:
    case AV_CODEC_ID_MJPEG:
    case AV_CODEC_ID_MPEG4:
    case AV_CODEC_ID_PRORES: return !codec->wrapper_name;
    default: return false;
    }
}

// Records the coded size in samples: the returned frame is cropped.
static void keep_size(AVFrame *frame) {
    frame->opaque = (void *) ((uintptr_t) (uint32_t) frame->width << 32 | (uint32_t) frame->height);
}

static uint8_t *mark_at(const AVFrame *frame, int x, int y, int width, int height, int sample_bytes) {
    if (x + mark_bytes / sample_bytes > width || y >= height) return NULL;
    return frame->buf[0]->data + y * (ptrdiff_t) frame->linesize[0] + x * sample_bytes;
}

int minilab_marked_buffer(AVCodecContext *context, AVFrame *frame, int flags) {
    int error = avcodec_default_get_buffer2(context, frame, flags);
    if (error < 0) return error;
    for (int i = 0; i < AV_NUM_DATA_POINTERS && frame->buf[i]; i++)
        memset(frame->buf[i]->data, 0, frame->buf[i]->size);
    const AVPixFmtDescriptor *format = av_pix_fmt_desc_get(frame->format);
    keep_size(frame);
    int bytes = format->comp[0].depth > 8 ? 2 : 1;
    for (int y = 0; y < frame->height; y += block)
        for (int row = y + mark_row; row < y + mark_row + mark_rows; row++)
            for (int x = 0; x < frame->width; x += block) {
                uint8_t *samples = mark_at(frame, x, row, frame->width, frame->height, bytes);
                if (samples) memcpy(samples, mark, mark_bytes);
            }
    return 0;
}

bool minilab_has_mark(const AVFrame *frame, int sample_bytes) {
    int width = (int) ((uintptr_t) frame->opaque >> 32), height = (int) (uint32_t) (uintptr_t) frame->opaque;
    if (!frame->buf[0] || frame->width > width || frame->height > height) return true;
    for (int y = 0; y < height; y += block)
        for (int row = y + mark_row; row < y + mark_row + mark_rows; row++)
            for (int x = 0; x < width; x += block) {
                const uint8_t *samples = mark_at(frame, x, row, width, height, sample_bytes);
                if (samples && !memcmp(samples, mark, mark_bytes)) return true;
            }
    return false;
}
