/// The exit codes of a render child, which tell the worker why a child ended.
///
/// A child that is stopped by the end of its standard input exits with `finished`. Every other exit loses the photo in
/// progress. Death by a signal has no code here: the worker sees the signal itself.
public enum RenderExit: Int32, Sendable {
    /// The standard input ended.
    case finished = 0
    /// A line was not a request, or an argument was invalid: worker and child have different versions.
    case badRequest = 64
    /// libvips could not be started.
    case noVips = 69
    /// An allocation failed.
    case outOfMemory = 71
    /// The worker is gone.
    case orphaned = 75
}
