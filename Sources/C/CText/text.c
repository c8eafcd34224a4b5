#include <math.h>
#include <pango/pango.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"
#include "minilab_text.h"
#include "raster.h"

enum {
    // A text is laid out again while its box does not fit: once, and again where smaller letters break otherwise.
    tries_max = 8,
    size_min = 64,
};

int minilab_text_prepare(void) {
    static const char thai[] = "ไทย";
    PangoLogAttr breaks[4];
    pango_get_log_attrs(thai, sizeof thai - 1, -1, pango_language_from_string("th"), breaks, 4);
    return raster_prepare();
}

const char *minilab_text_harfbuzz(void) { return hb_version_string(); }

void minilab_text_freetype(int *major, int *minor, int *patch) { raster_version(major, minor, patch); }

static int32_t reduced(int32_t length, double factor) { return (int32_t)floor(length * factor); }

// Lays out in a box of at most the job's sides: all lengths shrink together.
static int fit(const struct minilab_text_job *job, struct font *fonts, struct layout *layout, double *factor) {
    *factor = 1;
    int status = MINILAB_TEXT_OK;
    for (int i = 0; i < tries_max; i++) {
        int32_t size = reduced(job->size, *factor), width = 0, height = 0;
        if (size < size_min) size = size_min;
        int32_t max_width = reduced(job->max_width, *factor);
        status = layout_text(job, fonts, size, job->max_width && max_width < 1 ? 1 : max_width, layout);
        if (status) return status;
        raster_box(layout, job->turn, &width, &height);
        double needed = fmin((double)job->within_width / width, (double)job->within_height / height);
        if (needed >= 1 || size == size_min) break;
        // Boxes are whole pixels: a little less fits surely.
        *factor *= needed < 0.999 ? needed * 0.9995 : needed * 0.995;
    }
    return status;
}

int minilab_text_draw(const struct minilab_text_job *job, struct minilab_text_drawing *drawing) {
    memset(drawing, 0, sizeof *drawing);
    struct font *fonts = calloc(job->font_count, sizeof *fonts);
    struct layout layout = {0};
    double factor = 1;
    int status = fonts ? MINILAB_TEXT_OK : MINILAB_TEXT_MEMORY;
    for (size_t i = 0; i < job->font_count && !status; i++)
        if (!font_open(&job->fonts[i], &fonts[i])) {
            drawing->bad_font = i;
            status = MINILAB_TEXT_BAD_FONT;
        }
    if (!status) {
        status = fit(job, fonts, &layout, &factor);
        if (status == MINILAB_TEXT_BAD_FONT) drawing->bad_font = layout.bad_font;
    }
    if (!status) status = raster_text(job, fonts, &layout, reduced(job->stroke, factor), drawing);
    drawing->missing = layout.missing;
    drawing->size = reduced(job->size, factor) < size_min ? size_min : reduced(job->size, factor);
    drawing->lines = layout.lines;
    drawing->is_cut = layout.is_cut;
    drawing->is_skipped = layout.is_skipped;
    for (size_t i = 0; i < layout.glyph_count; i++)
        if (fonts[layout.glyphs[i].font].is_restricted) drawing->is_restricted = 1;
    drawing->glyphs = layout.glyphs;
    drawing->glyph_count = layout.glyph_count;
    layout.glyphs = NULL;
    layout_free(&layout);
    for (size_t i = 0; fonts && i < job->font_count; i++) font_close(&fonts[i]);
    free(fonts);
    return status;
}

void minilab_text_free(struct minilab_text_drawing *drawing) {
    free(drawing->fill);
    free(drawing->outer);
    free(drawing->glyphs);
    memset(drawing, 0, sizeof *drawing);
}
