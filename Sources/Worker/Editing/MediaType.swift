import Adjustments
import Library

/// The kind of an asset, in PhotoKit's terms. A movie alone is told by its content, before there is anything to decide.
enum MediaType: Sendable, Equatable {
    /// A photo of its own.
    case photo
    /// A still and this video, which are one asset and are edited together.
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
}
