#ifndef MINILAB_COMMIT_H
#define MINILAB_COMMIT_H

/* The commit that the program was built from.

   The bytes are a section of the program, and are empty in what the compiler makes: ops/release writes them into the linked file. So
   a new commit compiles nothing, and no file beside the program can say something else. 40 digits, then '+' for a program of sources
   that differ from the commit's. */
enum { MINILAB_COMMIT_DIGITS = 40 };

/* Copies the digits, '+' or 0, and 0. */
void minilab_commit_copy(char text[_Nonnull MINILAB_COMMIT_DIGITS + 2]);

#endif
