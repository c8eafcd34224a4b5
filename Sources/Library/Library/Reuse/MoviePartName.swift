/// The name of a part of a movie that is being rendered: the movie's render key, and the number of the part.
///
/// The name determines the content, so any worker that finds a part can continue from it. No worker depends on a
/// part, which may be removed at any time.
public struct MoviePartName: Sendable, Hashable {
    /// The render key of the whole movie.
    public let render: RenderKey
    /// The number of the part, from 0.
    public let number: Int

    /// Creates the name of a part.
    public init(_ render: RenderKey, _ number: Int) {
        (self.render, self.number) = (render, number)
    }

    /// The age in seconds at which a part is collected: one day, after which a job has finished or is dead.
    package static let age = 86_400
}
