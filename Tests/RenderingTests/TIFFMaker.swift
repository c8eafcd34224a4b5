/// Uncompressed TIFFs that tests make for themselves, of any layout.
struct TIFFMaker {
    var width = 40, height = 36
    var samples = 3
    var bits = 8
    /// 1: unsigned, 2: signed, 3: floating point.
    var format = 1
    /// 0: white is 0, 1: black is 0, 2: RGB, 5: inks, 8 and 9: L*a*b*.
    var photometric = 2
    /// The kinds of further channels: 0 unspecified, 1 premultiplied alpha, 2 alpha.
    var extras: [Int] = []
    /// Whether each channel is stored by itself.
    var isPlanar = false
    /// Whether pixels are stored in tiles of 16 × 16.
    var isTiled = false
    var isBigEndian = false
    var isBigTIFF = false
    /// The number of a compression, of which the pixels know nothing.
    var compression = 1
    /// Rows of a strip; nil for all of them.
    var stripRows: Int?
    /// Where the picture is: in the first directory, behind a smaller copy, or below one.
    var place = Place.first
    /// Other tags: their type and bytes.
    var more: [(tag: Int, type: Int, bytes: [UInt8])] = []
    /// Other tags of the smaller copy, and whether it says that it is one.
    var moreOfCopy: [(tag: Int, type: Int, bytes: [UInt8])] = []
    var saysCopy = true

    enum Place { case first, second, below }

    /// The bytes of the file.
    ///
    /// - Parameter value: the number at a place of a channel: from 0 to 1 for integers, as it is for floating point, and for signed
    ///   integers the number itself.
    func bytes(_ value: (_ x: Int, _ y: Int, _ channel: Int) -> Double) -> [UInt8] {
        var file: [UInt8] =
            (isBigEndian ? [0x4D, 0x4D] : [0x49, 0x49]) + number(isBigTIFF ? 43 : 42, 2)
        file += isBigTIFF ? number(8, 2) + number(0, 2) + number(0, 8) : number(0, 4)
        let link = file.count - offsetBytes
        let picture = self.picture(value, from: file.count)
        file += picture.data
        switch place {
        case .first:
            let start = file.count
            file += directory(picture.entries, at: start, next: 0)
            replace(&file, link, start)
        case .second, .below:
            var small = self
            (small.place, small.width, small.height, small.more) = (.first, 8, 8, moreOfCopy)
            if photometric > 9 || compression > 9 {
                (small.photometric, small.compression) = (1, 1)
            }
            let copy = small.picture({ _, _, _ in 0 }, from: file.count)
            file += copy.data
            let full = file.count
            file += directory(picture.entries, at: full, next: 0)
            let start = file.count
            var entries = copy.entries
            entries.append((254, 4, number(saysCopy ? 1 : 0, 4)))
            if place == .below { entries.append((330, 4, number(full, 4))) }
            file += directory(entries, at: start, next: place == .second ? full : 0)
            replace(&file, link, start)
        }
        return file
    }

    private typealias Entry = (tag: Int, type: Int, bytes: [UInt8])
    private var offsetBytes: Int { isBigTIFF ? 8 : 4 }

    private func replace(_ file: inout [UInt8], _ offset: Int, _ value: Int) {
        file.replaceSubrange(offset..<offset + offsetBytes, with: number(value, offsetBytes))
    }

    private func number(_ value: Int, _ count: Int) -> [UInt8] {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return isBigEndian ? bytes.reversed() : bytes
    }

    private func picture(
        _ value: (_ x: Int, _ y: Int, _ channel: Int) -> Double, from start: Int
    ) -> (data: [UInt8], entries: [Entry]) {
        var data: [UInt8] = []
        var offsets: [Int] = []
        var counts: [Int] = []
        let channels = isPlanar ? (0..<samples).map { [$0] } : [Array(0..<samples)]
        let (across, down) = isTiled ? (16, 16) : (width, stripRows ?? height)
        for channels in channels {
            for top in stride(from: 0, to: height, by: down) {
                for left in stride(from: 0, to: width, by: across) {
                    offsets.append(start + data.count)
                    let rows = isTiled ? down : min(down, height - top)
                    for y in top..<top + rows {
                        let numbers = (left..<left + across).flatMap { x in
                            channels.map { value(min(x, width - 1), min(y, height - 1), $0) }
                        }
                        data += row(numbers)
                    }
                    counts.append(start + data.count - offsets[offsets.count - 1])
                }
            }
        }
        if data.count % 2 == 1 { data.append(0) }
        var entries: [Entry] = [
            (256, 4, number(width, 4)), (257, 4, number(height, 4)),
            (258, 3, (0..<samples).flatMap { _ in number(bits, 2) }),
            (259, 3, number(compression, 2)),
            (262, 3, number(photometric, 2)), (277, 3, number(samples, 2)),
            (284, 3, number(isPlanar ? 2 : 1, 2)),
            (339, 3, (0..<samples).flatMap { _ in number(format, 2) }),
        ]
        if isTiled {
            entries += [(322, 3, number(16, 2)), (323, 3, number(16, 2))]
        } else {
            entries.append((278, 4, number(down, 4)))
        }
        entries.append((isTiled ? 324 : 273, 4, offsets.flatMap { number($0, 4) }))
        entries.append((isTiled ? 325 : 279, 4, counts.flatMap { number($0, 4) }))
        if !extras.isEmpty { entries.append((338, 3, extras.flatMap { number($0, 2) })) }
        return (data, entries + more)
    }

    private func row(_ numbers: [Double]) -> [UInt8] {
        func whole(_ value: Double) -> Int {
            format == 2 ? Int(value) : Int((value * Double(1 << bits - 1)).rounded())
        }
        switch (format, bits) {
        case (3, 16): return numbers.flatMap { number(half($0), 2) }
        case (3, 32): return numbers.flatMap { number(Int(Float($0).bitPattern), 4) }
        case (3, _): return numbers.flatMap { number(Int(bitPattern: UInt($0.bitPattern)), 8) }
        case (_, 8), (_, 16), (_, 24), (_, 32):
            return numbers.flatMap { number(whole($0), bits / 8) }
        default:
            var packed = numbers.flatMap { value in
                (0..<bits).map { whole(value) >> (bits - 1 - $0) & 1 }
            }
            while packed.count % 8 != 0 { packed.append(0) }
            return stride(from: 0, to: packed.count, by: 8).map { start in
                packed[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | UInt8($1) }
            }
        }
    }

    /// IEEE 754 binary16, for numbers from 0 to 65,504, cut off.
    private func half(_ value: Double) -> Int {
        guard value >= 1.0 / 16_384 else { return Int(value * 16_777_216) }
        let exponent = Int(value.exponent)
        return (exponent + 15) << 10 | Int((value.significand - 1) * 1024)
    }

    private func directory(_ entries: [Entry], at start: Int, next: Int) -> [UInt8] {
        let sorted = entries.sorted { $0.tag < $1.tag }
        let entryBytes = isBigTIFF ? 20 : 12
        var list = number(sorted.count, isBigTIFF ? 8 : 2)
        var outside = start + list.count + sorted.count * entryBytes + offsetBytes
        var values: [UInt8] = []
        for entry in sorted {
            let bytes = [3: 2, 4: 4, 5: 8][entry.type] ?? 1
            list += number(entry.tag, 2) + number(entry.type, 2)
            list += number(entry.bytes.count / bytes, offsetBytes)
            if entry.bytes.count <= offsetBytes {
                list += entry.bytes
                list += [UInt8](repeating: 0, count: offsetBytes - entry.bytes.count)
            } else {
                list += number(outside, offsetBytes)
                values += entry.bytes
                outside += entry.bytes.count
            }
        }
        return list + number(next, offsetBytes) + values
    }
}
