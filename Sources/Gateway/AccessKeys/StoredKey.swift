import FoundationEssentials

/// A key as stored in Redis: with the digest of its secret, and the format of the record.
struct StoredKey: Sendable, Equatable, Codable {
    var key: AccessKey
    /// SHA-256 of the secret, in hexadecimal.
    let secretSHA256: String
    private let format: Int

    /// The format that this minilab writes and reads.
    static let formatKnown = 1

    init(key: AccessKey, text: KeyText) {
        self.key = key
        secretSHA256 = Self.hex(text.digest)
        format = Self.formatKnown
    }

    /// Returns whether the text has the key's secret; the time does not depend on the position of a difference.
    func matches(_ text: KeyText) -> Bool {
        let own = secretSHA256.utf8
        let other = Self.hex(text.digest).utf8
        guard own.count == other.count else { return false }
        return zip(own, other).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// - Throws: `damagedKey`, `laterFormat`.
    static func decode(_ json: [UInt8], of id: String) throws(KeyError) -> StoredKey {
        struct Format: Decodable { let format: Int }
        do {
            let data = Data(json)
            let format = try JSONDecoder().decode(Format.self, from: data).format
            guard format == formatKnown else {
                throw KeyError(
                    .laterFormat,
                    "key \(id) is of format \(format), but this minilab reads up to \(formatKnown): a newer one "
                        + "made it. "
                        + "Upgrade this one, or make another key.")
            }
            return try JSONDecoder().decode(StoredKey.self, from: data)
        } catch let error as KeyError where error.code == .laterFormat {
            throw error
        } catch {
            throw KeyError(
                .damagedKey,
                "the record of key \(id) cannot be read (\(error)). Revoke it, and make another one."
            )
        }
    }

    /// - Throws: `damagedKey`, which does not occur for a key with checked terms.
    func encoded() throws(KeyError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(self))
        } catch {
            throw KeyError(.damagedKey, "key \(key.id) cannot be written as JSON: \(error)")
        }
    }

    private static let digits = Array("0123456789abcdef".utf8)

    /// Avoids a string per byte, because every request with a key calls it.
    private static func hex(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
            for (index, byte) in bytes.enumerated() {
                text[2 * index] = digits[Int(byte >> 4)]
                text[2 * index + 1] = digits[Int(byte & 15)]
            }
            return 2 * bytes.count
        }
    }
}
