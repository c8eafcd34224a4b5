#ifndef MINILAB_FILTER_LIST_H
#define MINILAB_FILTER_LIST_H

/* Puts the definitions of all filters into the Swift array that `definitions` points to. Target `Filters` has it: a program
   that reads filters and is linked without them does not link. */
void minilab_filter_list(void *_Nonnull definitions);

#endif
