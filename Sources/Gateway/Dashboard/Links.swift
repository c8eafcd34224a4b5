import Edits

/// The URLs of the dashboard: every `href` and `action` of its pages is made here.
///
/// Paths start at the root. A value becomes one segment of a path or one value of a query: all characters but the
/// unreserved ones of RFC 3986, 2.3 are percent-encoded. The path of an asset keeps its slashes.
package enum Links {
    package static let now = "/"
    package static let find = "/find"
    package static let batches = "/batches"
    package static let dead = "/dead"
    package static let replayPreview = "/dead/replay"
    package static let limits = "/limits"
    package static let doctor = "/doctor"
    package static let keys = "/keys"
    package static let webhooks = "/webhooks"
    package static let audit = "/audit"
    package static let signIn = "/signin"
    package static let providerSignIn = "/signin/oidc"
    package static let providerReturn = "/signin/oidc/callback"
    package static let signOut = "/signout"
    package static let live = "/ui/live"

    package static func find(_ text: String) -> String { query(find, [("q", text)]) }

    package static func job(_ id: String) -> String { "/jobs/" + segment(id) }
    package static func cancelJob(_ id: String) -> String { job(id) + "/cancel" }
    package static func replayJob(_ id: String) -> String { job(id) + "/replay" }
    package static func tryAsDraft(_ id: String) -> String { job(id) + "/draft" }
    package static func bundle(_ id: String) -> String { job(id) + "/bundle" }

    package static func batch(_ id: String) -> String { batches + "/" + segment(id) }
    package static func cancelBatch(_ id: String) -> String { batch(id) + "/cancel" }

    package static func replay(_ id: String) -> String { "/replays/" + segment(id) }
    package static func stopReplay(_ id: String) -> String { replay(id) + "/stop" }
    package static func continueReplay(_ id: String) -> String { replay(id) + "/continue" }

    /// Returns the URL of an asset's page, which is also the action of its forms: the field `action` names the operation.
    package static func asset(_ path: String) -> String { "/assets/" + segments(path) }

    /// Returns the URL of an asset's page; nil if no asset can have this name, as in a job that was refused because of it.
    package static func assetPage(_ name: String) -> String? {
        do {
            return asset(try AssetPath(name).string)
        } catch {
            return nil
        }
    }

    /// Returns the URL of a thumbnail of one version of an asset, or of its `original`.
    package static func picture(_ asset: String, version: String) -> String {
        query("/ui/pictures/" + segments(asset), [("version", version)])
    }

    /// Returns the URL of a rendition of one version of an asset.
    package static func rendition(_ name: String, of asset: String, version: String) -> String {
        query("/ui/renditions/" + segment(name) + "/" + segments(asset), [("version", version)])
    }

    package static func revokeKey(_ id: String) -> String { keys + "/" + segment(id) + "/revoke" }

    package static func webhook(_ id: String) -> String { webhooks + "/" + segment(id) }
    /// Returns a form action of an endpoint: `test`, `enable`, `disable`, `rotate`, `delete`.
    package static func webhook(_ id: String, _ action: String) -> String {
        webhook(id) + "/" + segment(action)
    }
    /// Returns the form action that sends a delivery again.
    package static func redeliver(_ id: String, delivery: String) -> String {
        webhook(id) + "/deliveries/" + segment(delivery) + "/replay"
    }

    /// Returns the URL that starts a sign-in with the identity provider and then opens the path `next`.
    package static func providerSignIn(next: String?) -> String {
        query(providerSignIn, [("next", next)])
    }

    /// Returns the URL of a static file of the dashboard. The digest in its path makes the file immutable.
    package static func file(_ name: String, digest: String) -> String {
        "/ui/files/" + segment(digest) + "/" + segment(name)
    }

    /// Returns the URL of the stream of a page's live parts.
    ///
    /// - Parameters:
    ///   - page: the page: `now`, `job`, `batches`, `batch`, `replay`.
    ///   - subject: the job, batch or replay; nil for a page without one.
    package static func live(_ page: String, of subject: String? = nil) -> String {
        query(live, [("page", page), ("of", subject)])
    }

    /// Returns a path with a query of the values that are not nil.
    package static func query(_ path: String, _ values: [(String, String?)]) -> String {
        let pairs = values.compactMap { name, value in
            value.map { segment(name) + "=" + segment($0) }
        }
        return pairs.isEmpty ? path : path + "?" + pairs.joined(separator: "&")
    }

    /// Percent-encodes all but unreserved characters.
    package static func segment(_ text: String) -> String { text.percentEncoded() }

    private static func segments(_ path: String) -> String { path.percentEncoded(keeping: "/") }
}
