#ifndef MINILAB_TEXT_RASTER_H
#define MINILAB_TEXT_RASTER_H

#include "layout.h"

// Loads FreeType; 0 without memory.
int raster_prepare(void);
void raster_version(int *major, int *minor, int *patch);

// The box of a layout in pixels, turned.
void raster_box(const struct layout *layout, double turn, int32_t *width, int32_t *height);

// Draws a layout into a drawing.
int raster_text(
    const struct minilab_text_job *job, const struct font *fonts, const struct layout *layout, int32_t stroke,
    struct minilab_text_drawing *drawing);

#endif
