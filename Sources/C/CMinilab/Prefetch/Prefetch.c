#include "Prefetch.h"
