import PhotoFiles
import Foundation
import MinilabTesting
import Testing

@Suite("The mark of a Live Photo") struct ContentIdentifierTests {
    private func movie(_ bytes: [UInt8]) -> String? {
        MovieIdentifier.identifier(
            in: FileWindow(length: bytes.count) { offset, count in
                Array(bytes.dropFirst(offset).prefix(count))
            })
    }

    @Test func `a still has it in Apple's MakerNote, as exiftool says too`() throws {
        let exif = SyntheticLivePhoto.exif()
        #expect(AppleMakerNote.contentIdentifier(inEXIF: exif) == SyntheticLivePhoto.identifier)
        let folder = try TemporaryFolder()
        try Data(exif).write(to: URL(filePath: folder.file("a.exif")))
        let output = try Tool.run(
            "exiftool",
            ["-s3", "-Apple:ContentIdentifier", "-Apple:MediaGroupUUID", folder.file("a.exif")])
        #expect(String(decoding: output, as: UTF8.self).contains(SyntheticLivePhoto.identifier))
    }

    @Test func `a movie has it among its metadata`() {
        #expect(movie(Array(SyntheticLivePhoto.movie())) == SyntheticLivePhoto.identifier)
        #expect(movie(Array(SyntheticLivePhoto.movie(identifier: nil))) == nil)
    }

    @Test func `a photo of the same camera without a video has none`() throws {
        let fixture = Repository.fixture("IMG_1064.exif")
        #expect(
            AppleMakerNote.contentIdentifier(inEXIF: Array(try Data(contentsOf: fixture))) == nil)
    }

    @Test func `cut off anywhere there is none`() {
        let exif = SyntheticLivePhoto.exif()
        for length in 0..<exif.count {
            #expect(AppleMakerNote.contentIdentifier(inEXIF: Array(exif.prefix(length))) == nil)
        }
        let film = Array(SyntheticLivePhoto.movie())
        for length in 0..<film.count { #expect(movie(Array(film.prefix(length))) == nil) }
    }

    @Test func `whatever the bytes say, it is a short text or none`() {
        var random = SeededGenerator()
        random.printSeed()
        let exif = SyntheticLivePhoto.exif()
        let film = Array(SyntheticLivePhoto.movie())
        for _ in 0..<4000 {
            var (exif, film) = (exif, film)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let byte = [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)]
                    .randomElement(using: &random)!
                exif[Int.random(in: 0..<exif.count, using: &random)] = byte
                film[Int.random(in: 0..<film.count, using: &random)] = byte
            }
            for text in [AppleMakerNote.contentIdentifier(inEXIF: exif), movie(film)] {
                guard let text else { continue }
                #expect((1...128).contains(text.utf8.count) && text.allSatisfy(\.isASCII))
            }
        }
    }

    @Test(.enabled(if: corpus != nil))
    func `the halves of a real Live Photo have the same`() throws {
        let film = try Data(
            contentsOf: URL(filePath: (Self.corpus ?? "") + "/photos/aae/IMG_3582/IMG_3582.mov"))
        #expect(movie(Array(film)) == SyntheticLivePhoto.identifier)
    }

    private static let corpus = ProcessInfo.processInfo.environment["MINILAB_CORPUS"]
}
