extension SampleEntry {
    /// The sample description of an encoder's stream; nil when the units hold no parameter sets of the codec, or nothing here encodes it.
    ///
    /// - Parameters:
    ///   - parameterSets: NAL units without start codes.
    ///   - chromaFormat: 0 for grey, 1 for 4:2:0, 2 for 4:2:2, 3 for 4:4:4.
    ///   - bits: of a sample.
    ///   - width: of the pictures as they are shown before the matrix; nil, like `height`: as before.
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
