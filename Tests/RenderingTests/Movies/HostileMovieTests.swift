import Edits
import Files
import Foundation
import MinilabTesting
import RenderProtocol
import Testing

@testable import Rendering

/// Movies of strangers through real children: a movie or a typed failure comes of each, and the child lives.
@Suite("Hostile movies", .timeLimit(.minutes(240))) struct HostileMovieTests {
    /// A child that renders one movie after the other, as a worker has them rendered.
    private final class Press {
        private(set) var child: Child
        /// The fate of movies: `rendered`, or the code of a failure; and how often.
        private(set) var endings: [String: Int] = [:]
        private(set) var slowest: Duration = .zero
        private(set) var peakBytes = 0

        init() throws { child = try Child() }

        /// Inspects a movie, renders its parts and joins them.
        ///
        /// - Parameter what: that is tried, for people.
        func print(_ file: OpenFile, _ recipe: Recipe, _ what: @autoclosure () -> String)
            async throws
        {
            let start = ContinuousClock.now
            let ending: String?
            do {
                ending = try render(file, recipe)
            } catch let broken as BrokenReply {
                Issue.record("\(what()): an answer is not believed: \(broken)")
                child = try Child()
                return
            }
            slowest = max(slowest, ContinuousClock.now - start)
            peakBytes = max(peakBytes, child.process.isRunning ? try child.peakBytes() : 0)
            guard let ending else {
                let end = try await child.waitForEnd()
                Issue.record("\(what()): the child ended: \(end)")
                child = try Child()
                return
            }
            endings[ending, default: 0] += 1
            #expect(!ending.hasPrefix(FailureCode.internalError.rawValue), "\(what())")
        }

        /// How it ended; nil when the child has died.
        private func render(_ file: OpenFile, _ recipe: Recipe) throws -> String? {
            var files = RenderFiles(sources: [file])
            let limits = RenderLimits()
            let answer = try child.ask(
                Order(work: .inspect(PhotoRequest(recipe: recipe, limits: limits)), files: files))
            guard case .inspected(let found) = answer else { return Self.ending(answer) }
            var parts: [OpenFile] = []
            let movie = found.plan.movie
            for part in 0..<(movie?.codec == nil ? 0 : movie?.segments ?? 0) {
                files.outputs = [try .inMemory(name: "part \(part)")]
                let request = PhotoRequest(
                    recipe: found.recipe, limits: limits, outputs: [.init(segment: part)],
                    threads: 1)
                let answer = try child.ask(Order(work: .render(request), files: files))
                guard case .rendered = answer else { return Self.ending(answer) }
                parts.append(files.outputs[0])
            }
            files.segments = parts
            files.outputs = [try .inMemory(name: "the movie")]
            return Self.ending(
                try child.ask(
                    Order(
                        work: .render(PhotoRequest(recipe: found.recipe, limits: limits)),
                        files: files)))
        }

        private static func ending(_ answer: RenderReply.Content?) -> String? {
            switch answer {
            case nil: nil
            case .rendered: "rendered"
            case .failed(let failure), .refused(let failure):
                failure.code == .internalError ? "\(failure)" : failure.code.rawValue
            default: "an answer to another question"
            }
        }
    }

    /// Failures that say whose fault it is: the movie's, or that of an edit which does not fit its size.
    private static let expected = Set(
        [
            FailureCode.damagedVideo, .unsupportedFormat, .exceedsLimit, .unsupportedMediaType,
            .emptyFile, .invalidValue, .tooManyPixels, .damagedPhoto, .exceedsMemoryBudget,
            .parameterOutOfRange,
        ].map(\.rawValue) + ["rendered"])

    /// Movies of the repository, and of the corpus where it is named.
    private static let files = MovieCorpus.files(and: ["bt601.mp4", "h265_bframes.mp4"])

    /// A small part, so that decoding is most of the work, in a way that HDR has too.
    private static func corner() throws -> Recipe {
        try Recipe(filters: [
            Filter("CICrop", ["inputRectangle": [0, 0, 64, 32]]),
            Filter("CIExposureAdjust", ["inputEV": -0.5]),
        ])
    }

    /// Edits of all lanes.
    private static func recipes() throws -> [Recipe] {
        var muted = Recipe.Output()
        muted.movie.mute = true
        var baked = Recipe.Output()
        baked.movie.bakeRotation = true
        return [
            try corner(), try corner(), try corner(),
            try Recipe(filters: [Filter("turn", ["degrees": 90])]),
            try Recipe(filters: [], output: muted),
            try Recipe(
                filters: [
                    Filter("CICrop", ["inputRectangle": [2, 2, 66, 30]]),
                    Filter("CIGaussianBlur", ["inputRadius": 2]),
                ], output: baked),
        ]
    }

    private static func file(_ bytes: [UInt8]) throws -> OpenFile {
        let file = try OpenFile.inMemory(name: "a movie")
        try file.write(bytes, at: 0)
        return file
    }

    @Test func `cut off at each border of a box are movies or typed failures`() async throws {
        let press = try Press()
        for path in Self.files {
            let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
            for border in Borders.of(bytes) {
                for length in [border, border + 4, border + 8] where length < bytes.count {
                    try await press.print(
                        Self.file(Array(bytes[..<length])), Self.corner(),
                        "\(path) cut off at \(length)")
                }
            }
        }
        #expect(Set(press.endings.keys).isSubset(of: Self.expected), "\(press.endings)")
        print("cut off: \(press.endings), \(press.slowest) at most, \(press.peakBytes >> 20) MB")
    }

    private static let mutants = Volume.trials(byDay: 30, byNight: 2_000)

    @Test func `of bytes changed at random are movies or typed failures`() async throws {
        var random = SeededGenerator()
        random.printSeed()
        let movies = try Self.files.map { [UInt8](try Data(contentsOf: URL(filePath: $0))) }
        let tables = movies.map { Borders.tables(of: $0) }
        let recipes = try Self.recipes()
        let press = try Press()
        for number in 0..<Self.mutants {
            let index = number % movies.count
            var bytes = movies[index]
            // Half of them in the tables, of which a movie has few.
            let range = number / movies.count % 2 == 0 ? tables[index] : 0..<bytes.count
            Mutation.change(&bytes, in: range, &random)
            let recipe = recipes[Int.random(in: 0..<recipes.count, using: &random)]
            try await press.print(
                Self.file(bytes), recipe,
                "mutant \(number) of seed \(random.seed), of \(Self.files[index])")
            if number % 1_000 == 999 { print("\(number + 1) mutants: \(press.endings)") }
        }
        #expect(Set(press.endings.keys).isSubset(of: Self.expected), "\(press.endings)")
        // Of 30 mutants none may be left that is a movie.
        #expect(press.endings["rendered"] ?? 0 > 0 || Self.mutants < 1_000)
        // A child renders many movies of up to 1080p one after the other.
        #expect(press.peakBytes < 1 << 30)
        print(
            "\(Self.mutants) mutants: \(press.endings), \(press.slowest) at most, \(press.peakBytes >> 20) MB"
        )
    }
}

/// Where boxes begin and end.
private enum Borders {
    private static let lists = Set(
        ["moov", "trak", "mdia", "minf", "stbl", "edts", "dinf", "udta"].map { Array($0.utf8) })

    /// Of all boxes, ascending.
    static func of(_ bytes: [UInt8]) -> [Int] {
        var borders: Set<Int> = []
        read(bytes, 0..<bytes.count) { borders.formUnion([$0.lowerBound, $0.upperBound]) }
        return borders.sorted()
    }

    /// Of the tables; of all bytes where there are none.
    static func tables(of bytes: [UInt8]) -> Range<Int> {
        var found = 0..<bytes.count
        read(bytes, 0..<bytes.count) { range in
            if bytes[range.lowerBound + 4..<range.lowerBound + 8].elementsEqual("moov".utf8) {
                found = range
            }
        }
        return found
    }

    private static func read(_ bytes: [UInt8], _ range: Range<Int>, _ body: (Range<Int>) -> Void) {
        var offset = range.lowerBound
        while offset + 8 <= range.upperBound {
            let length = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
            guard length >= 8, offset + length <= range.upperBound else { return }
            body(offset..<offset + length)
            if lists.contains(Array(bytes[offset + 4..<offset + 8])) {
                read(bytes, offset + 8..<offset + length, body)
            }
            offset += length
        }
    }
}

/// Changes that strangers make to bytes.
private enum Mutation {
    /// Numbers at the ends of their ranges.
    private static let numbers: [UInt32] = [
        0, 1, 2, 0x7F, 0xFF, 0xFFFF, 0x1_0000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF,
    ]

    static func change(
        _ bytes: inout [UInt8], in range: Range<Int>, _ random: inout SeededGenerator
    ) {
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let index = min(
                Int.random(in: range, using: &random), max(0, bytes.count - 1))
            guard index < bytes.count else { return }
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 4..<6: bytes[index] = .random(in: 0...255, using: &random)
            case 6..<9:
                let number = numbers.randomElement(using: &random) ?? 0
                for index in 0..<4 where index + index < bytes.count {
                    bytes[index + index] = UInt8(truncatingIfNeeded: number >> (24 - 8 * index))
                }
            default:
                let end = min(bytes.count, index + Int.random(in: 1...64, using: &random))
                if Bool.random(using: &random) {
                    bytes.removeSubrange(index..<end)
                } else {
                    bytes.insert(contentsOf: bytes[index..<end], at: index)
                }
            }
        }
        if Int.random(in: 0..<20, using: &random) == 0 {
            bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
        }
    }
}
