// How a process ends whose allocation failed, told apart from a crash.
//
// GLib's g_malloc and Swift's allocator print a line and abort or trap; C++ throws std::bad_alloc through C
// that cannot catch it. All three leave ENOMEM in the errno of the thread that dies. A handler sees it
// there, and nothing but async-signal-safe calls is done.
#include "CConfinement.h"
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <unistd.h>

static volatile sig_atomic_t exit_code;

static void on_abort(int signal) {
    if (errno == ENOMEM) _exit(exit_code);
    // As it would have ended without us. The default is set again by SA_RESETHAND.
    raise(signal);
}

static void on_terminate() {
    if (std::exception_ptr thrown = std::current_exception()) {
        try {
            std::rethrow_exception(thrown);
        } catch (const std::bad_alloc &) {
            _exit(exit_code);
        } catch (...) {
        }
    }
    std::abort();
}

extern "C" void minilab_exit_without_memory(int code) {
    exit_code = code;
    std::set_terminate(on_terminate);
    struct sigaction action = {};
    action.sa_handler = on_abort;
    action.sa_flags = (int)SA_RESETHAND;
    const int signals[] = {SIGABRT, SIGTRAP, SIGILL};
    sigset_t handled;
    sigemptyset(&handled);
    for (int signal : signals) {
        sigaction(signal, &action, nullptr);
        sigaddset(&handled, signal);
    }
    // A parent's thread may have blocked them. From glibc 2.41 on abort() ends a process with a blocked SIGABRT without its handler.
    pthread_sigmask(SIG_UNBLOCK, &handled, nullptr);
}
