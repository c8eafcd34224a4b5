/// A photo format that we read, told by the content; the file's name says nothing.
public enum PhotoFormat: String, CaseIterable, Sendable, Codable {
    case jpeg, png, heif, webp, tiff, gif, jxl, raw
}
