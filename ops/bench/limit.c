// The lower limit of the cost of a JPEG edit: libjpeg-turbo decodes to RGB and encodes again.
//
//     cc -O2 -o limit limit.c -ljpeg && ./limit photo.jpg 20
//
// Decodes the file (already in memory) line by line, as a good program would, and encodes each line
// at once: sampled as the original, quality 90, standard Huffman tables, baseline, to memory. One warm-up, then N
// times. Prints one JSON object: processor and wall seconds per photo (minimum and median) and the
// highest resident set.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <jpeglib.h>

enum { quality = 90, repetitions_max = 1000 };

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec + now.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

static unsigned long once(const unsigned char *bytes, unsigned long length, int *width, int *height) {
    struct jpeg_error_mgr errors;
    struct jpeg_decompress_struct in = {.err = jpeg_std_error(&errors)};
    struct jpeg_compress_struct out = {.err = &errors};
    jpeg_create_decompress(&in);
    jpeg_mem_src(&in, bytes, length);
    jpeg_read_header(&in, TRUE);
    in.out_color_space = JCS_RGB;
    jpeg_start_decompress(&in);
    *width = in.output_width;
    *height = in.output_height;

    unsigned char *result = NULL;
    unsigned long result_length = 0;
    jpeg_create_compress(&out);
    jpeg_mem_dest(&out, &result, &result_length);
    out.image_width = in.output_width;
    out.image_height = in.output_height;
    out.input_components = 3;
    out.in_color_space = JCS_RGB;
    jpeg_set_defaults(&out);
    // Detail of colour as in the original.
    out.comp_info[0].h_samp_factor = in.comp_info[0].h_samp_factor;
    out.comp_info[0].v_samp_factor = in.comp_info[0].v_samp_factor;
    jpeg_set_quality(&out, quality, TRUE);
    jpeg_start_compress(&out, TRUE);

    enum { lines = 16 };
    unsigned char *buffer = malloc((size_t) lines * in.output_width * 3);
    JSAMPROW rows[lines];
    for (int i = 0; i < lines; i++) rows[i] = buffer + (size_t) i * in.output_width * 3;
    while (in.output_scanline < in.output_height) {
        unsigned int got = 0;
        while (got < lines && in.output_scanline < in.output_height)
            got += jpeg_read_scanlines(&in, rows + got, lines - got);
        jpeg_write_scanlines(&out, rows, got);
    }
    jpeg_finish_compress(&out);
    jpeg_finish_decompress(&in);
    jpeg_destroy_compress(&out);
    jpeg_destroy_decompress(&in);
    free(buffer);
    free(result);
    return result_length;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: limit photo.jpg [repetitions]\n");
        return 64;
    }
    int repetitions = argc > 2 ? atoi(argv[2]) : 10;
    if (repetitions < 1 || repetitions > repetitions_max) {
        fprintf(stderr, "repetitions is %s; expected 1 to %d\n", argv[2], repetitions_max);
        return 64;
    }
    FILE *file = fopen(argv[1], "rb");
    if (!file) {
        perror(argv[1]);
        return 66;
    }
    fseek(file, 0, SEEK_END);
    unsigned long length = ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(length);
    if (fread(bytes, 1, length, file) != length) {
        perror(argv[1]);
        return 74;
    }
    fclose(file);

    double cpu[repetitions_max], wall[repetitions_max];
    int width = 0, height = 0;
    unsigned long written = once(bytes, length, &width, &height);
    for (int i = 0; i < repetitions; i++) {
        double cpu_start = seconds(CLOCK_PROCESS_CPUTIME_ID), start = seconds(CLOCK_MONOTONIC);
        written = once(bytes, length, &width, &height);
        cpu[i] = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_start;
        wall[i] = seconds(CLOCK_MONOTONIC) - start;
    }
    qsort(cpu, repetitions, sizeof *cpu, ascending);
    qsort(wall, repetitions, sizeof *wall, ascending);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"width\": %d, \"height\": %d, \"repetitions\": %d, \"bytes\": %lu, "
           "\"cpu_min\": %.4f, \"cpu_median\": %.4f, \"wall_min\": %.4f, \"wall_median\": %.4f, "
           "\"peak_bytes\": %ld}\n",
        width, height, repetitions, written, cpu[0], cpu[repetitions / 2], wall[0],
        wall[repetitions / 2], usage.ru_maxrss * 1024L);
    return 0;
}
