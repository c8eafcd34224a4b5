#include "limits.h"

#include <libavutil/mem.h>
#include <pthread.h>

void minilab_allow_allocation(size_t bytes) {
    static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
    static size_t highest;
    pthread_mutex_lock(&guard);
    if (bytes > highest) {
        highest = bytes;
        av_max_alloc(highest);
    }
    pthread_mutex_unlock(&guard);
}
