import Edits
import Foundation
import MinilabTesting
import Testing

@testable import Rendering

@Suite("The search for a quality") struct QualitySearchTests {
    /// Runs a search over files whose value is a function of quality; returns the result and what was tried.
    private func run(
        _ search: QualitySearch, _ value: (Int) -> Double
    ) -> (QualitySearch.Step, [QualitySearch.Try]) {
        var tries: [QualitySearch.Try] = []
        while tries.count < 20 {
            let step = search.next(after: tries)
            guard case .encode(let quality) = step else { return (step, tries) }
            #expect(!tries.contains { $0.quality == quality }, "\(quality) is tried twice")
            tries.append(.init(quality: quality, value: value(quality)))
        }
        return (.impossible(value: .nan), tries)
    }

    @Test func `takes the asked quality if that fits`() {
        let search = QualitySearch(.bytes(max: 1000), .jpeg, asked: 0.9)
        let (step, tries) = run(search) { _ in 900 }
        #expect(step == .done(quality: 90) && tries.count == 1)
    }

    /// Files like those of encoders: a line in the logarithm that is bent, with steps.
    @Test func `never exceeds the bytes, comes near to them, and tries few files`() {
        var random = SeededGenerator()
        random.printSeed()
        var (encodes, searches, near) = (0, 0, 0)
        for _ in 0..<2_000 {
            let format: Recipe.Format =
                [.jpeg, .webp, .avif].randomElement(using: &random) ?? .jpeg
            let slope = Double.random(in: 0.015...0.05, using: &random)
            let bend = Double.random(in: -0.0001...0.0002, using: &random)
            func bytes(_ quality: Int) -> Double {
                let q = Double(quality)
                return (20_000 * exp(slope * q + bend * q * q)).rounded()
            }
            let most = bytes(90) * Double.random(in: 0.2...1.1, using: &random)
            let search = QualitySearch(.bytes(max: Int(most)), format, asked: 0.9, qualityMin: 0.1)
            let (step, tries) = run(search, bytes)
            guard case .done(let quality) = step else {
                #expect(bytes(10) > most)
                continue
            }
            #expect(bytes(quality) <= most)
            searches += 1
            encodes += tries.count
            // The next quality may already be too large.
            if bytes(quality) >= 0.95 * most || quality == 90 || bytes(quality + 1) > most {
                near += 1
            }
        }
        #expect(Double(near) >= 0.95 * Double(searches), "\(near) of \(searches)")
        #expect(Double(encodes) <= 3.5 * Double(searches), "\(encodes) for \(searches)")
    }

    @Test func `tells the fewest bytes where none fits`() {
        let search = QualitySearch(.bytes(max: 10), .avif, asked: 0.9, qualityMin: 0.3)
        let (step, tries) = run(search) { Double(100 + $0) }
        #expect(step == .impossible(value: 130))
        #expect(tries.contains { $0.quality == 30 } && tries.allSatisfy { $0.quality >= 30 })
    }

    @Test func `has one quality where the lowest is the asked one`() {
        let search = QualitySearch(.bytes(max: 10), .png, asked: 0.9, qualityMin: 0.9)
        let (step, tries) = run(search) { _ in 11 }
        #expect(step == .impossible(value: 11) && tries.count == 1)
    }

    @Test(arguments: [0.2, 0.5, 0.9, 1])
    func `finds the lowest quality of a similarity, upward and downward`(_ asked: Double) {
        func dissimilarity(_ quality: Int) -> Double { 0.4 * exp(-0.035 * Double(quality)) }
        for most in [0.3, 0.1, 0.05, 0.02] {
            let search = QualitySearch(.dissimilarity(max: most), .webp, asked: asked)
            let (step, tries) = run(search, dissimilarity)
            guard case .done(let quality) = step else {
                Issue.record("\(most): \(step)")
                continue
            }
            #expect(dissimilarity(quality) <= most)
            #expect(dissimilarity(quality - 2) > most, "\(most): \(quality) after \(tries)")
        }
        let (step, _) = run(
            QualitySearch(.dissimilarity(max: 0.001), .webp, asked: asked), dissimilarity)
        guard case .impossible = step else {
            Issue.record("\(step)")
            return
        }
    }

    /// Against the formula over whole windows.
    @Test func `sums up similarity row by row`() {
        var random = SeededGenerator()
        random.printSeed()
        let (width, height) = (23, 19)
        let one = (0..<width * height).map { _ in Float.random(in: 0...255, using: &random) }
        let other = one.map { min(max($0 + Float.random(in: -40...40, using: &random), 0), 255) }
        var similarity = Similarity(width: width)
        for y in 0..<height {
            similarity.add(
                Array(one[y * width..<(y + 1) * width]), Array(other[y * width..<(y + 1) * width]))
        }
        let raw = (-5...5).map { exp(-Double($0 * $0) / 4.5) }
        let weights = raw.map { $0 / raw.reduce(0, +) }
        var total = 0.0
        for y in 0...height - 11 {
            for x in 0...width - 11 {
                var (a, b, aa, bb, ab) = (0.0, 0.0, 0.0, 0.0, 0.0)
                for v in 0..<11 {
                    for u in 0..<11 {
                        let weight = weights[u] * weights[v]
                        let p = Double(one[(y + v) * width + x + u])
                        let q = Double(other[(y + v) * width + x + u])
                        a += weight * p
                        b += weight * q
                        aa += weight * p * p
                        bb += weight * q * q
                        ab += weight * p * q
                    }
                }
                let (c1, c2) = (6.5025, 58.5225)
                total +=
                    (2 * a * b + c1) * (2 * (ab - a * b) + c2)
                    / ((a * a + b * b + c1) * (aa - a * a + bb - b * b + c2))
            }
        }
        let expected = total / Double((width - 10) * (height - 10))
        #expect(abs(similarity.value - expected) < 0.001)
    }

    /// scikit-image 0.25.2: `structural_similarity(a, b, gaussian_weights=True, sigma=1.5, use_sample_covariance=False, data_range=255)`.
    @Test(arguments: [
        (97, 61, 4, 0.989992), (97, 61, 16, 0.880143), (200, 30, 60, 0.530283),
        (11, 11, 8, 0.901715),
    ])
    func `is the similarity of scikit-image`(
        _ width: Int, _ height: Int, _ noise: Int, _ expected: Double
    ) {
        var similarity = Similarity(width: width)
        for y in 0..<height {
            let row = (0..<width).map { (3 * $0 + 5 * y + $0 * y / 16) % 200 + 20 }
            let noisy = row.enumerated().map { x, code in
                min(max(code + (x * 37 + y * 91) % (2 * noise + 1) - noise, 0), 255)
            }
            similarity.add(row.map { Float($0) }, noisy.map { Float($0) })
        }
        #expect(abs(similarity.value - expected) < 0.0005, "\(similarity.value)")
    }
}
