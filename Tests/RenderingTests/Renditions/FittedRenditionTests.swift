import Edits
import Foundation
import MinilabTesting
import RenderProtocol
import Testing

@testable import Rendering

@Suite("Renditions that are enlarged, or fitted to bytes") struct FittedRenditionTests {
    private let studio: Studio

    init() throws { studio = try Studio() }

    private func made(_ photo: String, _ rendition: Rendition) throws -> String {
        try studio.render(
            Repository.fixture("Cases/" + photo).path, Recipe(filters: []),
            [.init(rendition: rendition, name: "x")], stem: "out")[0]
    }

    @Test(arguments: [Fit.Rule.inside, .stretch])
    func `an enlarged edge has no line beside it`(rule: Fit.Rule) throws {
        let height = rule == .stretch ? 40 : 300
        let path = try made(
            "edge.png",
            Rendition(
                fit: Fit(box: .init(width: 1200, height: height), rule: rule, enlarges: true),
                output: .init(format: .png, colorSpace: .srgb, hdr: .drop)))
        let picture = try Picture(path, loader: "pngload")
        let codes = (0..<picture.width).map { picture.pixel($0, picture.height / 2)[0] }
        // The edge itself: codes rise, and never leave the range of both sides.
        #expect(codes.min() == 64 && codes.max() == 192)
        #expect(zip(codes, codes.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(codes.count { (65..<192).contains($0) } <= 8, "soft: \(codes)")
    }

    @Test func `metadata do not shrink with the picture`() throws {
        let target = SizeTarget(bytesMax: 62_500, onMiss: .shrink)
        let path = try made("bigexif.jpg", Rendition(target: target))
        let bytes = try Data(contentsOf: URL(filePath: path))
        #expect(bytes.count <= 62_500)
        #expect(try Picture(path).width >= 64)
        #expect(bytes.range(of: Data("Exif".utf8)) != nil)
    }

    @Test(arguments: [SizeTarget.Miss.fail, .shrink])
    func `a file that metadata fill is refused with their bytes, and the way out`(
        miss: SizeTarget.Miss
    ) throws {
        let failure = #expect(throws: Failure.self) {
            try made("bigexif.jpg", Rendition(target: SizeTarget(bytesMax: 50_000, onMiss: miss)))
        }
        let text = failure?.message ?? ""
        #expect(failure?.code == .cannotFit && text.contains("are metadata"), "\(text)")
        #expect(text.contains("strip") && text.contains("onMiss") == (miss == .fail), "\(text)")
    }

    @Test func `a file without metadata is refused with no advice to leave them out`() throws {
        let bare = Rendition(
            output: .init(format: .jpeg, strip: .all, colorSpace: .srgb, hdr: .drop),
            target: SizeTarget(bytesMax: 600, onMiss: .shrink))
        let failure = #expect(throws: Failure.self) { try made("lightroom.jpg", bare) }
        let text = failure?.message ?? ""
        #expect(failure?.code == .cannotFit && text.contains("are its colour profile"), "\(text)")
        #expect(!text.contains("strip") && text.contains(". Allow more, "), "\(text)")
    }

    /// The photo's EXIF has a comment of 60,000 bytes in a place where no TIFF takes it.
    @Test func `metadata that a format does not take are no bytes of it`() throws {
        let path = try made(
            "bigexif.jpg",
            Rendition(
                output: .init(format: .tiff, colorSpace: .srgb, hdr: .drop),
                target: SizeTarget(bytesMax: 30_000, onMiss: .shrink)))
        #expect(try Data(contentsOf: URL(filePath: path)).count <= 30_000)
    }
}
