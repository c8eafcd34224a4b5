import MinilabTesting
import PhotoFiles
import Foundation

/// Movies that tests read.
enum MovieFiles {
    private static let corpus = ProcessInfo.processInfo.environment["MINILAB_CORPUS"]

    /// Those of the repository.
    static let own: [String] = {
        let folder = Repository.fixture("Movies")
        return ["bt601.mp4", "h265_bframes.mp4", "edit_list_positive_shift.mp4"].map {
            folder.appending(path: $0).path
        }
    }()

    /// Those of the repository, and of the corpus where it is named, whose tables can be read.
    static let readable: [String] = {
        guard let corpus,
            let names = try? FileManager.default.contentsOfDirectory(atPath: corpus + "/video")
        else { return own }
        return own
            + names.filter { $0.hasSuffix(".mp4") || $0.hasSuffix(".mov") }.sorted()
            .map { "\(corpus)/video/\($0)" }
            .filter { (try? DecodedMovie(path: $0)) != nil }
    }()

    /// Those whose samples contradict themselves.
    private static let damagedNames = ["go-mp4-sample_qt.mp4", "sample_with_invalid_nalu.mp4"]

    static let damaged = readable.filter { path in
        damagedNames.contains { path.hasSuffix("/" + $0) }
    }
    static let good = readable.filter { !damaged.contains($0) }
}
