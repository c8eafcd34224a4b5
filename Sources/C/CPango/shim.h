// The libraries that CText calls; no Swift imports them.
#include <hb.h>
