/// A format that we read, told by the content; the file's name says nothing. A movie is read as the photo of its poster's frame, unless a
/// movie is made of it.
public enum PhotoFormat: String, CaseIterable, Sendable, Codable {
    case jpeg, png, heif, webp, tiff, gif, jxl, raw, movie
}
