import Edits
import PhotoFiles
import Files
import Foundation
import MinilabTesting
import RenderProtocol
import Testing

@testable import Rendering

@Suite("Motion photos whose video is left out") struct MotionPhotoDropTests {
    private let studio: Studio

    init() throws { studio = try Studio() }

    /// A reason to leave a video out.
    struct Drop: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// A part of the reason.
        let says: String
        var output = Recipe.Output()
        var form = SyntheticMotionPhoto.Form.directory
        var change: @Sendable (inout SyntheticMotionPhoto) -> Void = { _ in }

        static let all: [Drop] = [
            Drop(
                testDescription: "a format that holds none", says: "a png holds no video",
                output: .init(format: .png)),
            Drop(
                testDescription: "all metadata are to go", says: "edit.output.strip is all",
                output: .init(strip: .all)),
            Drop(
                testDescription: "it is not there", says: "none where it should be",
                change: {
                    $0.lie = $0.movie.count; $0.movie = []
                }),
            Drop(
                testDescription: "it is not there, in the old way",
                says: "none where it should be", form: .microVideo,
                change: {
                    $0.lie = $0.movie.count; $0.movie = []
                }),
            Drop(
                testDescription: "its length is a lie", says: "none where it should be",
                change: { $0.lie = 7 }),
            Drop(
                testDescription: "its length is more than the file's",
                says: "none where it should be", form: .both, change: { $0.lie = 1 << 40 }),
            Drop(
                testDescription: "its length is beyond all numbers",
                says: "none where it should be", change: { $0.lie = Int.max - 1_000_000 }),
            Drop(
                testDescription: "something nobody names stands behind it",
                says: "none where it should be", change: { $0.garbage = [1, 2, 3] }),
            Drop(
                testDescription: "it is cut off", says: "contradict each other",
                change: { $0.movie.removeLast($0.movie.count / 2) }),
            Drop(
                testDescription: "it is fragmented", says: "a fragmented movie",
                change: { $0.movie += Bytes.box("moof", [1, 2, 3, 4]) }),
            Drop(
                testDescription: "it is too large", says: "one in a photo is edited up to",
                change: {
                    $0.movie += Bytes.box("free", .init(repeating: 0, count: MotionClip.bytesMax))
                }),
        ]
    }

    private func photo(_ drop: Drop) throws -> SyntheticMotionPhoto {
        var photo = SyntheticMotionPhoto(try MotionPhotoFile.movie(), form: drop.form)
        drop.change(&photo)
        return photo
    }

    @Test(arguments: Drop.all)
    func `are photos without a claim, and the plan says why`(_ drop: Drop) throws {
        let path = studio.path("photo.jpg")
        try MotionPhotoFile.write(photo(drop), to: path)
        let recipe = try Recipe(filters: [Filter("CISepiaTone")], output: drop.output)
        let render = try studio.render(path, recipe)
        let reason = try #require(render.plan.motionVideo?.reason)
        #expect(reason.contains(drop.says), "\(reason)")
        #expect(render.plan.leftOut == [.motionVideo])
        #expect(render.plan.description.contains("motion video: left out: "))
        let file = try MotionPhotoFile(studio.path(render.output.name))
        let isClaimed = file.claimsVideo
        #expect(!isClaimed)
        if render.output.mediaType == "image/jpeg" {
            #expect(try Exiftool.directory(of: file.path).isEmpty)
        }
    }

    @Test func `that no longer have it are not copied as they are`() throws {
        var photo = SyntheticMotionPhoto(try MotionPhotoFile.movie())
        (photo.lie, photo.movie) = (photo.movie.count, [])
        let path = studio.path("photo.jpg")
        try MotionPhotoFile.write(photo, to: path)
        let render = try studio.render(path, [])
        #expect(render.plan.lane != .copy)
        let isClaimed = try MotionPhotoFile(studio.path(render.output.name)).claimsVideo
        #expect(!isClaimed)
    }

    @Test(arguments: [false, true])
    func `for frames that cannot be decoded are told so when they are rendered`(hasMap: Bool) throws
    {
        var photo = SyntheticMotionPhoto(try MotionPhotoFile.movie())
        let samples = try MotionPhotoFile.tables(photo.movie).samples
        for range in samples.byteRanges.prefix(3) {
            photo.movie.replaceSubrange(range, with: [UInt8](repeating: 0xFF, count: range.count))
        }
        let path = studio.path("photo.jpg")
        try MotionPhotoFile.write(photo, map: hasMap ? HDRPhoto.Kind.all[0] : nil, to: path)
        let request = PhotoRequest(
            recipe: try Recipe(filters: [Filter("CISepiaTone")]), limits: RenderLimits())
        var files = RenderFiles(sources: [try OpenFile(reading: path)])
        let result = studio.path("result.jpg")
        files.outputs = [try OpenFile(writing: result)]
        files.spool = try .nameless(in: studio.path(""), name: "the spool")
        let renderer = try Renderer()
        var reported: [RenderReply.Progress] = []
        let planned = try VipsTurn.shared {
            let planned = try renderer.inspect(request, files)
            try renderer.render(request, files) { done throws(Failure) in reported.append(done) }
            return planned
        }
        #expect(planned.plan.motionVideo == .edited)
        guard case .droppedMotionVideo(let reason) = reported.first else {
            Issue.record("nothing was reported of it: \(reported)")
            return
        }
        #expect(reason.contains("cannot be decoded"))
        let made = planned.droppingMotionVideo(reason)
        #expect(made.plan.leftOut == [.motionVideo] && made.plan.motionVideo?.reason == reason)
        #expect(made.planLines.contains { $0.contains(reason) })
        let file = try MotionPhotoFile(result)
        let (isClaimed, map) = (file.claimsVideo, file.companions.map)
        #expect(!isClaimed && (map != nil) == hasMap)
    }

    @Test(.timeLimit(.minutes(10)))
    func `and harmed in any way end as photos that claim nothing false, or are refused`() throws {
        var random = SeededGenerator(seed: 18)
        let movie = try MotionPhotoFile.movie()
        let path = studio.path("whole.jpg")
        var photo = SyntheticMotionPhoto(movie, form: .both)
        photo.trailer = [1, 2, 3, 4]
        try MotionPhotoFile.write(photo, map: HDRPhoto.Kind.all[1], to: path)
        let whole = try Picture.file(path)
        let start = whole.count - movie.count - 4
        let tables = try MotionPhotoFile.tables(movie).movieRange
        let recipe = try Recipe(filters: [Filter("CISepiaTone")])
        var outcomes: [String: Int] = [:]
        for _ in 0..<150 {
            var bytes = whole
            let range =
                [
                    0..<3_000, start..<start + 64,
                    start + tables.lowerBound..<start + tables.upperBound,
                ]
                .randomElement(using: &random) ?? 0..<1
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: range, using: &random)] = .random(in: 0...255, using: &random)
            }
            if Int.random(in: 0..<8, using: &random) == 0 {
                bytes.removeLast(Int.random(in: 1..<movie.count, using: &random))
            }
            // A prefix of another name space than everybody means is another thing, and stays.
            let spaces = SyntheticMotionPhoto.spaces
            guard spaces.allSatisfy({ bytes.firstRange(of: Array($0.utf8)) != nil }) else {
                continue
            }
            let harmed = try studio.write(bytes, as: "harmed.jpg")
            do {
                let render = try studio.render(harmed, recipe)
                let file = try MotionPhotoFile(studio.path(render.output.name))
                outcomes[render.plan.motionVideo?.name ?? "none", default: 0] += 1
                #expect(file.companions.videoObstacle == nil && !file.companions.hasFalseClaims)
                if let video = file.companions.video {
                    #expect(video.byteRange.upperBound == file.bytes.count)
                    _ = try MotionPhotoFile.tables(Array(file.bytes[video.byteRange]))
                } else {
                    let isClaimed = file.claimsVideo
                    #expect(!isClaimed)
                }
            } catch is Failure {
                outcomes["refused", default: 0] += 1
            }
        }
        #expect(
            outcomes["edited", default: 0] > 20 && outcomes["dropped", default: 0] > 20,
            "\(outcomes)")
    }
}
