import Edits
import MinilabTesting
import Testing

@testable import RenderProtocol

@Suite("The engine's names and numbers") struct EngineTests {
    private static let digits = String(repeating: "0123456789", count: 4)

    @Test(arguments: [("", nil), (digits, digits), (digits + "+", digits + "+dirty")])
    func `a program tells the commit that was written into it`(
        written: String, commit: String?
    ) {
        #expect(Engine.commit(written: Array(written.utf8) + [0, 0]) == commit)
    }

    @Test func `a picture names the libraries that had a part in its bytes, and no others`() throws
    {
        func names(
            _ lane: RenderPlan.Lane, _ source: PhotoFormat, _ format: Recipe.Format,
            _ filters: String = "[]"
        ) throws -> Set<String> {
            let size = PixelSize(width: 8, height: 8)
            let plan = RenderPlan(
                lane: lane, orientation: 1, resultSize: size, passes: [],
                output: OutputPlan(
                    format: format, quality: 1, chroma: .full, progressive: false,
                    bitDepth: .eight, keepsAlpha: false, background: .white, colorSpace: .source,
                    strip: .none))
            let header = PhotoHeader(
                format: source, storedSize: size, orientation: 1, bands: 3, bitsPerSample: 8,
                hasAlpha: false, hasProfile: false)
            return UsedLibraries.names(
                plan, of: header, try Recipe(json: #"{"filters":\#(filters)}"#))
        }
        #expect(try names(.copy, .heif, .heic).isEmpty)
        #expect(try names(.metadata, .jpeg, .jpeg).isEmpty)
        #expect(try names(.lossless, .jpeg, .jpeg) == ["libjpeg-turbo"])
        #expect(try names(.planes, .jpeg, .jpeg) == ["libjpeg-turbo"])
        #expect(
            try names(.stream, .png, .webp) == ["libpng", "zlib", "libwebp", "libvips", "lcms2"])
        #expect(try names(.stream, .raw, .tiff).isSuperset(of: ["LibRaw", "libdeflate"]))
        #expect(try names(.planes, .movie, .mov) == ["libavcodec", "x265"])
        // A picture among the resources may be in any format.
        let digest = "sha256:" + String(repeating: "0", count: 64)
        let blend = #"[{"name":"CIColorBurnBlendMode","image":"\#(digest)"}]"#
        #expect(try names(.stream, .png, .webp, blend).isSuperset(of: ["libpng", "libjxl"]))
    }
}
