// The single allocation limit of libavutil for all decoders and encoders of the process.
#ifndef MINILAB_CODEC_LIMITS_H
#define MINILAB_CODEC_LIMITS_H

#include <stddef.h>

// Raises libavutil's limit for one allocation to this many bytes, or keeps it if a codec needed more before: a decoder and an
// encoder run on separate threads, and the limit of one must not fail the other. Frames have a separate limit, in pixels.
void minilab_allow_allocation(size_t bytes);

#endif
