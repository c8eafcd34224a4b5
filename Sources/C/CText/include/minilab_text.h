// Lines of text as coverage: shaped and outlined by HarfBuzz, broken by Pango's rules, ordered by FriBidi, rasterised by FreeType.
// No file is opened, except for libthai's list of words on the first call (see minilab_text_prepare).
//
// FreeType fills and strokes outlines and never reads a font: HarfBuzz, which checks each table before it uses it, draws them.
#ifndef MINILAB_TEXT_H
#define MINILAB_TEXT_H

#include <stddef.h>
#include <stdint.h>

// The result of a call.
enum minilab_text_status {
    MINILAB_TEXT_OK = 0,
    // No font has a character, or only in colours: `missing` is the character.
    MINILAB_TEXT_MISSING = 1,
    // A font is no TrueType or OpenType font with outlines, lacks the face or an axis, or has absurd measures: `bad_font` is its index.
    MINILAB_TEXT_BAD_FONT = 2,
    // The coverage would have more than `pixels_max` pixels.
    MINILAB_TEXT_TOO_LARGE = 3,
    // More than `lines_max` lines, which may not be cut.
    MINILAB_TEXT_OVERFLOW = 4,
    MINILAB_TEXT_MEMORY = 5,
};

// The value of a variable font's axis.
struct minilab_text_axis {
    char tag[4];
    float value;
};

struct minilab_text_font {
    const uint8_t *bytes;
    size_t count;
    // The face of a collection, from 0.
    unsigned index;
    const struct minilab_text_axis *axes;
    size_t axis_count;
};

// Lengths are in 1/64 pixel.
struct minilab_text_job {
    // UTF-8; the only control is a line feed. Invisible characters (Unicode's Cf) have no shape, but for soft hyphens, at which no line is
    // broken, the meaning that Unicode gives them.
    const char *text;
    size_t text_count;
    // A grapheme cluster takes the first font that has all its characters, else the first one from which HarfBuzz makes it: a letter that is
    // composed of others or a space of another width.
    const struct minilab_text_font *fonts;
    size_t font_count;
    // BCP 47, or NULL.
    const char *language;
    // Pixels of an em.
    int32_t size;
    // Lines that are wider are broken; 0: only at line feeds.
    int32_t max_width;
    // The size is reduced until the box fits into these whole pixels.
    int32_t within_width, within_height;
    // How far a stroke reaches beyond the outlines; 0 for none.
    int32_t stroke;
    // Degrees counter-clockwise.
    double turn;
    int lines_max;
    // Where lines lie in the box: 0 left, 1 in the middle, 2 right.
    int align;
    // Whether the last line is cut with an ellipsis, and whether characters that no font has are left out.
    int may_cut, may_skip;
    int64_t pixels_max;
};

// A glyph in visual order; lengths in 1/64 pixel.
struct minilab_text_glyph {
    uint32_t glyph, cluster;
    int32_t font, line;
    int32_t x, y, advance;
};

struct minilab_text_drawing {
    uint32_t missing;
    size_t bad_font;
    // The box of the lines in pixels, from the ascent of the first line to the descent of the last one, before the turn and after it.
    int32_t flat_width, flat_height, box_width, box_height;
    // The coverage: where its top left corner lies in the box (down and to the right), and its size. Ink may lie outside of the box.
    int32_t left, top, width, height;
    // Rows from the top, a byte a pixel; NULL without ink. `outer` is the stroke with all that it surrounds, NULL without a stroke.
    uint8_t *fill, *outer;
    // The size after reduction, and the number of lines.
    int32_t size;
    int lines;
    int is_cut, is_skipped;
    // Whether a font that is used asks not to be embedded (OS/2 fsType, bit 1).
    int is_restricted;
    // The glyphs, for tests.
    struct minilab_text_glyph *glyphs;
    size_t glyph_count;
};

// Loads what the first text needs: FreeType's rasteriser, and libthai's list of words, the only file. Returns 0 without memory.
int minilab_text_prepare(void);

// Draws a text. The drawing must be freed, whatever the result.
int minilab_text_draw(const struct minilab_text_job *job, struct minilab_text_drawing *drawing);

void minilab_text_free(struct minilab_text_drawing *drawing);

// The versions of HarfBuzz and FreeType as text.
const char *minilab_text_harfbuzz(void);
void minilab_text_freetype(int *major, int *minor, int *patch);

#endif
