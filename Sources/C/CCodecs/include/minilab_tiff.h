// Rows and tiles of a TIFF as they are stored, for layouts that libvips 8.14 does not support.
#ifndef MINILAB_TIFF_H
#define MINILAB_TIFF_H

#include <stddef.h>
#include <stdint.h>

struct minilab_tiff;

struct minilab_tiff_shape {
    uint32_t width, height;
    // The size of a tile; the width and 0 for a picture in strips.
    uint32_t tile_width, tile_height;
    uint16_t samples, bits;
    // Whether each channel is stored by itself.
    int is_planar;
    // Bytes of a row of the picture and of a tile: of all channels together, or of one if is_planar.
    size_t line_bytes, tile_line_bytes, tile_bytes;
};

// Opens the directory at an offset of a TIFF through a duplicate of the descriptor, with an offset of its own. NULL if libtiff cannot
// read the directory.
struct minilab_tiff *minilab_tiff_open(int descriptor, uint64_t directory, struct minilab_tiff_shape *shape);

// Decodes the tile of a channel (0 unless is_planar) at a pixel, with samples of 8, 16, 32 and 64 bits in the machine's byte order;
// 0, or -1 if it cannot be decoded.
int minilab_tiff_read_tile(struct minilab_tiff *tiff, uint32_t x, uint32_t y, uint16_t channel, void *tile, size_t bytes);

// Decodes a row of a picture in strips likewise. Rows must be read from top to bottom, and of one channel only.
int minilab_tiff_read_line(struct minilab_tiff *tiff, uint32_t y, uint16_t channel, void *line, size_t bytes);

void minilab_tiff_close(struct minilab_tiff *tiff);

#endif
