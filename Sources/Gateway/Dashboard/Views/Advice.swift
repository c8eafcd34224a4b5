package import Edits

extension FailureCode {
    /// One sentence of advice to the operator about jobs that died with this code.
    package var advice: String {
        switch self {
        case .malformedJSON, .unknownField, .missingField, .invalidValue, .oversizedField,
            .unknownFilter, .unknownParameter, .parameterOutOfRange, .noSuchBatch,
            .assetOutsideLibrary:
            "The request is wrong: inform its sender. A replay does not help."
        case .missingGlyph:
            "Add a font that has the character to the text's fonts, or set missing to skip."
        case .missingValue:
            "The message names a placeholder that has no value for the photo: inform the sender."
        case .missingResource, .badResource:
            "Put the file that the edit names into the workers' folder of resources, then replay."
        case .cannotHandleAdjustmentData, .adjustmentDataUndecodable, .adjustmentDataNotEncodable,
            .badSidecar:
            "The present edit or sidecar cannot be read: revert it and edit again."
        case .noSuchStep, .missingVersion, .missingDraft, .staleDraft:
            "The asset is not in the state that the sender expected: check its versions and send an edit that fits."
        case .overtaken:
            "A later edit was made first: check the asset. A replay counts as sent now."
        case .damagedVersion:
            "A version's files are damaged: verify the asset, restore them from a backup, then replay."
        case .missingAsset:
            "The original did not exist: wait for the upload or mount the library, then replay."
        case .emptyFile, .unsupportedFormat, .unsupportedMediaType, .damagedPhoto, .damagedVideo,
            .pairMismatch:
            "The photo or movie itself is wrong: upload it again, then replay."
        case .tooManyPixels, .exceedsLimit:
            "The message names the limit: raise it for the workers if your photos are so large, then replay."
        case .exceedsMemoryBudget:
            "The message names the memory that it needs: start a worker with more, then replay."
        case .hdrNotKept:
            "The edit asks for HDR that its format or a filter cannot keep: send another edit."
        case .cannotFit:
            "The message names the fewest bytes: allow more, a lower quality, or onMiss shrink."
        case .deadlinePassed: "No worker was free in time: start more workers, then replay."
        case .renderCrashed, .renderTimedOut, .outOfMemory:
            "Examine one job's attempts and bundle, and keep the photo for a report. Replay one job first."
        case .untrustedRender:
            "A hostile photo, or worker and renderer of different versions: compare them, open the photo nowhere else."
        case .unconfined:
            "The worker's machine lacks what the message names: run the worker elsewhere, then replay."
        case .rendererUnavailable:
            "That worker's machine starts no renderer: see what its message names, repair, then replay."
        case .formatUnavailable:
            "No living worker's machine can write the format: compare their libraries, repair, then replay."
        case .noSpace, .ioFailure:
            "Make room, or repair the disk that the message names, then replay."
        case .storeUnavailable:
            "Give the workers the right that is missing at the store, then replay."
        case .laterFormat: "Upgrade the workers of older releases, then replay."
        case .revisionConflict: "Several senders edit one asset at once: replay."
        case .workerLost:
            "Workers died while they processed it: check whether the kernel killed them for memory. Replay one job "
                + "first."
        case .internalError: "A fault of minilab: keep the bundle and the log for a report."
        }
    }
}
