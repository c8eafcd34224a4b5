import Foundation
import Codecs
import MinilabTesting

/// Small JPEGs that tests make for themselves, with our writer.
struct TestPhoto {
    let folder: TemporaryFolder
    let path: String

    /// Soft waves and some noise, so that blocks have coefficients of all frequencies.
    init(
        _ width: Int, _ height: Int, colour: JPEGLayout.Colour = .ycbcr,
        _ sampling: [JPEGLayout.Sampling] = Self.sampled(2, 2), quality: Int = 90,
        isProgressive: Bool = false, markers: [JPEGMarker] = []
    ) throws {
        folder = try TemporaryFolder()
        path = folder.file("photo.jpg")
        let layout = JPEGLayout(width: width, height: height, colour: colour, sampling: sampling)
        let planes = JPEGPlanes(layout, mcuRows: layout.mcuRows)
        for (index, plane) in planes.planes.enumerated() {
            for y in 0..<plane.mcuHeight * layout.mcuRows {
                for x in 0..<plane.stride {
                    let wave = sin(Double(x + 7 * index) / 9) + cos(Double(y) / 5 + Double(index))
                    let noise = Double((x &* 31 &+ y &* 17 &+ x &* y) % 23)
                    plane.start[y * plane.stride + x] = UInt8(128 + 50 * wave + noise)
                }
            }
        }
        let writer = try JPEGWriter(
            path, layout: layout,
            coding: JPEGCoding(quality: quality, isProgressive: isProgressive), markers: markers)
        for row in 0..<layout.mcuRows { try writer.writePlanes(planes, mcuRow: row) }
        try writer.finish()
    }

    /// Luma so many times finer than two chromas.
    static func sampled(_ horizontal: Int, _ vertical: Int) -> [JPEGLayout.Sampling] {
        [.init(horizontal, vertical), .init(1, 1), .init(1, 1)]
    }

    var bytes: [UInt8] { get throws { try Array(Data(contentsOf: URL(filePath: path))) } }

    /// Its planes, without what fills up the last blocks.
    static func samples(_ path: String) throws -> [[[UInt8]]] {
        let reader = try JPEGReader(path)
        let layout = reader.header.layout
        let planes = JPEGPlanes(layout, mcuRows: layout.mcuRows)
        try reader.startPlanes()
        for row in 0..<layout.mcuRows { try reader.readPlanes(into: planes, mcuRow: row) }
        try reader.finish()
        let tallest = layout.sampling.map(\.vertical).max() ?? 1
        let widest = layout.sampling.map(\.horizontal).max() ?? 1
        return zip(planes.planes, layout.sampling).map { plane, sampling in
            let height = (layout.height * sampling.vertical + tallest - 1) / tallest
            let width = (layout.width * sampling.horizontal + widest - 1) / widest
            return (0..<height).map { y in
                Array(UnsafeBufferPointer(start: plane.start + y * plane.stride, count: width))
            }
        }
    }

    /// Transforms it without loss.
    func transformed(
        _ transform: JPEGTransform, as name: String, markers: [JPEGMarker] = []
    ) throws -> String {
        let result = folder.file(name)
        try transform.write(JPEGReader(path), to: result, markers: markers)
        return result
    }
}
