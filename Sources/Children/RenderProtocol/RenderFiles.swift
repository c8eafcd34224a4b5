public import Edits
public import Files

/// The open files of a request, in this order: the photos, the files that the edit names, the coverage of texts, the parts of a
/// movie, the files for results, the file for a spool.
///
/// The worker opens them; the child has no other access to any file of the library.
public struct RenderFiles: Sendable {
    /// The photos: one, except for a contact sheet.
    public var sources: [OpenFile]
    /// The files that the edit names, by digest (`"sha256:…"`).
    public var resources: [String: OpenFile]
    /// The coverage of all texts of the renditions, one after the other; nil if there are none.
    public var coverage: OpenFile?
    /// The rendered parts of a movie, in their order; empty for any other request.
    public var segments: [OpenFile]
    /// The files for results, empty and nameless, in the order of the request's outputs.
    public var outputs: [OpenFile]
    /// The file for pixels that are needed in any order, empty and nameless; nil if there are none.
    public var spool: OpenFile?

    /// The purpose of a file.
    public enum Role: Sendable, Codable, Equatable {
        /// A photo, with its name for messages.
        case source(name: String)
        /// A file that the edit names by its digest.
        case resource(digest: String)
        /// The coverage of texts.
        case coverage
        /// The next part of a movie.
        case segment
        /// The file for the next output.
        case output
        case spool
    }

    public init(
        sources: [OpenFile] = [], resources: [String: OpenFile] = [:],
        coverage: OpenFile? = nil, segments: [OpenFile] = [], outputs: [OpenFile] = [],
        spool: OpenFile? = nil
    ) {
        self.sources = sources
        self.resources = resources
        self.coverage = coverage
        self.segments = segments
        self.outputs = outputs
        self.spool = spool
    }

    /// The files in the order in which they are passed, each with its purpose.
    public var handed: [(role: Role, file: OpenFile)] {
        sources.map { (.source(name: $0.name), $0) }
            + resources.sorted { $0.key < $1.key }.map { (.resource(digest: $0.key), $0.value) }
            + [coverage].compactMap(\.self).map { (.coverage, $0) }
            + segments.map { (.segment, $0) } + outputs.map { (.output, $0) }
            + [spool].compactMap(\.self).map { (.spool, $0) }
    }

    /// Assembles the files that were passed, and takes ownership of the descriptors.
    ///
    /// - Throws: `internalError` if the number of files differs from the number of roles.
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
            case .coverage: coverage = file
            case .segment: segments.append(file)
            case .output: outputs.append(file)
            case .spool: spool = file
            }
        }
    }
}

extension RenderFiles.Role {
    /// The name of such a file in messages.
    fileprivate var name: String {
        switch self {
        case .source(let name): name
        case .resource(let digest): digest
        case .coverage: "the coverage of texts"
        case .segment: "a part of a movie"
        case .output: "the place for a result"
        case .spool: "the place for a spool"
        }
    }
}

/// What a worker tells a child by its environment, before the first request.
public enum ChildEnvironment {
    /// The variable with the bytes of private memory that a child may get for its photos; without it there is no limit.
    public static let memoryMax = "MINILAB_CHILD_BYTES"
}

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
