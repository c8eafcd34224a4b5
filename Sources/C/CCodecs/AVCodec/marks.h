// Finds blocks of a frame that were not decoded.
#ifndef MINILAB_CODEC_MARKS_H
#define MINILAB_CODEC_MARKS_H

#include <libavcodec/avcodec.h>
#include <stdbool.h>

// Whether marks work with a decoder: it must write each sample of a frame, block by block, into the buffer that it requested.
//
// H.264, HEVC, MPEG-4, Motion JPEG and ProRes do. HEVC reports no missing slices; H.264 reports them for frames, but does not
// conceal single fields; the others report errors themselves. dav1d and libvpx have buffers of their own and request none; both
// reject truncated input. Clearing and marking a frame of 1920 × 1080 costs less than can be measured beside decoding it.
bool minilab_may_mark(const AVCodec *codec);

// Allocates a black frame with marks: a get_buffer2() of libavcodec.
int minilab_marked_buffer(AVCodecContext *context, AVFrame *frame, int flags);

// Whether a frame still contains a mark.
bool minilab_has_mark(const AVFrame *frame, int sample_bytes);

#endif
