/* The declaration alone: the package manager wants a source. */
#include "FilterList.h"
