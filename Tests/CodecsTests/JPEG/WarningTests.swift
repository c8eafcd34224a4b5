import Foundation
import Codecs
import Testing

/// Each warning of libjpeg-turbo that a file can cause: those that lose no pixel, and those that do.
@Suite("Warnings about a JPEG") struct WarningTests {
    /// The planes of a photo before and after its bytes were changed.
    private func isUnchanged(_ photo: TestPhoto, _ change: (inout [UInt8]) throws -> Void) throws
        -> Bool
    {
        let before = try TestPhoto.samples(photo.path)
        var bytes = try photo.bytes
        try change(&bytes)
        try Data(bytes).write(to: URL(filePath: photo.path))
        try BadJPEGTests.readEverything(photo.path)
        return try TestPhoto.samples(photo.path) == before
    }

    private func isDamaged(_ photo: TestPhoto, _ change: (inout [UInt8]) throws -> Void) throws
        -> Bool
    {
        do {
            _ = try isUnchanged(photo, change)
            return false
        } catch let error as JPEGError {
            return error.kind == .damaged
        }
    }

    /// The positions of a marker that begins a segment.
    private func segments(_ code: UInt8, in bytes: [UInt8]) -> [Int] {
        var found: [Int] = []
        var offset = 2
        while offset + 4 <= bytes.count, bytes[offset] == 0xFF {
            if bytes[offset + 1] == code { found.append(offset) }
            offset += 2 + Int(bytes[offset + 2]) << 8 + Int(bytes[offset + 3])
            // Codes follow a scan's header.
            if bytes.count > offset, bytes[offset] != 0xFF || [0, 0xD0].contains(bytes[offset + 1])
            {
                while offset + 1 < bytes.count,
                    bytes[offset] != 0xFF || bytes[offset + 1] == 0
                        || (0xD0...0xD7).contains(bytes[offset + 1])
                {
                    offset += 1
                }
            }
        }
        return found
    }

    @Test func `an end of spectral selection for progressive photos loses nothing in others`()
        throws
    {
        #expect(
            try isUnchanged(TestPhoto(64, 48)) { bytes in
                let scan = try #require(segments(0xDA, in: bytes).first)
                // After marker and length: the number of components, two bytes for each, Ss, Se.
                bytes[scan + 4 + 1 + 6 + 1] = 0
            })
    }

    @Test func `a JFIF version of the future loses nothing`() throws {
        #expect(
            try isUnchanged(TestPhoto(64, 48)) { bytes in
                let jfif = try #require(segments(0xE0, in: bytes).first)
                bytes[jfif + 4 + 5] = 9
            })
    }

    @Test func `an unknown number in Adobe's marker loses nothing`() throws {
        let adobe = Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 7]
        #expect(
            try isUnchanged(TestPhoto(64, 48)) { bytes in
                bytes.insert(contentsOf: [0xFF, 0xEE, 0, 14] + adobe, at: 2)
                // JFIF would speak before it.
                let jfif = try #require(segments(0xE0, in: bytes).first)
                bytes.removeSubrange(jfif..<jfif + 18)
            })
    }

    @Test func `extra bytes before a marker lose nothing`() throws {
        #expect(
            try isUnchanged(TestPhoto(64, 48)) {
                $0.insert(contentsOf: [0, 0, 0], at: $0.count - 2)
            }
        )
    }

    @Test func `a scan that is there twice loses nothing`() throws {
        #expect(
            try isUnchanged(TestPhoto(64, 48, isProgressive: true)) { bytes in
                let scans = segments(0xDA, in: bytes)
                bytes.insert(contentsOf: bytes[scans[0]..<scans[1]], at: scans[0])
                // The tables of the second scan lie between the two.
            })
    }

    @Test(arguments: [false, true])
    func `a missing end loses nothing and is known`(isProgressive: Bool) throws {
        let photo = try TestPhoto(64, 48, isProgressive: isProgressive)
        #expect(try isUnchanged(photo) { $0.removeLast(2) })
        let reader = try JPEGReader(photo.path)
        let planes = JPEGPlanes(reader.header.layout)
        try reader.startPlanes()
        for _ in 0..<reader.header.layout.mcuRows { try reader.readPlanes(into: planes) }
        try reader.finish()
        #expect(reader.hasNoEnd)
        // One byte of the marker is no more than none.
        #expect(
            try isUnchanged(TestPhoto(64, 48, isProgressive: isProgressive)) { $0.removeLast(1) })
    }

    @Test(arguments: [false, true])
    func `codes that end early are damage, with an end behind them or without`(isProgressive: Bool)
        throws
    {
        for end in [[], [0xFF, 0xD9]] as [[UInt8]] {
            for missing in [3, 4, 8, 40, 400] {
                let photo = try TestPhoto(64, 48, isProgressive: isProgressive)
                #expect(
                    try isDamaged(photo) { bytes in
                        bytes.removeLast(2 + missing)
                        bytes += end
                    }, "\(missing) bytes and \(end)")
            }
        }
    }

    @Test func `a progressive photo without its last scans is damaged`() throws {
        let photo = try TestPhoto(64, 48, isProgressive: true)
        let count = segments(0xDA, in: try photo.bytes).count
        #expect(count > 4)
        for scan in 1..<count {
            let photo = try TestPhoto(64, 48, isProgressive: true)
            #expect(
                try isDamaged(photo) { bytes in
                    bytes.removeSubrange(segments(0xDA, in: bytes)[scan]...)
                }, "\(scan) scans of \(count)")
        }
    }

    @Test func `codes that are none are damage`() throws {
        #expect(
            try isDamaged(TestPhoto(64, 48)) { bytes in
                // Ones only, 255 and a stuffed 0, which begin no code.
                let ones = (0..<40).flatMap { _ in [0xFF, 0] as [UInt8] }
                let middle = bytes.count * 3 / 4
                bytes.replaceSubrange(middle..<middle + ones.count, with: ones)
            })
    }
}
