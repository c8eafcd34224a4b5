import Edits
import FoundationEssentials
import Library

extension AssetHead {
    /// The most bytes of the object: two embedded provenances, fully escaped, and the longest lists.
    static let bytesMax = 1 << 20

    /// The largest number: every JSON parser preserves it, and adding 1 to it cannot overflow.
    private static let numberMax = 1 << 53

    private struct Format: Decodable { let format: Int }

    /// Decodes an object.
    ///
    /// - Parameter location: the name of the object in messages.
    /// - Throws: `laterFormat` if a later release wrote it; `damagedVersion` if it is not a valid head.
    init(reading bytes: [UInt8], at location: String) throws(Failure) {
        do {
            let format = try JSONDecoder().decode(Format.self, from: Data(bytes)).format
            guard format <= Self.formatWritten else {
                throw Failure(
                    .laterFormat,
                    "\(location) has the format \(format); this Minilab reads up to \(Self.formatWritten). A later "
                        + "release wrote it: upgrade this one.")
            }
            self = try JSONDecoder().decode(Self.self, from: Data(bytes))
            try check()
        } catch let failure as Failure {
            guard failure.code != .laterFormat else { throw failure }
            throw Failure(
                .damagedVersion, "\(location) \(failure.message) Restore it from a backup.")
        } catch {
            throw Failure(
                .damagedVersion,
                "\(location) is no head of an asset: \(error). Restore it from a backup.")
        }
    }

    /// Validates all names, because they become keys.
    private func check() throws(Failure) {
        let names =
            history.flatMap { [$0.version] + [$0.parent].compactMap(\.self) + $0.links }
            + (draft.map { [$0.version] + $0.links } ?? []) + trash.map(\.version)
        if let wrong = names.first(where: { VersionName($0) == nil }) {
            throw Failure(
                .damagedVersion,
                "names the version \(wrong.debugDescription), which is no name of one.")
        }
        let numbers = [serial, floor, confirmed?.arrival ?? 0] + trash.map(\.at)
        if let wrong = numbers.first(where: { !(0...Self.numberMax).contains($0) }) {
            throw Failure(.damagedVersion, "has the number \(wrong), which it cannot have.")
        }
        guard current == history.first?.version else {
            throw Failure(
                .damagedVersion,
                "says that \(current ?? "no version") is current, but its history begins with "
                    + "\(history.first?.version ?? "none").")
        }
    }

    /// Encodes the object.
    func encoded() throws(Failure) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let bytes: Data
        do {
            bytes = try encoder.encode(self)
        } catch {
            throw Failure(.internalError, "the head of an asset does not encode: \(error)")
        }
        guard bytes.count <= Self.bytesMax else {
            throw Failure(
                .exceedsLimit,
                "the head of an asset would have \(bytes.count) bytes; at most \(Self.bytesMax) are read. Collect its "
                    + "versions (minilab gc).")
        }
        return Array(bytes)
    }
}
