import Edits
import Filters
import FoundationEssentials
import MinilabTesting
import Testing

@testable import Editors

@Suite("com.apple.photo: writing") struct ApplePhotoWritingTests {
    private let codec = ApplePhoto(lookAlikes: false)

    /// A picture of numbered pixels, top row first: an oracle without maps of points.
    private struct Grid: Equatable {
        var rows: [[Int]]

        init(_ size: PixelSize) {
            rows = (0..<size.height).map { y in (0..<size.width).map { y * size.width + $0 } }
        }

        var transposed: Grid {
            var copy = self
            copy.rows = rows[0].indices.map { x in rows.map { $0[x] } }
            return copy
        }
        var mirrored: Grid {
            var copy = self
            copy.rows = rows.map { $0.reversed() }
            return copy
        }
        var flipped: Grid {
            var copy = self
            copy.rows = rows.reversed()
            return copy
        }
        func turned(_ quarters: Int) -> Grid {
            (0..<quarters).reduce(self) { grid, _ in grid.transposed.mirrored }
        }

        /// EXIF 2.32, tag 274: where row 0 and column 0 of the stored photo belong.
        func laid(_ orientation: Orientation) -> Grid {
            switch orientation {
            case .upright: self
            case .mirrored: mirrored
            case .half: mirrored.flipped
            case .flipped: flipped
            case .transposed: transposed
            case .right: transposed.mirrored
            case .transversed: transposed.mirrored.flipped
            case .left: transposed.flipped
            }
        }

        /// From the bottom left.
        func cut(_ rectangle: [Double]) -> Grid {
            let numbers = rectangle.map { Int($0) }
            let top = rows.count - numbers[1] - numbers[3]
            var copy = self
            copy.rows = rows[top..<(top + numbers[3])].map {
                Array($0[numbers[0]..<(numbers[0] + numbers[2])])
            }
            return copy
        }

        func edited(_ filters: [Filter]) -> Grid {
            filters.reduce(self) { grid, filter in
                switch filter.name {
                case "CICrop": grid.cut(filter.vector("inputRectangle"))
                case "flip": filter.text("axis") == "horizontal" ? grid.mirrored : grid.flipped
                default: grid.turned(Int(filter.number("degrees")) / 90 & 3)
                }
            }
        }
    }

    private func randomFilters(
        on size: PixelSize, using generator: inout SeededGenerator
    ) throws -> [Filter] {
        var size = size
        return try (0..<Int.random(in: 1...4, using: &generator)).map { _ in
            switch Int.random(in: 0...2, using: &generator) {
            case 0:
                let x = Int.random(in: 0..<size.width, using: &generator)
                let y = Int.random(in: 0..<size.height, using: &generator)
                let part = PixelSize(
                    width: .random(in: 1...(size.width - x), using: &generator),
                    height: .random(in: 1...(size.height - y), using: &generator))
                size = part
                return try Filter(
                    "CICrop",
                    ["rectangle": .vector([x, y, part.width, part.height].map(Double.init))])
            case 1:
                let axis = Bool.random(using: &generator) ? "horizontal" : "vertical"
                return try Filter("flip", ["axis": .text(axis)])
            default:
                let quarters = Int.random(in: -3...3, using: &generator)
                if quarters % 2 != 0 { size = PixelSize(width: size.height, height: size.width) }
                return try Filter("turn", ["degrees": .number(90 * Double(quarters))])
            }
        }
    }

    @Test(arguments: Orientation.allCases)
    func `crops, turns and mirrorings are read back with the same pixels`(
        _ orientation: Orientation
    ) throws {
        var generator = SeededGenerator()
        generator.printSeed()
        for _ in 0..<60 {
            let photo = EditedPhoto(
                storedSize: PixelSize(
                    width: .random(in: 1...9, using: &generator),
                    height: .random(in: 1...9, using: &generator)), orientation: orientation)
            let upright = Grid(photo.storedSize).laid(orientation)
            let filters = try randomFilters(on: photo.uprightSize, using: &generator)
            let data = try codec.write(try Recipe(filters: filters), for: photo)
            let again = try codec.filters(data, of: photo)
            #expect(upright.edited(again) == upright.edited(filters), "\(photo): \(filters)")
            // What is read is in the shortest form, which is written and read as itself.
            let twice = try codec.filters(
                try codec.write(try Recipe(filters: again), for: photo), of: photo)
            #expect(twice == again)
        }
    }

    @Test(arguments: Orientation.allCases, Orientation.allCases)
    func `a document is a crop of the stored photo, laid as its orientation says`(
        _ stored: Orientation, _ edited: Orientation
    ) throws {
        let photo = EditedPhoto(
            storedSize: PixelSize(width: 7, height: 5), orientation: stored)
        let json = """
            {"adjustments":[{"identifier":"Crop","settings":{"xOrigin":1,"yOrigin":2,"width":4,"height":3}}],\
            "metadata":{"orientation":\(edited.rawValue)}}
            """
        let filters = try codec.filters(Deflate.deflate(Data(json.utf8), .none), of: photo)
        let photoAsStored = Grid(photo.storedSize)
        #expect(
            photoAsStored.laid(stored).edited(filters)
                == photoAsStored.cut([1, 2, 4, 3]).laid(edited))
    }

    @Test func `a recipe of a preview is written in pixels of the photo`() throws {
        let recipe = try Recipe(
            filters: [try Filter("CICrop", ["rectangle": [10, 20, 50, 30]])],
            referenceSize: PixelSize(width: 200, height: 150))
        let data = try codec.write(recipe, for: .landscape)
        #expect(
            try codec.filters(data) == [try Filter("CICrop", ["rectangle": [20, 40, 100, 60]])])
    }

    @Test func `filters that do nothing need no word`() throws {
        let recipe = try Recipe(filters: [
            try Filter("CIExposureAdjust", ["ev": 0]), try Filter("turn", ["degrees": 90]),
            try Filter("CIStraightenFilter", ["angle": 0]),
        ])
        #expect(
            try codec.filters(try codec.write(recipe, for: .landscape)) == [
                try Filter("turn", ["degrees": 90])
            ])
    }

    @Test(arguments: [
        "CISepiaTone", "CIStraightenFilter:inputAngle=0.1",
        "CILanczosScaleTransform:inputScale=0.5",
    ])
    func `what is more than crop, turn and mirroring cannot be written`(_ text: String) {
        expect(.adjustmentDataNotEncodable, naming: String(text.prefix(8)), "org.minilab.recipe") {
            try codec.write(
                try Recipe(filters: [try Filter(text: text, at: "filter")]), for: .landscape)
        }
    }

    @Test func `a crop beyond the photo is refused as when it is rendered`() {
        expect(.parameterOutOfRange, naming: "400×300") {
            try codec.write(
                try Recipe(filters: [try Filter("CICrop", ["rectangle": [0, 0, 401, 300]])]),
                for: .landscape)
        }
    }
}
