// Tiles of a TIFF whose samples are in separate planes, which libvips 8.14 does not support.
#ifndef MINILAB_TIFF_H
#define MINILAB_TIFF_H

#include <stddef.h>
#include <stdint.h>

struct minilab_tiff;

struct minilab_tiff_shape {
    uint32_t width, height, tile_width, tile_height;
    uint16_t samples, bits;
    size_t tile_bytes;
};

// Opens the first page of a TIFF through a duplicate of the descriptor, with an offset of its own. NULL unless it has tiles of
// planes, with unsigned samples of 8 or 16 bits that are grey or RGB.
struct minilab_tiff *minilab_tiff_open(int descriptor, struct minilab_tiff_shape *shape);

// Decodes the tile of a plane at a pixel, in the machine's byte order; 0, or -1 if it cannot be decoded.
int minilab_tiff_read(struct minilab_tiff *tiff, uint32_t x, uint32_t y, uint16_t plane, void *tile, size_t bytes);

void minilab_tiff_close(struct minilab_tiff *tiff);

#endif
