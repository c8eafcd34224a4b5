import Edits
import Foundation
import MinilabTesting
import Testing

@testable import JobQueue

@Suite("Bad input") struct BadInputTests {
    private struct Bad {
        let asset: String
        var edit = #"{"filters":[{"name":"CISepiaTone"}]}"#
        let code: FailureCode
    }

    @Test func `each ends dead with its code, is told, is not retried, and the queue goes on`()
        async throws
    {
        let rig = try await Rig()
        let photo = try Data(contentsOf: Contract.folder.appending(path: "photos/tulips.jpg"))
        try rig.put("zero.jpg", Data())
        try rig.put("truncated.jpg", photo.prefix(photo.count / 2))
        try rig.put("text.jpg", Data("this is not a photo at all, whatever its name says".utf8))
        try rig.put(
            "program.jpg", Data([0x7F] + Array("ELF".utf8) + [UInt8](repeating: 1, count: 99)))
        try rig.put("video.jpg", SyntheticLivePhoto.movie())
        try rig.put("good.png", SyntheticPhoto.png(width: 30, height: 20))
        try rig.put("bomb.png", SyntheticPhoto.pngBomb(width: 40_000, height: 30_000))
        try Data("secret".utf8).write(to: URL(filePath: rig.folder.file("secret.jpg")))
        try FileManager.default.createSymbolicLink(
            atPath: rig.library + "/originals/link.jpg",
            withDestinationPath: rig.folder.file("secret.jpg"))

        let bad = [
            Bad(asset: "zero.jpg", code: .emptyFile),
            Bad(asset: "truncated.jpg", code: .damagedPhoto),
            Bad(asset: "text.jpg", code: .unsupportedFormat),
            Bad(asset: "program.jpg", code: .unsupportedFormat),
            Bad(asset: "video.jpg", code: .unsupportedFormat),
            Bad(asset: "nobody.jpg", code: .missingAsset),
            Bad(asset: "../secret.jpg", code: .assetOutsideLibrary),
            Bad(asset: "/etc/passwd", code: .assetOutsideLibrary),
            Bad(asset: "link.jpg", code: .assetOutsideLibrary),
            Bad(asset: "bomb.png", code: .tooManyPixels),
            Bad(asset: "good.png", edit: "{", code: .malformedJSON),
            Bad(asset: "good.png", edit: #"{"filters":[{"name":"CINope"}]}"#, code: .unknownFilter),
            Bad(
                asset: "good.png", edit: #"{"filters":[{"name":"CISepiaTone","x":1}]}"#,
                code: .unknownParameter),
            Bad(
                asset: "good.png", edit: #"{"filters":[{"name":"CISepiaTone","intensity":-1}]}"#,
                code: .parameterOutOfRange),
            Bad(
                asset: "good.png",
                edit: #"{"filters":[{"name":"CIMotionBlur","radius":400}],"referenceSize":[3,2]}"#,
                code: .parameterOutOfRange),
            Bad(asset: "good.png", edit: #"{"filters":[],"x":1}"#, code: .unknownField),
            Bad(asset: "good.png", edit: "{}", code: .missingField),
        ]
        for (number, job) in bad.enumerated() {
            try await rig.xadd(job.asset, edit: job.edit, id: "bad-\(number)")
        }
        try await rig.xadd("good.png", id: "good")
        let worker = try rig.worker("w")
        let ends = try await rig.waitForEnds(bad.count + 1)

        for (number, job) in bad.enumerated() {
            let record = try #require(try await rig.queue.record(of: "bad-\(number)"))
            #expect(record.state == .dead, "\(job)")
            #expect(record.code == job.code, "\(job): \(record.message ?? "")")
            #expect(record.attempts == 1, "\(job)")
            // A sentence, not a word.
            #expect((record.message ?? "").split(separator: " ").count > 4, "\(job)")
        }
        #expect(
            ends.contains {
                if case .completed(let done) = $0.data { done.job == "good" } else { false }
            })
        try await rig.checkInvariants(jobs: bad.indices.map { "bad-\($0)" } + ["good"])
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
    }

    @Test func `a photo with a wrong extension is judged by its content`() async throws {
        let rig = try await Rig()
        try rig.put("png-inside.jpg", SyntheticPhoto.png(width: 30, height: 20))
        try await rig.xadd("png-inside.jpg", id: "job")
        let worker = try rig.worker("w")
        let ends = try await rig.waitForEnds(1)
        guard case .completed(let done) = ends[0].data else {
            Issue.record("\(ends)")
            return
        }
        #expect(done.render?.mediaType == "image/png")
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
    }
}
