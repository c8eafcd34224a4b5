import Adjustments
import Library

/// What an asset is, in PhotoKit's terms. A video is told by its content, before there is anything to decide.
enum MediaType: Sendable, Equatable {
    /// A photo of its own.
    case photo
    /// A still and this video, which are one asset: who edits one half alone takes them apart.
    case livePhoto(video: AssetPath)

    /// The decision.
    ///
    /// | still is marked | video of its name | video is marked | the asset is |
    /// |---|---|---|---|
    /// | no | any | any | a photo |
    /// | yes | none | | a photo: its video did not come along |
    /// | yes | yes | as the still | a Live Photo |
    /// | yes | yes | cannot be read | a Live Photo |
    /// | yes | yes | otherwise | a photo: the video is of another one |
    ///
    /// - Parameter contentIdentifier: the still's mark.
    init(contentIdentifier: String?, videos: [PairedVideo]) {
        let half = videos.first { video in
            video.contentIdentifier == nil || video.contentIdentifier == contentIdentifier
        }
        if contentIdentifier != nil, let half {
            self = .livePhoto(video: half.path)
        } else {
            self = .photo
        }
    }

    /// Refuses what cannot be edited whole.
    ///
    /// - Throws: `unsupportedMediaType`.
    func check(_ asset: AssetPath) throws(Failure) {
        guard case .livePhoto(let video) = self else { return }
        throw Failure(
            .unsupportedMediaType,
            "the asset \(asset.string.debugDescription) is the still of a Live Photo, whose video is "
                + "\(video.string.debugDescription), and only photos are edited here: the still edited "
                + "alone would no longer fit its video. Move the video away to edit the still as a photo, "
                + "or send photos.")
    }
}
