import PhotoFiles
public import Edits
import BlobStore
public import Library

extension BucketLibrary {
    /// The most bytes that one read of a movie's boxes requests.
    private static let readBytes = 64 << 10
    /// The most reads of one movie.
    private static let readsMax = 24

    /// Lists the objects with the asset's stem once, then reads small ranges of the videos among them.
    public func pairedVideos(of asset: AssetPath) async throws(Failure) -> [PairedVideo] {
        let stem = Self.stem(of: asset)
        let prefix = keys.originalsPrefix + stem
        let candidates = Set(PairedVideo.endings.map { ExactName(prefix + $0) })
        var found: [BlobPage.Entry] = []
        var last: BlobKey?
        while true {
            let start = last
            let page = try await storeCall { () throws(BlobError) in
                try await self.originals.list(prefix, after: start)
            }
            found += page.entries.filter { candidates.contains(ExactName($0.key.text)) }
            // The candidates end before this key: "`" is the next byte after `_`.
            guard let next = page.next,
                next.text.utf8.lexicographicallyPrecedes((prefix + "`").utf8)
            else { break }
            last = next
        }
        var videos: [PairedVideo] = []
        for ending in PairedVideo.endings {
            let key = ExactName(prefix + ending)
            guard let entry = found.first(where: { ExactName($0.key.text) == key }) else {
                continue
            }
            videos.append(
                PairedVideo(
                    path: try AssetPath(stem + ending),
                    contentIdentifier: try await identifier(of: entry)))
        }
        return videos
    }

    private static func stem(of asset: AssetPath) -> String {
        guard let slash = asset.string.utf8.lastIndex(of: UInt8(ascii: "/")) else {
            return asset.stem
        }
        return String(decoding: asset.string.utf8[...slash], as: UTF8.self) + asset.stem
    }

    /// Returns the content identifier of a movie. Its boxes are parsed repeatedly, each time with the bytes that
    /// were missing before.
    private func identifier(of movie: BlobPage.Entry) async throws(Failure) -> String? {
        var known: [Int: [UInt8]] = [:]
        for _ in 0..<Self.readsMax {
            var missed: Range<Int>?
            let file = FileWindow(length: movie.size) { offset, count in
                let range = offset..<min(movie.size, offset + count)
                for (start, bytes) in known
                where start <= range.lowerBound && range.upperBound <= start + bytes.count {
                    return Array(bytes[range.lowerBound - start..<range.upperBound - start])
                }
                if missed == nil { missed = range }
                return []
            }
            let identifier = MovieIdentifier.identifier(in: file)
            guard let range = missed else { return identifier }
            let wanted =
                range
                .lowerBound..<min(movie.size, range.lowerBound + max(range.count, Self.readBytes))
            known[range.lowerBound] = try await storeCall { () throws(BlobError) in
                try await self.originals.bytes(
                    movie.key, wanted, ifMatch: movie.tag, atMost: wanted.count)
            }.bytes
        }
        return nil
    }
}
