extension PhotoSurvey {
    /// Records that the codes have an HDR transfer function, which usual screens do not support. Read as sRGB, they look grey and
    /// flat.
    ///
    /// Source: ITU-T H.273 §8.2: transfer characteristics 16 are PQ (SMPTE ST 2084), 18 are HLG (ARIB STD-B67).
    mutating func noteTransfer(_ transfer: Int) {
        guard let name = [16: "PQ", 18: "HLG"][transfer] else { return }
        obstacle =
            "its colours are \(name) (H.273 transfer \(transfer)), which is HDR alone, without a picture for usual screens; have "
            + "it exported as SDR, or as HDR with a gain map"
    }
}
