#include "CHostile.h"
#include <cstddef>
#include <new>

extern "C" void hostile_exhaust_memory(long bytes) {
    // Not a new-expression, which an optimiser may leave out.
    ::operator delete(::operator new(static_cast<std::size_t>(bytes)));
}
