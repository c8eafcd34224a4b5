import Adjustments
import Boxes
import GainMaps
import Headers
import JPEG
import RenderProtocol

/// The things in a photo's file beside its picture.
struct Beside: Sendable {
    /// The gain map, whose pixels can be decoded; nil without one.
    var map: JPEGCompanions.Map?
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
        switch format {
        case .jpeg: return beside(JPEGCompanions(&window))
        case .heif:
            guard let meta = HEIFMeta(of: &window) else { return Beside() }
            let found = HEIFCompanions(meta)
            return Beside(
                obstacle: found.map.map { _ in "that of a HEIC or AVIF is not read" },
                others: found.others.sorted { $0.rawValue < $1.rawValue })
        default: return Beside()
        }
    }

    private func beside(_ found: JPEGCompanions?) -> Beside {
        guard let found else { return Beside() }
        var beside = Beside(
            map: found.map, obstacle: found.damage,
            others: found.others.sorted { $0.rawValue < $1.rawValue },
            hasFalseClaims: found.hasFalseClaims)
        guard let map = found.map else { return beside }
        beside.obstacle = obstacle(in: map)
        if beside.obstacle != nil { beside.map = nil }
        return beside
    }

    /// Why a map's pixels cannot be used: all of them are decoded, at an eighth of the size.
    private func obstacle(in map: JPEGCompanions.Map) -> String? {
        guard map.width * map.height * map.components <= Beside.samplesMax else {
            return
                "it has \(map.width)×\(map.height) pixels, more than \(Beside.samplesMax >> 20) MB"
        }
        do throws(JPEGError) {
            _ = try GainMapPixels(self, map, eighths: 1)
            return nil
        } catch {
            return "its JPEG is damaged (\(error))"
        }
    }
}

extension RenderEstimate {
    /// With what the gain map takes, which is made before the photo is.
    ///
    /// Its codes and those of its copy, or the light of two small pictures and what a filter makes of them; and while the photo
    /// is made, its coded bytes.
    func with(_ map: JPEGCompanions.Map?, _ outcome: GainMapOutcome?) -> RenderEstimate {
        guard let map, let outcome, outcome.reason == nil else { return self }
        let samples = map.width * map.height * map.components
        let alone =
            outcome == .recomputed
            ? GainMapEditing.lightBytes(map) + samples : 2 * samples + map.length
        return RenderEstimate(
            memoryBytes: max(memoryBytes + map.length, Self.processBytes + alone),
            spoolBytes: spoolBytes,
            cpuSeconds: cpuSeconds + Double(samples) * 30e-9)
    }

    /// A child that has opened a photo.
    private static let processBytes = 32 << 20
}
