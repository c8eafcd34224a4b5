import Edits
@testable import PhotoFiles
import Files
import Foundation
import MinilabTesting
import RenderProtocol
import Testing

@testable import Rendering

@Suite("Motion photos") struct MotionPhotoRenderTests {
    private let studio: Studio

    init() throws { studio = try Studio() }

    private func sepia() throws -> [Filter] { [try Filter("CISepiaTone")] }

    /// Renders one, and reads the result.
    private func rendered(
        _ photo: SyntheticMotionPhoto, map kind: HDRPhoto.Kind? = nil, _ filters: [Filter],
        _ output: Recipe.Output = Recipe.Output(), longestSide: Int? = nil
    ) throws -> (plan: RenderPlan, file: MotionPhotoFile) {
        let path = studio.path("photo.jpg")
        try MotionPhotoFile.write(photo, map: kind, to: path)
        let render = try studio.render(
            path, Recipe(filters: filters, output: output), longestSide: longestSide)
        return (render.plan, try MotionPhotoFile(studio.path(render.output.name)))
    }

    @Test(arguments: SyntheticMotionPhoto.Form.allCases, [false, true])
    func `keep their video, edited as a movie alone would be`(
        form: SyntheticMotionPhoto.Form, hasMap: Bool
    ) throws {
        let photo = SyntheticMotionPhoto(try MotionPhotoFile.movie(), form: form)
        let (plan, file) = try rendered(
            photo, map: hasMap ? HDRPhoto.Kind.all[0] : nil, try sepia())
        #expect(plan.motionVideo == .edited && plan.leftOut == nil)
        #expect(plan.description.contains("motion video: edited"))
        let expected = try RenderedMovie(RenderedMovie.fixture("bt601.mp4"), try sepia())
        let video = try #require(file.companions.video)
        #expect(video.byteRange.upperBound == file.bytes.count)
        let isSame = file.video == expected.bytes
        #expect(isSame)
        #expect(video.claims.stillMicroseconds == 200_000 && video.claims.isMotionPhoto)
        #expect(video.claims.isMicroVideo == (form != .directory))
        #expect(!file.companions.hasFalseClaims && file.companions.videoObstacle == nil)
        #expect((file.companions.map != nil) == hasMap && file.companions.obstacle == nil)
        #expect(file.bytes.firstRange(of: Array("OpCamera:VideoLength".utf8)) == nil)
        #expect(file.bytes.firstRange(of: Array("Nobody".utf8)) != nil)
        // Between photo and video is the map, and nothing else.
        let map = file.companions.map?.jpeg
        #expect(map.map { $0.upperBound == video.byteRange.lowerBound } ?? true)
        let directory = try Exiftool.directory(of: file.path)
        #expect(
            directory.map(\.semantic) == ["Primary"] + (hasMap ? ["GainMap"] : []) + ["MotionPhoto"]
        )
        #expect(directory.last?.length == expected.bytes.count)
        let tags = try Exiftool.tags(of: file.path, "-n")
        #expect(tags["MotionPhoto"] == "1")
        #expect(
            tags["MicroVideoOffset"]
                == (form == .directory ? nil : "\(expected.bytes.count)"))
    }

    @Test func `are read by ffprobe and exiftool as a photo and a movie`() throws {
        let photo = SyntheticMotionPhoto(try MotionPhotoFile.movie())
        let (_, file) = try rendered(photo, map: HDRPhoto.Kind.all[0], try sepia())
        let movie = try studio.write(try #require(file.video), as: "video.mp4")
        let counted = try Tool.run(
            "ffprobe",
            [
                "-v", "error", "-count_frames", "-select_streams", "v:0", "-show_entries",
                "stream=nb_read_frames", "-of", "csv=p=0", movie,
            ])
        let frames = try MotionPhotoFile.tables(photo.movie).samples.sizes.count
        #expect(String(decoding: counted, as: UTF8.self).hasPrefix("\(frames)"))
        let tags = try Exiftool.tags(of: file.path, "-validate", "-warning", "-n")
        #expect(tags["Warning"]?.hasPrefix("[minor]") ?? true, "\(tags)")
    }

    @Test(arguments: [0, 40])
    func `may be HEIC, in and out`(trailer: Int) throws {
        var photo = SyntheticMotionPhoto(try MotionPhotoFile.movie())
        // As Samsung writes it: a directory of its own, which begins like no box.
        photo.trailer = Bytes.big(0x10A) + .init(repeating: 0xF1, count: trailer)
        let (plan, file) = try rendered(
            photo, map: HDRPhoto.Kind.all[0], try sepia(), .init(format: .heic))
        #expect(plan.motionVideo == .edited)
        let expected = try RenderedMovie(RenderedMovie.fixture("bt601.mp4"), try sepia())
        let isSame = file.video == expected.bytes
        #expect(isSame)
        #expect(file.companions.map != nil)
        var window = try PhotoFile(at: file.path).window
        let last = try #require(window.boxes(in: 0..<window.length).last)
        #expect(last.type == "mpvd" && last.content == file.companions.video?.byteRange)
        let directory = try Exiftool.directory(of: file.path)
        #expect(directory.map(\.semantic) == ["Primary", "MotionPhoto"])
        #expect(directory.map(\.padding) == [8, 0])
        #expect(directory.last?.length == expected.bytes.count)

        let path = try studio.write(file.bytes, as: "motion.heic")
        for format in [Recipe.Format.heic, .jpeg] {
            let again = try studio.render(path, [], format: format, quality: 0.8, stem: "again")
            #expect(again.plan.motionVideo == .edited)
            let result = try MotionPhotoFile(studio.path(again.output.name))
            let movie = try MotionPhotoFile.tables(try #require(result.video))
            let original = try MotionPhotoFile.tables(photo.movie)
            #expect(
                movie.samples.times == original.samples.times
                    || movie.samples.sizes.count == original.samples.sizes.count)
            #expect(result.companions.video?.claims.stillMicroseconds == 200_000)
        }
        let copy = try studio.render(path, [], format: .heic, stem: "copy")
        #expect(copy.plan.motionVideo == .carried && copy.plan.leftOut == nil)
        let carried = try MotionPhotoFile(studio.path(copy.output.name)).video == expected.bytes
        #expect(carried)
    }

    @Test func `have lengths and coordinates scaled to the video's frames`() throws {
        let half = try Filter("CICrop", ["inputRectangle": [0, 0, 208, 152]])
        let photo = SyntheticMotionPhoto(try MotionPhotoFile.movie())
        let (plan, file) = try rendered(photo, try sepia() + [half])
        #expect(plan.resultSize == PixelSize(width: 208, height: 152))
        let movie = try MotionPhotoFile.tables(try #require(file.video))
        let frame = try MotionPhotoFile.tables(photo.movie).video.frameSize
        #expect(movie.video.frameSize == (frame.width / 2, frame.height / 2))
    }

    @Test func `that are turned without loss have the video's matrix turned`() throws {
        let photo = SyntheticMotionPhoto(try MotionPhotoFile.movie())
        let (plan, file) = try rendered(photo, [try Filter("turn", ["degrees": 90])])
        #expect(plan.lane == .lossless && plan.motionVideo == .edited)
        let video = try #require(file.video)
        let movie = try MotionPhotoFile.tables(video)
        #expect(movie.video.matrix?.orientation == 6)
        let isSame =
            RenderedMovie.samples(movie, video)
            == RenderedMovie.samples(try MotionPhotoFile.tables(photo.movie), photo.movie)
        #expect(isSame)
    }

    @Test func `that are not changed are copied, and compressed anew keep the video's bytes`()
        throws
    {
        let photo = SyntheticMotionPhoto(try MotionPhotoFile.movie(), form: .both)
        let (plan, file) = try rendered(photo, [])
        #expect(plan.lane == .copy && plan.motionVideo == .carried && plan.leftOut == nil)
        #expect(try file.bytes == Picture.file(studio.path("photo.jpg")))
        let (anew, again) = try rendered(photo, [], .init(progressive: true))
        #expect(anew.lane != .copy && anew.motionVideo == .carried)
        let isSame = again.video == photo.movie
        #expect(isSame)
        #expect(again.bytes.count == again.companions.video?.byteRange.upperBound)
    }

    @Test func `are muted when that is asked, and small pictures of them have no video`() throws {
        let photo = SyntheticMotionPhoto(try MotionPhotoFile.movie())
        var output = Recipe.Output()
        output.movie.mute = true
        let (plan, file) = try rendered(photo, [], output)
        #expect(plan.lane != .copy && plan.motionVideo == .edited)
        let movie = try MotionPhotoFile.tables(try #require(file.video))
        #expect(!movie.tracks.contains { $0.handler == "soun" })
        let (small, preview) = try rendered(photo, try sepia(), longestSide: 64)
        #expect(small.motionVideo == nil && !preview.claimsVideo)
    }

    /// A movie of Pixel phones: 4 frames of the second track have more pixels, and come first in the file.
    private func twoTracks() throws -> [UInt8] {
        let path = studio.path("two.mp4")
        _ = try Tool.run(
            "ffmpeg",
            [
                "-v", "error", "-i", RenderedMovie.fixture("bt601.mp4"), "-f", "lavfi", "-i",
                "testsrc2=size=640x480:rate=2:duration=2", "-map", "0:v", "-map", "1:v", "-c:v:0",
                "copy", "-c:v:1", "libx264", "-threads", "1", "-disposition:v:1", "default", path,
            ])
        return try Picture.file(path)
    }

    @Test func `that have a second video track lose that alone, which the plan says`() throws {
        let movie = try twoTracks()
        let photo = SyntheticMotionPhoto(movie)
        let (plan, file) = try rendered(photo, try sepia())
        #expect(plan.motionVideo == .edited)
        #expect(plan.notes.contains { $0.contains("other video tracks are left out") })
        let video = try #require(file.video)
        let result = try MotionPhotoFile.tables(video)
        #expect(result.tracks.filter { $0.handler == "vide" }.count == 1)
        #expect(result.video.frameSize == (360, 240))
        let edited = try RenderedMovie(RenderedMovie.fixture("bt601.mp4"), try sepia())
        let isSame =
            RenderedMovie.samples(result, video)
            == RenderedMovie.samples(edited.movie, edited.bytes)
        #expect(isSame)
        // Nothing of it stays unedited, not even where nobody looks.
        let media = result.others.filter { $0.type == "mdat" }.reduce(0) { $0 + $1.content.count }
        #expect(media < result.samples.sizes.reduce(0, +) + movie.count / 4)
    }

    @Test func `keep a video whose location was taken out with the photo's`() throws {
        let movie = try MotionPhotoFile.movie()
        #expect(movie.firstRange(of: Array("loci".utf8)) != nil)
        for filters in [[], try sepia()] {
            let (plan, file) = try rendered(
                SyntheticMotionPhoto(movie), filters, Recipe.Output(strip: .gps))
            #expect(plan.motionVideo == .edited)
            let video = try #require(file.video)
            #expect(video.firstRange(of: Array("loci".utf8)) == nil)
        }
    }

    @Test func `of whose still nobody can have taken the time say so`() throws {
        var photo = SyntheticMotionPhoto(try MotionPhotoFile.movie())
        photo.time = 99_000_000
        let (_, file) = try rendered(photo, try sepia())
        #expect(file.companions.video?.claims.stillMicroseconds == -1)
    }

    @Test(arguments: [false, true])
    func `of Samsung's older phones become such as all readers know`(isHEIC: Bool) throws {
        let photo = SyntheticMotionPhoto(try MotionPhotoFile.movie())
        let plain = studio.path("plain.jpg")
        try PlanesLaneTests.photo(416, 304, 2, 2, at: plain)
        let bytes: [UInt8]
        if isHEIC {
            let heic = try studio.render(plain, [], format: .heic, stem: "plain")
            bytes =
                try Picture.file(studio.path(heic.output.name))
                + Bytes.box("sefd", photo.samsungTrailer())
        } else {
            bytes = photo.samsungFile(of: try Picture.file(plain))
        }
        let path = try studio.write(bytes, as: isHEIC ? "samsung.heic" : "samsung.jpg")
        let tags = try Exiftool.tags(of: path, "-n")
        #expect(isHEIC || tags["EmbeddedVideoType"] != nil, "\(tags)")
        let isFound = try MotionPhotoFile(path).video == photo.movie
        #expect(isFound)
        let render = try studio.render(path, try sepia())
        #expect(render.plan.motionVideo == .edited && render.plan.leftOut == nil)
        let file = try MotionPhotoFile(studio.path(render.output.name))
        let expected = try RenderedMovie(RenderedMovie.fixture("bt601.mp4"), try sepia())
        let isSame = file.video == expected.bytes
        #expect(isSame)
        #expect(file.bytes.firstRange(of: Array("SEFT".utf8)) == nil)
        #expect(file.companions.video?.claims.stillMicroseconds == -1)
        // A trailer whose directory is a lie.
        var liar = photo
        liar.lie = 5
        let harmed = try studio.write(
            liar.samsungFile(of: Picture.file(plain)), as: "liar.jpg")
        #expect(try studio.render(harmed, try sepia()).plan.motionVideo != .edited)
    }

    @Test func `are written behind a photo whose head shrinks`() throws {
        let path = studio.path("odd.jpg")
        try PlanesLaneTests.photo(2_400, 1_800, 1, 1, at: path)
        let odd = Bytes.segment(
            0xE1,
            Bytes.text("http://ns.adobe.com/xap/1.0/\0") + .init(repeating: 0x20, count: 9_000))
        let plain = try Picture.file(path)
        #expect(plain.count > 1 << 20)
        try Data(plain[..<2] + odd + plain[2...]).write(to: URL(filePath: path))
        let movie = try MotionPhotoFile.movie()
        let claims = MotionVideo.Claims([])
        let source = try OpenFile(reading: try studio.write(movie, as: "movie.mp4"))
        let video = AttachedVideo(
            content: .source(source, 0..<movie.count),
            attachment: .init(bytes: movie.count, type: "video/mp4", claims: claims))
        try UltraHDRFile.join(nil, video, to: OpenFile(changing: path))
        let file = try MotionPhotoFile(path)
        let isSame = file.video == movie
        #expect(isSame)
        // All that comes behind the packet is what it was.
        #expect(file.bytes.count < plain.count + movie.count + 9_000)
        let start = try #require(file.companions.video).byteRange.lowerBound
        let rest = plain[2...]
        #expect(file.bytes[(start - rest.count)..<start].elementsEqual(rest))
    }
}
