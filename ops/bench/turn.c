// Turns a JPEG by 90 degrees without loss, with the C of Sources/C/CCodecs/JPEG: what `jpegtran -rotate 90` does.
//
//     cc -O2 -I Sources/C/CCodecs/include -o turn ops/bench/turn.c Sources/C/CCodecs/JPEG/*.c -ljpeg
//     ./turn photo.jpg turned.jpg

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "minilab_jpeg.h"

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: turn photo.jpg turned.jpg\n");
        return 64;
    }
    int in = open(argv[1], O_RDONLY), out = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (in < 0 || out < 0) {
        perror("turn");
        return 66;
    }
    struct minilab_jpeg_limits limits = {.scans = 500, .marker_bytes = 32 << 20, .coefficient_bytes = 1 << 30};
    struct minilab_jpeg_reader *reader = minilab_jpeg_reader_new(in, 0, limits);
    struct minilab_jpeg_writer *writer = minilab_jpeg_writer_new(out, 0);
    struct minilab_jpeg_header header;
    if (!reader || !writer) return 71;
    int status = minilab_jpeg_read_header(reader, &header);
    struct minilab_jpeg_transform right = {
        .width = header.width, .height = header.height, .transposes = true, .mirrors = true};
    if (!status) status = minilab_jpeg_start_transform(reader, writer, &right, NULL);
    if (!status) status = minilab_jpeg_finish_writing(writer);
    if (status)
        fprintf(stderr, "turn: %s%s\n", minilab_jpeg_reader_report(reader)->message,
            minilab_jpeg_writer_report(writer)->message);
    minilab_jpeg_reader_free(reader);
    minilab_jpeg_writer_free(writer);
    return status ? 65 : 0;
}
