#include "CVipsFiles.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vips/vips.h>

typedef struct {
    VipsSource parent;
    gint64 offset;
} MinilabSource;

typedef struct {
    VipsSourceClass parent;
} MinilabSourceClass;

GType minilab_source_get_type(void);
G_DEFINE_TYPE(MinilabSource, minilab_source, VIPS_TYPE_SOURCE)

static gint64 read_on(VipsSource *source, void *bytes, size_t count) {
    MinilabSource *self = (MinilabSource *) source;
    ssize_t done;
    do done = pread(VIPS_CONNECTION(source)->descriptor, bytes, count, self->offset);
    while (done < 0 && errno == EINTR);
    if (done > 0) self->offset += done;
    return done;
}

static gint64 seek(VipsSource *source, gint64 offset, int whence) {
    MinilabSource *self = (MinilabSource *) source;
    gint64 from = 0;
    if (whence == SEEK_CUR) from = self->offset;
    if (whence == SEEK_END) {
        struct stat status;
        if (fstat(VIPS_CONNECTION(source)->descriptor, &status) != 0) return -1;
        from = status.st_size;
    }
    if (offset < -from) {
        errno = EINVAL;
        return -1;
    }
    self->offset = from + offset;
    return self->offset;
}

static void minilab_source_class_init(MinilabSourceClass *class) {
    G_OBJECT_CLASS(class)->set_property = vips_object_set_property;
    G_OBJECT_CLASS(class)->get_property = vips_object_get_property;
    VIPS_OBJECT_CLASS(class)->nickname = "minilab_source";
    VIPS_OBJECT_CLASS(class)->description = "an open file, read at an offset of its own";
    VIPS_SOURCE_CLASS(class)->read = read_on;
    VIPS_SOURCE_CLASS(class)->seek = seek;
}

static void minilab_source_init(MinilabSource *source) { (void) source; }

void *minilab_source_new(int descriptor) {
    VipsSource *source = g_object_new(minilab_source_get_type(), "descriptor", descriptor, NULL);
    if (vips_object_build(VIPS_OBJECT(source)) == 0) return source;
    g_object_unref(source);
    return NULL;
}
