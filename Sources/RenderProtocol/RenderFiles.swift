public import Adjustments
public import Files

/// The open files that go with a request, in this order: the photos, the files that the edit names, the parts of a movie,
/// the places for results, the place for a spool.
///
/// The worker opens them; the child has no other way to any file of the library.
public struct RenderFiles: Sendable {
    /// The photos: one, but for a contact sheet.
    public var sources: [OpenFile]
    /// The files that the edit names, by digest (`"sha256:…"`).
    public var resources: [String: OpenFile]
    /// The parts of a movie that were rendered before, in their order; none for anything else.
    public var segments: [OpenFile]
    /// Where results go, empty and nameless, in the order of the request's outputs.
    public var outputs: [OpenFile]
    /// Where pixels may go that are needed in any order, empty and nameless; nil when none are.
    public var spool: OpenFile?

    /// What one of the files is for.
    public enum Role: Sendable, Codable, Equatable {
        /// A photo, as sentences call it.
        case source(name: String)
        /// A file that the edit names by its digest.
        case resource(digest: String)
        /// The next part of a movie.
        case segment
        /// The place for the next of the outputs.
        case output
        /// The place for a spool.
        case spool
    }

    /// Gathers files.
    public init(
        sources: [OpenFile] = [], resources: [String: OpenFile] = [:],
        segments: [OpenFile] = [], outputs: [OpenFile] = [], spool: OpenFile? = nil
    ) {
        self.sources = sources
        self.resources = resources
        self.segments = segments
        self.outputs = outputs
        self.spool = spool
    }

    /// The files in the order in which they are handed over, each with what it is for.
    public var handed: [(role: Role, file: OpenFile)] {
        sources.map { (.source(name: $0.name), $0) }
            + resources.sorted { $0.key < $1.key }.map { (.resource(digest: $0.key), $0.value) }
            + segments.map { (.segment, $0) } + outputs.map { (.output, $0) }
            + [spool].compactMap(\.self).map { (.spool, $0) }
    }

    /// Puts together what was handed over; takes the descriptors over.
    ///
    /// - Throws: `internalError` when there are not as many as there are roles.
    public init(_ roles: [Role], _ descriptors: [Int32]) throws(Failure) {
        self.init()
        let files = descriptors.enumerated().map { index, descriptor in
            OpenFile(
                adopting: descriptor, name: index < roles.count ? roles[index].name : "a file")
        }
        guard files.count == roles.count else {
            throw Failure(
                .internalError,
                "a request came with \(files.count) files; its roles are \(roles.count).")
        }
        for (role, file) in zip(roles, files) {
            switch role {
            case .source: sources.append(file)
            case .resource(let digest): resources[digest] = file
            case .segment: segments.append(file)
            case .output: outputs.append(file)
            case .spool: spool = file
            }
        }
    }
}

extension RenderFiles.Role {
    /// How sentences call such a file.
    fileprivate var name: String {
        switch self {
        case .source(let name): name
        case .resource(let digest): digest
        case .segment: "a part of a movie"
        case .output: "the place for a result"
        case .spool: "the place for a spool"
        }
    }
}
