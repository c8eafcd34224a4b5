import AccessKeys
import Edits
import HTTPTypes
import Hummingbird
import Library
import Logging

extension Call {
    /// The asset that the rest of the path names.
    ///
    /// - Throws: `badParameter`; `notFound`, both for a missing asset and for one outside the key's prefix.
    var asset: AssetPath {
        get throws(Problem) {
            let asset: AssetPath
            do throws(Failure) {
                asset = try TargetPath.asset((tail ?? "")[...])
            } catch {
                throw Problem(.badParameter, error.message)
            }
            guard try key.covers(asset) else { throw Self.missing(asset) }
            return asset
        }
    }

    /// The name of a rendition, which stands in the path before the asset.
    ///
    /// - Throws: `badParameter`.
    var renditionName: String {
        get throws(Problem) {
            let parts = request.uri.path.split(separator: "/")
            guard parts.count > 2, let name = String(parts[2]).percentDecoded,
                Renditions.isName(name)
            else {
                throw Problem(.badParameter, "The path does not have the name of a rendition.")
            }
            return name
        }
    }

    /// Returns the problem for an asset that is missing or not the caller's. The text is the same for both, so that a
    /// caller cannot tell them apart.
    static func missing(_ asset: AssetPath) -> Problem {
        Problem(
            .notFound, "There is no asset \(asset.string.debugDescription) that this key may see.")
    }

    /// Checks that what was not found in the library is absent, and not the library itself.
    ///
    /// - Throws: `storeUnavailable` if its disk is not mounted, or if another library is at its place; `ioFailure`.
    func believeAbsence() async throws(Failure) { try await parts.library.checkPresence() }

    /// Runs `body`, which reads an asset's files, and removes the files' paths from its errors.
    ///
    /// - Throws: `notFound` for what is absent; `storeUnavailable` if the library is.
    func hidingPaths<Result>(
        of asset: AssetPath, _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch let problem as Problem where problem.status == .notFound {
            try await parts.library.checkPresence()
            throw problem
        } catch let failure as Failure {
            switch failure.code {
            case .missingAsset, .assetOutsideLibrary, .unsupportedFormat:
                try await believeAbsence()
                throw Self.missing(asset)
            case .missingVersion, .missingDraft:
                try await believeAbsence()
                throw Problem(
                    .notFound,
                    "\(asset.string.debugDescription) has no such version; /v1/history lists what it has."
                )
            case .damagedVersion, .laterFormat:
                logger.error("\(asset): \(failure)")
                throw Problem(
                    .internalError,
                    "A file of \(asset.string.debugDescription) is not as it was written. The fault was logged."
                )
            default: throw failure
            }
        }
    }
}

extension AssetPath {
    /// As it stands in a URL's path.
    var urlPath: String { string.percentEncoded(keeping: "/") }
}
