// Tiles of a TIFF whose samples lie in planes, which libvips 8.14 does not read.
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

// Opens the first page of a TIFF by a duplicate of the descriptor, with a place of its own. NULL when it is none with tiles of
// planes, of samples of 8 or 16 bits without sign that are grey or RGB.
struct minilab_tiff *minilab_tiff_open(int descriptor, struct minilab_tiff_shape *shape);

// Decodes the tile of a plane at a pixel, in the machine's order of bytes; 0, or -1 when it cannot be decoded.
int minilab_tiff_read(struct minilab_tiff *tiff, uint32_t x, uint32_t y, uint16_t plane, void *tile, size_t bytes);

void minilab_tiff_close(struct minilab_tiff *tiff);

#endif
