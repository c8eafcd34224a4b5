// LibRaw's C interface, thread-safe build.
#include <libraw/libraw.h>

// Returns the pixels, which follow the header in one allocation; Swift does not import an array of one byte as such.
static inline const unsigned char *minilab_raw_pixels(const libraw_processed_image_t *image) {
    return image->data;
}

// Sets the most memory for the unpacked sensor data, in MiB; LibRaw 0.21 moved the field.
static inline void minilab_raw_allow_memory(libraw_data_t *data, unsigned mebibytes) {
#if LIBRAW_COMPILE_CHECK_VERSION_NOTLESS(0, 21)
    data->rawparams.max_raw_memory_mb = mebibytes;
#else
    data->params.max_raw_memory_mb = mebibytes;
#endif
}
