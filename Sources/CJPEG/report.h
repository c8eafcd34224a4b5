// How an error of libjpeg-turbo becomes a report: the library jumps out, and we say why.

#ifndef REPORT_H
#define REPORT_H

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#include "minilab_jpeg.h"

// The library's error manager, and where it jumps to. Functions that call the library do
// `if (setjmp(errors->jump)) return errors->report.status;` first.
struct errors {
    struct jpeg_error_mgr manager;
    jmp_buf jump;
    struct minilab_jpeg_report report;
};

struct jpeg_error_mgr *prepare_errors(struct errors *errors);

// Leaves with words of our own.
_Noreturn void stop(j_common_ptr object, int status, const char *words);

#endif
