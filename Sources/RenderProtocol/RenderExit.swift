/// The exit codes of a render child, so that the worker can tell why one ended.
///
/// A child that is asked to stop, by the end of its standard input, exits with `finished`. Every
/// other end loses the photo it was working on. Death by a signal has no code here: the worker sees
/// the signal itself.
public enum RenderExit: Int32, Sendable {
    /// Standard input ended.
    case finished = 0
    /// A line was no request, or an argument none: worker and child are of different versions.
    case badRequest = 64
    /// libvips could not be started.
    case noVips = 69
    /// An allocation failed.
    case outOfMemory = 71
    /// The worker is gone.
    case orphaned = 75
}
