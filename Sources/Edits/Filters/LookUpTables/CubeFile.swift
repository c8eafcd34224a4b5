import Edits
import Glibc

/// A `.cube` file: curves for each channel, a colour table, or curves followed by a table.
///
/// The file consists of lines of ASCII text: `#` begins a comment; keywords precede the numbers; then follows a row of three
/// numbers for each entry, first for the curves, with red varying fastest in the table. `DOMAIN_MIN`, `DOMAIN_MAX` (Adobe, IRIDAS)
/// or `LUT_1D_INPUT_RANGE`, `LUT_3D_INPUT_RANGE` (Resolve) define the colours of the first and the last entry. Unknown keywords,
/// such as a camera's, are skipped; keywords that change the numbers' meaning are known.
struct CubeFile: Sendable {
    /// Some entries and their input range.
    struct Entries: Sendable {
        let size: Int
        /// The colours of the first and of the last entry.
        let low, high: [Float]
        let numbers: [Float]
    }

    let curves, table: Entries?

    static let curveSizes = 2...65_536
    /// Entries of a table along an axis, up to Core Image's maximum, at which a file has about 60 MB. Adobe allows 256.
    static let tableSizes = 2...128
    /// Longest file in bytes.
    static let bytesMax = 96 << 20
    /// The locale with decimal points, independent of the machine's locale. Written once and then only read, so it is safe from any
    /// thread.
    nonisolated(unsafe) private static let pointLocale = newlocale(1 << LC_NUMERIC, "C", nil)
    /// Larger numbers indicate a damaged file.
    static let numberMax: Float = 65_504

    /// Parses the text of a file.
    ///
    /// - Throws: `badResource` with the number of the invalid line.
    init(_ bytes: [UInt8], named path: String) throws(Failure) {
        var reader = CubeReader(path: path)
        let before = uselocale(Self.pointLocale)
        defer { _ = uselocale(before) }
        // strtof parses numbers in place and needs a terminating zero.
        let text = bytes + [0]
        let failure = text.withUnsafeBufferPointer { buffer -> Failure? in
            do throws(Failure) {
                try reader.read(buffer)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
        curves = reader.curves
        table = reader.table
    }
}

/// Parses the lines of a `.cube` file.
private struct CubeReader {
    let path: String
    var curves, table: CubeFile.Entries?

    private var line = 0
    private var curveSize: Int?
    private var tableSize: Int?
    private var domain: (low: [Float], high: [Float]) = ([0, 0, 0], [1, 1, 1])
    private var curveRange, tableRange: (low: [Float], high: [Float])?
    private var numbers: [Float] = []
    private var expected = 0

    init(path: String) { self.path = path }

    mutating func read(_ text: UnsafeBufferPointer<UInt8>) throws(Failure) {
        guard var cursor = text.baseAddress else { return }
        let end = cursor + text.count - 1
        while cursor < end {
            line += 1
            let length = memchr(cursor, 0x0A, end - cursor).map {
                $0.assumingMemoryBound(to: UInt8.self) - UnsafeMutablePointer(mutating: cursor)
            }
            let lineEnd = cursor + (length ?? end - cursor)
            try readLine(UnsafeBufferPointer(start: cursor, count: lineEnd - cursor))
            cursor = min(lineEnd + 1, end)
        }
        try finish()
    }

    private mutating func readLine(_ line: UnsafeBufferPointer<UInt8>) throws(Failure) {
        let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        guard let start = line.firstIndex(where: { !isBlank($0) }), line[start] != UInt8(ascii: "#")
        else { return }
        let first = line[start]
        let isNumber =
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
            || [UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: ".")].contains(first)
        if isNumber {
            try readRow(UnsafeBufferPointer(rebasing: line[start...]))
            return
        }
        let fields = line.split(whereSeparator: isBlank).map { String(decoding: $0, as: UTF8.self) }
        try readKeyword(fields[0], Array(fields.dropFirst()))
    }

    private mutating func readRow(_ row: UnsafeBufferPointer<UInt8>) throws(Failure) {
        if expected == 0 { try begin() }
        guard numbers.count < expected else {
            throw bad("has a row too many; \(expected / 3) rows were announced")
        }
        guard let start = row.baseAddress else { return }
        var cursor = UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
        let end = cursor + row.count
        for _ in 0..<3 {
            var after: UnsafeMutablePointer<CChar>?
            let number = strtof(cursor, &after)
            // Beyond the end of the line, strtof would continue with the next one.
            guard let after, UnsafePointer(after) > cursor, UnsafePointer(after) <= end,
                number.magnitude <= CubeFile.numberMax
            else {
                throw bad(
                    "is \(String(decoding: row.prefix(80), as: UTF8.self).debugDescription); expected "
                        + "three numbers within ±\(CubeFile.numberMax)")
            }
            numbers.append(number)
            cursor = UnsafePointer(after)
        }
        while cursor < end, [0x20, 0x09, 0x0D].contains(cursor.pointee) { cursor += 1 }
        guard cursor == end || cursor.pointee == CChar(UInt8(ascii: "#")) else {
            throw bad("has more than three numbers")
        }
    }

    private mutating func readKeyword(_ keyword: String, _ values: [String]) throws(Failure) {
        switch keyword {
        case "LUT_1D_SIZE": curveSize = try size(values, CubeFile.curveSizes, keyword)
        case "LUT_3D_SIZE": tableSize = try size(values, CubeFile.tableSizes, keyword)
        case "DOMAIN_MIN": domain.low = try floats(values, 3, keyword)
        case "DOMAIN_MAX": domain.high = try floats(values, 3, keyword)
        case "LUT_1D_INPUT_RANGE": curveRange = try range(values, keyword)
        case "LUT_3D_INPUT_RANGE": tableRange = try range(values, keyword)
        default: return
        }
        guard expected == 0 else { throw bad("has \(keyword) after the numbers began") }
    }

    private func size(_ values: [String], _ range: ClosedRange<Int>, _ keyword: String)
        throws(Failure) -> Int
    {
        guard values.count == 1, let size = Int(values[0]), range.contains(size) else {
            throw bad(
                "has \(keyword) \(values.joined(separator: " ").prefix(80)); expected "
                    + "\(range.lowerBound) to \(range.upperBound)")
        }
        return size
    }

    private func floats(_ values: [String], _ count: Int, _ keyword: String) throws(Failure)
        -> [Float]
    {
        let numbers = values.compactMap(Float.init)
        guard values.count == count, numbers.count == count,
            numbers.allSatisfy({ $0.magnitude <= CubeFile.numberMax })
        else {
            throw bad(
                "has \(keyword) \(values.joined(separator: " ").prefix(80)); expected \(count) numbers"
            )
        }
        return numbers
    }

    private func range(_ values: [String], _ keyword: String) throws(Failure) -> (
        low: [Float], high: [Float]
    ) {
        let ends = try floats(values, 2, keyword)
        return (Array(repeating: ends[0], count: 3), Array(repeating: ends[1], count: 3))
    }

    private mutating func begin() throws(Failure) {
        expected = 3 * ((curveSize ?? 0) + (tableSize.map { $0 * $0 * $0 } ?? 0))
        guard expected > 0 else {
            throw bad("has numbers before LUT_1D_SIZE or LUT_3D_SIZE")
        }
        for (low, high) in [curveRange, tableRange, domain].compactMap(\.self)
        where !zip(low, high).allSatisfy({ $0 < $1 }) {
            throw bad("begins the numbers of a range that is empty: \(low) to \(high)")
        }
        // The announced size is not allocated before its rows arrive.
        numbers.reserveCapacity(min(expected, 1 << 20))
    }

    private mutating func finish() throws(Failure) {
        if expected == 0 { try begin() }
        guard numbers.count == expected else {
            throw bad("is the last; \(numbers.count / 3) of \(expected / 3) rows are there")
        }
        let first = 3 * (curveSize ?? 0)
        if let curveSize {
            let range = curveRange ?? domain
            curves = CubeFile.Entries(
                size: curveSize, low: range.low, high: range.high,
                numbers: Array(numbers[..<first]))
        }
        if let tableSize {
            let range = tableRange ?? domain
            table = CubeFile.Entries(
                size: tableSize, low: range.low, high: range.high,
                numbers: Array(numbers[first...]))
        }
    }

    private func bad(_ what: String) -> Failure {
        Failure(.badResource, "\(path) is no .cube file: line \(line) \(what).")
    }
}

/// `cube`: a `.cube` file, the common text format for looks.
///
/// First, each channel is mapped by the file's curves, if there are any. Then the colour is looked up in its table, if there is
/// one. Values outside of the input ranges are clamped to them.
struct CubeFilter: PixelFilter {
    static let definition = FilterDefinition(
        name: "cube",
        summary: "Applies the look of a .cube file.",
        category: .lookUpTable,
        parameters: [
            ParameterDefinition(
                name: "file", summary: "The .cube file.", kind: .resource, defaultValue: nil),
            NamedColourSpace.parameter(
                "colorSpace", "What the file's numbers mean; looks for photos are made for sRGB."),
            .number(
                "intensity", "0 leaves the photo as it is, 1 is the whole look.", default: 1, 0...1,
                identity: 0),
        ],
        fidelity: .exact,
        source: """
            Adobe Cube LUT Specification 1.0, with the input ranges and the curves before the table of Resolve's files. \
            Trilinear.
            """,
        kernel: .pixel { filter, context throws(Failure) in try CubeFilter(filter, context) })

    private let file: CubeFile
    private let curves: [SampledCurve]?
    private let cube: ColourCube?
    private let scale: [Float]
    private let space: NamedColourSpace
    private let intensity: Float

    init(_ filter: Filter, _ context: FilterContext) throws(Failure) {
        let digest = filter.text("file")
        let file = try CubeFile(context.resource(digest, CubeFile.bytesMax), named: digest)
        self.file = file
        curves = file.curves.map { curves in
            (0..<3).map { channel in
                SampledCurve(
                    from: Double(curves.low[channel]), to: Double(curves.high[channel]),
                    samples: stride(from: channel, to: curves.numbers.count, by: 3).map {
                        Double(curves.numbers[$0])
                    })
            }
        }
        cube = file.table.map { ColourCube(size: $0.size, channels: 3, $0.numbers) }
        scale =
            file.table.map { table in
                zip(table.low, table.high).map { Float(table.size - 1) / ($1 - $0) }
            } ?? []
        space = NamedColourSpace(filter, "colorSpace")
        intensity = Float(filter.number("intensity"))
    }

    func apply(to pixels: PixelChunk) {
        guard intensity > 0 else { return }
        let (capacity, amount) = (PixelChunk.capacity, intensity)
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 3 * capacity) { buffer in
            guard let before = buffer.baseAddress else { return }
            space.enter(pixels)
            for (index, plane) in pixels.colours.enumerated() {
                (before + index * capacity).update(from: plane, count: pixels.count)
            }
            applyTables(pixels)
            for (index, plane) in pixels.colours.enumerated() {
                let old = before + index * capacity
                for i in 0..<pixels.count { plane[i] = old[i] + (plane[i] - old[i]) * amount }
            }
            space.leave(pixels)
        }
    }

    private func applyTables(_ pixels: PixelChunk) {
        if let curves, let ranges = file.curves {
            for (channel, plane) in pixels.colours.enumerated() {
                let (low, high) = (ranges.low[channel], ranges.high[channel])
                for i in 0..<pixels.count { plane[i] = min(max(plane[i], low), high) }
                curves[channel].apply(to: plane, count: pixels.count)
            }
        }
        if let cube, let table = file.table {
            cube.apply(
                to: pixels, low: table.low, scale: scale, extrapolates: false,
                into: pixels.colours)
        }
    }
}
