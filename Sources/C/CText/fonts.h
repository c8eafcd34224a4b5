#ifndef MINILAB_TEXT_FONTS_H
#define MINILAB_TEXT_FONTS_H

#include <hb-ot.h>
#include <hb.h>

#include "minilab_text.h"

// A font that is open, and which kinds of colour its glyphs may have.
struct font {
    hb_face_t *face;
    hb_font_t *font;
    int has_outlines, has_layers, has_bitmaps, has_svg, is_restricted;
};

// Opens a font; 0 if its bytes are none, or lack the face or an axis.
int font_open(const struct minilab_text_font *source, struct font *font);
void font_close(struct font *font);

// Whether a glyph is an outline that is filled with one colour, or nothing.
int font_is_plain(const struct font *font, hb_codepoint_t glyph);

// Whether the font has such a glyph for a character.
int font_has(const struct font *font, uint32_t character);

#endif
