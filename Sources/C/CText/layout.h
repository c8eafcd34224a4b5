#ifndef MINILAB_TEXT_LAYOUT_H
#define MINILAB_TEXT_LAYOUT_H

#include "fonts.h"

// The lines of a text: glyphs in visual order with their places, in 1/64 pixel from the top left corner of the box, y upwards.
struct layout {
    struct minilab_text_glyph *glyphs;
    size_t glyph_count, glyph_room;
    int lines, is_cut, is_skipped;
    // The widest line, and from the ascent of the first line to the descent of the last one.
    int64_t width, height;
    uint32_t missing;
    // The font with absurd measures.
    size_t bad_font;
};

// Lays a text out at a size, with lines of at most a width (0: any).
int layout_text(
    const struct minilab_text_job *job, struct font *fonts, int32_t size, int32_t max_width, struct layout *layout);

void layout_free(struct layout *layout);

#endif
