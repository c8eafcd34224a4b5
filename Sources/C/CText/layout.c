#include "layout.h"

#include <fribidi.h>
#include <pango/pango.h>
#include <stdlib.h>
#include <string.h>

enum {
    // Glyphs of a text: a character has a few, a hostile font makes as many as it likes.
    glyphs_max = 8192,
    // The farthest place of a glyph, in 1/64 pixel: a million pixels.
    place_max = 1 << 26,
    ellipsis = 0x2026,
    soft_hyphen = 0x00AD,
};

// A text in characters, with what lines are made of.
struct text {
    uint32_t *characters;
    size_t count;
    PangoLogAttr *breaks;
    // The font and the script of each character, and its level of embedding.
    int *fonts;
    hb_script_t *scripts;
    FriBidiLevel *levels;
};

struct shaper {
    const struct minilab_text_job *job;
    struct font *fonts;
    hb_buffer_t *buffer;
    hb_language_t language;
    int64_t max_width;
    // The measures of each font.
    struct measures *measures;
    struct layout *layout;
};

// How far the letters of a font reach above and below the baseline, and the space to the next line, in whole pixels.
struct measures {
    int32_t ascent, descent, gap;
};

static void text_free(struct text *text) {
    free(text->characters);
    free(text->breaks);
    free(text->fonts);
    free(text->scripts);
    free(text->levels);
    memset(text, 0, sizeof *text);
}

static int text_room(struct text *text, size_t count) {
    text->characters = calloc(count + 1, sizeof *text->characters);
    text->breaks = calloc(count + 1, sizeof *text->breaks);
    text->fonts = calloc(count + 1, sizeof *text->fonts);
    text->scripts = calloc(count + 1, sizeof *text->scripts);
    text->levels = calloc(count + 1, sizeof *text->levels);
    return text->characters && text->breaks && text->fonts && text->scripts && text->levels;
}

// Fillers of Hangul, and marks around annotations. HarfBuzz takes them for letters, though they have no shape.
static int is_filler(uint32_t c) { return c == 0x115F || c == 0x1160 || c == 0x3164 || c == 0xFFA0; }
static int is_annotation(uint32_t c) { return c >= 0xFFF9 && c <= 0xFFFB; }

// Characters that change their neighbours and have no shape: a font need not have them.
static int is_ignorable(uint32_t c) {
    return c == 0x034F || is_filler(c) || (c >= 0xFE00 && c <= 0xFE0F) || (c >= 0xE0100 && c <= 0xE01EF)
        || hb_unicode_general_category(hb_unicode_funcs_get_default(), c) == HB_UNICODE_GENERAL_CATEGORY_FORMAT;
}

static int is_invisible(const uint32_t *characters, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!is_ignorable(characters[i])) return 0;
    return 1;
}

static int has_cluster(const struct font *font, const uint32_t *characters, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!is_ignorable(characters[i]) && !font_has(font, characters[i])) return 0;
    return 1;
}

// Whether HarfBuzz makes a cluster from what the font has: "e" and an accent may be one glyph, though the font lacks the accent alone; the
// sign of ångström is a letter; spaces of other widths are made of the font's own.
static int has_composed(struct shaper *shaper, const struct font *font, const uint32_t *characters, size_t count) {
    if (!font->has_outlines) return 0;
    hb_buffer_t *buffer = shaper->buffer;
    hb_buffer_clear_contents(buffer);
    hb_buffer_add_utf32(buffer, characters, (int)count, 0, (int)count);
    hb_buffer_guess_segment_properties(buffer);
    hb_shape(font->font, buffer, NULL, 0);
    unsigned glyphs = 0;
    const hb_glyph_info_t *infos = hb_buffer_get_glyph_infos(buffer, &glyphs);
    for (unsigned i = 0; i < glyphs; i++)
        if (infos[i].codepoint == 0 || !font_is_plain(font, infos[i].codepoint)) return 0;
    return glyphs > 0 && hb_buffer_allocation_successful(buffer);
}

static size_t cluster_end(const struct text *text, size_t start) {
    size_t end = start + 1;
    while (end < text->count && !text->breaks[end].is_cursor_position) end++;
    return end;
}

// Finds line breaks and grapheme clusters: UAX 14 and 29, and words of Thai.
static int find_breaks(struct shaper *shaper, struct text *text) {
    gchar *utf8 = g_ucs4_to_utf8(text->characters, (glong)text->count, NULL, NULL, NULL);
    if (!utf8) return MINILAB_TEXT_MEMORY;
    PangoLanguage *language = pango_language_from_string(shaper->job->language ? shaper->job->language : "en");
    pango_get_log_attrs(utf8, (int)strlen(utf8), -1, language, text->breaks, (int)text->count + 1);
    g_free(utf8);
    // A line that is broken at a soft hyphen would have to show one.
    for (size_t i = 1; i <= text->count; i++)
        if (text->characters[i - 1] == soft_hyphen) text->breaks[i].is_line_break = 0;
    return MINILAB_TEXT_OK;
}

// Chooses a font for each cluster, and leaves out those that no font has.
static int choose_fonts(struct shaper *shaper, struct text *text) {
    size_t kept = 0;
    for (size_t start = 0, end; start < text->count; start = end) {
        end = cluster_end(text, start);
        const uint32_t *characters = text->characters + start;
        int chosen = -1;
        // A character without a shape does not part the letters around it.
        if (kept > 0 && text->characters[kept - 1] != '\n' && is_invisible(characters, end - start))
            chosen = text->fonts[kept - 1];
        for (size_t i = 0; i < shaper->job->font_count && chosen < 0; i++)
            if (characters[0] == '\n' || has_cluster(&shaper->fonts[i], characters, end - start)) chosen = (int)i;
        for (size_t i = 0; i < shaper->job->font_count && chosen < 0; i++)
            if (has_composed(shaper, &shaper->fonts[i], characters, end - start)) chosen = (int)i;
        if (chosen < 0) {
            if (!shaper->job->may_skip) {
                // The character of the cluster that the first font lacks.
                size_t at = 0;
                while (at + 1 < end - start
                       && (is_ignorable(characters[at]) || font_has(&shaper->fonts[0], characters[at])))
                    at++;
                shaper->layout->missing = characters[at];
                return MINILAB_TEXT_MISSING;
            }
            shaper->layout->is_skipped = 1;
            continue;
        }
        for (size_t i = start; i < end; i++) {
            uint32_t character = text->characters[i];
            // Fonts for old Hangul build syllables with fillers.
            if (is_annotation(character)) continue;
            if (is_filler(character) && !font_has(&shaper->fonts[chosen], character)) continue;
            text->characters[kept] = character;
            text->fonts[kept] = chosen;
            kept++;
        }
    }
    int changed = kept != text->count;
    text->count = kept;
    return changed ? find_breaks(shaper, text) : MINILAB_TEXT_OK;
}

// Gives each character a script: common ones that of the one before, else of the one after.
static void find_scripts(struct text *text) {
    hb_unicode_funcs_t *unicode = hb_unicode_funcs_get_default();
    hb_script_t last = HB_SCRIPT_COMMON;
    for (size_t i = 0; i < text->count; i++) {
        hb_script_t script = hb_unicode_script(unicode, text->characters[i]);
        int is_real = script != HB_SCRIPT_COMMON && script != HB_SCRIPT_INHERITED && script != HB_SCRIPT_UNKNOWN;
        if (is_real) last = script;
        text->scripts[i] = last;
    }
    for (size_t i = text->count; i-- > 0;) {
        if (text->scripts[i] == HB_SCRIPT_COMMON) text->scripts[i] = last;
        else last = text->scripts[i];
    }
}

// Levels of embedding of a paragraph: UAX 9. The first strong character gives its direction.
static int find_levels(struct text *text, size_t start, size_t end) {
    FriBidiStrIndex count = (FriBidiStrIndex)(end - start);
    if (count == 0) return MINILAB_TEXT_OK;
    FriBidiCharType *types = calloc((size_t)count, sizeof *types);
    FriBidiBracketType *brackets = calloc((size_t)count, sizeof *brackets);
    FriBidiLevel most = 0;
    if (types && brackets) {
        FriBidiParType direction = FRIBIDI_PAR_ON;
        fribidi_get_bidi_types(text->characters + start, count, types);
        fribidi_get_bracket_types(text->characters + start, count, types, brackets);
        most = fribidi_get_par_embedding_levels_ex(types, brackets, count, &direction, text->levels + start);
    }
    free(types);
    free(brackets);
    return most > 0 ? MINILAB_TEXT_OK : MINILAB_TEXT_MEMORY;
}

struct run {
    size_t start, end;
    FriBidiLevel level;
};

static int add_glyph(struct layout *layout, struct minilab_text_glyph glyph) {
    if (layout->glyph_count >= glyphs_max) return MINILAB_TEXT_TOO_LARGE;
    if (layout->glyph_count == layout->glyph_room) {
        size_t room = layout->glyph_room ? 2 * layout->glyph_room : 128;
        struct minilab_text_glyph *glyphs = realloc(layout->glyphs, room * sizeof *glyphs);
        if (!glyphs) return MINILAB_TEXT_MEMORY;
        layout->glyphs = glyphs;
        layout->glyph_room = room;
    }
    layout->glyphs[layout->glyph_count++] = glyph;
    return MINILAB_TEXT_OK;
}

// Shapes a run and appends its glyphs at a pen, which moves on.
static int shape_run(struct shaper *shaper, const struct text *text, struct run run, int64_t *pen) {
    hb_buffer_t *buffer = shaper->buffer;
    int font = text->fonts[run.start];
    hb_buffer_clear_contents(buffer);
    hb_buffer_add_utf32(
        buffer, text->characters, (int)text->count, (unsigned)run.start, (int)(run.end - run.start));
    hb_buffer_set_direction(buffer, run.level & 1 ? HB_DIRECTION_RTL : HB_DIRECTION_LTR);
    hb_buffer_set_script(buffer, text->scripts[run.start]);
    hb_buffer_set_language(buffer, shaper->language);
    hb_shape(shaper->fonts[font].font, buffer, NULL, 0);
    if (!hb_buffer_allocation_successful(buffer)) return MINILAB_TEXT_MEMORY;
    unsigned count = 0;
    const hb_glyph_info_t *infos = hb_buffer_get_glyph_infos(buffer, &count);
    const hb_glyph_position_t *positions = hb_buffer_get_glyph_positions(buffer, &count);
    for (unsigned i = 0; i < count; i++) {
        uint32_t cluster = infos[i].cluster;
        if (infos[i].codepoint == 0 || !font_is_plain(&shaper->fonts[font], infos[i].codepoint)) {
            shaper->layout->missing = cluster < text->count ? text->characters[cluster] : 0;
            return MINILAB_TEXT_MISSING;
        }
        int64_t x = *pen + positions[i].x_offset, y = positions[i].y_offset;
        *pen += positions[i].x_advance;
        if (llabs(x) > place_max || llabs(y) > place_max || llabs(*pen) > place_max) return MINILAB_TEXT_TOO_LARGE;
        int status = add_glyph(
            shaper->layout,
            (struct minilab_text_glyph){
                .glyph = infos[i].codepoint, .cluster = cluster, .font = font, .line = shaper->layout->lines,
                .x = (int32_t)x, .y = (int32_t)y, .advance = positions[i].x_advance});
        if (status) return status;
    }
    return MINILAB_TEXT_OK;
}

static void reverse(struct run *runs, size_t first, size_t end) {
    for (; first + 1 < end; first++, end--) {
        struct run run = runs[first];
        runs[first] = runs[end - 1];
        runs[end - 1] = run;
    }
}

// Shapes characters as one line, in visual order (UAX 9, L2), and returns its width.
static int shape_line(struct shaper *shaper, const struct text *text, size_t start, size_t end, int64_t *width) {
    *width = 0;
    if (start >= end) return MINILAB_TEXT_OK;
    struct run *runs = calloc(end - start, sizeof *runs);
    if (!runs) return MINILAB_TEXT_MEMORY;
    size_t count = 0;
    int most = 0;
    for (size_t i = start; i < end; i++) {
        int is_same = i > start && text->levels[i] == text->levels[i - 1] && text->fonts[i] == text->fonts[i - 1]
            && text->scripts[i] == text->scripts[i - 1];
        if (!is_same) runs[count++] = (struct run){i, i, text->levels[i]};
        runs[count - 1].end = i + 1;
        if (text->levels[i] > most) most = text->levels[i];
    }
    for (int level = most; level > 0; level--)
        for (size_t i = 0; i < count; i++) {
            if (runs[i].level < level) continue;
            size_t last = i;
            while (last < count && runs[last].level >= level) last++;
            reverse(runs, i, last);
            i = last;
        }
    int status = MINILAB_TEXT_OK;
    for (size_t i = 0; i < count && !status; i++) status = shape_run(shaper, text, runs[i], width);
    free(runs);
    return status;
}

static int is_space(uint32_t c) { return c == ' ' || c == 0x3000 || (c >= 0x2000 && c <= 0x200A); }

// A line without the spaces at its end.
static size_t trimmed(const struct text *text, size_t start, size_t end) {
    while (end > start && is_space(text->characters[end - 1])) end--;
    return end;
}

// Appends the first line of the characters and returns in `next` where it ends: everything, or up to the last place of a break, or
// else of a cluster, that leaves it narrow enough.
static int add_line(struct shaper *shaper, const struct text *text, size_t start, size_t end, size_t *next) {
    size_t before = shaper->layout->glyph_count, best = 0;
    int64_t width = 0;
    int status = shape_line(shaper, text, start, trimmed(text, start, end), &width);
    *next = end;
    if (status) return status;
    if (shaper->max_width && width > shaper->max_width) {
        for (int by_cluster = 0; by_cluster < 2 && !best; by_cluster++)
            for (size_t at = start + 1; at < end; at++) {
                if (!(by_cluster ? text->breaks[at].is_cursor_position : text->breaks[at].is_line_break)) continue;
                shaper->layout->glyph_count = before;
                status = shape_line(shaper, text, start, trimmed(text, start, at), &width);
                if (status) return status;
                if (width > shaper->max_width) break;
                best = at;
            }
        // A single cluster that is too wide has a line of its own.
        *next = best ? best : cluster_end(text, start);
        if (*next > end) *next = end;
        shaper->layout->glyph_count = before;
        status = shape_line(shaper, text, start, trimmed(text, start, *next), &width);
        if (status) return status;
    }
    if (width > shaper->layout->width) shaper->layout->width = width;
    // Aligned when the widest line is known; until then a glyph's y counts from its baseline.
    shaper->layout->lines++;
    return MINILAB_TEXT_OK;
}

// Lays out all paragraphs; `rest` is where the lines that are too many begin.
static int add_lines(struct shaper *shaper, struct text *text, size_t *rest) {
    *rest = text->count;
    size_t start = 0;
    do {
        size_t end = start;
        while (end < text->count && text->characters[end] != '\n') end++;
        int status = find_levels(text, start, end);
        if (status) return status;
        size_t at = start;
        do {
            if (shaper->layout->lines == shaper->job->lines_max) {
                *rest = at;
                return MINILAB_TEXT_OVERFLOW;
            }
            size_t next = end;
            status = add_line(shaper, text, at, end, &next);
            if (status) return status;
            at = next;
            while (at < end && is_space(text->characters[at])) at++;
        } while (at < end);
        start = end + 1;
    } while (start <= text->count && text->count > 0);
    return MINILAB_TEXT_OK;
}

static void restart(struct layout *layout) {
    layout->glyph_count = 0;
    layout->lines = 0;
    layout->width = 0;
}

// Prepares characters and lays them out.
static int lay_out(struct shaper *shaper, struct text *text, size_t *rest) {
    int status = find_breaks(shaper, text);
    if (!status) status = choose_fonts(shaper, text);
    if (status) return status;
    find_scripts(text);
    return add_lines(shaper, text, rest);
}

// Cuts a text of too many lines: as many clusters as fit, and an ellipsis, or three full stops where no font has one.
static int cut(struct shaper *shaper, const struct text *text, size_t rest) {
    int has_ellipsis = 0;
    for (size_t i = 0; i < shaper->job->font_count; i++) has_ellipsis |= font_has(&shaper->fonts[i], ellipsis);
    const size_t dots = has_ellipsis ? 1 : 3;
    for (size_t kept = rest; kept > 0; kept--) {
        if (kept < rest && !text->breaks[kept].is_cursor_position) continue;
        struct text shorter = {0};
        if (!text_room(&shorter, text->count + dots)) {
            text_free(&shorter);
            return MINILAB_TEXT_MEMORY;
        }
        size_t end = kept;
        while (end > 0 && (is_space(text->characters[end - 1]) || text->characters[end - 1] == '\n')) end--;
        memcpy(shorter.characters, text->characters, end * sizeof *text->characters);
        for (size_t i = 0; i < dots; i++) shorter.characters[end + i] = has_ellipsis ? ellipsis : '.';
        shorter.count = end + dots;
        restart(shaper->layout);
        size_t over = 0;
        int status = lay_out(shaper, &shorter, &over);
        text_free(&shorter);
        if (status != MINILAB_TEXT_OVERFLOW) {
            shaper->layout->is_cut = 1;
            return status;
        }
    }
    return MINILAB_TEXT_OVERFLOW;
}

static void widen(struct measures *line, const struct measures *font) {
    if (font->ascent > line->ascent) line->ascent = font->ascent;
    if (font->descent < line->descent) line->descent = font->descent;
    if (font->gap > line->gap) line->gap = font->gap;
}

// Moves glyphs from their lines into the box. A line is as high as the first font and those that draw in it, as in CSS 2.1 §10.8.1.
static int place(struct shaper *shaper) {
    struct layout *layout = shaper->layout;
    struct measures *lines = calloc((size_t)layout->lines + 1, sizeof *lines);
    int64_t *baselines = calloc((size_t)layout->lines + 1, sizeof *baselines);
    int status = lines && baselines ? MINILAB_TEXT_OK : MINILAB_TEXT_MEMORY;
    for (int line = 0; line < layout->lines && !status; line++) lines[line] = shaper->measures[0];
    for (size_t i = 0; i < layout->glyph_count && !status; i++)
        widen(&lines[layout->glyphs[i].line], &shaper->measures[layout->glyphs[i].font]);
    int64_t top = 0;
    for (int line = 0; line < layout->lines && !status; line++) {
        baselines[line] = top + lines[line].ascent;
        layout->height = baselines[line] - lines[line].descent;
        top = layout->height + lines[line].gap;
    }
    for (size_t first = 0, end; first < layout->glyph_count && !status; first = end) {
        int line = layout->glyphs[first].line;
        int64_t width = 0;
        for (end = first; end < layout->glyph_count && layout->glyphs[end].line == line; end++)
            width += layout->glyphs[end].advance;
        int64_t spare = layout->width - width;
        int32_t right = (int32_t)(shaper->job->align == 0 ? 0 : shaper->job->align == 1 ? spare / 2 : spare);
        for (size_t i = first; i < end; i++) {
            layout->glyphs[i].x += right;
            layout->glyphs[i].y -= (int32_t)baselines[line];
        }
    }
    free(lines);
    free(baselines);
    return status;
}

// Reads the measures of a font; 0 if they are absurd: no real font is taller than eight ems.
static int measure(const struct font *font, int32_t size, struct measures *measures) {
    hb_font_extents_t extents;
    if (!hb_font_get_h_extents(font->font, &extents)) {
        extents.ascender = size;
        extents.descender = extents.line_gap = 0;
    }
    int64_t height = (int64_t)extents.ascender - extents.descender, most = 8 * (int64_t)size;
    int32_t gap = extents.line_gap > 0 ? extents.line_gap : 0;
    if (height <= 0 || height > most || llabs((long long)extents.ascender) > most || gap > most) return 0;
    // Baselines lie on whole pixels, as Pango has them: feet of letters stay sharp.
    *measures = (struct measures){(extents.ascender + 63) & ~63, extents.descender & ~63, (gap + 63) & ~63};
    return 1;
}

static int lay_out_measured(
    const struct minilab_text_job *job, struct font *fonts, struct measures *measures, int32_t max_width,
    struct layout *layout) {
    struct text text = {0};
    struct shaper shaper = {
        .job = job, .fonts = fonts, .measures = measures, .max_width = max_width, .layout = layout};
    glong count = 0;
    gunichar *characters = g_utf8_to_ucs4_fast(job->text, (glong)job->text_count, &count);
    shaper.buffer = hb_buffer_create();
    shaper.language = job->language ? hb_language_from_string(job->language, -1) : HB_LANGUAGE_INVALID;
    int status = MINILAB_TEXT_MEMORY;
    restart(layout);
    if (characters && text_room(&text, (size_t)count)) {
        memcpy(text.characters, characters, (size_t)count * sizeof *characters);
        text.count = (size_t)count;
        size_t rest = 0;
        status = lay_out(&shaper, &text, &rest);
        if (status == MINILAB_TEXT_OVERFLOW && job->may_cut) status = cut(&shaper, &text, rest);
        if (!status) status = place(&shaper);
    }
    g_free(characters);
    hb_buffer_destroy(shaper.buffer);
    text_free(&text);
    return status;
}

int layout_text(
    const struct minilab_text_job *job, struct font *fonts, int32_t size, int32_t max_width, struct layout *layout) {
    struct measures *measures = calloc(job->font_count, sizeof *measures);
    if (!measures) return MINILAB_TEXT_MEMORY;
    int status = MINILAB_TEXT_OK;
    for (size_t i = 0; i < job->font_count && !status; i++) {
        hb_font_set_scale(fonts[i].font, size, size);
        if (!measure(&fonts[i], size, &measures[i])) {
            layout->bad_font = i;
            status = MINILAB_TEXT_BAD_FONT;
        }
    }
    if (!status) status = lay_out_measured(job, fonts, measures, max_width, layout);
    free(measures);
    return status;
}

void layout_free(struct layout *layout) {
    free(layout->glyphs);
    memset(layout, 0, sizeof *layout);
}
