// Pixels that libvips could not decode and replaced by black or grey ones, calling that a success.
#ifndef MINILAB_VIPS_LOSSES_H
#define MINILAB_VIPS_LOSSES_H

#include <stddef.h>

// Begins to note losses, of which libvips 8.14 to 8.16 only warns: its own decoder of JPEG in TIFF goes on behind damage, and behind a
// strip for which there was no memory.
void minilab_vips_note_losses(void);

// Looks for losses in messages of libvips' error buffer, one a line: damage in a tile of JPEG stands there, beside a success.
void minilab_vips_note_errors(const char *errors);

// Copies what libvips said of the first loss since the last call, and forgets all; 0 if there was none, otherwise 1.
int minilab_vips_take_loss(char *text, size_t bytes);

#endif
