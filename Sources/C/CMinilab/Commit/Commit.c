#include "Commit.h"

/* volatile: the compiler must not take the zeros for what the program reads. */
__attribute__((section(".minilab_commit"), used))
const volatile char minilab_commit[MINILAB_COMMIT_DIGITS + 1] = {0};

void minilab_commit_copy(char text[MINILAB_COMMIT_DIGITS + 2]) {
    for (int index = 0; index <= MINILAB_COMMIT_DIGITS; index++) text[index] = minilab_commit[index];
    text[MINILAB_COMMIT_DIGITS + 1] = 0;
}
