/// The limits of the contract on the input of producers.
public enum ContractLimits {
    /// Longest asset path in bytes of UTF-8.
    public static let assetBytesMax = 1024
    /// Longest job id in characters.
    public static let jobIDLengthMax = 64
    public static let batchJobsMax = 10_000_000
    /// Longest name of a batch. Its members' ids append `:` and a number.
    public static let batchIDLengthMax = jobIDLengthMax - 1 - "\(batchJobsMax)".utf8.count
    /// Highest cost of one job, in milliseconds of one slot: a day.
    public static let costMax = 86_400_000
    public static let editBytesMax = 65_536
    /// Most values of an asset for placeholders.
    public static let fieldsMax = 16
    /// Longest name of such a value, in characters.
    public static let fieldNameMax = 32
    /// Longest JSON of such values, in bytes: each is kept in Redis until its job has ended.
    public static let fieldsBytesMax = 1024
    /// Longest recipe in bytes of canonical JSON, after edits are appended.
    public static let recipeBytesMax = 4 * editBytesMax
    /// Longest job in bytes of JSON, which is a line of a manifest.
    public static let jobBytesMax = 2 * editBytesMax
    public static let filtersMax = 32
    public static let changesMax = filtersMax
    public static let previewsMax = 8
    /// Longest side of a preview, in pixels.
    public static let previewSideRange = 16...4096
    public static let renditionsMax = 16
    /// Longest name of a rendition in characters.
    public static let renditionNameMax = 32
    /// A side of a rendition's box, in pixels; the longest one that HEIC and AVIF have.
    public static let boxSideRange = 1...16_384
    /// Longest text of metadata in characters, and most texts of a list.
    public static let metadataTextMax = 2_000
    public static let metadataListMax = 100
    /// Longest side of a `referenceSize` in pixels.
    public static let referenceSideMax = 100_000
    /// Most marks of a rendition, and most fonts of a text.
    public static let marksMax = 8
    public static let fontsMax = 8
    /// Longest text of a mark in characters of Unicode, and most lines.
    public static let textMax = 200
    public static let textLinesMax = 10
    /// Most copies of a mark that is tiled.
    public static let stampsMax = 4_000
    /// Most axes that a mark sets of a variable font.
    public static let axesMax = 16
}
