import Foundation
import MinilabTesting

@testable import PhotoFiles

/// Small movies that tests read.
enum MovieFixture {
    static let names = ["bt601.mp4", "h265_bframes.mp4", "edit_list_positive_shift.mp4"]

    private static let corpus = ProcessInfo.processInfo.environment["MINILAB_CORPUS"]

    /// Those of the repository, and of the corpus where it is named.
    static let paths: [String] = {
        let folder = Repository.fixture("Movies")
        let own = names.map { folder.appending(path: $0).path }
        guard let corpus else { return own }
        let more = try? FileManager.default.contentsOfDirectory(atPath: corpus + "/video")
        return own
            + (more ?? []).filter { $0.hasSuffix(".mp4") || $0.hasSuffix(".mov") }.sorted()
            .map { "\(corpus)/video/\($0)" }
    }()

    static func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: path)))
    }

    static func named(_ name: String) throws -> [UInt8] {
        try bytes(paths.first { $0.hasSuffix("/" + name) } ?? name)
    }

    static func movie(_ bytes: [UInt8], limits: MovieLimits = MovieLimits()) throws -> Movie {
        var file = FileWindow(bytes)
        return try Movie(&file, limits: limits)
    }
}

extension Transplant {
    /// The whole result in memory.
    ///
    /// - Parameter sample: the bytes of a new sample.
    func bytes(of source: [UInt8], sample: (Int) -> [UInt8]) -> [UInt8] {
        pieces.reduce(into: []) { result, piece in
            switch piece {
            case .bytes(let bytes): result += bytes
            case .source(let range): result += source[range]
            case .samples(let samples): for index in samples { result += sample(index) }
            }
        }
    }
}
