import Boxes
public import Adjustments
import Files
import Metadata
import SystemPackage

/// A video that lies beside a still and has its name, as the other half of a Live Photo does.
public struct PairedVideo: Sendable, Equatable {
    /// Its path below the originals.
    public let path: AssetPath
    /// What marks it as the other half of a still; nil when that cannot be read.
    public let contentIdentifier: String?

    /// Names a video.
    public init(path: AssetPath, contentIdentifier: String?) {
        self.path = path
        self.contentIdentifier = contentIdentifier
    }

    /// The endings of a video's name behind its still's stem: a camera's, and those of downloaders from iCloud,
    /// for which a HEIC and its video would otherwise have one name with a JPEG's.
    package static let endings = [
        ".MOV", ".mov", ".MP4", ".mp4", "_HEVC.MOV", "_HEVC.mov", "_HEVC.MP4", "_HEVC.mp4",
    ]
}

extension LibraryFolder {
    /// The videos beside an asset's original that have its name.
    ///
    /// - Throws: `ioFailure`.
    public func pairedVideos(of asset: AssetPath) throws(Failure) -> [PairedVideo] {
        let still = FilePath(asset.string)
        let stem = still.removingLastComponent().appending(asset.stem).string
        var videos: [PairedVideo] = []
        for ending in PairedVideo.endings {
            // A name that is too long is that of no file.
            guard let path = try? AssetPath(stem + ending) else { continue }
            if let video = try video(at: path) { videos.append(video) }
        }
        return videos
    }

    private func video(at asset: AssetPath) throws(Failure) -> PairedVideo? {
        let file: OpenFile
        do throws(Failure) {
            file = try openOriginal(of: asset)
        } catch {
            // A link that leads out of the library, or a folder: not the other half of anything.
            if error.code == .ioFailure { throw error }
            return nil
        }
        let length = try file.length()
        let window = FileWindow(length: length) { file.bytes(from: $0, count: $1) }
        return PairedVideo(
            path: asset,
            // What cannot be read is not known; the video still lies there.
            contentIdentifier: MovieIdentifier.identifier(in: window))
    }
}
