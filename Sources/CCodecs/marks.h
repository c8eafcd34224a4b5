// Finds blocks of a frame that nothing decoded.
#ifndef MINILAB_CODEC_MARKS_H
#define MINILAB_CODEC_MARKS_H

#include <libavcodec/avcodec.h>
#include <stdbool.h>

// Whether marks are right for a decoder: it writes each sample of a frame into the buffer that it asked for, block by block.
//
// So do H.264, HEVC, MPEG-4, Motion JPEG and ProRes. HEVC says nothing of slices that are missing; H.264 does for frames, and does not
// conceal single fields; the others speak up by themselves. dav1d and libvpx have buffers of their own and ask for none; both refuse
// what ends early. To clear and mark a frame of 1920 × 1080 costs less than can be measured beside decoding it.
bool minilab_may_mark(const AVCodec *codec);

// Gives a black frame with marks: a get_buffer2() of libavcodec.
int minilab_marked_buffer(AVCodecContext *context, AVFrame *frame, int flags);

// Whether a mark still stands in a frame.
bool minilab_has_mark(const AVFrame *frame, int sample_bytes);

#endif
