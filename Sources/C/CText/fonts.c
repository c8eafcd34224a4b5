#include "fonts.h"

#include <string.h>

static uint32_t word(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// TrueType, OpenType with CFF, Apple's TrueType, collections. Type 1, PFR, BDF, Windows' FNT and WOFF begin otherwise.
static int is_known(const struct minilab_text_font *source) {
    if (source->count < 12) return 0;
    uint32_t magic = word(source->bytes);
    return magic == 0x00010000 || magic == HB_TAG('O', 'T', 'T', 'O') || magic == HB_TAG('t', 'r', 'u', 'e')
        || magic == HB_TAG('t', 't', 'c', 'f');
}

static int has_table(hb_face_t *face, hb_tag_t tag) {
    hb_blob_t *blob = hb_face_reference_table(face, tag);
    int has = hb_blob_get_length(blob) > 0;
    hb_blob_destroy(blob);
    return has;
}

static int is_restricted(hb_face_t *face) {
    hb_blob_t *blob = hb_face_reference_table(face, HB_TAG('O', 'S', '/', '2'));
    unsigned count = 0;
    const uint8_t *bytes = (const uint8_t *)hb_blob_get_data(blob, &count);
    int restricted = count >= 10 && (bytes[9] & 0x0F) == 0x02;
    hb_blob_destroy(blob);
    return restricted;
}

static int set_axes(const struct minilab_text_font *source, struct font *font) {
    enum { most = 16 };
    hb_variation_t values[most];
    if (source->axis_count > most) return 0;
    for (size_t i = 0; i < source->axis_count; i++) {
        const char *tag = source->axes[i].tag;
        hb_ot_var_axis_info_t info;
        values[i].tag = HB_TAG(tag[0], tag[1], tag[2], tag[3]);
        values[i].value = source->axes[i].value;
        if (!hb_ot_var_find_axis_info(font->face, values[i].tag, &info)) return 0;
    }
    if (source->axis_count) hb_font_set_variations(font->font, values, (unsigned)source->axis_count);
    return 1;
}

int font_open(const struct minilab_text_font *source, struct font *font) {
    memset(font, 0, sizeof *font);
    if (!is_known(source) || source->count > UINT32_MAX) return 0;
    hb_blob_t *blob = hb_blob_create(
        (const char *)source->bytes, (unsigned)source->count, HB_MEMORY_MODE_READONLY, NULL, NULL);
    if (source->index >= hb_face_count(blob)) {
        hb_blob_destroy(blob);
        return 0;
    }
    font->face = hb_face_create(blob, source->index);
    hb_blob_destroy(blob);
    font->font = hb_font_create(font->face);
    hb_face_t *face = font->face;
    if (hb_face_get_glyph_count(face) == 0 || !has_table(face, HB_TAG('c', 'm', 'a', 'p'))) return 0;
    font->has_outlines = has_table(face, HB_TAG('g', 'l', 'y', 'f')) || has_table(face, HB_TAG('C', 'F', 'F', ' '))
        || has_table(face, HB_TAG('C', 'F', 'F', '2'));
    font->has_layers = has_table(face, HB_TAG('C', 'O', 'L', 'R'));
    font->has_bitmaps = hb_ot_color_has_png(face);
    font->has_svg = hb_ot_color_has_svg(face);
    font->is_restricted = is_restricted(face);
    return set_axes(source, font);
}

void font_close(struct font *font) {
    hb_font_destroy(font->font);
    hb_face_destroy(font->face);
    font->font = NULL;
    font->face = NULL;
}

static int is_empty(hb_blob_t *blob) {
    int empty = hb_blob_get_length(blob) == 0;
    hb_blob_destroy(blob);
    return empty;
}

// Whether a glyph has a record in COLR version 1, whose paint HarfBuzz 6 does not report.
static int has_paint(hb_face_t *face, hb_codepoint_t glyph) {
    hb_blob_t *blob = hb_face_reference_table(face, HB_TAG('C', 'O', 'L', 'R'));
    unsigned count = 0;
    const uint8_t *bytes = (const uint8_t *)hb_blob_get_data(blob, &count);
    int has = 0;
    // version, numBaseGlyphRecords, baseGlyphRecordsOffset, layerRecordsOffset, numLayerRecords, baseGlyphListOffset.
    if (count >= 18 && (bytes[0] << 8 | bytes[1]) >= 1) {
        uint64_t list = word(bytes + 14);
        if (list && list + 4 <= count) {
            uint64_t records = word(bytes + list);
            if (records > (count - list - 4) / 6) records = (count - list - 4) / 6;
            uint64_t low = 0, high = records;
            while (low < high && !has) {
                uint64_t middle = (low + high) / 2;
                const uint8_t *record = bytes + list + 4 + 6 * middle;
                uint32_t found = (uint32_t)record[0] << 8 | record[1];
                if (found == glyph) has = 1;
                else if (found < glyph) low = middle + 1;
                else high = middle;
            }
        }
    }
    hb_blob_destroy(blob);
    return has;
}

int font_is_plain(const struct font *font, hb_codepoint_t glyph) {
    if (font->has_layers
        && (hb_ot_color_glyph_get_layers(font->face, glyph, 0, NULL, NULL) > 0 || has_paint(font->face, glyph)))
        return 0;
    if (font->has_bitmaps && !is_empty(hb_ot_color_glyph_reference_png(font->font, glyph))) return 0;
    if (font->has_svg && !is_empty(hb_ot_color_glyph_reference_svg(font->face, glyph))) return 0;
    return 1;
}

int font_has(const struct font *font, uint32_t character) {
    hb_codepoint_t glyph = 0;
    return font->has_outlines && hb_font_get_nominal_glyph(font->font, character, &glyph) && glyph != 0
        && font_is_plain(font, glyph);
}
