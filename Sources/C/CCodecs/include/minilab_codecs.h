// libavcodec as a decoder and encoder of single access units: one thread, no containers, no files, no log output.
#ifndef MINILAB_CODECS_H
#define MINILAB_CODECS_H

#include <stddef.h>
#include <stdint.h>

// The result of a call.
enum minilab_codec_status {
    MINILAB_CODEC_OK = 0,
    // There is no output until more is sent.
    MINILAB_CODEC_NEEDS_INPUT = 1,
    // Not in this build of libavcodec; or the decoder does not support a feature of the stream, or the encoder rejects an option.
    MINILAB_CODEC_UNSUPPORTED = -1,
    // The bytes are inconsistent.
    MINILAB_CODEC_DAMAGED = -2,
    // A limit is exceeded, or memory is exhausted.
    MINILAB_CODEC_MEMORY = -3,
};

// The settings of a decoder.
struct minilab_decoder_settings {
    // The container's configuration (hvcC, avcC …), or NULL.
    const uint8_t *config;
    size_t config_count;
    // Facts from the container: the four-character code of the codec, first character lowest; the size of pictures; and the most
    // access units before one that is shown earlier. 0 if unknown.
    uint32_t tag;
    int width, height, reorder;
    // The lowest rank of a requested frame. Units of lower ranks may refer to pictures that were never sent: damage in them is
    // ignored, and their frames are not returned.
    int64_t first_rank;
    // Most pixels of a frame, and most bytes of one allocation of the whole process.
    int64_t pixels_max;
    size_t bytes_max;
};

// A decoded frame; its planes are valid until the next call with the decoder.
struct minilab_frame {
    // Luma and two planes of chroma, or green, blue and red; one plane without chroma. Samples of more than 8 bits have two bytes
    // in the machine's byte order.
    const uint8_t *planes[3];
    ptrdiff_t strides[3];
    int plane_count, width, height, bits;
    // The subsampling of chroma as shifts.
    int chroma_shift_x, chroma_shift_y;
    // Numbers of ITU-T H.273; 2 if the stream does not declare them.
    int primaries, transfer, matrix;
    // 1 if codes have full range, 0 if not, -1 if the stream does not declare it.
    int full_range;
    // The display on which the frames were graded, and their light levels, as the payloads of SEI messages 137 and 144 of H.265
    // (§D.3.28, §D.3.35); zero bytes if the stream does not declare them.
    uint8_t mastering_display[24], content_light[4];
    size_t mastering_display_count, content_light_count;
    // Whether there was a plane of alpha, which is omitted; and whether the rows alternate between two fields.
    int has_alpha, is_interlaced;
    // The rank that was sent.
    int64_t rank;
};

struct minilab_decoder;

// Opens a decoder by libavcodec's name.
int minilab_decoder_open(
    const char *name, const struct minilab_decoder_settings *settings, struct minilab_decoder **decoder);

// Fills in the configuration's facts about frames, except for their planes; MINILAB_CODEC_NEEDS_INPUT if it has none.
int minilab_decoder_configured(const struct minilab_decoder *decoder, struct minilab_frame *frame);

// Sends one access unit, whose bytes are copied. Frames are returned in presentation order.
int minilab_decoder_send(struct minilab_decoder *decoder, const uint8_t *bytes, size_t count, int64_t rank);

// Ends the stream, so that delayed frames can be received.
int minilab_decoder_finish(struct minilab_decoder *decoder);

// Receives the next frame; MINILAB_CODEC_DAMAGED also if a part of it was not decoded.
int minilab_decoder_receive(struct minilab_decoder *decoder, struct minilab_frame *frame);

// Resets the decoder for a new stream with the same configuration.
void minilab_decoder_restart(struct minilab_decoder *decoder);
// Takes the received frame out of the decoder: its planes are valid until it is freed, whatever the decoder does. NULL without memory.
struct minilab_kept_frame *minilab_decoder_keep(struct minilab_decoder *decoder);
void minilab_kept_frame_free(struct minilab_kept_frame *kept);

void minilab_decoder_close(struct minilab_decoder *decoder);

// The settings of an encoder.
struct minilab_encoder_settings {
    int width, height;
    // Most pixels of a frame.
    int64_t pixels_max;
    // 1 for luma only, 3 with chroma, whose subsampling is given as shifts; bits of a sample.
    int plane_count, chroma_shift_x, chroma_shift_y, bits;
    // Numbers of ITU-T H.273 for the stream's own description; 2 for no declaration.
    int primaries, transfer, matrix, full_range;
    // Time units per second, and frames per second, both as fractions; the most frames from one key frame to the next: 1 if each is
    // independent.
    int units, units_seconds, frames, frames_seconds, key_distance;
    // The highest bit rate, and the size of the playback buffer in bits; 0 for no limit.
    int64_t rate_max;
    int buffer_bits;
};

// An option of the encoder, by libavcodec's name.
struct minilab_codec_option {
    const char *name, *value;
};

// The planes of the next frame; samples of more than 8 bits have two bytes in the machine's byte order.
struct minilab_planes {
    uint8_t *planes[3];
    ptrdiff_t strides[3];
};

// An encoded frame; its bytes are valid until the next call with the encoder.
struct minilab_packet {
    const uint8_t *bytes;
    size_t count;
    // The presentation time in time units.
    int64_t time;
    int is_key;
};

struct minilab_encoder;

// Opens an encoder by libavcodec's name.
int minilab_encoder_open(
    const char *name, const struct minilab_encoder_settings *settings, const struct minilab_codec_option *options,
    size_t option_count, struct minilab_encoder **encoder);

// Returns the planes of the next frame, to be filled.
int minilab_encoder_frame(struct minilab_encoder *encoder, struct minilab_planes *planes);

// Sends the frame; times must rise. No frame refers to a frame before a key frame.
int minilab_encoder_send(struct minilab_encoder *encoder, int64_t time, int is_key);

// Ends the stream, so that delayed packets can be received. Nothing more may be sent.
int minilab_encoder_finish(struct minilab_encoder *encoder);

// Receives the next encoded frame, in decoding order.
int minilab_encoder_receive(struct minilab_encoder *encoder, struct minilab_packet *packet);

// Returns the parameter sets in the codec's stream format; valid for the lifetime of the encoder.
void minilab_encoder_headers(const struct minilab_encoder *encoder, const uint8_t **bytes, size_t *count);

void minilab_encoder_close(struct minilab_encoder *encoder);

// libavcodec's version: major, minor and micro, a byte for each of the last two.
unsigned minilab_codecs_version(void);

#endif
