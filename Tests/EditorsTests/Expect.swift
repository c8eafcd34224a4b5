import Edits
import Editors
import FoundationEssentials
import Testing

/// Expects a failure of that code whose sentence names each of `parts`.
func expect(
    _ code: FailureCode, naming parts: String..., sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> some Any
) {
    let failure = #expect(throws: Failure.self, sourceLocation: sourceLocation) { try body() }
    guard let failure else { return }
    #expect(failure.code == code, "\(failure)", sourceLocation: sourceLocation)
    for part in parts {
        #expect(failure.message.contains(part), "\(failure)", sourceLocation: sourceLocation)
    }
}

extension AdjustmentCodec {
    /// The filters that data are read as.
    func filters(
        _ data: Data, of photo: EditedPhoto = .landscape,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [Filter] {
        guard case .recipe(let recipe) = try read(data, of: photo) else {
            Issue.record("\(try read(data, of: photo))", sourceLocation: sourceLocation)
            return []
        }
        return recipe.filters
    }

    /// Why data cannot be handled.
    func reason(
        _ data: Data, of photo: EditedPhoto = .landscape,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> String {
        guard case .cannotHandle(let reason) = try read(data, of: photo) else {
            Issue.record("\(try read(data, of: photo))", sourceLocation: sourceLocation)
            return ""
        }
        return reason
    }
}

extension EditedPhoto {
    static let landscape = EditedPhoto(
        storedSize: PixelSize(width: 400, height: 300), orientation: .upright)
}

extension Data {
    init(hex: String) {
        let digits = hex.utf8.map { $0 < 0x3A ? $0 - 0x30 : $0 - 0x57 }
        self.init(stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }
}
