import Foundation
import Glibc
import Codecs
import MinilabTesting
import Testing

@Suite struct ReaderTests {
    init() throws { try VipsLibrary.start(.init(threads: 1)) }

    /// One pixel row after the other, as libvips decodes it.
    private func pixels(_ path: String) throws -> [UInt8] {
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        return try Image.open(file, loader: "jpegload", streaming: true, failOn: .warning).pixels()
    }

    @Test func `the header tells size, sampling, scans and the nearest quality`() throws {
        let photo = try TestPhoto(70, 45, TestPhoto.sampled(2, 1), quality: 83, isProgressive: true)
        let header = try JPEGReader(photo.path).header
        #expect(header.layout.chroma == "4:2:2")
        #expect(header.layout.width == 70 && header.layout.height == 45)
        #expect(header.isProgressive && header.hasSeveralScans)
        #expect(header.estimatedQuality == 83)
        #expect(header.restartInterval == 0 && !header.hasAdobeMarker)
    }

    @Test(arguments: 1...100)
    func `every quality is found again in the tables`(quality: Int) throws {
        let photo = try TestPhoto(8, 8, quality: quality)
        #expect(try JPEGReader(photo.path).header.estimatedQuality == quality)
    }

    @Test func `a grey plane is what libvips decodes`() throws {
        let photo = try TestPhoto(61, 43, colour: .grey, [.init(1, 1)])
        let plane = try TestPhoto.samples(photo.path)[0]
        #expect(try Array(plane.joined()) == pixels(photo.path))
    }

    @Test func `planes of 4.4.4 become what libvips decodes by JFIF's equations`() throws {
        let photo = try TestPhoto(61, 43, TestPhoto.sampled(1, 1))
        let planes = try TestPhoto.samples(photo.path)
        func rounded(_ value: Double) -> UInt8 { UInt8(min(max(value.rounded(), 0), 255)) }
        var ours: [UInt8] = []
        for y in 0..<43 {
            for x in 0..<61 {
                let luma = Double(planes[0][y][x])
                let (blue, red) = (Double(planes[1][y][x]) - 128, Double(planes[2][y][x]) - 128)
                // JFIF 1.02, "Conversion to and from RGB".
                ours.append(rounded(luma + 1.402 * red))
                ours.append(rounded(luma - 0.344136 * blue - 0.714136 * red))
                ours.append(rounded(luma + 1.772 * blue))
            }
        }
        // The library computes in 16-bit fixed point: at a tie it may round the other way.
        let theirs = try pixels(photo.path)
        #expect(zip(ours, theirs).allSatisfy { abs(Int($0) - Int($1)) <= 1 })
        #expect(zip(ours, theirs).count(where: !=) < ours.count / 1000)
    }

    @Test(arguments: 1...8)
    func `rows come at eighths of the size, rounded up`(eighths: Int) throws {
        let photo = try TestPhoto(61, 43)
        var size: [Int] = []
        var rows: [UInt8] = []
        let reader = try JPEGReader(photo.path)
        let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 61 * 43 * 3)
        defer { memory.deallocate() }
        try reader.readRows(eighths: eighths) { width, height, bands in
            size = [width, height, bands]
            return memory
        }
        rows = Array(UnsafeBufferPointer(start: memory, count: size.reduce(1, *)))
        #expect(size == [(61 * eighths + 7) / 8, (43 * eighths + 7) / 8, 3])
        if eighths == 8 { #expect(try rows == pixels(photo.path)) }
        let mean = rows.reduce(0) { $0 + Int($1) } / rows.count
        #expect((120...150).contains(mean))
    }

    @Test(
        arguments: [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1)], [(1, 1), (17, 9), (64, 48), (33, 50)])
    func `planes that are written unchanged come back nearly unchanged`(
        sampling: (Int, Int), size: (Int, Int)
    ) throws {
        let sampled = TestPhoto.sampled(sampling.0, sampling.1)
        let photo = try TestPhoto(size.0, size.1, sampled, quality: 100)
        let header = try JPEGReader(photo.path).header
        let copy = photo.folder.file("copy.jpg")
        let (reader, planes) = (try JPEGReader(photo.path), JPEGPlanes(header.layout))
        let writer = try JPEGWriter(
            copy, layout: header.layout, coding: JPEGCoding(quality: 100, isOptimised: true))
        try reader.startPlanes()
        for _ in 0..<header.layout.mcuRows {
            try reader.readPlanes(into: planes)
            try writer.writePlanes(planes)
        }
        try reader.finish()
        try writer.finish()
        let (before, after) = (try TestPhoto.samples(photo.path), try TestPhoto.samples(copy))
        for (one, other) in zip(before.joined().joined(), after.joined().joined()) {
            #expect(abs(Int(one) - Int(other)) <= 2)
        }
    }

    @Test func `markers are read in their order and written in theirs`() throws {
        let markers = [
            JPEGMarker(code: 0xE1, bytes: Array("Exif\0\0MM".utf8)),
            JPEGMarker(code: 0xE2, bytes: [UInt8](repeating: 7, count: JPEGMarker.bytesMax)),
            JPEGMarker(code: 0xFE, bytes: Array("ends not with NUL".utf8)),
            JPEGMarker(code: 0xE1, bytes: []),
        ]
        let photo = try TestPhoto(16, 16, markers: markers)
        let read = try JPEGReader(photo.path).header.markers
        // The first is JFIF's own.
        #expect(read.first?.starts(with: "JFIF\0") == true)
        #expect(Array(read.dropFirst()) == markers)
    }
}
