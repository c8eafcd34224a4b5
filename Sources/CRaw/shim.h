// LibRaw's C interface, thread-safe build.
#include <libraw/libraw.h>

// Returns the pixels, which follow the header in one allocation; Swift does not import an array of one byte as such.
static inline const unsigned char *minilab_raw_pixels(const libraw_processed_image_t *image) {
    return image->data;
}
