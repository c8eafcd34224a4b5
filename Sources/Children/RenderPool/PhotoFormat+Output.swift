package import Edits
package import RenderProtocol

extension PhotoFormat {
    /// Returns the format in which a result of an output format is read.
    package init(_ format: Recipe.Format) {
        self =
            switch format {
            case .jpeg: .jpeg
            case .png: .png
            case .tiff: .tiff
            case .webp: .webp
            case .heic, .avif: .heif
            case .jxl: .jxl
            case .mov, .mp4: .movie
            }
    }
}
