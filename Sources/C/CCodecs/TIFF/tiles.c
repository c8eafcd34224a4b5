// Calls that must stay C: libtiff calls back, and its tags are read by a variadic function.
#include "minilab_tiff.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <tiffio.h>
#include <unistd.h>

struct minilab_tiff {
    TIFF *tiff;
    int descriptor;
    off_t offset;
};

static tmsize_t read_on(thandle_t handle, void *to, tmsize_t count) {
    struct minilab_tiff *file = handle;
    ssize_t got = pread(file->descriptor, to, count, file->offset);
    if (got > 0) file->offset += got;
    return got;
}

static tmsize_t write_nothing(thandle_t handle, void *from, tmsize_t count) {
    (void) handle, (void) from, (void) count;
    return -1;
}

static toff_t length(thandle_t handle) {
    struct minilab_tiff *file = handle;
    struct stat status;
    return fstat(file->descriptor, &status) == 0 ? (toff_t) status.st_size : 0;
}

static toff_t seek(thandle_t handle, toff_t offset, int from) {
    struct minilab_tiff *file = handle;
    off_t start = from == SEEK_CUR ? file->offset : from == SEEK_END ? (off_t) length(handle) : 0;
    file->offset = start + (off_t) offset;
    return (toff_t) file->offset;
}

static int stay_open(thandle_t handle) {
    (void) handle;
    return 0;
}

static int has_shape(TIFF *tiff, struct minilab_tiff_shape *shape) {
    uint16_t planar = 0, compression = COMPRESSION_NONE;
    TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
    if (!TIFFIsCODECConfigured(compression)) return 0;
    TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &planar);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &shape->samples);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &shape->bits);
    shape->is_planar = planar == PLANARCONFIG_SEPARATE;
    if (!TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &shape->width)
        || !TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &shape->height))
        return 0;
    shape->tile_width = shape->width;
    shape->line_bytes = TIFFScanlineSize(tiff) > 0 ? TIFFScanlineSize(tiff) : 0;
    if (TIFFIsTiled(tiff)) {
        if (!TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &shape->tile_width)
            || !TIFFGetField(tiff, TIFFTAG_TILELENGTH, &shape->tile_height))
            return 0;
        tmsize_t bytes = TIFFTileSize(tiff), line = TIFFTileRowSize(tiff);
        if (bytes <= 0 || line <= 0 || shape->tile_width == 0 || shape->tile_height == 0) return 0;
        if ((uint64_t) line * shape->tile_height != (uint64_t) bytes) return 0;
        shape->tile_bytes = bytes;
        shape->tile_line_bytes = line;
    }
    return shape->line_bytes > 0 && shape->width > 0 && shape->height > 0 && shape->samples > 0;
}

struct minilab_tiff *minilab_tiff_open(int descriptor, uint64_t directory, struct minilab_tiff_shape *shape) {
    *shape = (struct minilab_tiff_shape){0};
    struct minilab_tiff *file = calloc(1, sizeof *file);
    if (!file) return NULL;
    file->descriptor = dup(descriptor);
    if (file->descriptor >= 0) {
        // libvips uses this name for its input; m: do not map.
        file->tiff = TIFFClientOpen(
            "source input", "rm", file, read_on, write_nothing, seek, stay_open, length, NULL, NULL);
        int is_there = file->tiff
            && (TIFFCurrentDirOffset(file->tiff) == directory || TIFFSetSubDirectory(file->tiff, directory));
        if (is_there && has_shape(file->tiff, shape)) return file;
    }
    minilab_tiff_close(file);
    return NULL;
}

int minilab_tiff_read_tile(
    struct minilab_tiff *file, uint32_t x, uint32_t y, uint16_t channel, void *tile, size_t bytes
) {
    uint32_t number = TIFFComputeTile(file->tiff, x, y, 0, channel);
    return TIFFReadEncodedTile(file->tiff, number, tile, bytes) == (tmsize_t) bytes ? 0 : -1;
}

int minilab_tiff_read_line(struct minilab_tiff *file, uint32_t y, uint16_t channel, void *line, size_t bytes) {
    // The library writes a whole row, whatever the caller's room.
    if (TIFFScanlineSize(file->tiff) != (tmsize_t) bytes) return -1;
    return TIFFReadScanline(file->tiff, line, y, channel) == 1 ? 0 : -1;
}

void minilab_tiff_close(struct minilab_tiff *file) {
    if (file->tiff) TIFFClose(file->tiff);
    if (file->descriptor >= 0) close(file->descriptor);
    free(file);
}
