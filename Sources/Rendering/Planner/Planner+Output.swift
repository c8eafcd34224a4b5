import Edits
import RenderProtocol

extension Planner {
    /// Lossless formats that the result keeps.
    private static let kept: [PhotoFormat: Recipe.Format] = [.png: .png, .tiff: .tiff]

    /// Decides each choice that the recipe leaves open, by the original.
    ///
    /// - Parameters:
    ///   - size: the size of the result.
    ///   - hasAlpha: whether the result may be partly transparent.
    /// - Throws: `invalidValue` for a choice that the format does not support, `tooManyPixels` if it cannot hold the picture.
    static func output(
        _ asked: Recipe.Output, for header: PhotoHeader, size: PixelSize, hasAlpha: Bool
    ) throws(Failure) -> OutputPlan {
        let format = asked.format ?? kept[header.format] ?? .jpeg
        guard !format.isMovie else {
            throw Failure(
                .invalidValue,
                "edit.output.format is \(format.rawValue), but the asset is a photo, and a photo cannot become a movie. Use jpeg, or leave "
                    + "it out.")
        }
        if let most = format.sideMax, max(size.width, size.height) > most {
            throw Failure(
                .tooManyPixels,
                "The photo is \(size) pixels; the sides of a \(format.rawValue) are at most "
                    + "\(most). Ask for png as edit.output.format.")
        }
        if asked.progressive, !format.canBeProgressive {
            throw Failure(
                .invalidValue,
                "edit.output.progressive is true, but a \(format.rawValue) cannot be; jpeg and png "
                    + "can.")
        }
        let isDeep = header.bitsPerSample > 8
        let depth = asked.bitDepth ?? (isDeep ? format.deepBitDepth : .eight)
        try check("bitDepth", depth.rawValue, among: format.bitDepths.map(\.rawValue), format)
        let chroma = asked.chroma ?? chroma(of: header, as: format, asked.quality)
        try check("chroma", chroma.rawValue, among: format.chromas.map(\.rawValue), format)
        return OutputPlan(
            format: format, quality: asked.quality, chroma: chroma,
            progressive: asked.progressive, bitDepth: depth,
            compression: try compression(asked.compression, of: header, as: format),
            keepsAlpha: hasAlpha && format.hasAlpha,
            background: asked.background ?? .white, colorSpace: asked.colorSpace,
            strip: asked.strip)
    }

    /// Keeps a TIFF uncompressed: such files are meant to be read fast, or by programs without decompression.
    private static func compression(
        _ asked: Recipe.Compression?, of header: PhotoHeader, as format: Recipe.Format
    ) throws(Failure) -> Recipe.Compression? {
        guard let asked else {
            guard !format.compressions.isEmpty else { return nil }
            return format == .tiff && header.isUncompressed ? .uncompressed : .fast
        }
        guard !format.compressions.isEmpty else {
            throw Failure(
                .invalidValue,
                "edit.output.compression is \(asked.rawValue), but the quality sets the size of a \(format.rawValue); "
                    + "only png and tiff have a choice of compression.")
        }
        try check(
            "compression", asked.rawValue, among: format.compressions.map(\.rawValue), format)
        return asked
    }

    private static func check<Value: Equatable>(
        _ field: String, _ value: Value, among allowed: [Value], _ format: Recipe.Format
    ) throws(Failure) {
        guard !allowed.contains(value) else { return }
        throw Failure(
            .invalidValue,
            "edit.output.\(field) is \(value), which we do not write in a \(format.rawValue); "
                + "there it may be \(allowed.map { "\($0)" }.joined(separator: " or ")).")
    }

    /// The quality from which chroma has full resolution if the original's sampling is unknown; below it, the result is 4:2:0, as
    /// in libvips and other encoders. The sampling never falls below the original's, except in HEIC, which is always 4:2:0: phones
    /// write no other sampling, and do not decode all others.
    private static let fullChromaQuality = 0.9

    private static func chroma(
        of header: PhotoHeader, as format: Recipe.Format, _ quality: Double
    ) -> Recipe.Chroma {
        let isHalf = quality < fullChromaQuality || format == .heic
        let known = header.chroma ?? (isHalf ? .half : .full)
        let wanted: Recipe.Chroma = known == .half ? .half : .full
        return format.chromas.contains(wanted) ? wanted : format.chromas[0]
    }
}
