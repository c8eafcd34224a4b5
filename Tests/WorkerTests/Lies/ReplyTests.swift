import Edits
import Files
import Foundation
import MinilabTesting
import Testing

@testable import Editing
@testable import RenderPool
@testable import RenderProtocol

/// What the reader of replies makes of lines that no honest child writes: pure, without a process.
@Suite("Replies of a render child", .timeLimit(.minutes(10))) struct ReplyTests {
    private static let recipe =
        #"{"filters":[{"name":"CICrop","inputRectangle":[2,2,40,30]},{"name":"CIGaussianBlur","inputRadius":3},"#
        + #"{"name":"CISepiaTone"}],"referenceSize":[64,48],"output":{"format":"png"}}"#

    /// An honest answer to a request for a photo's plan.
    private struct Asked {
        let request: RenderRequest
        let photo: PhotoRequest
        let line: Data

        init(_ recipe: String) async throws {
            let bench = try Workbench(inMemory: true)
            let file = bench.folder.file("photo.png")
            try SyntheticPhoto.png(width: 64, height: 48).write(to: URL(filePath: file))
            photo = PhotoRequest(recipe: try Recipe(json: recipe), limits: RenderLimits())
            let inspection = try await bench.pool.inspect(
                photo, RenderFiles(sources: [.init(reading: file)]), for: Borrower(.operator))
            await bench.pool.close()
            request = RenderRequest(.inspect(photo))
            line = try LineFormat.encode(RenderReply(to: request.number, .inspected(inspection)))
        }
    }

    private static let lies = [
        "-1", "0.5", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e308",
        "-1e308", "1e999", "99999999999999999999999999999999", "NaN", "-Infinity", #""NaN""#,
        "null",
        "true", "[]", "{}",
    ]

    @Test func `an honest one is believed`() async throws {
        let asked = try await Asked(Self.recipe)
        _ = try RenderReply(asked.line, to: asked.request)
    }

    @Test func `no number outside its range is believed, and none ends the worker`() async throws {
        let asked = try await Asked(Self.recipe)
        let numbers = try JSONLie.numbers(in: asked.line)
        #expect(numbers.count > 25)
        for path in numbers {
            for lie in Self.lies {
                let line = try JSONLie(path, lie).applied(in: asked.line)
                // Steps have ranges of their own; a plan's passes are only counted.
                let isStep = path.contains(".passes.")
                do throws(BrokenReply) {
                    let reply = try RenderReply(line, to: asked.request)
                    // Half a second of processor time is one.
                    let isPossible = path.hasSuffix("cpuSeconds") || path.hasSuffix("quality")
                    #expect(
                        isStep || isPossible && lie == "0.5", "\(path) = \(lie) was believed")
                    guard case .inspected(let inspection) = reply.content else { continue }
                    // What the worker does with it.
                    _ = inspection.plan.estimate.timeLimit(at: .here)
                    _ = RenderedResult(
                        format: inspection.plan.output.format,
                        size: .exactly(inspection.plan.resultSize)
                    ).bytesMax(source: 1)
                } catch {
                    #expect(!error.description.isEmpty)
                }
            }
        }
    }

    @Test func `a file of more bytes than were asked for is not accepted`() {
        let result = RenderedResult(
            format: .jpeg, size: .exactly(PixelSize(width: 900, height: 600)), wantedMax: 1_000)
        #expect(result.bytesMax(source: 5_000_000) == 1_000)
    }

    @Test func `a photo of any size that it tells scales a recipe or is refused`() async throws {
        let recipes = [
            Self.recipe,
            #"{"filters":[{"name":"CIStraightenFilter","inputAngle":0.3},{"name":"CICrop","inputRectangle":[0.5,0.5,9,9]}],"referenceSize":[10,10]}"#,
            #"{"filters":[{"name":"CICrop","inputRectangle":[1,1,9999,1]}],"referenceSize":[10000,3]}"#,
        ]
        let sides = ["1", "2", "3", "64", "65536", "536870912", "2147483647", "2147483648"]
        for recipe in recipes {
            let asked = try await Asked(recipe)
            for width in sides {
                for height in sides {
                    let line = try JSONLie(
                        "content.inspected._0.header.storedSize",
                        #"{"width":\#(width),"height":\#(height)}"#
                    ).applied(in: asked.line)
                    do throws(BrokenReply) {
                        _ = try RenderReply(line, to: asked.request)
                    } catch {
                        #expect(!error.description.isEmpty)
                    }
                }
            }
        }
    }

    @Test(arguments: FailureCode.allCases)
    func `a failure has a reason that a render can have`(code: FailureCode) throws {
        let request = RenderRequest(
            .inspect(PhotoRequest(recipe: try Recipe(filters: []), limits: RenderLimits())))
        let line = try LineFormat.encode(
            RenderReply(to: request.number, .failed(Failure(code, "a lie"))))
        do throws(BrokenReply) {
            _ = try RenderReply(line, to: request)
            #expect(code.isFoundByRender)
        } catch {
            #expect(!code.isFoundByRender && error.description.contains(code.rawValue))
        }
    }

    @Test func `fields that it has no place for go nowhere`() async throws {
        let asked = try await Asked(Self.recipe)
        let honest = try LineFormat.encode(RenderReply(asked.line, to: asked.request))
        for path in ["name", "content.inspected._0.digest", "content.inspected._0.plan.path"] {
            let line = try JSONLie(path, #""../../originals""#).applied(in: asked.line)
            #expect(try LineFormat.encode(RenderReply(line, to: asked.request)) == honest)
        }
    }

    @Test func `a recipe that was not asked for is refused, one that was resolved is not`()
        async throws
    {
        let asked = try await Asked(#"{"filters":[{"name":"auto"}]}"#)
        _ = try RenderReply(asked.line, to: asked.request)
        let line = try JSONLie(
            "content.inspected._0.recipe.output", #"{"format":"tiff"}"#
        ).applied(in: asked.line)
        #expect(throws: BrokenReply.self) { try RenderReply(line, to: asked.request) }
    }
}
