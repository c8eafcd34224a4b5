// One limit of libavutil's for all decoders and encoders of the process.
#ifndef MINILAB_CODEC_LIMITS_H
#define MINILAB_CODEC_LIMITS_H

#include <stddef.h>

// Lets libavutil allocate so many bytes at once from now on, or more if a codec needed more before: a decoder and an encoder work on
// threads of their own, and the limit of one must not fail the other. Frames have a limit of their own, in pixels.
void minilab_allow_allocation(size_t bytes);

#endif
