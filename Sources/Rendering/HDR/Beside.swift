import Adjustments
import Boxes
import GainMaps
import Headers
import JPEG
import RenderProtocol

/// The things in a photo's file beside its picture.
struct Beside: Sendable {
    /// The gain map, whose pixels can be decoded; nil without one.
    var map: GainMap?
    /// Why a map that the file has or claims cannot be used.
    var obstacle: String?
    /// The codes of ``map`` where they were decoded to be looked at.
    private(set) var decoded: GainMapPixels?
    /// The video of a motion photo.
    var video: MotionVideo?
    /// Why a video that the file has or claims cannot be used.
    var videoObstacle: String?
    /// Sorted.
    var others: [Companion] = []
    /// Whether the photo claims what its file does not have: then it is not copied.
    var hasFalseClaims = false
    /// Bytes of the EXIF and XMP of a HEIC, of which it may have more than a JPEG.
    var exifBytes = 0
    var xmpBytes = 0
    /// Bytes of a JPEG's XMP.
    var jpegXMPBytes = 0

    /// Whether all of the file may stay as it is.
    func mayBeCopied(_ wish: Recipe.HDR) -> Bool {
        !hasFalseClaims && !(wish == .drop && (map != nil || obstacle != nil))
    }

    /// Most samples of a map: they are kept in memory, a byte each.
    static let samplesMax = 32 << 20
}

extension PhotoFile {
    /// Looks for what lies beside the picture. What is wrong there is never the photo's failure.
    func beside() -> Beside {
        var window = window
        var beside: Beside
        switch format {
        case .jpeg:
            guard let found = JPEGCompanions(&window) else { return Beside() }
            beside = Beside(
                map: found.map, obstacle: found.damage, video: found.video,
                videoObstacle: found.videoDamage, others: found.others.inOrder,
                hasFalseClaims: found.hasFalseClaims)
            beside.jpegXMPBytes = found.xmpBytes
        case .heif:
            guard let meta = HEIFMeta(of: &window) else { return Beside() }
            // Without items there is no XMP to read; the decoder says what is wrong with them.
            let still = try? HEIFStill(meta, in: &window)
            let found = HEIFCompanions(meta, xmp: still?.xmp, in: &window)
            beside = Beside(
                map: found.map, obstacle: found.damage, video: found.video,
                videoObstacle: found.videoDamage, others: found.others.inOrder,
                hasFalseClaims: found.hasFalseClaims)
            beside.exifBytes = still?.exif?.count ?? 0
            beside.xmpBytes = still?.xmp?.count ?? 0
        default: return Beside()
        }
        guard let map = beside.map else { return beside }
        beside.check(map, of: self)
        return beside
    }
}

extension Beside {
    /// Leaves out a map whose pixels cannot be used: all of them are decoded, those of a JPEG at an eighth of the size.
    fileprivate mutating func check(_ map: GainMap, of file: PhotoFile) {
        do {
            guard map.samples <= Self.samplesMax else {
                throw HEIFProblem.unsupported(
                    "it has \(map.width)×\(map.height) pixels, more than \(Self.samplesMax >> 20) MB"
                )
            }
            decoded = try GainMapPixels.checked(map, of: file)
        } catch let problem as HEIFProblem where problem.kind == .unsupported {
            (self.map, obstacle) = (nil, problem.description)
        } catch {
            (self.map, obstacle) = (nil, "its picture is damaged (\(error))")
        }
    }

    /// The codes of the map.
    ///
    /// - Throws: `JPEGError`, `HEIFProblem`, `HEICError`.
    func pixels(of map: GainMap, in file: PhotoFile) throws -> GainMapPixels {
        try decoded ?? GainMapPixels(file, map)
    }
}

extension Set<Companion> {
    /// By name.
    fileprivate var inOrder: [Companion] { sorted { $0.rawValue < $1.rawValue } }
}

extension RenderEstimate {
    /// With what the gain map takes, which is made before the photo is.
    ///
    /// Its codes and those of its copy, or the light of two small pictures and what a filter makes of them; and while the photo
    /// is made, its coded bytes; for a HEIC its codes, and a row of its tiles.
    ///
    /// - Parameters:
    ///   - decoderBytes: that decoding the photo keeps, which is decoded small for a map that is computed anew.
    ///   - isOfColours: whether that is done in rows.
    func with(
        _ map: GainMap?, _ outcome: GainMapOutcome?, as format: Recipe.Format,
        decoding decoderBytes: Int, isOfColours: Bool
    ) -> RenderEstimate {
        guard let map, let outcome, outcome.reason == nil else { return self }
        let samples = map.samples
        let coded = map.jpeg?.count ?? samples
        // Codes, a picture of them, and what is made of it; measured on maps of 10 to 31 million samples.
        let edited =
            outcome == .recomputed
            ? GainMapEditing.lightBytes(map, isOfColours: isOfColours) + samples + decoderBytes
            : 3 * samples + samples / 4 + coded
        // Inspecting has decoded an item, and its decoder's rows are not given back at once.
        let alone = edited + (map.jpeg == nil ? samples * 3 / 2 : 0)
        // Of an item the codes are kept from the beginning on.
        let kept = map.jpeg == nil ? samples : 0
        let beside =
            kept
            + (format == .heic ? samples + Self.tileRows * map.width * map.components : coded)
        // In planes the map may be made behind the photo, while what that has kept is still there.
        let shared =
            outcome == .recomputed && isOfColours && format == .jpeg ? edited - decoderBytes : 0
        return RenderEstimate(
            memoryBytes: max(memoryBytes + beside + shared, Self.processBytes + alone),
            spoolBytes: spoolBytes,
            cpuSeconds: cpuSeconds + Double(samples) * (format == .heic ? 90e-9 : 30e-9))
    }

    /// A child that has opened a photo.
    private static let processBytes = 32 << 20
    /// Of a row of tiles of a HEIC.
    private static let tileRows = 512
}
