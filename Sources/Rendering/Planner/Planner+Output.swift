import Adjustments
import RenderProtocol

extension Planner {
    /// Original formats without loss that stay what they are.
    private static let kept: [PhotoFormat: Recipe.Format] = [.png: .png, .tiff: .tiff]

    /// Makes every choice that the recipe leaves open, from what the original is.
    ///
    /// - Parameters:
    ///   - size: of the result.
    ///   - hasAlpha: whether it could be transparent in part.
    /// - Throws: `invalidValue` for what the format cannot do, `tooManyPixels` when it cannot hold the
    ///   picture.
    static func output(
        _ asked: Recipe.Output, for header: PhotoHeader, size: PixelSize, hasAlpha: Bool
    ) throws(Failure) -> OutputPlan {
        let format = asked.format ?? kept[header.format] ?? .jpeg
        guard !format.isMovie else {
            throw Failure(
                .invalidValue,
                "edit.output.format is \(format.rawValue), but the asset is a photo, which becomes no movie. Ask for jpeg, or leave "
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

    /// A TIFF that is not compressed stays so: whoever wrote it wants it read fast, or by what reads nothing else.
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
                "edit.output.compression is \(asked.rawValue), but how small a \(format.rawValue) gets its "
                    + "quality says; png and tiff can be compressed so or so.")
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

    /// Never less detail than the original has; when that is not known, 4:2:0 below this quality, as
    /// libvips and others do, and in any HEIC: phones write no other, and do not decode all.
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
