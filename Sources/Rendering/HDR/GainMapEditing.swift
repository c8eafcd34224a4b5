import Edits
import Files
import Filters
import PhotoFiles
import Codecs
import RenderProtocol

/// A gain map after an edit.
struct EditedGainMap {
    let metadata: GainMapMetadata
    let pixels: GainMapPixels
}

/// The edit of a photo's gain map, according to the plan.
///
/// It runs before the photo is written, because the photo's head contains the map's length.
struct GainMapEditing {
    let photo: Photo
    let map: GainMap
    let spool: SpoolSpace?

    /// Returns the edited map as the bytes of a JPEG.
    ///
    /// - Parameter scratch: the photo's own output, still unused; it is empty afterwards.
    /// - Throws: `JPEGError`, `HEICError`, `VipsError` or `Failure`.
    func jpeg(_ outcome: GainMapOutcome, scratch: OpenFile) throws -> [UInt8] {
        if outcome != .recomputed {
            let metadata = outcome == .carried ? carriedMetadata : map.metadata
            let same =
                geometry == nil
                ? rewrapped(as: metadata) : try transformed(as: metadata, scratch: scratch)
            if let same { return same }
        }
        let edited = try edited(outcome)
        return try GainMapWriter.jpeg(edited.pixels, edited.metadata, scratch: scratch)
    }

    /// Returns the edited map as codes.
    ///
    /// - Throws: `JPEGError`, `HEICError`, `VipsError` or `Failure`.
    func edited(_ outcome: GainMapOutcome) throws -> EditedGainMap {
        guard outcome != .recomputed else { return try recomputed() }
        return EditedGainMap(
            metadata: outcome == .carried ? carriedMetadata : map.metadata,
            pixels: try geometry.map {
                try moved(
                    photo.opened.companions.pixels(of: map, in: photo.file), $0, map.metadata)
            } ?? photo.opened.companions.pixels(of: map, in: photo.file))
    }

    var geometry: Geometry? { Planner.geometry(of: photo.planned.passes) }

    /// Returns the map's own coded pixels; nil if they are no JPEG, their meaning changes, or the JPEG's head cannot be parsed.
    private func rewrapped(as metadata: GainMapMetadata) -> [UInt8]? {
        guard map.codes == nil, let range = map.jpeg else { return nil }
        let bytes = photo.file.file.bytes(from: range.lowerBound, count: range.count)
        return UltraHDR.rewrapped(bytes, as: metadata)
    }

    /// Returns the map's own coefficients, cropped and turned; nil if they are no JPEG, their meaning changes, or the crop would
    /// split a block.
    private func transformed(
        as metadata: GainMapMetadata, scratch: OpenFile
    ) throws -> [UInt8]? {
        guard map.codes == nil, let range = map.jpeg, let geometry,
            case let mapGeometry = mapGeometry(
                geometry, on: PixelSize(width: map.width, height: map.height)),
            mapGeometry.isLossless
        else { return nil }
        let reader = try JPEGReader(
            photo.file.descriptor, from: range.lowerBound,
            limits: photo.file.jpegLimits(coefficientBytesMax: 2 * PhotoCompanions.samplesMax))
        let transform = JPEGTransform(lossless: mapGeometry)
        guard transform.obstacle(for: reader.header.layout) == nil else { return nil }
        try transform.write(
            reader, to: scratch.descriptor, markers: GainMapWriter.markers(metadata))
        return try GainMapWriter.cutBytes(from: scratch)
    }

    /// The map's metadata with offsets that went through the filters as light does.
    ///
    /// Offsets are added to the base's light, so F((b + k)·2^g − k) = (F(b) + F(k))·2^g − F(k) for a filter that multiplies light.
    /// With unchanged offsets, a photo that becomes 1 stop darker is wrong by 0.04 stops on average. One number stands for the
    /// three channels: the luminance. Filters that depend on the position multiply by a factor per pixel, and no single offset
    /// would be right.
    private var carriedMetadata: GainMapMetadata {
        let filters = photo.planned.pixelFilters.filter { !$0.usesPosition }
        // Avoids needless rounding.
        guard !filters.isEmpty else { return map.metadata }
        return map.metadata.withOffsets { filters.light(ofGrey: Float($0)) }
    }

    // MARK: Geometry

    /// Returns the photo's geometry applied to a map of this size: one lookup.
    private func mapGeometry(_ geometry: Geometry, on size: PixelSize) -> Geometry {
        // As in the photo, the last row and column are whole. Otherwise they would fade to no gain.
        geometry.seen(on: size).withoutPartialEdges
    }

    /// Returns the codes moved by a geometry of the photo.
    func moved(
        _ pixels: GainMapPixels, _ geometry: Geometry, _ metadata: GainMapMetadata
    ) throws -> GainMapPixels {
        let mapGeometry = mapGeometry(
            geometry, on: PixelSize(width: pixels.width, height: pixels.height))
        if mapGeometry.isLossless { return pixels.moved(mapGeometry) }
        let channels = pixels.channels
        var runner = PassRunner(
            StandardImage(
                try pixels.image(), layout: .init(sample: .encoded8, bands: channels),
                colour: .codesAsLight),
            target: .init(sample: .encoded8, bands: 4), targetColour: .codesAsLight,
            background: .white, spool: photo.planned.spoolStorage(spool))
        let result = try runner.run(
            Planner.passes(of: [.geometry(mapGeometry)], keepsAlpha: true))
        // A pixel outside the photo is equally bright on every screen.
        let neutral = (0..<3).map { Float(255 * metadata.channel($0).neutralCode) }
        var codes: [UInt8] = []
        codes.reserveCapacity(result.width * result.height * channels)
        try result.eachRow { row in
            for column in 0..<result.width {
                let pixel = row + 4 * column
                if pixel[3] == 255 {
                    for channel in 0..<channels { codes.append(pixel[channel]) }
                    continue
                }
                for channel in 0..<channels {
                    let alpha = Float(pixel[3]) / 255
                    let code = Float(pixel[channel]) * alpha + neutral[channel] * (1 - alpha)
                    codes.append(UInt8(min(max(code, 0), 255).rounded()))
                }
            }
        }
        return GainMapPixels(
            width: result.width, height: result.height, channels: channels, codes: codes)
    }
}

extension [any PixelFilter] {
    /// Returns the luminance of the filters' result for a grey, in linear light.
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
    /// Identity curves, for numbers that are not light: neither conversion changes them.
    static let codesAsLight = PhotoColour(curves: [.gamma(1), .gamma(1), .gamma(1)])
}

extension GainMapPixels {
    /// Returns a picture of the codes.
    func image() throws(VipsError) -> Image {
        try Image.fromPixels(
            codes, width: width, height: height, bands: channels,
            interpretation: channels == 1 ? "b-w" : "srgb")
    }
}

extension Image {
    /// Computes the picture and passes on each row of 8-bit samples, from top to bottom.
    func eachRow(_ body: (UnsafePointer<UInt8>) -> Void) throws(VipsError) {
        try stream { region in
            for row in 0..<region.area.height {
                body(region.row(row).assumingMemoryBound(to: UInt8.self))
            }
            return true
        }
    }
}
