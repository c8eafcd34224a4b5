/// An input format, detected from the content; the file's name is ignored. A movie is read as the photo of its poster frame,
/// unless the result is a movie.
public enum PhotoFormat: String, CaseIterable, Sendable, Codable {
    case jpeg, png, heif, webp, tiff, gif, jxl, raw, movie
}
