import Edits
import AsyncHTTPClient
import NIOHTTP1

extension S3Client {
    /// The most times that the probe is started, because of concurrent probes or lost answers.
    static let probesMax = 5

    /// Checks whether the store supports both conditions. Throws
    /// ``BlobError/Code/conditionsIgnored`` with the store's name if it does not.
    ///
    /// Some stores answer a conditional write with 200 and write in any case, which would lose
    /// edits. So nothing else is written before this call has returned. It leaves one small
    /// object.
    ///
    /// - Parameter key: An object that belongs to no asset, such as `edits/probe`.
    /// - Returns: The store's own name; nil if it does not report one.
    @discardableResult
    public func probe(_ key: BlobKey) async throws(BlobError) -> String? {
        for _ in 0..<Self.probesMax {
            _ = try await probeWrite(key, .absent)
            // The object exists now, whichever client wrote it.
            let (there, server) = try await named(key)
            guard let there else { continue }

            switch try await probeWrite(key, .absent) {
            case .refused: break
            case .written: throw ignored("If-None-Match: *", server)
            case .unknown: continue
            }
            // No store uses this tag: real ones have at least 32 digits.
            switch try await probeWrite(key, .unchanged(BlobTag("minilab-probe"))) {
            case .refused: break
            case .written: throw ignored("If-Match", server)
            case .unknown: continue
            }
            switch try await probeWrite(key, .unchanged(there.tag)) {
            case .written: return server
            // Another probe wrote in the meantime, or the store refuses the correct tag.
            case .refused, .unknown: continue
            }
        }
        throw BlobError(
            .conditionsIgnored,
            "\(location.name(key)) could not be written on its own tag in \(Self.probesMax) tries: the "
                + "store at \(location.authority) does not keep If-Match as it must, or is too busy."
        )
    }

    private enum ProbeOutcome { case written, refused, unknown }

    private func probeWrite(
        _ key: BlobKey, _ condition: BlobCondition
    ) async throws(BlobError) -> ProbeOutcome {
        // Different bytes each time, so that no tag recurs.
        let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }.hex
        do throws(BlobError) {
            try await put(key, Array(bytes.utf8), if: condition)
            return .written
        } catch {
            switch error.code {
            case .precondition: return .refused
            case .unknownFate: return .unknown
            case .misconfigured where error.storeCode == "NotImplemented":
                throw BlobError(
                    .conditionsIgnored,
                    "The store at \(location.authority) refuses conditional writes (501): the library "
                        + "needs If-None-Match and If-Match on PUT.", storeCode: error.storeCode)
            default: throw error
            }
        }
    }

    /// Returns the description of the object with that name, and the server's own name.
    private func named(_ key: BlobKey) async throws(BlobError) -> (Blob?, String?) {
        do throws(BlobError) {
            return try await exchange {
                S3Request(method: .HEAD, key: key, right: "s3:GetObject")
            } _: { response throws(AttemptFailure) in
                let blob = try Self.blob(
                    response.headers, size: response.headers.first(name: "content-length"))
                return (blob, response.headers.first(name: "server").map { String($0.prefix(80)) })
            }
        } catch {
            guard error.code == .notFound else { throw error }
            return (nil, nil)
        }
    }

    private func ignored(_ condition: String, _ server: String?) -> BlobError {
        BlobError(
            .conditionsIgnored,
            "The store at \(location.authority) (\(server ?? "it does not say its name")) ignores "
                + "\(condition) on PUT, so edits would be lost: use one that keeps it, such as Amazon "
                + "S3, R2, MinIO, Ceph or SeaweedFS.")
    }
}
