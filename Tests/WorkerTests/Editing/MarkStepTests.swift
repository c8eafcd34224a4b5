import Edits
import Editors
import Files
import Foundation
import Library
import MinilabTesting
import Testing

@testable import Editing
@testable import RenderPool
@testable import RenderProtocol

/// A mark as a step of an edit, with real renders: what is recorded, copied and refused.
@Suite("Marks as a step, rendered by a worker") struct MarkStepWorkerTests {
    private let bench: Workbench
    private let asset: AssetPath
    private let logo: String

    init() throws {
        bench = try Workbench()
        asset = try bench.put("wide.png", SyntheticPhoto.png(width: 60, height: 40))
        logo = try bench.putResource(SyntheticPhoto.png(width: 20, height: 10, seed: 7))
    }

    private func mark(_ fields: String = #""width": 0.5, "margin": 0.05, "at": "southeast""#)
        -> String
    {
        #"{"name": "mark", "image": "\#(logo)", \#(fields)}"#
    }

    private func replacing(_ steps: String) -> String {
        #"{"filters": [\#(steps)], "output": {"format": "png"}}"#
    }

    private func content(_ asset: AssetPath, _ edit: String) async throws -> Content {
        guard case .made(let version, _) = try await bench.edit(asset, edit) else {
            throw Failure(.internalError, "expected a version")
        }
        return try #require(version.content)
    }

    private func covered(_ filter: Filter?) -> [Double]? {
        guard let filter, filter.name == "CISourceOverCompositing" else { return nil }
        return filter.vector("position") + [filter.number("scale")]
    }

    @Test func `is recorded as a blend mode, with the same pixels, and the edit as it was sent`()
        async throws
    {
        let content = try await content(asset, replacing(mark()))
        let recorded = try #require(content.recipe)
        #expect(recorded.filters.count == 1)
        #expect(covered(recorded.filters.first) == [28, 2, 1.5])
        #expect(content.sent?.filters.map(\.name) == ["mark"])

        // The sidecar has what any earlier release reads.
        let version = try #require(try await bench.current(asset))
        let sidecar = try await bench.library.sidecar(of: content, in: version, asset)
        let text = try #require(String(validating: sidecar.adjustment.data, as: UTF8.self))
        #expect(text == recorded.json.canonical)
        #expect(!text.contains(#""mark""#) && sidecar.adjustment.formatVersion == "1.0")

        // The same filter by hand, and no filter.
        let hand = """
            {"name": "CISourceOverCompositing", "image": "\(logo)", "position": [28, 2], "scale": 1.5}
            """
        let other = try bench.put("other.png", SyntheticPhoto.png(width: 60, height: 40))
        #expect(
            try await self.content(other, replacing(hand)).render.sha256 == content.render.sha256)
        let bare = try bench.put("bare.png", SyntheticPhoto.png(width: 60, height: 40))
        let invert = #"{"name": "CIColorInvert"}"#
        #expect(
            try await self.content(bare, replacing("\(invert), \(invert)")).render.sha256
                != content.render.sha256)
        for edit in [mark(), hand] {
            guard case .unchanged = try await bench.edit(asset, replacing(edit)) else {
                Issue.record("expected .unchanged of \(edit)")
                continue
            }
        }
        await bench.pool.close()
    }

    @Test func `has its place and width in each photo that it is copied to`() async throws {
        _ = try await content(asset, replacing("\(mark()), {\"name\": \"CIGaussianBlur\"}"))
        let tall = try bench.put("tall.png", SyntheticPhoto.png(width: 50, height: 90))
        let copy = #"{"mode": "copyEdit", "from": "wide.png"}"#
        let copied = try await content(tall, copy)
        // 25 of 50 wide, 13 high; 5 % of 50 are 3.
        #expect(covered(copied.recipe?.filters.first) == [22, 3, 1.25])
        #expect(copied.sent?.filters.map(\.name) == ["mark", "CIGaussianBlur"])
        guard case .unchanged = try await bench.edit(tall, copy) else {
            Issue.record("expected .unchanged")
            return
        }
        await bench.pool.close()
    }

    @Test func `is laid on what is current by a second edit, and changed by a third`() async throws
    {
        _ = try await content(asset, replacing(#"{"name": "crop", "aspect": [1, 1]}, \#(mark())"#))
        let appended = try await content(
            asset, #"{"mode": "append", "filters": [\#(mark(#""width": 5, "unit": "px""#))]}"#)
        #expect(
            appended.recipe?.filters.map(\.name) == [
                "CICrop", "CISourceOverCompositing", "CISourceOverCompositing",
            ])
        #expect(covered(appended.recipe?.filters[1]) == [18, 2, 1])
        // 5 × 3 in the middle of 40 × 40: 17.5 and 18.5, halves up from left and top.
        #expect(covered(appended.recipe?.filters[2]) == [18, 18, 0.25])
        #expect(appended.sent?.filters.map(\.name) == ["crop", "mark", "mark"])
        let amended = try await content(
            asset, #"{"mode": "amend", "changes": [{"step": 2, "set": {"opacity": 0.5}}]}"#)
        #expect(amended.recipe?.filters[2].number("opacity") == 0.5)
        #expect(
            amended.sent?.filters.map(\.name) == ["crop", "mark", "CISourceOverCompositing"])
        // Each file is needed, unless the step goes with it.
        try FileManager.default.removeItem(
            atPath: bench.resources + "/" + logo.dropFirst("sha256:".count))
        let failure = await #expect(throws: Failure.self) {
            try await bench.edit(asset, #"{"mode": "append", "filters": ["css:sepia()"]}"#)
        }
        #expect(failure?.code == .missingResource)
        let gone = try await content(
            asset,
            #"{"mode": "amend", "changes": [{"step": 1, "remove": true}, {"step": 2, "remove": true}]}"#
        )
        #expect(gone.recipe?.filters.map(\.name) == ["CICrop"] && gone.sent == nil)
        await bench.pool.close()
    }

    @Test(arguments: 1...8)
    func `counts the upright photo, however it is stored`(orientation: Int) async throws {
        let photo = try bench.put("stored.jpg", RelativeEditTests.jpeg(UInt8(orientation)))
        let content = try await content(
            photo,
            replacing(
                #"{"name": "crop", "aspect": [3, 5]}, \#(mark(#""width": 0.1, "at": "northeast""#)), {"name": "resize", "box": [60, 100]}"#
            ))
        let stored = content.input.size
        let upright = try #require(Orientation(rawValue: orientation)).size(of: stored)
        let (w, h) = (upright.width, upright.height)
        let (width, height) = 3 * h <= 5 * w ? ((6 * h + 5) / 10, h) : (w, (10 * w + 3) / 6)
        // A tenth of the width, and half of that high, both halves up.
        let (wide, high) = ((2 * width + 10) / 20, ((2 * width + 10) / 20 + 1) / 2)
        let filter = try #require(
            content.recipe?.filters.first { $0.name == "CISourceOverCompositing" })
        #expect(filter.vector("position") == [Double(width - wide), Double(height - high)])
        #expect(filter.number("scale") == Double(wide) / 20)
        await bench.pool.close()
    }

    @Test func `is on both halves of a Live Photo, and on each frame of a movie`() async throws {
        let photo = try Data(contentsOf: Contract.folder.appending(path: "photos/tulips.jpg"))
        let clip = try Data(contentsOf: Repository.fixture("Movies/bt601.mp4"))
        let still = try bench.put("IMG_1.JPG", SyntheticLivePhoto.still(of: photo))
        try bench.put("IMG_1.MOV", SyntheticLivePhoto.movie(of: clip))
        let edit = #"{"filters": [\#(mark(#""width": 0.5, "at": "west""#))]}"#
        let pair = try await content(still, edit)
        #expect(pair.pairedVideo != nil && pair.sent?.filters.map(\.name) == ["mark"])
        let movie = try bench.put("clip.mp4", clip)
        let content = try await content(movie, edit)
        let size = content.input.photo.uprightSize
        let wide = (size.width + 1) / 2
        #expect(
            covered(content.recipe?.filters.first) == [
                0, Double(size.height - (size.height - (wide + 1) / 2 + 1) / 2 - (wide + 1) / 2),
                Double(wide) / 20,
            ])
        #expect(content.render.mediaType == "video/mp4")
        await bench.pool.close()
    }

    @Test(arguments: [
        ("MISSING", FailureCode.missingResource, "edit.filters[0].image"),
        ("TEXT", .badResource, "no picture"), ("CUT", .badResource, "no picture"),
        ("MOVIE", .badResource, "movie"), ("OTHER", .badResource, "does not match its name"),
    ])
    func `is refused without a picture, and nothing is published`(
        file: String, code: FailureCode, part: String
    ) async throws {
        let digest: String
        switch file {
        case "TEXT": digest = try bench.putResource(Data("a logo".utf8))
        case "CUT":
            // The header is whole, and the pixels are not.
            digest = try bench.putResource(SyntheticPhoto.png(width: 20, height: 10).prefix(60))
        case "MOVIE":
            digest = try bench.putResource(
                Data(contentsOf: Repository.fixture("Movies/bt601.mp4")))
        case "OTHER":
            digest = logo
            try SyntheticPhoto.png(width: 9, height: 9).write(
                to: URL(filePath: bench.resources + "/" + logo.dropFirst("sha256:".count)))
        default: digest = "sha256:" + String(repeating: "0", count: 64)
        }
        let failure = await #expect(throws: Failure.self) {
            try await bench.edit(
                asset, replacing(#"{"name": "mark", "image": "\#(digest)", "width": 0.5}"#))
        }
        #expect(failure?.code == code, "\(failure?.message ?? "")")
        #expect(failure?.message.contains(part) == true, "\(failure?.message ?? "")")
        #expect(failure?.message.contains(digest) == true, "\(failure?.message ?? "")")
        #expect(try await bench.current(asset) == nil)
        await bench.pool.close()
    }

    @Test func `is reduced to fit, and the forecast and the record say so`() async throws {
        let edit = replacing(mark(#""width": 4"#))
        var settings = bench.settings
        settings.resources = bench.resources
        let forecaster = EditForecaster(
            library: bench.library, pool: bench.pool, settings: settings)
        guard
            case .render(let inspection) = try await forecaster.forecast(
                Edit(json: edit), of: asset)
        else { throw Failure(.internalError, "expected a render") }
        #expect(inspection.plan.notes.contains { $0.contains("is reduced to 60×30") })
        #expect(covered(inspection.recipe.filters.first) == [0, 5, 3])
        let content = try await content(asset, edit)
        #expect(content.rendering?.plan.contains { $0.contains("is reduced to 60×30") } == true)
        let tiny = try bench.put("tiny.png", SyntheticPhoto.png(width: 1, height: 1))
        #expect(
            covered(try await self.content(tiny, edit).recipe?.filters.first) == [0, 0, 0.05])
        await bench.pool.close()
    }

    @Test func `can be there twenty times`() async throws {
        let marks = (0..<20).map { mark(#""width": 0.1, "focus": [\#(Double($0) / 20), 0.5]"#) }
        let content = try await content(asset, replacing(marks.joined(separator: ", ")))
        #expect(content.recipe?.filters.count == 20)
        #expect(Set(content.recipe?.filters.map { $0.vector("position") } ?? []).count > 10)
        await bench.pool.close()
    }

    /// Worker and child both resolve the step, from sizes that the child reads in the file for itself.
    @Test func `is believed of a child only as the worker resolves it`() async throws {
        let recipe = try Recipe(json: replacing(mark()))
        let file = bench.folder.file("photo.png")
        try SyntheticPhoto.png(width: 60, height: 40).write(to: URL(filePath: file))
        let files = RenderFiles(
            sources: [try OpenFile(reading: file)],
            resources: try .opened(for: recipe, of: .operator, in: bench.resources))
        var photo = PhotoRequest(
            recipe: recipe, limits: RenderLimits(),
            pictures: [logo: PixelSize(width: 20, height: 10)])
        let borrower = Borrower(.operator)
        let inspection = try await bench.pool.inspect(photo, files, for: borrower)
        let request = RenderRequest(.inspect(photo))
        let line = try LineFormat.encode(
            RenderReply(to: request.number, .inspected(inspection)))
        _ = try RenderReply(line, to: request)
        let filter = "content.inspected._0.recipe.filters.0"
        for (field, lie) in [("position.0", "27"), ("scale", "1.5000001"), ("opacity", "0.5")] {
            let line = try JSONLie("\(filter).\(field)", lie).applied(in: line)
            #expect(throws: BrokenReply.self) { try RenderReply(line, to: request) }
        }
        // A worker that says another size is not believed by the child.
        photo.pictures = [logo: PixelSize(width: 10, height: 10)]
        let failure = await #expect(throws: Failure.self) {
            try await bench.pool.inspect(photo, files, for: borrower)
        }
        #expect(failure?.code == .badResource)
        #expect(failure?.message.contains("10×10") == true, "\(failure?.message ?? "")")
        await bench.pool.close()
    }
}
