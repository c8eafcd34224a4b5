/// The reason why a job failed: a code for programs and a sentence for people.
///
/// The sentence states the failed operation, the value, the expected value and the next step.
public struct Failure: Error, Sendable, Codable, Equatable, CustomStringConvertible {
    /// The code, from the closed set.
    public let code: FailureCode
    /// The sentence for people; at most ``messageLengthMax`` characters.
    public let message: String

    /// The signal that killed the render child, if one did.
    public let signal: Int?
    /// The memory that would have been enough, in bytes, if a budget was too small for it.
    public let neededBytes: Int?

    /// Longest message in characters: it keeps events and dead letters small, whatever the length of a library's message.
    public static let messageLengthMax = 1000

    /// Creates a failure; a message that is too long is truncated.
    public init(
        _ code: FailureCode, _ message: String, signal: Int? = nil, neededBytes: Int? = nil
    ) {
        self.code = code
        self.signal = signal
        self.neededBytes = neededBytes
        self.message =
            message.count <= Self.messageLengthMax
            ? message : String(message.prefix(Self.messageLengthMax - 1)) + "…"
    }

    public var description: String { "\(code.rawValue): \(message)" }
}

extension Failure {
    /// The failure if there is no file of a digest.
    ///
    /// - Parameter path: the field that names the file; nil if it is not known.
    public static func missingResource(_ digest: String, at path: String? = nil) -> Failure {
        Failure(
            .missingResource,
            (path.map { "\($0): " } ?? "")
                + "The edit names the file \(digest), and the folder of resources has no such file. Put it there, named "
                + "by its digest, and give the folder to the worker with --resources.")
    }

    /// Returns the failure with the path of the field that it concerns before its sentence, unless the sentence names one below it.
    public func at(_ path: String) -> Failure {
        message.hasPrefix(path)
            ? self
            : Failure(
                code, "\(path): \(message)", signal: signal, neededBytes: neededBytes)
    }
}

/// Every reason why a job can fail: the closed set that events, dead letters, logs and exit texts use.
///
/// A code is part of the contract (`jobs/event.schema.json`): it is never renamed or reused. Each one
/// has a test that reaches it.
public enum FailureCode: String, Sendable, Codable, CaseIterable {
    // The request is invalid. The same job fails again.
    /// The edit is not JSON.
    case malformedJSON
    /// A field that the contract does not define.
    case unknownField
    /// A required field is missing.
    case missingField
    /// A field has the wrong type or a value that is not allowed.
    case invalidValue
    /// A field is longer than its limit in ``ContractLimits``.
    case oversizedField
    /// No filter of that name in the catalogue.
    case unknownFilter
    /// The filter has no parameter of that name.
    case unknownParameter
    /// A parameter lies outside its range.
    case parameterOutOfRange
    /// No file of that digest in the folder of resources.
    case missingResource
    /// A resource has the wrong format for its use: a broken colour table, a mask that is not a picture.
    case badResource
    /// No font of a text has a character of it.
    case missingGlyph
    /// A placeholder of a text has no value for this photo and job.
    case missingValue
    /// An entry seals a batch that was never opened.
    case noSuchBatch
    /// The asset's path is absolute, has `..`, or leads out of the library through a symbolic link.
    case assetOutsideLibrary

    // The edit does not fit the present state of the asset. The same edit fails again until the asset changes.
    /// The present edit has a format or content that no editor of this release supports.
    case cannotHandleAdjustmentData
    /// The adjustment data violate their format.
    case adjustmentDataUndecodable
    /// The requested format cannot express something in the recipe.
    case adjustmentDataNotEncodable
    /// The sidecar is not an `.AAE`.
    case badSidecar
    /// The recipe has no such step, or several of that name.
    case noSuchStep
    /// The asset has no such version, or no edit at all.
    case missingVersion
    /// The asset has no draft.
    case missingDraft
    /// Another version became current since the draft was made.
    case staleDraft
    /// A later edit was applied first, and this edit changes the state from before it.
    case overtaken
    /// The record of a version differs from its written form: damaged, changed by hand, or with file names outside the version's
    /// folder.
    case damagedVersion

    // The photo is invalid. The same photo fails again.
    /// No file at the asset's path.
    case missingAsset
    /// The original has no bytes.
    case emptyFile
    /// The content is not a supported photo format.
    case unsupportedFormat
    /// The content is an unsupported kind of video: Matroska, WebM, AVI.
    case unsupportedMediaType
    /// The content is a photo that cannot be fully decoded: damaged or truncated.
    case damagedPhoto
    /// The content is a movie whose tables contradict each other, or whose frames cannot all be decoded.
    case damagedVideo
    /// The still and the movie of a Live Photo do not belong together.
    case pairMismatch
    /// More pixels than the worker's limit.
    case tooManyPixels
    /// A quantity other than pixels exceeds the worker's limit; the message names it: bytes, frames, scans …
    case exceedsLimit
    /// The render needs more memory than the worker may ever use, in every way of rendering it.
    case exceedsMemoryBudget

    /// The gain map would be dropped, and the edit requires it.
    case hdrNotKept
    /// A rendition does not fit into the bytes that it may have, at the lowest quality that it may have.
    case cannotFit

    // The job was not started in time.
    /// No worker was free before the job's deadline.
    case deadlinePassed

    // A failure outside of the job. Another attempt may succeed.
    /// The render child was killed by a signal, or exited without an answer.
    case renderCrashed
    /// A render child's reply or output is impossible. Nothing of it is used, and the child is killed.
    case untrustedRender
    /// The worker's machine cannot confine render children, and the worker is configured to require confinement.
    case unconfined
    /// The worker's machine cannot start render children. The worker claims no jobs until it can, and the job's attempt does not
    /// count.
    case rendererUnavailable
    /// When the worker tried the format, or these bits of a sample in it, its libraries failed to write and read them. The
    /// job is left to other workers first, and fails when all that are alive have failed so.
    case formatUnavailable
    /// The render took longer than the worker's limit and was killed.
    case renderTimedOut
    /// The render needed more memory than was available.
    case outOfMemory
    /// The disk is full or a quota is reached.
    case noSpace
    /// Reading or writing a file failed.
    case ioFailure
    /// The library's object store does not answer, throttles or rejects the worker. Workers wait until it is available.
    case storeUnavailable
    /// A record has a format of a later release of Minilab, which this release cannot read.
    case laterFormat
    /// The asset's current version changed during the render, more often than the worker rebases.
    case revisionConflict
    /// Workers crashed repeatedly while they held this job.
    case workerLost
    /// A bug in Minilab.
    case internalError

    /// Whether the same job would fail on every attempt. Such a job is not retried.
    public var isPermanent: Bool { traits.isPermanent }

    /// Whether a render child can find it. The other codes concern the queue, the library or the child itself.
    public var isFoundByRender: Bool { traits.isFoundByRender }

    private var traits: (isPermanent: Bool, isFoundByRender: Bool) {
        switch self {
        case .malformedJSON, .unknownField, .missingField, .invalidValue, .oversizedField,
            .unknownFilter, .unknownParameter, .parameterOutOfRange, .missingResource,
            .badResource, .missingGlyph, .cannotHandleAdjustmentData, .adjustmentDataUndecodable,
            .adjustmentDataNotEncodable, .badSidecar, .noSuchStep, .emptyFile, .unsupportedFormat,
            .unsupportedMediaType, .damagedPhoto, .damagedVideo, .pairMismatch, .tooManyPixels,
            .exceedsLimit, .exceedsMemoryBudget, .hdrNotKept, .cannotFit:
            (isPermanent: true, isFoundByRender: true)
        case .missingValue, .noSuchBatch, .assetOutsideLibrary, .missingVersion, .missingDraft,
            .staleDraft,
            .overtaken, .damagedVersion, .missingAsset, .deadlinePassed, .workerLost,
            .formatUnavailable:
            (isPermanent: true, isFoundByRender: false)
        case .outOfMemory, .noSpace, .ioFailure, .internalError:
            (isPermanent: false, isFoundByRender: true)
        case .storeUnavailable, .renderCrashed, .untrustedRender, .unconfined, .rendererUnavailable,
            .renderTimedOut,
            .laterFormat, .revisionConflict:
            (isPermanent: false, isFoundByRender: false)
        }
    }
}
