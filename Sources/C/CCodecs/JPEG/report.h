// Converts an error of libjpeg-turbo to a report: the library exits by longjmp, and the report has the reason.

#ifndef REPORT_H
#define REPORT_H

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#include "minilab_jpeg.h"

// The library's error manager, and the target of its longjmp. Functions that call the library begin with `if (setjmp(errors->jump))
// return errors->report.status;`.
struct errors {
    struct jpeg_error_mgr manager;
    jmp_buf jump;
    struct minilab_jpeg_report report;
};

struct jpeg_error_mgr *prepare_errors(struct errors *errors);

// Exits by longjmp with a message of our own.
_Noreturn void stop(j_common_ptr object, int status, const char *text);

#endif
