#include "minilab_vips_losses.h"

#include <glib.h>
#include <string.h>

static GMutex lock;
static char first[256];

// What libjpeg says of damage (jerror.h), but for bytes between two segments, which cost no pixel; and what libvips says of memory.
static int is_loss(const char *text) {
    static const char *const starts[] = {
        "Corrupt JPEG data", "Premature end of JPEG", "Inconsistent progression", "Invalid SOS parameters", "out of memory",
    };
    if (strstr(text, "extraneous bytes")) return 0;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(text, starts[i], strlen(starts[i])) == 0) return 1;
    return 0;
}

// Keeps a text of at most `length` bytes, if it is the first one of a loss.
static void note(const char *text, size_t length) {
    g_mutex_lock(&lock);
    if (!first[0] && is_loss(text)) g_strlcpy(first, text, MIN(length + 1, sizeof first));
    g_mutex_unlock(&lock);
}

static void on_warning(const gchar *domain, GLogLevelFlags level, const gchar *text, gpointer unused) {
    note(text, strlen(text));
    g_log_default_handler(domain, level, text, unused);
}

void minilab_vips_note_losses(void) { g_log_set_handler("VIPS", G_LOG_LEVEL_WARNING, on_warning, NULL); }

void minilab_vips_note_errors(const char *errors) {
    static const char domain[] = "VipsJpeg: ";
    for (const char *line = errors; *line;) {
        size_t length = strcspn(line, "\n");
        if (strncmp(line, domain, strlen(domain)) == 0)
            note(line + strlen(domain), length - strlen(domain));
        line += length + (line[length] != 0);
    }
}

int minilab_vips_take_loss(char *text, size_t bytes) {
    g_mutex_lock(&lock);
    int is_there = first[0] != 0;
    g_strlcpy(text, first, bytes);
    first[0] = 0;
    g_mutex_unlock(&lock);
    return is_there;
}
