import Boxes
import FoundationEssentials

extension FuzzTarget {
    /// A codec's configuration is no longer than what it stands in, and what is written of parameter sets is read again.
    func takeSampleDescription(_ bytes: Data) {
        let bytes = [UInt8](bytes)
        do throws(MovieProblem) {
            let codec = try MovieCodec(entry: bytes)
            precondition(codec.configuration.count <= bytes.count)
            precondition(codec.pixelAspect.map { $0.horizontal > 0 && $0.vertical > 0 } ?? true)
        } catch {
            precondition(!error.description.isEmpty)
        }
        // The bytes may be a parameter set, too.
        let sets = [bytes, [0x68, 0xEE], [0x40, 1], [0x44, 1]]
        if let configuration = AVCConfiguration(parameterSets: sets) {
            precondition(configuration.bytes.count > bytes.count)
        }
        if let configuration = HEVCConfiguration(parameterSets: sets, chromaFormat: 1, bits: 8) {
            precondition(HEVCConfiguration(configuration.bytes[...]) == configuration)
        }
    }
}
