/// Every reason why a job can fail: the closed set that events, dead letters, logs and exit texts use.
///
/// A code is part of the contract (`jobs/event.schema.json`): it is never renamed or reused. Each one
/// has a test that reaches it.
public enum FailureCode: String, Sendable, Codable, CaseIterable {
    // What was sent is wrong. The same job sent again fails again.
    /// The edit is not JSON.
    case malformedJSON
    /// A field the contract does not know.
    case unknownField
    /// A field the contract needs is not there.
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
    /// A resource cannot be read as what it is used for: a broken table of colours, a mask that is no
    /// picture.
    case badResource
    /// An entry seals a batch that nobody has opened.
    case noSuchBatch
    /// The asset's path is absolute, has `..`, or leads out of the library through a symbolic link.
    case assetOutsideLibrary

    // The edit does not fit what the asset is now. The same edit fails again until the asset changes.
    /// The edit that is there is of a format, or has something in it, that no editor here can handle.
    case cannotHandleAdjustmentData
    /// The adjustment data are not what their format says.
    case adjustmentDataUndecodable
    /// The format asked for has no word for something in the recipe.
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
    /// An edit that arrived later was made first, and this one changes what was there before that.
    case overtaken
    /// The record of a version is not as it was written: damaged, changed by hand, or with names of files that
    /// lead out of the version's folder.
    case damagedVersion

    // The photo is wrong. The same photo fails again.
    /// No file at the asset's path.
    case missingAsset
    /// The original has no bytes.
    case emptyFile
    /// The content is not a photo format that we read.
    case unsupportedFormat
    /// A kind of video that is not edited here, told by its content: Matroska, WebM, AVI.
    case unsupportedMediaType
    /// The content claims to be a photo but cannot be decoded whole: damaged or cut off.
    case damagedPhoto
    /// The content is a movie whose tables contradict each other, or whose frames cannot all be decoded.
    case damagedVideo
    /// The still and the movie of a Live Photo do not belong together.
    case pairMismatch
    /// More pixels than the worker's limit.
    case tooManyPixels
    /// More of something else than the worker's limit, which the message names: bytes, frames, scans …
    case exceedsLimit
    /// The render needs more memory than the worker may ever use, however it is done.
    case exceedsMemoryBudget

    /// The gain map would be left out, and the edit requires it.
    case hdrNotKept

    // Nobody came to it in time.
    /// No worker was free before the job's deadline.
    case deadlinePassed

    // Something around the job went wrong. Another attempt may succeed.
    /// The render child was killed by a signal, or left without an answer.
    case renderCrashed
    /// A render child answered or wrote what cannot be true: nothing of it is used, and the child is ended.
    case untrustedRender
    /// The worker's machine does not confine render children, and it was told to render nothing without that.
    case unconfined
    /// The libraries of the worker's machine failed to write and read the format when the worker started.
    case formatUnavailable
    /// The render took longer than the worker's limit and was killed.
    case renderTimedOut
    /// The render needed more memory than there was.
    case outOfMemory
    /// The disk is full or a quota is reached.
    case noSpace
    /// Reading or writing a file failed.
    case ioFailure
    /// The library's object store does not answer, asks for patience or refuses the worker: workers wait for it.
    case storeUnavailable
    /// A later release of Minilab wrote it, in a format that this one does not read.
    case laterFormat
    /// The asset's current version changed while the render ran, more often than we rebase.
    case revisionConflict
    /// Workers died again and again while they held this job.
    case workerLost
    /// A fault of our own.
    case internalError

    /// Whether the same job would fail again however often it is tried: then it is not retried.
    public var isPermanent: Bool {
        switch self {
        case .malformedJSON, .unknownField, .missingField, .invalidValue, .oversizedField,
            .unknownFilter, .unknownParameter, .parameterOutOfRange, .missingResource,
            .badResource, .assetOutsideLibrary, .cannotHandleAdjustmentData,
            .adjustmentDataUndecodable, .adjustmentDataNotEncodable, .badSidecar, .noSuchStep,
            .missingVersion, .missingDraft, .staleDraft, .overtaken, .damagedVersion,
            .missingAsset, .emptyFile, .unsupportedFormat, .unsupportedMediaType, .damagedPhoto,
            .damagedVideo, .pairMismatch, .tooManyPixels, .exceedsLimit, .exceedsMemoryBudget,
            .hdrNotKept, .noSuchBatch,
            .deadlinePassed,
            .workerLost:
            true
        case .renderCrashed, .untrustedRender, .unconfined, .formatUnavailable, .renderTimedOut,
            .outOfMemory, .noSpace,
            .ioFailure, .storeUnavailable, .laterFormat, .revisionConflict, .internalError:
            false
        }
    }
}
