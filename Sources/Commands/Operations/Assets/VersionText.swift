package import Library

extension Provenance {
    /// The engine that rendered the file that readers of the version see.
    package var engineText: String {
        guard let content else { return "the original" }
        return content.rendering?.engine ?? "came with the import"
    }
}

extension History.Move {
    /// The target of the move, for people.
    package var text: String {
        switch self {
        case .nothing: "nothing"
        case .original: "the original"
        case .version(let name): name
        case .collected(let name): "\(name), which is not kept any more: it would fail"
        }
    }
}
