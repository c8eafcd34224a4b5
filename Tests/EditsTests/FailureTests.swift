import Edits
import Testing

@Suite("Failure") struct FailureTests {
    @Test func `a long message is cut to its limit`() {
        let failure = Failure(.ioFailure, String(repeating: "é", count: 5000))
        #expect(failure.message.count == Failure.messageLengthMax)
        #expect(failure.message.hasSuffix("…"))
        #expect(Failure(.ioFailure, "short").message == "short")
    }

    /// The names are in stored events and in other people's programs. `SchemaTests` holds all of today against the schema.
    @Test func `the codes of version 0.4 keep their names`() {
        #expect(
            Set(FailureCode.allCases.map(\.rawValue)).isSuperset(of: [
                "malformedJSON", "unknownField", "missingField", "invalidValue", "oversizedField",
                "unknownFilter", "unknownParameter", "parameterOutOfRange", "missingResource",
                "badResource", "missingGlyph", "noSuchBatch", "assetOutsideLibrary",
                "cannotHandleAdjustmentData", "adjustmentDataUndecodable",
                "adjustmentDataNotEncodable", "badSidecar", "noSuchStep", "missingVersion",
                "missingDraft", "staleDraft", "overtaken", "damagedVersion",
                "missingAsset", "emptyFile", "unsupportedFormat", "unsupportedMediaType",
                "damagedPhoto", "damagedVideo", "pairMismatch", "tooManyPixels", "exceedsLimit",
                "exceedsMemoryBudget",
                "hdrNotKept", "deadlinePassed",
                "renderCrashed", "untrustedRender", "unconfined",
                "rendererUnavailable", "formatUnavailable", "renderTimedOut", "outOfMemory",
                "noSpace", "ioFailure", "storeUnavailable", "laterFormat", "revisionConflict",
                "workerLost", "internalError",
            ]))
    }
}
