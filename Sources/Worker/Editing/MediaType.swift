import Edits
import Library

/// The kind of an asset, in PhotoKit's terms. A movie alone is recognised by its content, before this decision.
enum MediaType: Sendable, Equatable {
    /// A photo alone.
    case photo
    /// A still and this video, which form one asset and are edited together.
    case livePhoto(video: AssetPath)

    /// Decides the kind of an asset by this table, where "marked" means that the file has a content identifier.
    ///
    /// | still is marked | video of its name | video is marked | the asset is |
    /// |---|---|---|---|
    /// | no | any | any | a photo |
    /// | yes | none | | a photo: its video is missing |
    /// | yes | yes | as the still | a Live Photo |
    /// | yes | yes | cannot be read | a Live Photo |
    /// | yes | yes | otherwise | a photo: the video is of another one |
    ///
    /// - Parameter contentIdentifier: the content identifier of the still.
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
