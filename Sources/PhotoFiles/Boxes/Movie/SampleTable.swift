/// The samples of a video track: the byte range, decoding time and presentation time of each.
///
/// Source: ISO/IEC 14496-12 §8.6.1 (`stts`, `ctts`, `stss`), §8.7 (`stsz`, `stz2`, `stsc`, `stco`, `co64`). Times are in units of
/// the track's time scale. Samples are in decoding order, which is that of the file's tables.
public struct SampleTable: Sendable, Equatable {
    /// Contiguous samples.
    public struct Chunk: Sendable, Equatable {
        /// The offset of the first byte in the file.
        public let offset: Int
        public let samples: Range<Int>
    }

    /// Bytes of each sample.
    public let sizes: [Int]
    /// Chunks in the order of the tables.
    public let chunks: [Chunk]
    /// The decoding time of each sample.
    public let decodeTimes: [Int]
    /// The presentation time of each sample, before the edit list.
    public let times: [Int]
    /// The duration of the last sample in decoding order.
    public let lastDuration: Int
    /// Indices of samples at which decoding can begin, ascending; all samples if the file does not declare any.
    public let syncSamples: [Int]

    init(
        sizes: [Int], chunks: [Chunk], decodeTimes: [Int], times: [Int], lastDuration: Int,
        syncSamples: [Int]
    ) {
        (self.sizes, self.chunks, self.decodeTimes) = (sizes, chunks, decodeTimes)
        (self.times, self.lastDuration, self.syncSamples) = (times, lastDuration, syncSamples)
    }

    /// The highest accepted time stamp; real ones are far below, and calculations with higher ones could overflow.
    private static let timeMax = 1 << 50

    /// Reads the tables of a `stbl`.
    ///
    /// - Throws: `damaged` if they are inconsistent, `limit` of frames.
    init(_ table: MovieBox, _ limits: MovieLimits) throws(MovieProblem) {
        sizes = try Self.sizes(table, limits)
        let count = sizes.count
        chunks = try Self.chunks(table, count: count)
        (decodeTimes, lastDuration) = try Self.decodeTimes(table, count: count)
        times = try Self.times(table, from: decodeTimes)
        syncSamples = try Self.syncSamples(table, count: count)
    }

    public func range(of chunk: Chunk) -> Range<Int> {
        chunk.offset..<chunk.offset + sizes[chunk.samples].reduce(0, +)
    }

    /// The presentation rank of each sample; samples with the same time are ranked in decoding order.
    public var ranks: [Int] {
        var ranks = [Int](repeating: 0, count: times.count)
        let shown = times.indices.sorted { (times[$0], $0) < (times[$1], $1) }
        for (rank, sample) in shown.enumerated() { ranks[sample] = rank }
        return ranks
    }

    public var byteRanges: [Range<Int>] {
        var byteRanges = [Range<Int>](repeating: 0..<0, count: sizes.count)
        for chunk in chunks {
            var offset = chunk.offset
            for sample in chunk.samples {
                byteRanges[sample] = offset..<offset + sizes[sample]
                offset += sizes[sample]
            }
        }
        return byteRanges
    }

    private static func sizes(
        _ table: MovieBox, _ limits: MovieLimits
    ) throws(MovieProblem) -> [Int] {
        let frames = limits.movieFrames
        if let box = table["stsz"]?.bytes {
            let (size, count) = (box.number(at: 4, 4), box.number(at: 8, 4))
            guard count <= frames else { throw .limit("movieFrames", count, frames) }
            if size > 0 { return [Int](repeating: size, count: count) }
            return try entries(box, "stsz", header: 12, bytes: 4, count: count) {
                $0.number(at: $1, 4)
            }
        }
        guard let box = table["stz2"]?.bytes else {
            throw .damaged("a video track without sizes of samples")
        }
        let (bits, count) = (box.number(at: 7, 1), box.number(at: 8, 4))
        guard count <= frames else { throw .limit("movieFrames", count, frames) }
        guard [8, 16].contains(bits) else { throw .unsupported("sizes of samples in \(bits) bits") }
        return try entries(box, "stz2", header: 12, bytes: bits / 8, count: count) {
            $0.number(at: $1, bits / 8)
        }
    }

    private static func chunks(_ table: MovieBox, count: Int) throws(MovieProblem) -> [Chunk] {
        let offsets = try chunkOffsets(of: table)
        guard let box = table["stsc"]?.bytes else {
            throw .damaged("a track without a table of chunks")
        }
        let runs = try entries(box, "stsc", header: 8, bytes: 12, count: box.number(at: 4, 4)) {
            (
                first: $0.number(at: $1, 4), samples: $0.number(at: $1 + 4, 4),
                entry: $0.number(at: $1 + 8, 4)
            )
        }
        var chunks: [Chunk] = []
        var next = 0
        for (index, run) in runs.enumerated() {
            let end = index + 1 < runs.count ? runs[index + 1].first : offsets.count + 1
            guard run.first == chunks.count + 1, end > run.first, end <= offsets.count + 1 else {
                throw .damaged("a run of chunks from \(run.first) to \(end) of \(offsets.count)")
            }
            for chunk in run.first..<end {
                guard run.samples > 0, run.samples <= count - next else {
                    throw .damaged(
                        "a chunk of \(run.samples) samples where \(count - next) are left")
                }
                chunks.append(Chunk(offset: offsets[chunk - 1], samples: next..<next + run.samples))
                next += run.samples
            }
        }
        guard next == count else {
            throw .damaged("chunks of \(next) samples, where there are \(count)")
        }
        return chunks
    }

    static func chunkOffsets(of table: MovieBox) throws(MovieProblem) -> [Int] {
        if let box = table["stco"]?.bytes {
            return try entries(box, "stco", header: 8, bytes: 4, count: box.number(at: 4, 4)) {
                $0.number(at: $1, 4)
            }
        }
        guard let box = table["co64"]?.bytes else {
            throw .damaged("a track without offsets of chunks")
        }
        let offsets = try entries(box, "co64", header: 8, bytes: 8, count: box.number(at: 4, 4)) {
            bytes, offset in
            (bytes.number(at: offset, 1) & 0x80 == 0) ? bytes.number(at: offset, 8) : -1
        }
        guard !offsets.contains(-1) else { throw .damaged("an offset of a chunk beyond all files") }
        return offsets
    }

    /// Returns the end of each chunk in the file; nil if the tables do not say it.
    ///
    /// - Parameter isSound: whether it is a track of sound, for which a size that all samples share may count something else than bytes
    ///   (QuickTime File Format, "Sound sample descriptions").
    static func chunkEnds(of table: MovieBox, ofSound isSound: Bool) -> [Int]? {
        guard let box = table["stsz"]?.bytes else { return nil }
        let (size, count) = (box.number(at: 4, 4), box.number(at: 8, 4))
        guard size == 0 || !isSound else { return nil }
        do throws(MovieProblem) {
            let chunks = try Self.chunks(table, count: count)
            guard size == 0 else { return chunks.map { $0.offset + size * $0.samples.count } }
            let sizes = try Self.entries(box, "stsz", header: 12, bytes: 4, count: count) {
                $0.number(at: $1, 4)
            }
            return chunks.map { $0.offset + sizes[$0.samples].reduce(0, +) }
        } catch {
            // Nobody knows what belongs to such a track.
            return nil
        }
    }

    private static func decodeTimes(
        _ table: MovieBox, count: Int
    ) throws(MovieProblem) -> ([Int], Int) {
        guard let box = table["stts"]?.bytes else { throw .damaged("a track without times") }
        let runs = try entries(box, "stts", header: 8, bytes: 8, count: box.number(at: 4, 4)) {
            (count: $0.number(at: $1, 4), duration: $0.number(at: $1 + 4, 4))
        }
        var times: [Int] = []
        times.reserveCapacity(count)
        var (time, last) = (0, 0)
        for run in runs {
            guard run.count <= count - times.count else {
                throw .damaged("times of more than the \(count) samples")
            }
            for _ in 0..<run.count {
                times.append(time)
                time += run.duration
                last = run.duration
            }
            guard time < timeMax else { throw .damaged("a sample at \(time)") }
        }
        guard times.count == count else {
            throw .damaged("times of \(times.count) samples, where there are \(count)")
        }
        return (times, last)
    }

    private static func times(
        _ table: MovieBox, from decodeTimes: [Int]
    ) throws(MovieProblem) -> [Int] {
        guard let box = table["ctts"]?.bytes else { return decodeTimes }
        let runs = try entries(box, "ctts", header: 8, bytes: 8, count: box.number(at: 4, 4)) {
            // Signed in version 1; and in version 0 as QuickTime writes it.
            (count: $0.number(at: $1, 4), offset: $0.signed(at: $1 + 4))
        }
        var times = decodeTimes
        var next = 0
        for run in runs {
            guard run.count <= times.count - next else {
                throw .damaged("offsets of times for more than the \(times.count) samples")
            }
            for sample in next..<next + run.count { times[sample] += run.offset }
            next += run.count
        }
        guard next == times.count else {
            throw .damaged("offsets of times for \(next) samples, where there are \(times.count)")
        }
        return times
    }

    private static func syncSamples(_ table: MovieBox, count: Int) throws(MovieProblem) -> [Int] {
        guard let box = table["stss"]?.bytes else { return Array(0..<count) }
        let numbers = try entries(box, "stss", header: 8, bytes: 4, count: box.number(at: 4, 4)) {
            $0.number(at: $1, 4) - 1
        }
        var before = -1
        for number in numbers {
            guard number > before, number < count else {
                throw .damaged("sync sample \(number + 1) behind \(before + 1), of \(count)")
            }
            before = number
        }
        return numbers
    }

    /// Returns the entries of a table; the box must contain the declared number.
    private static func entries<Entry>(
        _ box: [UInt8], _ name: String, header: Int, bytes: Int, count: Int,
        _ read: ([UInt8], Int) -> Entry
    ) throws(MovieProblem) -> [Entry] {
        guard header <= box.count, count <= (box.count - header) / bytes else {
            throw .damaged("\(name) of \(count) entries in \(box.count) bytes")
        }
        return (0..<count).map { read(box, header + $0 * bytes) }
    }
}
