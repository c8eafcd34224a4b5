// Macros and variadic functions of libvips and GObject, which Swift cannot import, one line each. Names start with minilab_. No
// logic belongs here.
#include <gmodule.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <vips/vips.h>

static inline int minilab_vips_init(const char *name) { return vips_init(name); }

// If GLib runs out of memory or threads, it prints a line and traps; this makes the process exit with a code instead.
static void minilab_glib_error(
    const gchar *domain, GLogLevelFlags level, const gchar *text, gpointer exit_code
) {
    if (strstr(text, "failed to allocate") || strstr(text, "creating thread"))
        _exit(GPOINTER_TO_INT(exit_code));
    g_log_default_handler(domain, level, text, NULL);
}
static inline void minilab_on_glib_error(int exit_code) {
    g_log_set_handler(
        "GLib", G_LOG_LEVEL_ERROR | G_LOG_FLAG_FATAL | G_LOG_FLAG_RECURSION, minilab_glib_error,
        GINT_TO_POINTER(exit_code));
}

// libvips reads its tuning options only from a command line: this passes one.
static inline gboolean minilab_vips_options(gchar ***arguments, GError **error) {
    GOptionContext *context = g_option_context_new(NULL);
    GOptionGroup *group = g_option_group_new("vips", "libvips", "libvips", NULL, NULL);
    vips_add_option_entries(group);
    g_option_context_set_main_group(context, group);
    gboolean good = g_option_context_parse_strv(context, arguments, error);
    g_option_context_free(context);
    return good;
}

static inline GParamSpec *minilab_argument(VipsOperation *operation, const char *name) {
    return g_object_class_find_property(G_OBJECT_GET_CLASS(operation), name);
}
static inline gboolean minilab_is_blocked(VipsOperation *operation) {
    return (VIPS_OPERATION_GET_CLASS(operation)->flags & VIPS_OPERATION_BLOCKED) != 0;
}
static inline GType minilab_spec_type(GParamSpec *spec) { return G_PARAM_SPEC_VALUE_TYPE(spec); }
static inline gboolean minilab_is_enum(GType type) { return G_TYPE_IS_ENUM(type); }
static inline gboolean minilab_is_flags(GType type) { return G_TYPE_IS_FLAGS(type); }
static inline gboolean minilab_is_boolean(GType type) { return type == G_TYPE_BOOLEAN; }
static inline gboolean minilab_is_int(GType type) { return type == G_TYPE_INT; }
static inline gboolean minilab_is_double(GType type) { return type == G_TYPE_DOUBLE; }
static inline gboolean minilab_is_string(GType type) { return type == G_TYPE_STRING; }
static inline gboolean minilab_is_image(GType type) { return type == VIPS_TYPE_IMAGE; }
static inline gboolean minilab_is_connection(GType type) { return g_type_is_a(type, VIPS_TYPE_CONNECTION); }
static inline gboolean minilab_is_images(GType type) { return type == VIPS_TYPE_ARRAY_IMAGE; }
static inline gboolean minilab_is_doubles(GType type) { return type == VIPS_TYPE_ARRAY_DOUBLE; }

static inline GObject *minilab_object(void *instance) { return G_OBJECT(instance); }
static inline VipsObject *minilab_vips_object(void *instance) { return VIPS_OBJECT(instance); }

static inline GType minilab_band_format_type(void) { return VIPS_TYPE_BAND_FORMAT; }
static inline GType minilab_interpretation_type(void) { return VIPS_TYPE_INTERPRETATION; }

static inline int minilab_pipeline(VipsImage *out, VipsDemandStyle hint, VipsImage *in) {
    return vips_image_pipelinev(out, hint, in, NULL);
}
static inline void minilab_error(const char *text) { vips_error("minilab", "%s", text); }
static inline VipsPel *minilab_region_address(VipsRegion *region, int x, int y) {
    return VIPS_REGION_ADDR(region, x, y);
}
static inline size_t minilab_region_stride(VipsRegion *region) {
    return VIPS_REGION_LSKIP(region);
}
static inline size_t minilab_region_pixel(VipsRegion *region) {
    return VIPS_REGION_SIZEOF_PEL(region);
}

// Calls heif_init(), which returns a structure of these members. libvips' module brings libheif, so it is no link of ours.
struct minilab_heif_error {
    int code, subcode;
    const char *message;
};
static inline void minilab_heif_init(void *function) {
    ((struct minilab_heif_error (*)(void *)) function)(NULL);
}

// dladdr(3), which Swift does not import: finds the file that contains a function.
struct minilab_symbol {
    const char *file;
    void *base;
    const char *name;
    void *address;
};
int minilab_find_symbol(const void *address, struct minilab_symbol *found) __asm__("dladdr");
