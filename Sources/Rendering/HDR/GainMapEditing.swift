import RenderProtocol
import JPEG
import Filters
import Adjustments
import Files
import GainMaps
import Pixels
import Vips

/// The gain map of a photo, edited as its plan says, as the bytes of a JPEG.
///
/// It is made before the photo is, because the photo's head says how long it is.
struct GainMapEditing {
    let photo: Photo
    let map: JPEGCompanions.Map
    let spool: SpoolSpace?

    /// Makes it.
    ///
    /// - Parameter scratch: the photo's own output, which is still unused and is empty afterwards.
    /// - Throws: `JPEGError`, `VipsError` or `Failure`.
    func jpeg(_ outcome: GainMapOutcome, scratch: OpenFile) throws -> [UInt8] {
        if outcome == .recomputed { return try recomputed(scratch: scratch) }
        let metadata = outcome == .carried ? carriedMetadata : map.metadata
        guard let geometry = Planner.geometry(of: photo.planned.passes) else {
            if map.codes == nil, let same = rewrapped(as: metadata) { return same }
            return try placed(nil, metadata, scratch: scratch)
        }
        return try placed(geometry, metadata, scratch: scratch)
    }

    /// The map's own coded pixels; nil when its head cannot be followed.
    private func rewrapped(as metadata: GainMapMetadata) -> [UInt8]? {
        let bytes = photo.file.file.bytes(from: map.start, count: map.length)
        return UltraHDR.rewrapped(bytes, as: metadata)
    }

    /// The map's metadata with offsets that went through the filters as light does.
    ///
    /// Offsets are added to the base's light, so F((b + k)·2^g − k) = (F(b) + F(k))·2^g − F(k) for a filter that multiplies light. Kept
    /// as they are, a photo that becomes 1 stop darker is wrong by 0.04 stops in the mean. One number stands for the three channels:
    /// the luminance. Filters that look at places multiply by a number for each place, and no offset would be true for all.
    private var carriedMetadata: GainMapMetadata {
        let filters = photo.planned.pixelFilters.filter { !$0.usesPosition }
        return map.metadata.withOffsets { filters.light(ofGrey: Float($0)) }
    }

    // MARK: Other places

    /// The map's places through the photo's geometry: one lookup.
    private func places(_ geometry: Geometry?) -> Geometry? {
        // As the photo's, the last row and column are whole, or they would fade to no gain.
        geometry?.seen(on: PixelSize(width: map.width, height: map.height)).withoutPartialEdges
    }

    private func placed(
        _ geometry: Geometry?, _ metadata: GainMapMetadata, scratch: OpenFile
    ) throws -> [UInt8] {
        let pixels = try GainMapPixels(photo.file, map)
        let image = try pixels.image()
        let passes =
            places(geometry).map { Planner.passes(of: [.geometry($0)], keepsAlpha: true) } ?? []
        var runner = PassRunner(
            StandardImage(
                image, layout: .init(sample: .encoded8, bands: pixels.channels),
                colour: .codesAsLight),
            target: .init(sample: .encoded8, bands: 4), targetColour: .codesAsLight,
            background: .white, spool: photo.planned.spoolPlace(spool))
        let result = try runner.run(passes)
        let channels = pixels.channels
        let writer = try GainMapWriter(
            to: scratch, width: result.width, height: result.height, channels: channels,
            metadata)
        // A pixel that shows nothing of the photo is as bright on every screen.
        let neutral = (0..<3).map { Float(255 * map.metadata.channel($0).neutralCode) }
        try result.eachRow { row throws(JPEGError) in
            try writer.write { column, channel in
                let pixel = row + 4 * column
                let alpha = Float(pixel[3]) / 255
                let code = Float(pixel[channel]) * alpha + neutral[channel] * (1 - alpha)
                return UInt8(min(max(code, 0), 255).rounded())
            }
        }
        return try writer.finish()
    }
}

extension [any PixelFilter] {
    /// The luminance that they make of a grey, in linear light.
    fileprivate func light(ofGrey light: Float) -> Double {
        var (red, green, blue, alpha) = (light, light, light, Float(1))
        withUnsafeMutablePointer(to: &red) { red in
            withUnsafeMutablePointer(to: &green) { green in
                withUnsafeMutablePointer(to: &blue) { blue in
                    withUnsafeMutablePointer(to: &alpha) { alpha in
                        let chunk = PixelChunk(
                            count: 1, red: red, green: green, blue: blue, alpha: alpha)
                        for filter in self { filter.apply(to: chunk) }
                    }
                }
            }
        }
        return Double(Luminance.of(red, green, blue))
    }
}

extension PhotoColour {
    /// For numbers that are no light: none is changed on the way in or out.
    static let codesAsLight = PhotoColour(curves: [.gamma(1), .gamma(1), .gamma(1)])
}

extension GainMapPixels {
    /// As a picture of codes.
    func image() throws(VipsError) -> Image {
        try Image.fromPixels(
            codes, width: width, height: height, bands: channels,
            interpretation: channels == 1 ? "b-w" : "srgb")
    }
}

extension Image {
    /// Computes the picture and hands over each row of 8-bit samples, from top to bottom.
    ///
    /// - Throws: `VipsError`, or what `take` throws.
    func eachRow<Problem: Error>(
        _ take: (UnsafePointer<UInt8>) throws(Problem) -> Void
    ) throws {
        var problem: Problem?
        do {
            try stream { region in
                do throws(Problem) {
                    for row in 0..<region.area.height {
                        try take(region.row(row).assumingMemoryBound(to: UInt8.self))
                    }
                    return true
                } catch {
                    problem = error
                    return false
                }
            }
        } catch {
            if let problem { throw problem }
            throw error
        }
    }
}
