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
    /// Sorted.
    var others: [Companion] = []
    /// Whether the photo claims what its file does not have: then it is not copied.
    var hasFalseClaims = false

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
                map: found.map, obstacle: found.damage, others: found.others.inOrder,
                hasFalseClaims: found.hasFalseClaims)
        case .heif:
            guard let meta = HEIFMeta(of: &window) else { return Beside() }
            let found = HEIFCompanions(meta, in: &window)
            beside = Beside(map: found.map, obstacle: found.damage, others: found.others.inOrder)
        default: return Beside()
        }
        guard let map = beside.map else { return beside }
        beside.obstacle = obstacle(in: map)
        if beside.obstacle != nil { beside.map = nil }
        return beside
    }

    /// Why a map's pixels cannot be used: all of them are decoded, those of a JPEG at an eighth of the size.
    private func obstacle(in map: GainMap) -> String? {
        guard map.samples <= Beside.samplesMax else {
            return
                "it has \(map.width)×\(map.height) pixels, more than \(Beside.samplesMax >> 20) MB"
        }
        do {
            try GainMapPixels.check(map, of: self)
            return nil
        } catch {
            return "its picture is damaged (\(error))"
        }
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
    func with(_ map: GainMap?, _ outcome: GainMapOutcome?, as format: Recipe.Format)
        -> RenderEstimate
    {
        guard let map, let outcome, outcome.reason == nil else { return self }
        let samples = map.samples
        let coded = map.jpeg?.count ?? samples
        let alone =
            outcome == .recomputed
            ? GainMapEditing.lightBytes(map) + samples : 2 * samples + coded
        let beside =
            format == .heic ? samples + Self.tileRows * map.width * map.components : coded
        return RenderEstimate(
            memoryBytes: max(memoryBytes + beside, Self.processBytes + alone),
            spoolBytes: spoolBytes,
            cpuSeconds: cpuSeconds + Double(samples) * (format == .heic ? 90e-9 : 30e-9))
    }

    /// A child that has opened a photo.
    private static let processBytes = 32 << 20
    /// Of a row of tiles of a HEIC.
    private static let tileRows = 512
}
