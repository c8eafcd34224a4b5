extension SampleEntry {
    /// Creates the sample description of an encoder's stream; nil if the units contain no parameter sets of the codec, or the codec
    /// is not supported for encoding.
    ///
    /// - Parameters:
    ///   - parameterSets: NAL units without start codes.
    ///   - chromaFormat: 0 for grey, 1 for 4:2:0, 2 for 4:2:2, 3 for 4:4:4.
    ///   - bits: bits of a sample.
    ///   - width: the width of the displayed pictures before the matrix; nil, like `height`, for no change.
    public init?(
        _ kind: MovieCodec.Kind, parameterSets: [[UInt8]], chromaFormat: Int, bits: Int,
        width: Int? = nil, height: Int? = nil
    ) {
        switch kind {
        case .h264:
            guard let configuration = AVCConfiguration(parameterSets: parameterSets) else {
                return nil
            }
            self.init(
                format: "avc1", configuration: ("avcC", configuration.bytes), width: width,
                height: height)
        case .hevc:
            let configuration = HEVCConfiguration(
                parameterSets: parameterSets, chromaFormat: chromaFormat, bits: bits)
            guard let configuration else { return nil }
            self.init(
                format: "hvc1", configuration: ("hvcC", configuration.bytes), width: width,
                height: height)
        default: return nil
        }
    }
}
