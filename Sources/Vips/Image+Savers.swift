// Each saver writes all metadata that its format has a place for. Quality is 1 to 100.
extension Image {
    /// How much of the chroma is kept.
    public enum ChromaSubsampling: String, Sendable {
        /// 4:2:0 below quality 90, else 4:4:4, as libvips does by itself.
        case auto
        /// 4:2:0.
        case on
        /// 4:4:4.
        case off
    }

    private func save(
        _ saver: String, to file: Int32, _ more: [(String, Operation.Value)]
    ) throws(VipsError) {
        try Operation.perform(
            saver + "_target",
            [("in", .image(self)), ("target", .file(try .target(file)))] + more)
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

    /// Writes a PNG, 8 or 16 bits as the samples are; progressive ones need all pixels in memory.
    public func writePNG(to file: Int32, progressive: Bool = false) throws(VipsError) {
        try save("pngsave", to: file, [("interlace", .bool(progressive))])
    }

    /// Samples from which on a TIFF is written as BigTIFF: offsets of TIFF have 32 bits, and Deflate
    /// can make noise a little longer.
    private static let bigTIFFBytes = 3 << 30

    /// Writes a TIFF in strips, compressed by Deflate with differences of neighbours.
    public func writeTIFF(to file: Int32) throws(VipsError) {
        try save(
            "tiffsave", to: file,
            [
                ("compression", .string("deflate")), ("predictor", .string("horizontal")),
                ("bigtiff", .bool(byteCount >= Self.bigTIFFBytes)),
            ])
    }

    /// Writes a lossy WebP; needs all pixels in memory.
    public func writeWebP(to file: Int32, quality: Int) throws(VipsError) {
        try save("webpsave", to: file, [("Q", .int(quality))])
    }

    /// What compresses a HEIF.
    public enum HEIFCompression: String, Sendable {
        /// HEVC: HEIC.
        case hevc
        /// AV1: AVIF.
        case av1
    }

    /// How hard libaom tries. Measured on 1 MP at quality 90: 3 takes 0.8 s and 4, libvips' default, 5.3 s
    /// for 6 % less error in a file of the same size. libvips does not hand it to x265.
    private static let av1Effort = 3

    /// Writes a HEIC or AVIF; needs all pixels in memory.
    ///
    /// - Parameter bits: bits of a sample; more than 8 are taken from the upper ones of 16.
    public func writeHEIF(
        to file: Int32, _ compression: HEIFCompression, quality: Int, bits: Int,
        chroma: ChromaSubsampling
    ) throws(VipsError) {
        try save(
            "heifsave", to: file,
            [
                ("Q", .int(quality)), ("bitdepth", .int(bits)),
                ("compression", .string(compression.rawValue)),
                ("subsample_mode", .string(chroma.rawValue)), ("effort", .int(Self.av1Effort)),
            ])
    }

    /// How hard libjxl tries. Measured on 12 MP at quality 90: 5 takes half the time and memory of 7,
    /// libvips' default (3.9 s and 566 MB against 8.0 s and 1,068 MB), for the same size.
    private static let jxlEffort = 5

    /// Writes a lossy JPEG XL, 8 or 16 bits as the samples are; needs all pixels in memory.
    public func writeJXL(to file: Int32, quality: Int) throws(VipsError) {
        try save("jxlsave", to: file, [("Q", .int(quality)), ("effort", .int(Self.jxlEffort))])
    }
}
