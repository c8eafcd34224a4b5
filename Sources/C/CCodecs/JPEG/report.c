#include "report.h"

#include <errno.h>
#include <string.h>

#include <jerror.h>

_Static_assert(MINILAB_JPEG_TEXT_MAX >= JMSG_LENGTH_MAX, "the library's texts fit");
_Static_assert(MINILAB_JPEG_GREY == (int) JCS_GRAYSCALE, "as in jpeglib.h");
_Static_assert(MINILAB_JPEG_RGB == (int) JCS_RGB, "as in jpeglib.h");
_Static_assert(MINILAB_JPEG_YCBCR == (int) JCS_YCbCr, "as in jpeglib.h");
_Static_assert(MINILAB_JPEG_CMYK == (int) JCS_CMYK, "as in jpeglib.h");
_Static_assert(MINILAB_JPEG_YCCK == (int) JCS_YCCK, "as in jpeglib.h");

#define QUOTED(text) #text
#define TEXT_OF(macro) QUOTED(macro)

const char *minilab_jpeg_version(void) { return TEXT_OF(LIBJPEG_TURBO_VERSION); }

static int status_of(int code) {
    switch (code) {
    case JERR_OUT_OF_MEMORY:
        return MINILAB_JPEG_OUT_OF_MEMORY;
    case JERR_FILE_READ:
        return MINILAB_JPEG_READ_FAILED;
    case JERR_FILE_WRITE:
        return MINILAB_JPEG_WRITE_FAILED;
    case JERR_SOF_UNSUPPORTED:
    case JERR_BAD_PRECISION:
    case JERR_ARITH_NOTIMPL:
    case JERR_CCIR601_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_COMPONENT_COUNT:
    case JERR_NOTIMPL:
    case JERR_NOT_COMPILED:
        return MINILAB_JPEG_UNSUPPORTED;
    case JERR_BAD_STATE:
    case JERR_BUFFER_SIZE:
    case JERR_BAD_IN_COLORSPACE:
    case JERR_BAD_J_COLORSPACE:
    case JERR_EMPTY_IMAGE:
        return MINILAB_JPEG_MISUSED;
    default:
        return MINILAB_JPEG_DAMAGED;
    }
}

_Noreturn static void leave(j_common_ptr object) {
    struct errors *errors = (struct errors *) object->err;
    object->err->format_message(object, errors->report.message);
    errors->report.status = status_of(object->err->msg_code);
    // A JPEG of 0 × 0 pixels that was read is invalid input.
    if (object->is_decompressor && object->err->msg_code == JERR_EMPTY_IMAGE)
        errors->report.status = MINILAB_JPEG_DAMAGED;
    longjmp(errors->jump, 1);
}

// The warnings of jerror.h, all of them: whether one loses no pixels. A code of a later version counts as lost pixels.
static bool is_harmless(int code) {
    switch (code) {
    // Deviations of many cameras: an Adobe marker or a JFIF version with an unusual number, scans in an unusual order, extra bytes
    // between segments, and parameters of a scan for a progressive photo that do not matter for a sequential one (panoramas of
    // Samsung phones). BOGUS_ICC is about a function that is not called here.
    case JWRN_ADOBE_XFORM:
    case JWRN_JFIF_MAJOR:
    case JWRN_BOGUS_PROGRESSION:
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_NOT_SEQUENTIAL:
    case JWRN_BOGUS_ICC:
        return true;
    // Codes that are none, codes that end early, and restart markers that are missing. Our source judges a missing end itself
    // (reader.c), and TOO_MUCH_DATA is about the caller.
    case JWRN_ARITH_BAD_CODE:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_HIT_MARKER:
    case JWRN_MUST_RESYNC:
    case JWRN_JPEG_EOF:
    case JWRN_TOO_MUCH_DATA:
    default:
        return false;
    }
}

// Levels: -1 is a warning, 0 and more a trace. A warning about lost pixels stops the work: the library would continue with grey
// blocks.
static void hear(j_common_ptr object, int level) {
    struct errors *errors = (struct errors *) object->err;
    if (level >= 0) return;
    if (!is_harmless(object->err->msg_code)) {
        object->err->format_message(object, errors->report.message);
        errors->report.status = MINILAB_JPEG_DAMAGED;
        longjmp(errors->jump, 1);
    }
    if (errors->report.warnings++ == 0) object->err->format_message(object, errors->report.warning);
}

_Noreturn void stop(j_common_ptr object, int status, const char *text) {
    struct errors *errors = (struct errors *) object->err;
    snprintf(errors->report.message, sizeof errors->report.message, "%s", text);
    errors->report.status = status;
    longjmp(errors->jump, 1);
}

struct jpeg_error_mgr *prepare_errors(struct errors *errors) {
    jpeg_std_error(&errors->manager);
    errors->manager.error_exit = leave;
    errors->manager.emit_message = hear;
    return &errors->manager;
}
