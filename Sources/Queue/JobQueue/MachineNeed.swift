public import Edits

/// The ability that a worker must have for a job that another one could not do: a failure may be a fact about a machine, its settings or its
/// release, and not about the job. Such a job is left to other workers while one lives that may have it (``JobQueue/passOn``).
public enum MachineNeed: Sendable, Equatable {
    /// A budget of memory of so many bytes, which heartbeats state.
    case memory(bytes: Int)
    /// Another release than this one, by the version that heartbeats state: older ones lack fields and filters.
    case otherRelease(than: String)
    /// Another release than this one, or other settings of the formats of edits, which heartbeats state as `editors`.
    case otherEditors(than: String, editors: String)
    /// Other settings, resources, fonts, packages, or a kernel that confines. Only trying tells.
    case otherMachine

    /// As the record of a job has it, in field `needs`; empty for none.
    var text: String {
        switch self {
        case .memory(let bytes): "memory \(bytes)"
        case .otherRelease(let version): "release \(version)"
        case .otherEditors(let version, let editors): "editors \(version) \(editors)"
        case .otherMachine: ""
        }
    }

    /// Reads a need as the record of a job has it; nil for none, and for one of a later release.
    init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        switch parts[0] {
        case "memory":
            guard let bytes = Int(parts[1]) else { return nil }
            self = .memory(bytes: bytes)
        case "release": self = .otherRelease(than: String(parts[1]))
        case "editors":
            let words = parts[1].split(separator: " ", maxSplits: 1)
            guard let version = words.first else { return nil }
            self = .otherEditors(
                than: String(version), editors: words.count > 1 ? String(words[1]) : "")
        default: return nil
        }
    }

    /// Whether a worker has it, as far as its heartbeats tell: `meets` of `jobs.lua`, for those who look.
    func isMet(by worker: WorkerInfo) -> Bool {
        switch self {
        case .memory(let bytes): worker.memory.map { $0.budgetBytes >= bytes } ?? true
        case .otherRelease(let version): worker.version != version
        case .otherEditors(let version, let editors):
            worker.version != version || worker.machine?["editors"] ?? "" != editors
        case .otherMachine: true
        }
    }

    /// The most living workers that leave one job to others before it is dead. Where heartbeats tell who is able, these are asked alone. Otherwise the
    /// job is most likely wrong itself, and a large batch of such jobs must not go round a large fleet.
    var triesMax: Int {
        switch self {
        case .memory, .otherRelease: 100
        // Two kinds of workers would hand a wrong job to and fro.
        case .otherEditors, .otherMachine: 8
        }
    }
}

extension Failure {
    /// Returns what another worker may have that this one lacks; nil if the job, its photo or the library is the cause.
    ///
    /// - Parameters:
    ///   - version: the version of this worker.
    ///   - editors: what its settings add to the formats of edits that it reads; empty for nothing.
    ///   - memory: the budget in bytes of a worker that gave the job all of it; nil if it did not, or is unbounded.
    public func need(
        at version: String, editors: String = "", ofAll memory: Int? = nil
    ) -> MachineNeed? {
        switch code {
        case .exceedsMemoryBudget: neededBytes.map { .memory(bytes: $0) } ?? .otherMachine
        case .outOfMemory: memory.map { .memory(bytes: $0 + 1) }
        case .unknownField, .unknownFilter, .unknownParameter, .laterFormat:
            .otherRelease(than: version)
        case .cannotHandleAdjustmentData: .otherEditors(than: version, editors: editors)
        case .formatUnavailable, .unconfined, .missingResource, .badResource, .missingGlyph,
            .tooManyPixels, .exceedsLimit:
            .otherMachine
        case .malformedJSON, .missingField, .invalidValue, .oversizedField, .parameterOutOfRange,
            .missingValue, .noSuchBatch, .assetOutsideLibrary, .adjustmentDataUndecodable,
            .adjustmentDataNotEncodable, .badSidecar, .noSuchStep, .missingVersion, .missingDraft,
            .staleDraft, .overtaken, .damagedVersion, .missingAsset, .emptyFile,
            .unsupportedFormat, .unsupportedMediaType, .damagedPhoto, .damagedVideo,
            .pairMismatch, .hdrNotKept, .cannotFit, .deadlinePassed, .renderCrashed,
            .untrustedRender, .rendererUnavailable, .renderTimedOut, .noSpace,
            .ioFailure, .storeUnavailable, .revisionConflict, .workerLost, .internalError:
            nil
        }
    }
}
