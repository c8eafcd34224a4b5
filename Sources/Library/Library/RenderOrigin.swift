/// What made the bytes of a render or a rendition: an engine, and the libraries that it used.
///
/// The same input makes the same bytes only where both numbers agree: that of the engine, which our own code raises, and the versions of
/// the libraries, which the machine's packages do.
public struct RenderOrigin: Sendable, Equatable {
    /// The name and version of the engine, for people.
    public let engine: String
    /// The number of the engine's pixels and bytes; nil from releases that had none.
    public let render: Int?
    /// The versions of the libraries that decoded, computed or encoded, by name; nil from releases that did not record them.
    public let libraries: [String: String]?

    public init(engine: String, render: Int? = nil, libraries: [String: String]? = nil) {
        (self.engine, self.render, self.libraries) = (engine, render, libraries)
    }

    /// Returns why other bytes may be made of the same input here; nil if the bytes must be the same.
    ///
    /// - Parameters:
    ///   - render: the number of this engine.
    ///   - here: the versions of this machine's libraries, by name.
    public func difference(fromRender render: Int, with here: [String: String]) -> String? {
        guard self.render == render else {
            return self.render.map { "\(engine), render \($0)" } ?? engine
        }
        let others = (libraries ?? [:]).filter { here[$0.key] != $0.value }.sorted {
            $0.key < $1.key
        }
        guard !others.isEmpty else { return nil }
        return "render \(render) with "
            + others.map { "\($0.key) \($0.value) (here \(here[$0.key] ?? "none"))" }
            .joined(separator: ", ")
    }
}
