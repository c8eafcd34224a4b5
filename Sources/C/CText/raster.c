#include "raster.h"

#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_OUTLINE_H
#include FT_STROKER_H
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    // The points of a text's outlines: the densest fonts have 600 a glyph. FreeType counts those of a glyph in 15 bits.
    points_max = 1 << 20,
    glyph_points_max = 32767,
    // The farthest point, in 1/64 pixel: FreeType's rasteriser takes 2^15 pixels to a side.
    point_max = 1 << 21,
};

static FT_Library library;

int raster_prepare(void) { return library || FT_Init_FreeType(&library) == 0; }

void raster_version(int *major, int *minor, int *patch) {
    *major = *minor = *patch = 0;
    if (raster_prepare()) FT_Library_Version(library, major, minor, patch);
}

// Outlines of glyphs, one after the other.
struct outlines {
    FT_Vector *points;
    char *tags;
    size_t count, room;
    // For each contour the number of points of its glyph up to its end.
    short *ends;
    size_t contours, contour_room;
    // Where a glyph's points and contours begin.
    size_t glyph_start, contour_start;
    // The transform of the glyph: a turn, and where its origin lies, in 1/64 pixel.
    double cosine, sine, x, y;
    int status, is_open;
};

static void fail(struct outlines *outlines, int status) {
    if (!outlines->status) outlines->status = status;
}

static void *grown(void *old, size_t *room, size_t size) {
    size_t more = *room ? 2 * *room : 1024;
    void *grown = realloc(old, more * size);
    if (grown) *room = more;
    return grown;
}

static void add_point(struct outlines *o, float x, float y, char tag) {
    if (o->status) return;
    if (o->count >= points_max || o->count - o->glyph_start >= glyph_points_max)
        return fail(o, MINILAB_TEXT_TOO_LARGE);
    if (o->count == o->room) {
        size_t room = o->room;
        FT_Vector *points = grown(o->points, &room, sizeof *points);
        if (!points) return fail(o, MINILAB_TEXT_MEMORY);
        o->points = points;
        char *tags = realloc(o->tags, room);
        if (!tags) return fail(o, MINILAB_TEXT_MEMORY);
        o->tags = tags;
        o->room = room;
    }
    double right = o->x + o->cosine * x - o->sine * y, up = o->y + o->sine * x + o->cosine * y;
    if (!(fabs(right) < point_max && fabs(up) < point_max)) return fail(o, MINILAB_TEXT_TOO_LARGE);
    o->points[o->count] = (FT_Vector){lround(right), lround(up)};
    o->tags[o->count++] = tag;
}

static void end_contour(struct outlines *o) {
    if (o->status || !o->is_open) return;
    o->is_open = 0;
    if (o->contours == o->contour_room) {
        short *ends = grown(o->ends, &o->contour_room, sizeof *ends);
        if (!ends) return fail(o, MINILAB_TEXT_MEMORY);
        o->ends = ends;
    }
    o->ends[o->contours++] = (short)(o->count - o->glyph_start - 1);
}

static void move_to(hb_draw_funcs_t *f, void *data, hb_draw_state_t *s, float x, float y, void *u) {
    struct outlines *o = data;
    end_contour(o);
    o->is_open = 1;
    add_point(o, x, y, FT_CURVE_TAG_ON);
}

static void line_to(hb_draw_funcs_t *f, void *data, hb_draw_state_t *s, float x, float y, void *u) {
    add_point(data, x, y, FT_CURVE_TAG_ON);
}

static void quadratic_to(
    hb_draw_funcs_t *f, void *data, hb_draw_state_t *s, float cx, float cy, float x, float y, void *u) {
    add_point(data, cx, cy, FT_CURVE_TAG_CONIC);
    add_point(data, x, y, FT_CURVE_TAG_ON);
}

static void cubic_to(
    hb_draw_funcs_t *f, void *data, hb_draw_state_t *s, float ax, float ay, float bx, float by, float x, float y,
    void *u) {
    add_point(data, ax, ay, FT_CURVE_TAG_CUBIC);
    add_point(data, bx, by, FT_CURVE_TAG_CUBIC);
    add_point(data, x, y, FT_CURVE_TAG_ON);
}

static void close_path(hb_draw_funcs_t *f, void *data, hb_draw_state_t *s, void *u) { end_contour(data); }

static hb_draw_funcs_t *drawing_functions(void) {
    hb_draw_funcs_t *functions = hb_draw_funcs_create();
    hb_draw_funcs_set_move_to_func(functions, move_to, NULL, NULL);
    hb_draw_funcs_set_line_to_func(functions, line_to, NULL, NULL);
    hb_draw_funcs_set_quadratic_to_func(functions, quadratic_to, NULL, NULL);
    hb_draw_funcs_set_cubic_to_func(functions, cubic_to, NULL, NULL);
    hb_draw_funcs_set_close_path_func(functions, close_path, NULL, NULL);
    return functions;
}

static void draw_glyph(hb_font_t *font, hb_codepoint_t glyph, hb_draw_funcs_t *functions, struct outlines *o) {
#if HB_VERSION_ATLEAST(7, 0, 0)
    hb_font_draw_glyph(font, glyph, functions, o);
#else
    hb_font_get_glyph_shape(font, glyph, functions, o);
#endif
    end_contour(o);
}

// Rows of coverage, from the top; one glyph is added to what is there.
struct plane {
    uint8_t *bytes;
    int64_t width, height;
    // How coverage is added: parts of one shape add up, and shapes that overlap do not.
    int is_sum;
};

static void add_spans(int y, int count, const FT_Span *spans, void *data) {
    struct plane *plane = data;
    if (y < 0 || y >= plane->height) return;
    uint8_t *row = plane->bytes + (plane->height - 1 - y) * plane->width;
    for (int i = 0; i < count; i++) {
        int64_t first = spans[i].x, end = first + spans[i].len;
        int more = spans[i].coverage;
        for (int64_t x = first < 0 ? 0 : first; x < end && x < plane->width; x++) {
            int old = row[x], sum = plane->is_sum ? old + more : old + more - (old * more + 127) / 255;
            row[x] = (uint8_t)(sum > 255 ? 255 : sum);
        }
    }
}

static int fill(FT_Outline *outline, struct plane *plane) {
    FT_Raster_Params params = {0};
    params.flags = FT_RASTER_FLAG_AA | FT_RASTER_FLAG_DIRECT | FT_RASTER_FLAG_CLIP;
    params.gray_spans = add_spans;
    params.user = plane;
    params.clip_box = (FT_BBox){0, 0, plane->width, plane->height};
    FT_Error error = FT_Outline_Render(library, outline, &params);
    // An outline that FreeType calls invalid has no area.
    return error == 0x40 ? MINILAB_TEXT_MEMORY : MINILAB_TEXT_OK;
}

// Adds what lies within a distance of an outline, and the outline itself. The scratch is empty before and after.
static int fill_around(FT_Outline *outline, FT_Stroker stroker, struct plane *plane, struct plane *scratch) {
    FT_UInt points = 0, contours = 0;
    FT_Outline ring;
    FT_BBox box;
    // An outline that FreeType calls invalid has no stroke.
    if (FT_Stroker_ParseOutline(stroker, outline, 0)) return MINILAB_TEXT_OK;
    if (FT_Stroker_GetCounts(stroker, &points, &contours) || points == 0) return MINILAB_TEXT_OK;
    if (points > glyph_points_max || contours > glyph_points_max) return MINILAB_TEXT_TOO_LARGE;
    if (FT_Outline_New(library, points, (FT_Int)contours, &ring)) return MINILAB_TEXT_MEMORY;
    ring.n_points = ring.n_contours = 0;
    FT_Stroker_Export(stroker, &ring);
    FT_Outline_Get_CBox(&ring, &box);
    int status = fill(&ring, scratch);
    FT_Outline_Done(library, &ring);
    if (!status) status = fill(outline, scratch);
    int64_t left = box.xMin >> 6, right = (box.xMax >> 6) + 1, bottom = box.yMin >> 6, top = (box.yMax >> 6) + 1;
    if (left < 0) left = 0;
    if (right > plane->width) right = plane->width;
    for (int64_t y = plane->height - top; y < plane->height - bottom; y++) {
        if (y < 0 || y >= plane->height) continue;
        uint8_t *row = plane->bytes + y * plane->width, *added = scratch->bytes + y * plane->width;
        for (int64_t x = left; x < right; x++) {
            int old = row[x], more = added[x];
            row[x] = (uint8_t)(old + more - (old * more + 127) / 255);
            added[x] = 0;
        }
    }
    return status;
}

// Which points and contours are of a glyph.
struct span {
    size_t point, contour, points, contours;
};

static FT_Outline outline_of(const struct outlines *o, struct span span) {
    FT_Outline outline = {0};
    outline.n_points = (__typeof__(outline.n_points))span.points;
    outline.n_contours = (__typeof__(outline.n_contours))span.contours;
    outline.points = o->points + span.point;
    outline.tags = (__typeof__(outline.tags))(o->tags + span.point);
    outline.contours = (__typeof__(outline.contours))(o->ends + span.contour);
    return outline;
}

static void turned(double turn, double *cosine, double *sine) {
    double quarter = fmod(turn, 360) / 90;
    // Quarter turns are exact.
    if (quarter == floor(quarter)) {
        static const int cosines[] = {1, 0, -1, 0};
        int q = ((int)quarter % 4 + 4) % 4;
        *cosine = cosines[q];
        *sine = cosines[(q + 3) % 4];
    } else {
        *cosine = cos(turn * M_PI / 180);
        *sine = sin(turn * M_PI / 180);
    }
}

static int64_t pixels(double length) { return (int64_t)ceil(length - 1e-9); }

void raster_box(const struct layout *layout, double turn, int32_t *width, int32_t *height) {
    double cosine, sine;
    turned(turn, &cosine, &sine);
    double w = (double)((layout->width + 63) / 64), h = (double)((layout->height + 63) / 64);
    *width = (int32_t)pixels(w * fabs(cosine) + h * fabs(sine));
    *height = (int32_t)pixels(w * fabs(sine) + h * fabs(cosine));
    if (*width < 1) *width = 1;
    if (*height < 1) *height = 1;
}

// Draws all glyphs' outlines into the arena, in 1/64 pixel from the lower left corner of the box.
static int outline_all(
    const struct font *fonts, const struct layout *layout, double turn, int32_t width, int32_t height,
    struct outlines *o, struct span *spans) {
    turned(turn, &o->cosine, &o->sine);
    double middle_x = 32.0 * (double)((layout->width + 63) / 64), middle_y = 32.0 * (double)((layout->height + 63) / 64);
    double top = 2 * middle_y;
    hb_draw_funcs_t *functions = drawing_functions();
    for (size_t i = 0; i < layout->glyph_count && !o->status; i++) {
        const struct minilab_text_glyph *glyph = &layout->glyphs[i];
        double x = glyph->x - middle_x, y = top + glyph->y - middle_y;
        o->x = 32.0 * width + o->cosine * x - o->sine * y;
        o->y = 32.0 * height + o->sine * x + o->cosine * y;
        o->glyph_start = o->count;
        o->contour_start = o->contours;
        draw_glyph(fonts[glyph->font].font, glyph->glyph, functions, o);
        spans[i] = (struct span){
            o->glyph_start, o->contour_start, o->count - o->glyph_start, o->contours - o->contour_start};
    }
    hb_draw_funcs_destroy(functions);
    return o->status;
}

static int rasterise(
    struct outlines *o, const struct span *spans, size_t count, int32_t stroke, struct minilab_text_drawing *drawing) {
    size_t room = (size_t)drawing->width * (size_t)drawing->height;
    struct plane plane = {calloc(room, 1), drawing->width, drawing->height, 1};
    drawing->fill = plane.bytes;
    if (!plane.bytes) return MINILAB_TEXT_MEMORY;
    int status = MINILAB_TEXT_OK;
    for (size_t i = 0; i < count && !status; i++) {
        FT_Outline outline = outline_of(o, spans[i]);
        if (spans[i].contours) status = fill(&outline, &plane);
    }
    if (status || stroke <= 0) return status;
    struct plane outer = {calloc(room, 1), drawing->width, drawing->height, 0};
    struct plane scratch = {calloc(room, 1), drawing->width, drawing->height, 1};
    drawing->outer = outer.bytes;
    FT_Stroker stroker = NULL;
    if (!outer.bytes || !scratch.bytes || FT_Stroker_New(library, &stroker)) status = MINILAB_TEXT_MEMORY;
    else FT_Stroker_Set(stroker, stroke, FT_STROKER_LINECAP_ROUND, FT_STROKER_LINEJOIN_ROUND, 0);
    for (size_t i = 0; i < count && !status; i++) {
        FT_Outline outline = outline_of(o, spans[i]);
        if (spans[i].contours) status = fill_around(&outline, stroker, &outer, &scratch);
    }
    if (stroker) FT_Stroker_Done(stroker);
    free(scratch.bytes);
    return status;
}

// Moves the outlines to the lower left corner of their own rectangle, which becomes the coverage's.
static int frame(
    struct outlines *o, int32_t stroke, int64_t pixels_max, struct minilab_text_drawing *drawing) {
    FT_Pos left = point_max, bottom = point_max, right = -point_max, top = -point_max;
    for (size_t i = 0; i < o->count; i++) {
        FT_Vector p = o->points[i];
        if (p.x < left) left = p.x;
        if (p.x > right) right = p.x;
        if (p.y < bottom) bottom = p.y;
        if (p.y > top) top = p.y;
    }
    left = (left - stroke) >> 6;
    bottom = (bottom - stroke) >> 6;
    right = (right + stroke + 63) >> 6;
    top = (top + stroke + 63) >> 6;
    if (right <= left || top <= bottom) return MINILAB_TEXT_OK;
    if ((int64_t)(right - left) * (top - bottom) > pixels_max) return MINILAB_TEXT_TOO_LARGE;
    drawing->left = (int32_t)left;
    drawing->top = (int32_t)(drawing->box_height - top);
    drawing->width = (int32_t)(right - left);
    drawing->height = (int32_t)(top - bottom);
    for (size_t i = 0; i < o->count; i++) {
        o->points[i].x -= 64 * left;
        o->points[i].y -= 64 * bottom;
    }
    return MINILAB_TEXT_OK;
}

int raster_text(
    const struct minilab_text_job *job, const struct font *fonts, const struct layout *layout, int32_t stroke,
    struct minilab_text_drawing *drawing) {
    struct outlines o = {0};
    struct span *spans = calloc(layout->glyph_count + 1, sizeof *spans);
    int status = spans && raster_prepare() ? MINILAB_TEXT_OK : MINILAB_TEXT_MEMORY;
    raster_box(layout, 0, &drawing->flat_width, &drawing->flat_height);
    raster_box(layout, job->turn, &drawing->box_width, &drawing->box_height);
    if (!status)
        status = outline_all(
            fonts, layout, job->turn, drawing->box_width, drawing->box_height, &o, spans);
    if (!status && o.count) status = frame(&o, stroke, job->pixels_max, drawing);
    if (!status && drawing->width) status = rasterise(&o, spans, layout->glyph_count, stroke, drawing);
    free(o.points);
    free(o.tags);
    free(o.ends);
    free(spans);
    return status;
}
