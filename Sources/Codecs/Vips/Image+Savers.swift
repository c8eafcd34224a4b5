// Each saver but JPEG XL's writes all metadata that its format supports. Quality is 1 to 100.
extension Image {
    /// The chroma sampling.
    public enum ChromaSubsampling: String, Sendable {
        /// libvips' default: 4:2:0 below quality 90, otherwise 4:4:4.
        case auto
        /// 4:2:0.
        case on
        /// 4:4:4.
        case off
    }

    private func save(
        _ saver: String, to file: Int32, _ more: [(String, Operation.Value)],
        ifKnown: [(String, Operation.Value)] = []
    ) throws(VipsError) {
        try Operation.perform(
            saver + "_target",
            [("in", .image(self)), ("target", .file(try .target(file)))] + more,
            ifKnown: ifKnown)
    }

    /// Writes a JPEG; progressive ones need all coefficients in memory.
    public func writeJPEG(
        to file: Int32, quality: Int, chroma: ChromaSubsampling, progressive: Bool = false
    ) throws(VipsError) {
        try save(
            "jpegsave", to: file,
            [
                ("Q", .int(quality)), ("subsample_mode", .string(chroma.rawValue)),
                ("interlace", .bool(progressive)),
            ])
    }

    /// The filter, differences to the row above or libpng's choice among all filters for each row (PNG third edition §9.2), and
    /// zlib's level: `VIPS_FOREIGN_PNG_FILTER_UP`, `_ALL`.
    private static let png = (fast: (filter: 0x20, level: 1), small: (filter: 0xF8, level: 6))

    /// Writes a PNG with the samples' 8 or 16 bits. Progressive ones need all pixels in memory.
    ///
    /// Measured on photos of 6 MP: differences at level 1 take half the time of libvips' defaults (no filter, and level 6), and the
    /// files are a quarter smaller.
    public func writePNG(
        to file: Int32, progressive: Bool = false, isSmall: Bool = false
    ) throws(VipsError) {
        let settings = isSmall ? Self.png.small : Self.png.fast
        try save(
            "pngsave", to: file,
            [
                ("interlace", .bool(progressive)), ("compression", .int(settings.level)),
                ("filter", .int(settings.filter)),
            ])
    }

    /// libwebp's effort. At the SSIM of a JPEG of quality 90, ten photos of 1 MP: 2 takes 0.38 s and 4, libvips' default, 0.74 s,
    /// with files a quarter smaller; JPEG's are 27 % larger.
    private static let webPEffort = 2

    /// Writes a lossy WebP; needs all pixels in memory.
    public func writeWebP(to file: Int32, quality: Int) throws(VipsError) {
        try save(
            "webpsave", to: file, [("Q", .int(quality)), ("effort", .int(Self.webPEffort))])
    }

    /// libaom's effort: speed 9. At the SSIM of a JPEG of quality 90, ten photos of 1 MP: 0.45 s, and 2.9 s for 3, with files a
    /// third smaller; JPEG's are 30 % larger.
    private static let av1Effort = 0

    /// Writes an AVIF; needs all pixels in memory.
    ///
    /// - Parameter bits: bits of a sample; more than 8 are the upper ones of 16.
    public func writeAVIF(
        to file: Int32, quality: Int, bits: Int, chroma: ChromaSubsampling
    ) throws(VipsError) {
        try save(
            "heifsave", to: file,
            [
                ("Q", .int(quality)), ("bitdepth", .int(bits)),
                ("compression", .string("av1")),
                ("subsample_mode", .string(chroma.rawValue)), ("effort", .int(Self.av1Effort)),
            ])
    }

    /// libjxl's effort. At the SSIM of a JPEG of quality 90, ten photos of 1 MP: 3 takes 0.41 s, 5 takes 1.1 s and 7, libvips'
    /// default, 2.2 s, with files a fifth smaller; JPEG's are 40 % larger.
    private static let jxlEffort = 3

    /// `VIPS_FOREIGN_KEEP_ICC`, which the headers of libvips 8.14 lack.
    private static let profileAlone = 8

    /// Writes a bare codestream of lossy JPEG XL with the samples' 8 or 16 bits, and the profile as its only metadata; needs all
    /// pixels in memory.
    ///
    /// libvips 8.14 writes no other metadata. Later versions do, into a container, unless they are told not to.
    public func writeJXL(to file: Int32, quality: Int) throws(VipsError) {
        try save(
            "jxlsave", to: file, [("Q", .int(quality)), ("effort", .int(Self.jxlEffort))],
            ifKnown: [("keep", .int(Self.profileAlone))])
    }
}
