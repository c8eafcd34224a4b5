import Edits
import PhotoFiles
import Files
import FoundationEssentials

/// A rendered part of a movie: the bytes of its samples, followed by their description.
///
/// The file consists of the samples in decoding order, a tail of JSON, the tail's length in 8 bytes (big-endian), and 8 bytes of
/// magic.
struct MoviePartFile {
    /// The description after the samples.
    struct Tail: Codable, Equatable {
        /// The sample description's type (`avc1`), and the type and content of the box with parameter sets (`avcC`).
        var format = "", configurationType = ""
        var configuration: [UInt8] = []
        /// The size of the frames.
        var width = 0, height = 0
        /// Bytes of each sample, and its presentation rank in the movie.
        var sizes: [Int] = [], ranks: [Int] = []
        /// Indices of the samples at which decoding can begin.
        var syncSamples: [Int] = []

        /// Creates a description without samples.
        init(_ entry: SampleEntry, width: Int, height: Int) {
            format = entry.format.description
            configurationType = entry.configuration.type.description
            configuration = entry.configuration.content
            (self.width, self.height) = (width, height)
        }

        /// The sample description; nil if a type is invalid.
        var entry: SampleEntry? {
            guard let format = BoxType(format), let type = BoxType(configurationType) else {
                return nil
            }
            return SampleEntry(
                format: format, configuration: (type, configuration), width: width, height: height)
        }
    }

    let tail: Tail
    /// The sample description.
    let entry: SampleEntry
    private let file: OpenFile

    private static let magic = Array("MLSEGM01".utf8)
    private static let endBytes = 16
    /// The most bytes of a tail: a frame takes some 20 bytes, and a limit allows a million frames.
    private static let tailBytesMax = 64 << 20
    /// Bytes that are copied together.
    private static let copiedBytes = 1 << 20

    /// Writes the tail after the samples.
    ///
    /// - Parameter offset: the end of the last sample.
    static func write(_ tail: Tail, at offset: Int, of file: OpenFile) throws(Failure) {
        var bytes: [UInt8]
        do {
            bytes = Array(try JSONEncoder().encode(tail))
        } catch {
            throw Failure(.internalError, "a part of a movie cannot be described: \(error)")
        }
        let length = bytes.count
        bytes += stride(from: 56, through: 0, by: -8).map {
            UInt8(truncatingIfNeeded: length >> $0)
        }
        try file.write(bytes + Self.magic, at: offset)
    }

    /// Reads the description of a part that was rendered before.
    ///
    /// - Parameter part: the expected part.
    /// - Throws: `internalError` if the file is no part, or another one.
    init(_ file: OpenFile, of part: MovieParts.Part) throws(Failure) {
        self.file = file
        let length = try file.length()
        let end = file.bytes(from: length - Self.endBytes, count: Self.endBytes)
        let tailBytes = end.prefix(8).reduce(0) { $0 &<< 8 | Int($1) }
        let samplesBytes = length - Self.endBytes - tailBytes
        guard end.count == Self.endBytes, end.suffix(8).elementsEqual(Self.magic),
            (1...Self.tailBytesMax).contains(tailBytes), samplesBytes >= 0
        else { throw Self.refusal("is none") }
        do {
            tail = try JSONDecoder().decode(
                Tail.self, from: Data(file.bytes(from: samplesBytes, count: tailBytes)))
        } catch {
            throw Self.refusal("has an end that cannot be read: \(error)")
        }
        let frames = part.frames
        var sum = 0
        for size in tail.sizes {
            guard (0...samplesBytes).contains(size) else { throw Self.refusal("is cut off") }
            sum += size
        }
        guard tail.sizes.count == frames.count, tail.ranks.sorted() == Array(frames),
            sum == samplesBytes, tail.syncSamples.first == 0,
            tail.syncSamples.allSatisfy({ (0..<frames.count).contains($0) }),
            let entry = tail.entry
        else { throw Self.refusal("is of other frames than the movie's") }
        self.entry = entry
    }

    /// Copies samples.
    ///
    /// - Parameters:
    ///   - samples: their indices in the part.
    ///   - offset: the offset in the target; advanced past the samples.
    func copy(_ samples: Range<Int>, to target: OpenFile, at offset: inout Int) throws(Failure) {
        var from = tail.sizes[..<samples.lowerBound].reduce(0, +)
        let end = from + tail.sizes[samples].reduce(0, +)
        while from < end {
            let bytes = file.bytes(from: from, count: min(end - from, Self.copiedBytes))
            guard !bytes.isEmpty else { throw Self.refusal("is cut off") }
            try target.write(bytes, at: offset)
            from += bytes.count
            offset += bytes.count
        }
    }

    private static func refusal(_ what: String) -> Failure {
        Failure(
            .internalError,
            "The file of a part of the movie \(what). The job is retried. Keep the movie for a report."
        )
    }
}
