import Edits
import Files
import Foundation
import MinilabTesting
import RenderProtocol
import Testing
import Codecs

@testable import Rendering

@Suite("Determinism", .timeLimit(.minutes(110))) struct DeterminismTests {
    /// Threads that compute, and rows at a time.
    private static let ways = [(1, 32), (2, 16), (4, 128)]
    private static let recipes = Volume.trials(byDay: 30, byNight: 5_000)

    /// The build for processors of level 3, beside the other one; nil where it cannot run.
    private static func wide() throws -> String? {
        let name = "minilab-render-x86-64-v3"
        let processors = try String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
        guard processors.contains(#/\bavx2\b/#),
            FileManager.default.fileExists(atPath: Programs.folder.appending(path: name).path)
        else { return nil }
        return name
    }

    @Test
    func
        `recipes drawn at random give the same bytes for any threads, tiles, load and build`()
        throws
    {
        var random = SeededGenerator()
        random.printSeed()
        let studio = try Studio()
        let photos = try ["jpg", "png"].map { try photo(studio, $0) }
        // All children run at the same time: each is the others' load.
        var children = try Self.ways.map { threads, rows in
            try Child(environment: [
                "VIPS_CONCURRENCY": "\(threads)", "VIPS_TILE_HEIGHT": "\(rows)",
            ])
        }
        if let wide = try Self.wide() {
            children.append(
                try Child(environment: ["VIPS_CONCURRENCY": "1"], executable: wide))
        }
        var refused = 0
        for number in 0..<Self.recipes {
            let recipe = try RandomRecipe.make(&random)
            let source = photos[number % photos.count]
            for (way, child) in children.enumerated() {
                try child.send(
                    .render(
                        source, recipe, limits: RenderLimits(pixelsMax: 400_000),
                        to: studio.path("\(number)-\(way)")))
            }
            let replies = try children.map { try $0.reply() }
            let results = try replies.enumerated().map { way, reply in
                switch reply {
                case .rendered:
                    try FileDigest.sha256(of: studio.path("\(number)-\(way)")).hex
                case .failed(let failure), .refused(let failure): "\(failure)"
                default: "no answer: \(String(describing: reply))"
                }
            }
            if case .failed = replies[0] { refused += 1 }
            #expect(Set(results).count == 1, "\(recipe.json.canonical) of \(source): \(results)")
        }
        #expect(refused <= Self.recipes / 2, "most recipes are rendered")
    }

    @Test(arguments: [Recipe.Format.jpeg, .webp, .avif])
    func `a photo without EXIF, to which a format adds some, gives the same bytes each time`(
        format: Recipe.Format
    ) throws {
        let studio = try Studio()
        let source = try studio.write(
            Array(SyntheticPhoto.png(width: 64, height: 48)), as: "in.png")
        let digests = try (0..<8).map { number in
            try studio.render(
                source, [Filter("CISepiaTone")], format: format, stem: "\(number)"
            ).output.digest
        }
        #expect(Set(digests).count == 1, "\(digests)")
    }

    private func photo(_ studio: Studio, _ kind: String) throws -> String {
        let path = studio.path("in.\(kind)")
        let picture = try TestPicture.image(width: 211, height: 177)
        if kind == "jpg" {
            try picture.writeJPEG(to: path, quality: 90, chroma: .on, progressive: false)
        } else {
            try picture.writePNG(to: path, progressive: false)
        }
        return path
    }
}

/// Recipes drawn from the catalogue.
enum RandomRecipe {
    static func make(_ random: inout SeededGenerator) throws -> Recipe {
        let choice = FilterCatalogue.all.filter { definition in
            !definition.isGenerator
                && definition.parameters.allSatisfy {
                    $0.defaultValue != nil || value(of: $0, &random) != nil
                }
        }
        var filters: [Filter] = []
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            guard let definition = choice.randomElement(using: &random) else { continue }
            var values: [String: FilterValue] = [:]
            for parameter in definition.parameters {
                // Half of them keep their default, which is where most values of practice lie.
                let isKept = parameter.defaultValue != nil && Bool.random(using: &random)
                values[parameter.name] = isKept ? nil : value(of: parameter, &random)
            }
            filters.append(
                try Filter(definition.name, geometry(definition.name, &random) ?? values))
        }
        return try Recipe(filters: filters)
    }

    /// Values for a geometry that suits a small photo; most others would be refused.
    private static func geometry(_ name: String, _ random: inout SeededGenerator) -> [String:
        FilterValue]?
    {
        func near(_ number: Double, _ spread: Double) -> Double {
            .random(in: number - spread...number + spread, using: &random)
        }
        switch name {
        case "CICrop":
            return ["rectangle": .vector([near(10, 10), near(10, 10), near(90, 40), near(90, 40)])]
        case "turn":
            return ["degrees": .number(Double(90 * Int.random(in: -3...3, using: &random)))]
        case "CILanczosScaleTransform":
            return ["scale": .number(near(0.8, 0.6)), "aspectRatio": .number(near(1, 0.2))]
        case "CIAffineTransform":
            return [
                "transform": .vector([
                    near(0.8, 0.3), near(0, 0.3), near(0, 0.3), near(0.8, 0.3), 0, 0,
                ])
            ]
        case "CIPerspectiveTransform", "CIPerspectiveCorrection":
            return [
                "topLeft": .vector([near(30, 20), near(150, 20)]),
                "topRight": .vector([near(170, 20), near(150, 20)]),
                "bottomRight": .vector([near(170, 20), near(30, 20)]),
                "bottomLeft": .vector([near(30, 20), near(30, 20)]),
            ]
        default: return nil
        }
    }

    /// A value that a parameter takes, not far from its default; nil for files and chains.
    private static func value(
        of parameter: ParameterDefinition, _ random: inout SeededGenerator
    ) -> FilterValue? {
        func number(_ range: ClosedRange<Double>, near usual: Double) -> Double {
            func inRange(_ number: Double) -> Double {
                min(max(number, range.lowerBound), range.upperBound)
            }
            let reach = usual == 0 ? 1 : abs(usual) / 2
            return .random(in: inRange(usual - reach)...inRange(usual + reach), using: &random)
        }
        var usual: [Double] = []
        if case .vector(let numbers)? = parameter.defaultValue { usual = numbers }
        switch parameter.kind {
        case .number(let range, _):
            return .number(number(range, near: parameter.defaultValue?.number ?? 0))
        case .vector(let range, let units):
            return .vector(
                units.enumerated().map { index, unit in
                    // Points lie on the photo.
                    if unit == .x || unit == .y { return .random(in: 0...250, using: &random) }
                    let value = number(range, near: usual.isEmpty ? 1 : usual[index])
                    return unit == .count ? value.rounded() : value
                })
        case .color:
            return .vector((0..<3).map { _ in .random(in: 0...1, using: &random) })
        case .samples(let range, let count, _), .table(let range, let count, _):
            return .vector((0..<count.lowerBound).map { _ in number(range, near: 0.5) })
        case .choice(let choices):
            return choices.randomElement(using: &random).map(FilterValue.text)
        case .flag: return .flag(.random(using: &random))
        case .resource, .filters, .generator, .box, .focus: return nil
        }
    }
}
