// libvips' classes for open files, where what libvips has itself does not do.
#ifndef MINILAB_VIPS_FILES_H
#define MINILAB_VIPS_FILES_H

// A VipsSource over an open file, which it duplicates; NULL when libvips has no memory or descriptor for it.
//
// libvips' own reads from the descriptor's offset, which duplicates share: two pictures that are open on one file, or a
// decoder beside them, would read on where the other has stopped. This one has an offset of its own.
void *minilab_source_new(int descriptor);

#endif
