// libavcodec as a decoder and encoder of single access units: one thread, no containers, no files, nothing printed.
#ifndef MINILAB_CODECS_H
#define MINILAB_CODECS_H

#include <stddef.h>
#include <stdint.h>

// Why a call failed.
enum minilab_codec_status {
    MINILAB_CODEC_OK = 0,
    // It has nothing to give until it is sent more.
    MINILAB_CODEC_WANTS_MORE = 1,
    // Not in this build of libavcodec; or the stream uses what the decoder does not know, or the encoder refuses an option.
    MINILAB_CODEC_UNSUPPORTED = -1,
    // The bytes contradict themselves.
    MINILAB_CODEC_DAMAGED = -2,
    // Beyond a limit, or than there is.
    MINILAB_CODEC_MEMORY = -3,
};

// How a decoder is opened.
struct minilab_decoder_settings {
    // That of the container (hvcC, avcC …), or NULL.
    const uint8_t *config;
    size_t config_count;
    // What the container says: the four characters that name the codec, the first one lowest; the size of pictures; and how many
    // access units at most come before one that is shown earlier. 0 where it says nothing.
    uint32_t tag;
    int width, height, reorder;
    // The lowest rank of a frame that is wanted. Units of lower ranks may refer to what was never sent: damage in them is none, and their
    // frames do not come out.
    int64_t first_rank;
    // Most pixels of a frame, and most bytes of one allocation of the whole process.
    int64_t pixels_max;
    size_t bytes_max;
};

// A decoded frame; its planes stay until the next call that gets the decoder.
struct minilab_frame {
    // Luma and the two of chroma, or green, blue and red; one of a frame without chroma. Samples of more than 8 bits have
    // two bytes in the machine's order.
    const uint8_t *planes[3];
    ptrdiff_t strides[3];
    int plane_count, width, height, bits;
    // By how many bits chroma is smaller.
    int chroma_shift_x, chroma_shift_y;
    // Numbers of ITU-T H.273; 2 where the stream does not say.
    int primaries, transfer, matrix;
    // 1 when codes have their full range, 0 when not, -1 when the stream does not say.
    int full_range;
    // Whether there was a plane of alpha, which is left out; and whether the rows are those of two fields.
    int has_alpha, is_interlaced;
    // As it was sent.
    int64_t rank;
};

struct minilab_decoder;

// Opens a decoder by libavcodec's name.
int minilab_decoder_open(
    const char *name, const struct minilab_decoder_settings *settings, struct minilab_decoder **decoder);

// Fills in what the configuration says of frames, all but their planes; MINILAB_CODEC_WANTS_MORE where it does not say.
int minilab_decoder_configured(const struct minilab_decoder *decoder, struct minilab_frame *frame);

// Sends one access unit, whose bytes are copied. Frames come out in the order of their ranks.
int minilab_decoder_send(struct minilab_decoder *decoder, const uint8_t *bytes, size_t count, int64_t rank);

// Says that nothing follows: what is held back can be received.
int minilab_decoder_finish(struct minilab_decoder *decoder);

// Gets the next frame; MINILAB_CODEC_DAMAGED also for one of which a part was not decoded.
int minilab_decoder_receive(struct minilab_decoder *decoder, struct minilab_frame *frame);

// Makes it ready for a stream that begins anew, with the same configuration.
void minilab_decoder_restart(struct minilab_decoder *decoder);

void minilab_decoder_close(struct minilab_decoder *decoder);

// How an encoder is opened.
struct minilab_encoder_settings {
    int width, height;
    // Most pixels of a frame.
    int64_t pixels_max;
    // 1 for luma alone, 3 with chroma that is smaller by so many bits; bits of a sample.
    int plane_count, chroma_shift_x, chroma_shift_y, bits;
    // Numbers of ITU-T H.273 for the stream's own description; 2 where it is not said.
    int primaries, transfer, matrix, full_range;
    // Units of time in a second, and frames, both as fractions; most frames from a key frame to the next: 1 where each stands by itself.
    int units, units_seconds, frames, frames_seconds, key_distance;
    // Most bits of a second, and of the buffer from which they are shown; 0 for any number.
    int64_t rate_max;
    int buffer_bits;
};

// An option of the encoder's own, by libavcodec's name.
struct minilab_codec_option {
    const char *name, *value;
};

// The planes of the frame that is sent next; samples of more than 8 bits have two bytes in the machine's order.
struct minilab_planes {
    uint8_t *planes[3];
    ptrdiff_t strides[3];
};

// A coded frame; its bytes stay until the next call that gets the encoder.
struct minilab_packet {
    const uint8_t *bytes;
    size_t count;
    // When it is shown, in units of time.
    int64_t time;
    int is_key;
};

struct minilab_encoder;

// Opens an encoder by libavcodec's name.
int minilab_encoder_open(
    const char *name, const struct minilab_encoder_settings *settings, const struct minilab_codec_option *options,
    size_t option_count, struct minilab_encoder **encoder);

// Gives the planes of the next frame, to be filled.
int minilab_encoder_frame(struct minilab_encoder *encoder, struct minilab_planes *planes);

// Sends the frame; times rise. No frame refers to one before a key frame.
int minilab_encoder_send(struct minilab_encoder *encoder, int64_t time, int is_key);

// Says that nothing follows: what is held back can be received, and nothing more sent.
int minilab_encoder_finish(struct minilab_encoder *encoder);

// Gets the next coded frame, in the order in which they are decoded.
int minilab_encoder_receive(struct minilab_encoder *encoder, struct minilab_packet *packet);

// The parameter sets, as the codec writes them into a stream; they stay as long as the encoder.
void minilab_encoder_headers(const struct minilab_encoder *encoder, const uint8_t **bytes, size_t *count);

void minilab_encoder_close(struct minilab_encoder *encoder);

// libavcodec's version: major, minor and micro, a byte for each of the last two.
unsigned minilab_codecs_version(void);

#endif
