import Edits
import PhotoFiles
import Codecs

/// A HEIC in planes, upright.
struct PlanarHEIC: PlanarPhoto {
    let layout: JPEGLayout
    let colour: PhotoColour
    let markers: [JPEGMarker]
    private let still: HEIFStill
    private let file: PhotoFile

    /// A HEIC has no density.
    var density: JPEGDensity { .unknown }

    /// Tiles are coded independently of each other.
    var isTurnedByDecoder: Bool { true }

    /// Reads boxes and parameter sets; nil under the conditions of ``PhotoFile/planar()``.
    init?(_ file: PhotoFile) {
        // Errors in the boxes are reported by the other lanes.
        guard let still = try? file.hevcStill() else { return nil }
        let profile = still.profile ?? file.profileOfCodes
        var colour = PhotoColour.sRGB
        if let profile {
            guard let matrix = ICCMatrixProfile(profile), let known = PhotoColour(matrix) else {
                return nil
            }
            colour = known
        }
        let markers = JPEGMarker.of(exif: still.exif, xmp: still.xmp, profile: profile)
        guard markers.profile == profile.map(EmbeddedProfile.whole) ?? .none else { return nil }
        self.init(still, in: file, colour, markers)
    }

    private init?(
        _ still: HEIFStill, in file: PhotoFile, _ colour: PhotoColour, _ markers: [JPEGMarker]
    ) {
        // Errors in the coded data are reported by the other lanes.
        guard let planes = try? HEICPlanes(still, in: file.window) else { return nil }
        let shift = planes.chromaShift
        layout = JPEGLayout(
            width: planes.width, height: planes.height, colour: .ycbcr,
            sampling: [.init(1 << shift.x, 1 << shift.y), .init(1, 1), .init(1, 1)])
        (self.still, self.file, self.colour, self.markers) = (still, file, colour, markers)
    }

    func turned(_ turn: JPEGTurn) -> (any PlanarPhoto)? {
        PlanarHEIC(
            still.turned(
                transposes: turn.transposes, mirrors: turn.mirrors, flips: turn.flips),
            in: file, colour, markers)
    }

    func planes() throws -> any PlaneSource {
        let name = file.name
        do throws(HEICError) {
            guard let planes = try HEICPlanes(still, in: file.window) else {
                throw .unsupported("codes that are not those of a JPEG")
            }
            return HEICPlaneSource(planes, name: name, layout: layout)
        } catch {
            throw Failure(error, photo: name)
        }
    }
}

/// Converts rows of tiles to rows of MCUs.
private final class HEICPlaneSource: PlaneSource {
    private let planes: HEICPlanes
    private let name: String
    private let layout: JPEGLayout
    private var row = 0

    init(_ planes: HEICPlanes, name: String, layout: JPEGLayout) {
        (self.planes, self.name, self.layout) = (planes, name, layout)
    }

    func readPlanes(into target: JPEGPlanes, mcuRow: Int) throws {
        let (luma, blue, red) = (target.planes[0], target.planes[1], target.planes[2])
        let rows = min(luma.mcuHeight, layout.height - row * luma.mcuHeight)
        var chromaRow = 0
        do throws(HEICError) {
            for y in 0..<rows {
                let hasCopied = try planes.copyRow(
                    luma: luma.row(y, of: mcuRow), blue: blue.row(chromaRow, of: mcuRow),
                    red: red.row(chromaRow, of: mcuRow))
                if hasCopied { chromaRow += 1 }
            }
        } catch {
            throw Failure(error, photo: name)
        }
        row += 1
    }

    /// Does nothing: each tile was checked while it was decoded.
    func finish() {}
}
