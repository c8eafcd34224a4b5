import Edits
import PhotoFiles
import Codecs
import RenderProtocol

/// The contents of a photo's file beside its picture.
struct PhotoCompanions: Sendable {
    /// The gain map, if its pixels can be decoded.
    var map: GainMap?
    /// The reason why a map that the file has or claims cannot be used.
    var obstacle: String?
    /// The codes of ``map``, if the check decoded them.
    private(set) var decoded: GainMapPixels?
    var video: MotionVideo?
    /// The reason why a video that the file has or claims cannot be used.
    var videoObstacle: String?
    var others: [Companion] = []
    /// Whether the photo claims contents that its file does not have. Such a file is not copied.
    var hasFalseClaims = false
    /// Whether the XMP itself contains a map of depth, which is kept if nothing moves.
    var hasDepthInXMP = false
    var metadata = MetadataFacts()

    func mayBeCopied(_ wish: Recipe.HDR) -> Bool {
        !hasFalseClaims && !(wish == .drop && (map != nil || obstacle != nil))
    }

    /// The most samples of a map: each takes a byte of memory.
    static let samplesMax = 32 << 20
}

extension PhotoFile {
    /// Finds the contents beside the picture. A fault in them never fails the photo.
    func companions() -> PhotoCompanions {
        var companions = companionsOfFormat()
        var window = window
        let isSigned = survey?.firstTIFF?.isSigned ?? C2PA.isIn(&window)
        if isSigned {
            companions.others = Set(companions.others + [.contentCredentials]).inOrder
        }
        return companions
    }

    private func companionsOfFormat() -> PhotoCompanions {
        var window = window
        var companions: PhotoCompanions
        switch format {
        case .jpeg:
            guard let found = JPEGCompanions(&window) else { return PhotoCompanions() }
            companions = PhotoCompanions(
                map: found.map, obstacle: found.damage, video: found.video,
                videoObstacle: found.videoDamage, others: found.others.inOrder,
                hasFalseClaims: found.hasFalseClaims)
            companions.hasDepthInXMP = found.hasDepthInXMP
        case .heif:
            guard let meta = HEIFMeta(of: &window) else { return PhotoCompanions() }
            // Without items there is no XMP to read; the decoder reports the fault in them.
            let still = try? HEIFStill(meta, in: &window)
            let found = HEIFCompanions(meta, xmp: still?.xmp, in: &window)
            companions = PhotoCompanions(
                map: found.map, obstacle: found.damage, video: found.video,
                videoObstacle: found.videoDamage, others: found.others.inOrder,
                hasFalseClaims: found.hasFalseClaims)
        case .png: return PhotoCompanions(others: (pngChunks?.frames ?? 1) > 1 ? [.frames] : [])
        case .jxl: return PhotoCompanions(others: survey?.isAnimation == true ? [.frames] : [])
        default:
            let hasPictures = pages > 1 || survey?.hasPicturesBelow == true
            return PhotoCompanions(
                others: frames > 1 ? [.frames] : hasPictures ? [.otherPictures] : [])
        }
        guard let map = companions.map else { return companions }
        companions.check(map, of: self)
        return companions
    }
}

extension PhotoCompanions {
    /// Drops a map whose pixels cannot be used. All pixels are decoded, those of a JPEG at an eighth of the size.
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

    /// Decodes the codes of the map.
    ///
    /// - Throws: `JPEGError`, `HEIFProblem`, `HEICError`.
    func pixels(of map: GainMap, in file: PhotoFile) throws -> GainMapPixels {
        try decoded ?? GainMapPixels(file, map)
    }
}

extension Set<Companion> {
    fileprivate var inOrder: [Companion] { sorted { $0.rawValue < $1.rawValue } }
}

extension RenderEstimate {
    /// Returns the estimate with the cost of the gain map, which is made before the photo is.
    ///
    /// That is its codes and those of its copy, or the light of two small pictures and the filters' results; and, while the photo
    /// is made, its coded bytes; for a HEIC, instead of those, its codes and a row of its tiles.
    ///
    /// - Parameters:
    ///   - decoderBytes: bytes that the photo's decoder keeps. The photo is decoded small for a recomputed map.
    ///   - isColourEdit: whether the map is recomputed in rows.
    func with(
        _ map: GainMap?, _ outcome: GainMapOutcome?, as format: Recipe.Format,
        decoding decoderBytes: Int, isColourEdit: Bool
    ) -> RenderEstimate {
        guard let map, let outcome, outcome.reason == nil else { return self }
        let samples = map.samples
        let coded = map.jpeg?.count ?? samples
        // Codes, a picture of them, and the result. Measured on maps of 10 to 31 million samples.
        let edited =
            outcome == .recomputed
            ? GainMapEditing.lightBytes(map, isColourEdit: isColourEdit) + samples + decoderBytes
            : 3 * samples + samples / 4 + coded
        // Inspecting decoded an item, and the decoder's rows are not freed at once.
        let mapOnlyBytes = edited + (map.jpeg == nil ? samples * 3 / 2 : 0)
        // The codes of an item are kept from the beginning on.
        let kept = map.jpeg == nil ? samples : 0
        let ownBytes =
            kept
            + (format == .heic ? samples + Self.tileRows * map.width * map.components : coded)
        // In the planes lane the map may be made after the photo, while the photo's memory is still allocated.
        let shared =
            outcome == .recomputed && isColourEdit && format == .jpeg ? edited - decoderBytes : 0
        return RenderEstimate(
            memoryBytes: max(memoryBytes + ownBytes + shared, Self.processBytes + mapOnlyBytes),
            spoolBytes: spoolBytes,
            cpuSeconds: cpuSeconds + Double(samples) * (format == .heic ? 90e-9 : 30e-9))
    }

    /// The resident size of a child that has opened a photo.
    private static let processBytes = 32 << 20
    private static let tileRows = 512
}
