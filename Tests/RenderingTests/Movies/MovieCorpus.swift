import Foundation

/// Movies that tests read: small ones of the repository, and those of the corpus where it is named.
enum MovieCorpus {
    /// Paths of fixtures, and of all movies in the corpus' folder `video`; a corpus of photos alone has none.
    static func files(and fixtures: [String]) -> [String] {
        let own = fixtures.map { RenderedMovie.fixture($0) }
        guard let folder = Studio.corpus.map({ $0 + "/video" }),
            let names = FileManager.default.enumerator(atPath: folder)
        else { return own }
        return own
            + names.compactMap { $0 as? String }
            .filter { !$0.contains("/") && ($0.hasSuffix(".mp4") || $0.hasSuffix(".mov")) }
            .sorted().map { "\(folder)/\($0)" }
    }
}
