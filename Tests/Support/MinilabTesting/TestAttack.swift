import Glibc

/// Attacks of a photo that has taken over its decoder, and crashes of a decoder. `minilab-hostile-child` performs them
/// instead of rendering and is otherwise a normal render child, so that tests see the real process denied and its real
/// death.
public enum TestAttack: String, Sendable, CaseIterable {
    /// Read /etc/passwd.
    case readPasswd = "read-passwd"
    /// Create a file beside the photo.
    case writeBesidePhoto = "write-beside-photo"
    /// Remove the photo.
    case removePhoto = "remove-photo"
    /// Change the photo's mode.
    case changeMode = "change-mode"
    /// Hard-link the photo into the folder of results.
    case linkPhoto = "link-photo"
    /// Open an Internet socket.
    case openSocket = "open-socket"
    /// Open a socket to other programs of this machine.
    case openLocalSocket = "open-local-socket"
    /// Fork a process.
    case fork
    /// Check whether it could send the worker a signal.
    case signalWorker = "signal-worker"
    /// Change a resource limit of the worker.
    case limitWorker = "limit-worker"
    /// Write and read a nameless file in the folder of results. Only this must succeed.
    case useSpool = "use-spool"

    /// Execute a program.
    case exec
    /// Attach to the worker as a debugger.
    case trace

    /// Loop for ever in the reader of headers.
    case spinInHeader = "spin-in-header"
    /// Allocate more memory than the limit with Swift's allocator.
    case exhaustSwift = "exhaust-swift"
    /// The same with GLib's allocator.
    case exhaustGLib = "exhaust-glib"
    /// The same with C++'s allocator, without a handler for the exception.
    case exhaustCPlusPlus = "exhaust-c++"
    /// Write to a file without end.
    case fillDisk = "fill-disk"
    /// Raise the limit of a file's length as far as it goes, and make a file longer than any result.
    case growFile = "grow-file"
    /// Lift the limit of private memory, or of the stack, for good. It must fail.
    case liftLimits = "lift-limits"
    /// Raise the limit of private memory as far as it goes, take much, and hold it.
    case takeMemory = "take-memory"
    /// Keep the file of a result open after a correct answer.
    case keepFile = "keep-file"
    /// Make more threads than any render has, and answer correctly.
    case makeThreads = "make-threads"
    /// Crash.
    case abort
    /// Crash when WebP is tested at a worker's start, as an incompatible library would.
    case crashInWebP = "crash-in-webp"
    /// Crash when bits of a sample are tried, as an encoder does that cannot write them.
    case crashInBitDepth = "crash-in-bit-depth"

    /// The environment variable of the hostile child that names an attack.
    public static let variable = "MINILAB_TEST_ATTACK"

    /// The attack that the environment names.
    public static let armed = getenv(variable).flatMap { TestAttack(rawValue: String(cString: $0)) }
}
