/// A part of a movie in the making: of which render, and which one.
///
/// Its content follows from the name alone, so whoever finds it can go on from there. Nobody relies on it: it may be gone at any time.
public struct SegmentName: Sendable, Hashable {
    /// Of the whole movie.
    public let render: RenderKey
    /// From 0 on.
    public let number: Int

    /// Names a part.
    public init(_ render: RenderKey, _ number: Int) {
        (self.render, self.number) = (render, number)
    }

    /// Seconds after it was written when a part is collected: a day, in which a job has ended or is dead.
    package static let age = 86_400
}
