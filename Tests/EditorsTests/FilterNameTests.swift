import Edits
import Editors
import Filters
import FoundationEssentials
import Testing

@Suite("Formats that are a filter's name") struct FilterNameTests {
    private static let utf8 = [
        "com.example.apple-samplecode.SamplePhotosApp", "com.example.samplecode.SamplePhotosApp",
    ]
    private static let archived = [book, sampleExtension]
    /// The photo editing extension of the book "iOS App Development Essentials" (ebookfrenzy.com).
    private static let book = "com.ebookfrenzy.photoext"
    /// Apple's sample "Sample Photo Editing Extension".
    private static let sampleExtension = "com.example.apple-samplecode.photofilter"

    private func editor(_ formatIdentifier: String) throws -> any AdjustmentCodec {
        try #require(EditorRegistry.standard().codec(of: formatIdentifier))
    }

    /// `CISepiaTone` as Python's plistlib archives it.
    private static let archivedSepia = Data(
        hex:
            "62706c6973743030d4010203040506090c5924617263686976657258246f626a656374735424746f7058247665727369"
            + "6f6e5f100f4e534b657965644172636869766572a2070855246e756c6c5b43495365706961546f6e65d10a0b54726f6f"
            + "74800112000186a008111b24293244474d595c61630000000000000101000000000000000d0000000000000000000000"
            + "0000000068")

    private func archive(_ name: String) -> Data { KeyedArchive.bytes(ofRoot: name) }

    @Test func `the same archive means sepia 0.8 to one editor and sepia 1 to another`() throws {
        #expect(
            try editor(Self.book).filters(Self.archivedSepia)
                == [try Filter("CISepiaTone", ["intensity": 0.8])])
        #expect(
            try editor(Self.sampleExtension).filters(Self.archivedSepia)
                == [try Filter("CISepiaTone", ["intensity": 1])])
    }

    @Test(arguments: utf8) func `the sample app's bare word means sepia 1`(_ format: String)
        throws
    {
        #expect(
            try editor(format).filters(Data("CISepiaTone".utf8)) == [
                try Filter("CISepiaTone", ["intensity": 1])
            ])
    }

    @Test func `the book's extension implies edges 0.8 and a motion blur of 25 to the right`()
        throws
    {
        let codec = try editor(Self.book)
        #expect(
            try codec.filters(archive("CIEdges")) == [try Filter("CIEdges", ["intensity": 0.8])])
        #expect(
            try codec.filters(archive("CIMotionBlur")) == [
                try Filter("CIMotionBlur", ["radius": 25, "angle": 0])
            ])
        #expect(try codec.filters(archive("CIColorInvert")) == [try Filter("CIColorInvert")])
    }

    @Test(arguments: [
        "CISepiaTone", "CIPhotoEffectChrome", "CIPhotoEffectInstant", "CIColorInvert",
        "CIColorPosterize",
    ])
    func `the sample extension's five filters have their defaults`(_ name: String) throws {
        #expect(
            try editor(Self.sampleExtension).filters(archive(name)) == [try Filter(name)])
    }

    @Test(
        arguments: utf8,
        ["CIFromTheFuture", "turn", "CSSSepia", "sepia", "CICrop", "CILinearGradient"])
    func `a name that is no filter of Core Image with defaults here cannot be handled`(
        _ format: String, _ name: String
    ) throws {
        #expect(try editor(format).reason(Data(name.utf8)).contains(name))
    }

    @Test func `a filter that the sample extension does not offer cannot be handled`() throws {
        let reason = try editor(Self.sampleExtension).reason(archive("CIGaussianBlur"))
        #expect(reason.contains("CIGaussianBlur") && reason.contains("CIColorPosterize"))
    }

    @Test(arguments: utf8 + archived) func `what is written is read as the same recipe`(
        _ format: String
    ) throws {
        let codec = try editor(format)
        for name in ["CISepiaTone", "CIColorInvert"] {
            let filters = try codec.filters(
                Self.utf8.contains(format) ? Data(name.utf8) : archive(name))
            let data = try codec.write(try Recipe(filters: filters), for: .landscape)
            #expect(try codec.filters(data) == filters)
        }
    }

    @Test func `parameters that are not the implied ones cannot be written`() {
        expect(.adjustmentDataNotEncodable, naming: "0.8", "0.5", "org.minilab.recipe") {
            try editor(Self.book).write(
                try Recipe(filters: [try Filter("CISepiaTone", ["intensity": 0.5])]),
                for: .landscape)
        }
    }

    @Test(arguments: utf8 + archived) func `two filters, or one of our own, cannot be written`(
        _ format: String
    ) throws {
        let chains = [
            [try Filter("CIColorInvert"), try Filter("CIColorInvert")],
            [try Filter("turn")],
            // A filter of Core Image without defaults.
            [try Filter("CICrop", ["rectangle": [0, 0, 9, 9]])],
        ]
        let codec = try editor(format)
        for filters in chains {
            expect(.adjustmentDataNotEncodable, naming: format, filters[0].name) {
                try codec.write(try Recipe(filters: filters), for: .landscape)
            }
        }
    }

    @Test(arguments: [Data([0xC3]), Data(), Data(String(repeating: "e\u{301}", count: 4000).utf8)])
    func `bytes that are no name are undecodable`(_ data: Data) {
        for format in Self.utf8 + Self.archived {
            expect(.adjustmentDataUndecodable, naming: format) {
                try editor(format).read(data, of: .landscape)
            }
        }
    }

    @Test(arguments: 0..<149) func `an archive that is cut off is undecodable`(_ count: Int) {
        expect(.adjustmentDataUndecodable) {
            try editor(Self.book).read(
                Self.archivedSepia.prefix(count), of: .landscape)
        }
    }
}
