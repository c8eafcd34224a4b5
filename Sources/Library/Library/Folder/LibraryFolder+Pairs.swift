import PhotoFiles
public import Edits
import Files
import SystemPackage

/// A video beside a still with the same name, like the other half of a Live Photo.
public struct PairedVideo: Sendable, Equatable {
    /// Its path below the originals.
    public let path: AssetPath
    /// The content identifier that pairs it with a still; nil if it cannot be read.
    public let contentIdentifier: String?

    /// Creates a paired video.
    public init(path: AssetPath, contentIdentifier: String?) {
        self.path = path
        self.contentIdentifier = contentIdentifier
    }

    /// The endings of a video's name after its still's stem: those of cameras, and those of iCloud downloaders,
    /// which add `_HEVC` so that the videos of a HEIC and of a JPEG with one name do not collide.
    package static let endings = [
        ".MOV", ".mov", ".MP4", ".mp4", "_HEVC.MOV", "_HEVC.mov", "_HEVC.MP4", "_HEVC.mp4",
    ]
}

extension LibraryFolder {
    /// Returns the videos beside an asset's original that have its name.
    ///
    /// - Throws: `ioFailure`.
    public func pairedVideos(of asset: AssetPath) throws(Failure) -> [PairedVideo] {
        let still = FilePath(asset.string)
        let stem = still.removingLastComponent().appending(asset.stem).string
        var videos: [PairedVideo] = []
        for ending in PairedVideo.endings {
            // No file has a name that is too long.
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
            // A link that leads out of the library, or a folder: not the half of a Live Photo.
            if error.code == .ioFailure { throw error }
            return nil
        }
        let length = try file.length()
        let window = FileWindow(length: length) { file.bytes(from: $0, count: $1) }
        return PairedVideo(
            path: asset,
            // The identifier of an unreadable video is unknown; the video is still listed.
            contentIdentifier: MovieIdentifier.identifier(in: window))
    }
}
