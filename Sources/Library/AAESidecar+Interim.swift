public import Adjustments
public import FoundationEssentials

extension AAESidecar {
    public static var fileBytesMax: Int { 4 << 20 }
    public var hasBase: Bool { adjustmentBaseVersion > 0 }
    public var adjustment: AdjustmentData {
        AdjustmentData(
            formatIdentifier: adjustmentFormatIdentifier, formatVersion: adjustmentFormatVersion,
            data: adjustmentData)
    }
    public init(bytes: Data, name: String) throws(Failure) {
        do { self = try PropertyListDecoder().decode(AAESidecar.self, from: bytes) } catch {
            throw Failure(.badSidecar, "\(name): \(error)")
        }
    }
}
