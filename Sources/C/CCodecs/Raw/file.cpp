// LibRaw reads through an object of C++, which its C interface does not offer.
#include "minilab_raw.h"

#include <cstdio>
#include <cstring>
#include <new>

// After libjpeg's header, which needs them.
#include <jpeglib.h>

struct minilab_raw_file final : LibRaw_buffer_datastream {
    minilab_raw_file(const void *bytes, size_t count)
        : LibRaw_buffer_datastream(const_cast<void *>(bytes), count), bytes(static_cast<const unsigned char *>(bytes)) {}

    int read(void *out, size_t size, size_t count) override {
        const size_t asked = size * count, left = remaining();
        if (asked > left) {
            note_place();
            lack.has_short_block = true;
            memset(static_cast<unsigned char *>(out) + left, fill, asked - left);
        }
        return LibRaw_buffer_datastream::read(out, size, count);
    }

    int get_char() override {
        const int character = LibRaw_buffer_datastream::get_char();
        if (character < 0) {
            note_place();
            lack.single_bytes++;
        }
        return character;
    }

    int seek(INT64 offset, int whence) override {
        if (whence == SEEK_CUR && offset == 0) return 0;
        const INT64 start = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? tell() : size();
        is_beyond = whence != SEEK_END && start + offset >= size();
        return LibRaw_buffer_datastream::seek(offset, whence);
    }

    int jpeg_src(void *decoder) override {
        note_place();
        auto *jpeg = static_cast<j_decompress_ptr>(decoder);
        jpeg_mem_src(jpeg, bytes + tell(), static_cast<unsigned long>(remaining()));
        jpeg->client_data = this;
        jpeg->src->fill_input_buffer = [](j_decompress_ptr jpeg) -> boolean {
            static_cast<minilab_raw_file *>(jpeg->client_data)->lack.has_absent_place = true;
            // The end of an image, as libjpeg's own source does.
            static const JOCTET end[] = {0xFF, JPEG_EOI};
            jpeg->src->next_input_byte = end;
            jpeg->src->bytes_in_buffer = sizeof end;
            return TRUE;
        };
        return 0;
    }

    size_t remaining() { return static_cast<size_t>(size() - tell()); }

    struct minilab_raw_lack lack = {};
    unsigned char fill = 0;

private:
    // Reading where a seek went beyond the end; LibRaw itself goes to the end instead.
    void note_place() {
        if (is_beyond) lack.has_absent_place = true;
    }

    const unsigned char *bytes;
    bool is_beyond = false;
};

struct minilab_raw_file *minilab_raw_file_make(const void *bytes, size_t count) {
    return new (std::nothrow) minilab_raw_file(bytes, count);
}

void minilab_raw_file_free(struct minilab_raw_file *file) { delete file; }

int minilab_raw_open(libraw_data_t *data, struct minilab_raw_file *file) {
    file->seek(0, SEEK_SET);
    return static_cast<LibRaw *>(data->parent_class)->open_datastream(file);
}

void minilab_raw_file_watch(struct minilab_raw_file *file, unsigned char fill) {
    file->lack = {};
    file->fill = fill;
}

struct minilab_raw_lack minilab_raw_file_lack(const struct minilab_raw_file *file) { return file->lack; }

const unsigned char *minilab_raw_pixels(const libraw_processed_image_t *image) { return image->data; }

void minilab_raw_allow_memory(libraw_data_t *data, unsigned mebibytes) {
#if LIBRAW_COMPILE_CHECK_VERSION_NOTLESS(0, 21)
    data->rawparams.max_raw_memory_mb = mebibytes;
#else
    data->params.max_raw_memory_mb = mebibytes;
#endif
}
